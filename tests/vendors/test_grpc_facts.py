"""The lab's own tables of gRPC messages against the descriptors of the official SDKs: every number, name and type."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from a2a_lab.vendors.registry import find_vendor
from a2a_lab.wire.protobuf import schema
from tests.vendors.real import built_or_skipped

pytestmark = pytest.mark.vendors

# Runs in the SDK's environment and in the lab's alike.
TELL = """
def told(file):
    def field(one):
        kind = one.message_type or one.enum_type
        group = one.containing_oneof.name if one.containing_oneof else ""
        return [one.number, one.name, one.json_name, bool(one.is_repeated), kind.full_name if kind else one.type, group]

    def message(one):
        inner = {each.name: message(each) for each in one.nested_types}
        return [sorted(field(each) for each in one.fields), inner, bool(one.GetOptions().map_entry)]

    return {
        "package": file.package,
        "messages": {name: message(one) for name, one in file.message_types_by_name.items()},
        "enums": {name: [[v.number, v.name] for v in one.values] for name, one in file.enum_types_by_name.items()},
    }
"""
CALLS = """
def calls(file):
    (service,) = file.services_by_name.values()
    return {
        f"/{service.full_name}/{one.name}": [one.input_type.full_name, one.output_type.full_name, one.server_streaming]
        for one in service.methods
    }
"""


@pytest.mark.parametrize(
    ("version", "vendor", "module"),
    [("1.0", "a2a-sdk-1.3", "a2a.types.a2a_pb2"), ("0.3", "a2a-sdk-0.3", "a2a.grpc.a2a_pb2")],
)
def test_the_table_is_what_the_official_sdk_speaks(version: str, vendor: str, module: str) -> None:
    environment = built_or_skipped(find_vendor(vendor))
    code = f"import json, importlib\n{TELL}{CALLS}\nfile = importlib.import_module({module!r}).DESCRIPTOR\n"
    python = environment.places(find_vendor(vendor))["python"]
    printed = subprocess.run(
        [python, "-c", code + "print(json.dumps([told(file), calls(file)]))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    their_types, their_calls = json.loads(printed)
    ours = schema(version)
    here: dict[str, Any] = {}
    exec(TELL, here)
    file = ours.messages["Task"].DESCRIPTOR.file
    assert json.loads(json.dumps(here["told"](file))) == their_types
    assert {
        path: [one.request.DESCRIPTOR.full_name, one.answer.DESCRIPTOR.full_name, one.is_stream]
        for path, one in ours.methods.items()
    } == their_calls
