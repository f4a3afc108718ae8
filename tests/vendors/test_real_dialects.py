"""`check --send` against vendors of the other dialects: 0.2, HTTP+JSON in 1.0 and 0.3, and the objects of the draft."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from a2a_lab.core.model import Part, State
from a2a_lab.lab.check import CheckOptions, CheckResult, check
from a2a_lab.wire.dialects import Answer, Op, OutMessage, dialect_for
from tests.vendors.real import agent
from tests.wire.talk import slugs

pytestmark = pytest.mark.vendors


def checked(name: str, tmp_path: Path, *launch: str, **options: Any) -> CheckResult:
    async def life() -> CheckResult:
        async with agent(name, *launch) as running:
            return await check(running.url, CheckOptions(send=True, out=str(tmp_path), **options))

    return asyncio.run(life())


def found(result: CheckResult) -> set[str]:
    """What was found, but for notes."""
    return {one["slug"] for stage in result.stages.values() for one in stage["findings"] if one["kind"] != "note"}


def test_a_0_2_agent_is_found_at_its_old_path_and_works(tmp_path: Path) -> None:
    """Its card is not at agent-card.json (a hint), and no key signed it."""
    result = checked("a2a-sdk-0.2", tmp_path, supports=("0.2",))
    assert (result.verdict.value, result.measures["delivered"], result.target["version"]) == ("hint", True, "0.2.6")
    assert found(result) == {"legacy-path", "unsigned"}


def test_a_0_2_agent_has_nothing_in_common_with_a_client_of_1_0_and_0_3(tmp_path: Path) -> None:
    """R21: another minor version is refused, however alike the wires are."""
    result = checked("a2a-sdk-0.2", tmp_path)
    assert result.verdict.value == "refuse" and "version-incompatible" in found(result)
    assert not result.measures["delivered"]


@pytest.mark.parametrize(
    ("name", "supports", "version"),
    [("a2a-sdk-1.3+rest", "1.0", "1.0"), ("a2a-sdk-1.3+full", "1.0", "1.0"), ("a2a-sdk-1.3+full", "0.3", "0.3")],
)
def test_http_json_of_the_python_sdk_works_in_both_generations(
    name: str, supports: str, version: str, tmp_path: Path
) -> None:
    """The second and third are one server: paths and headers tell its two interfaces apart."""
    result = checked(name, tmp_path, supports=(supports,), bindings=("HTTP+JSON",))
    assert (result.verdict.value, result.measures["delivered"]) == ("accept", True)
    assert (result.target["binding"], result.target["version"]) == ("HTTP+JSON", version)
    assert found(result) == {"unsigned"}


def test_a_client_of_json_rpc_alone_finds_nothing_to_call(tmp_path: Path) -> None:
    result = checked("a2a-sdk-1.3+rest", tmp_path)
    assert "no-usable-interface" in found(result) and result.target["binding"] is None


def test_what_the_python_sdk_says_over_http_json_when_it_declines() -> None:
    """The unknown task as a google.rpc.Status, and under 0.3 in the same shape, read by each dialect."""

    async def asked(version: str) -> Answer:
        dialect = dialect_for(version, "HTTP+JSON")
        async with agent("a2a-sdk-1.3+full") as running, httpx.AsyncClient(trust_env=False) as http:
            request = dialect.request("get", url=running.url, rpc_id=None, task_id="nobody")
            answer = await http.request(request.method, request.url, headers=request.headers, content=request.body)
        return dialect.read_answer(
            "get", rpc_id=None, status=answer.status_code, headers=dict(answer.headers), body=answer.content
        )

    for version in ("1.0", "0.3"):
        read = asyncio.run(asked(version))
        assert read.error is not None and (read.error.name, read.error.code) == ("TaskNotFound", 404)
        assert slugs(read.findings) == ["rpc-error"]


def test_python_a2a_answers_in_the_objects_of_the_draft() -> None:
    """At paths of its own, whatever its card says: the one library of fifteen that speaks the family at all."""
    draft = dialect_for("0.1")
    message = OutMessage(message_id="task-1", parts=(Part(kind="text", text="hello"),), context_id="s1")

    async def talk() -> list[Answer]:
        asked: list[tuple[Op, dict[str, Any]]] = [
            ("send", {"message": message}),
            ("get", {"task_id": "task-1"}),
            ("cancel", {"task_id": "task-1"}),
            ("get", {"task_id": "nobody"}),
        ]
        read = []
        async with agent("python-a2a-0.5") as running, httpx.AsyncClient(trust_env=False, timeout=30) as http:
            for op, options in asked:
                request = draft.request(op, url=f"{running.url}/tasks/{op}", rpc_id="r1", **options)
                answer = await http.post(request.url, headers=request.headers, content=request.body)
                read.append(
                    draft.read_answer(
                        op, rpc_id="r1", status=answer.status_code, headers=dict(answer.headers), body=answer.content
                    )
                )
        return read

    sent, seen, canceled, missing = asyncio.run(talk())
    assert [slugs(answer.findings) for answer in (sent, seen, canceled)] == [[], [], []]
    assert sent.task is not None and sent.task == seen.task
    assert (sent.task.id, sent.task.context_id, sent.task.state) == ("task-1", "s1", State.COMPLETED)
    assert [(one.id, one.parts[0].text) for one in sent.task.artifacts] == [("0", "echo: hello")]
    assert canceled.task is not None and canceled.task.state is State.CANCELED  # a finished task, at that
    assert missing.error is not None and (missing.error.code, missing.error.name) == (-32000, None)
