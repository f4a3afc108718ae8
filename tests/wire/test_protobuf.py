"""The messages of gRPC are built from tables of facts: no SDK, no compiler, nothing where protobuf is not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from a2a_lab.wire.protobuf import schema, schema_of
from tests.wire.grpc_talk import kept, packed


@pytest.mark.parametrize(("version", "package", "calls"), [("1.0", "lf.a2a.v1", 11), ("0.3", "a2a.v1", 10)])
def test_a_version_has_its_service(version: str, package: str, calls: int) -> None:
    built = schema(version)
    assert built.package == package and len(built.methods) == calls
    send, stream = (built.methods[f"/{package}.A2AService/{name}"] for name in ("SendMessage", "SendStreamingMessage"))
    assert (send.is_stream, stream.is_stream) == (False, True)
    assert (send.answer.DESCRIPTOR.name, stream.answer.DESCRIPTOR.name) == ("SendMessageResponse", "StreamResponse")


def test_a_path_tells_its_version() -> None:
    found = [schema_of(f"/{name}/GetTask") for name in ("lf.a2a.v1.A2AService", "a2a.v1.A2AService", "x.A2AService")]
    assert [one and one.package for one in found] == ["lf.a2a.v1", "a2a.v1", None]


def test_a_table_says_presence_groups_maps_and_names_of_json() -> None:
    card = packed("AgentCard", {"name": "a", "securitySchemes": {"k": {"mtlsSecurityScheme": {}}}, "iconUrl": ""})
    assert kept("AgentCard", card) == {
        "name": "a",
        "securitySchemes": {"k": {"mtlsSecurityScheme": {}}},
        "iconUrl": "",
    }
    assert kept("TaskStatus", packed("TaskStatus", {"message": {"messageId": "m"}}, "0.3"), "0.3") == {
        "message": {"messageId": "m"}
    }
    part = schema("1.0").messages["Part"](text="a")
    part.url = "https://x.example.test"
    assert part.WhichOneof("content") == "url"


def test_without_the_extra_a_sentence_says_what_to_install() -> None:
    """Only the binding needs it: importing, reading and judging work without."""
    code = (
        "import sys; sys.modules['google.protobuf'] = sys.modules['grpc'] = None\n"
        "import a2a_lab.wire.dialects, a2a_lab.net.grpc_calls, a2a_lab.lab.check\n"
        "from a2a_lab.errors import Misuse\n"
        "from a2a_lab.net.grpc_channel import is_available, require\n"
        "from a2a_lab.wire.protobuf import schema\n"
        "assert not is_available()\n"
        "for need in (require, lambda: schema('1.0')):\n"
        "    try: need()\n"
        "    except Misuse as fault: print(fault.message)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert (
        said
        == [
            "binding GRPC needs grpcio and protobuf, which are not installed; install them: pip install 'a2a-lab[grpc]'"
        ]
        * 2
    )
