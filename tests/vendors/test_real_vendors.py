"""The real vendors (issue 4, items 1 and 2): built from their locks, launched, and spoken to by plain httpx.

Nothing of the lab's own reading is used here: what an SDK puts on the wire is asserted as JSON. A machine that cannot
build says why it skips.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import rfc8785
from jwcrypto.common import JWException
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.environments import ensure_environment
from a2a_lab.vendors.python_recipe import find_uv
from a2a_lab.vendors.registry import find_vendor
from a2a_lab.vendors.served import ServedAgent
from tests.vendors.real import agent, built_or_skipped

pytestmark = pytest.mark.vendors

OLD = {"send": "message/send", "stream": "message/stream", "get": "tasks/get", "cancel": "tasks/cancel"}
NEW = {"send": "SendMessage", "stream": "SendStreamingMessage", "get": "GetTask", "cancel": "CancelTask"}
SPEAKING = [
    ("a2a-sdk-1.3", "1.0"),
    ("a2a-sdk-1.3+compat", "1.0"),
    ("a2a-sdk-1.3+compat", "0.3"),
    ("a2a-sdk-0.3", "0.3"),
    ("a2a-sdk-0.2", "0.2"),
    ("a2a-js-1.3", "1.0"),
    ("a2a-js-1.3+compat", "1.0"),
    ("a2a-js-1.3+compat", "0.3"),
    ("a2a-js-0.3", "0.3"),
    ("a2a-go-2.3", "1.0"),
    ("a2a-go-2.3+compat", "1.0"),
    ("a2a-java-0.3", "0.3"),
    ("a2a-rust-0.5", "1.0"),
    ("fasta2a-2.1", "1.0"),
]
BLOCKING = [(name, dialect) for name, dialect in SPEAKING if name != "fasta2a-2.1"]  # which always answers submitted


class Caller:
    """Says what a client of one dialect says, and nothing more."""

    def __init__(self, running: ServedAgent, dialect: str, *, mount: str = "/", follow: bool = False) -> None:
        self._new = dialect == "1.0"
        self._url = running.url + mount
        headers = {"A2A-Version": "1.0"} if self._new else {}
        self._http = httpx.AsyncClient(headers=headers, timeout=30, trust_env=False, follow_redirects=follow)

    def _body(self, op: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": "r1", "method": (NEW if self._new else OLD)[op], "params": params}

    def message(self, text: str) -> dict[str, Any]:
        if self._new:
            said = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}]}
        else:
            said = {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": text}]}
        return {"message": said}

    async def call(self, op: str, params: dict[str, Any]) -> Any:
        response = await self._http.post(self._url, json=self._body(op, params))
        answer = response.json()
        assert answer["id"] == "r1" and "error" not in answer, answer
        result = answer["result"]
        return result.get("task", result) if self._new else result

    async def stream(self, text: str) -> AsyncIterator[Any]:
        """Results of the events, and None for each comment."""
        body = self._body("stream", self.message(text))
        async with self._http.stream("POST", self._url, json=body) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            async for line in response.aiter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:])["result"]
                elif line.startswith(":"):
                    yield None

    async def __aenter__(self) -> Caller:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()


def state(event: Any) -> str:
    """The state an event reports, in lower case and without prefix; empty for an artifact."""
    inner = event.get("task") or event.get("statusUpdate") or event
    return str(inner.get("status", {}).get("state", "")).removeprefix("TASK_STATE_").lower()


def texts(artifacts: Sequence[Any]) -> str:
    return "".join(part["text"] for artifact in artifacts for part in artifact["parts"])


def card_of(running: ServedAgent, **headers: str) -> Any:
    return httpx.get(running.card_url, headers=headers, trust_env=False).json()


@pytest.mark.parametrize(("name", "dialect"), BLOCKING)
def test_a_send_ends_in_the_completed_echo(name: str, dialect: str) -> None:
    async def life() -> Any:
        async with agent(name) as running, Caller(running, dialect) as caller:
            return await caller.call("send", caller.message("hello"))

    task = asyncio.run(life())
    assert state(task) == "completed"
    assert texts(task["artifacts"]) == "echo: hello"


@pytest.mark.parametrize(("name", "dialect"), SPEAKING)
def test_a_stream_shows_the_task_its_two_chunks_and_its_end(name: str, dialect: str) -> None:
    async def life() -> list[Any]:
        async with agent(name) as running, Caller(running, dialect) as caller:
            return [event async for event in caller.stream("hello")]

    events = asyncio.run(life())
    chunks = [event.get("artifactUpdate", event) for event in events if not state(event)]
    assert [state(event) for event in events if state(event)] == ["submitted", "working", "completed"]
    assert texts([chunk["artifact"] for chunk in chunks]) == "echo: hello"
    assert [chunk.get("append", False) for chunk in chunks] == [False, True]
    assert [chunk.get("lastChunk", False) for chunk in chunks] == [False, True]
    assert {chunk["artifact"]["artifactId"] for chunk in chunks} == {"echo"}
    if dialect != "1.0":
        finals = [event["final"] for event in events if event["kind"] == "status-update"]
        assert finals[-1] and not any(finals[:-1])


@pytest.mark.parametrize(("name", "dialect"), BLOCKING)
def test_a_hanging_task_can_be_cancelled(name: str, dialect: str) -> None:
    async def life() -> tuple[Any, list[str], Any]:
        async with agent(name, "--hang") as running, Caller(running, dialect) as caller:
            seen: list[str] = []
            task: Any = None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None) as watch:
                    async for event in caller.stream("hello"):
                        seen.append(state(event))
                        if seen == ["submitted", "working"]:
                            task_id = (event.get("statusUpdate") or event)["taskId"]
                            task = await caller.call("cancel", {"id": task_id})
                            watch.reschedule(asyncio.get_running_loop().time() + 2.0)
            return task, seen, await caller.call("get", {"id": task_id})

    canceled, seen, afterwards = asyncio.run(life())
    assert state(canceled) == state(afterwards) == "canceled"
    # The Python SDKs before 1.x say it to the caller only: the task's open stream hears nothing, and stays open.
    assert seen == ["submitted", "working"] + ["canceled"] * (name not in ("a2a-sdk-0.3", "a2a-sdk-0.2"))


@pytest.mark.parametrize(("name", "dialect"), BLOCKING)
def test_a_hanging_send_does_not_answer_and_the_tasks_before_it_did(name: str, dialect: str) -> None:
    async def life() -> None:
        async with agent(name, "--hang", "1") as running, Caller(running, dialect) as caller:
            assert state(await caller.call("send", caller.message("first"))) == "completed"
            async with asyncio.timeout(1.0):
                await caller.call("send", caller.message("second"))

    with pytest.raises(TimeoutError):
        asyncio.run(life())


@pytest.mark.slow
def test_while_a_task_hangs_the_official_sdks_go_on_pinging() -> None:
    """Show 4 of issue 2 stands on this: comments every 15 s, and no protocol event."""

    async def listen(name: str, dialect: str) -> list[Any]:
        async with agent(name, "--hang") as running, Caller(running, dialect) as caller:
            heard = []
            async for event in caller.stream("hello"):
                heard.append(event)
                if event is None:
                    return heard
        return heard

    async def both() -> list[list[Any]]:
        async with asyncio.timeout(60):
            return await asyncio.gather(listen("a2a-sdk-1.3", "1.0"), listen("a2a-sdk-0.3", "0.3"))

    for heard in asyncio.run(both()):
        assert [event and state(event) for event in heard] == ["submitted", "working", None]


@pytest.mark.parametrize(("name", "dialect"), [("a2a-sdk-1.3", "1.0"), ("a2a-sdk-0.3", "0.3"), ("a2a-js-1.3", "1.0")])
@pytest.mark.parametrize("mount", ["/rpc", "/rpc/"])
def test_the_endpoint_is_mounted_and_named_with_or_without_a_final_slash(name: str, dialect: str, mount: str) -> None:
    async def life() -> tuple[str, Any]:
        async with agent(name, "--mount", mount) as running, Caller(running, dialect, mount=mount) as caller:
            card = card_of(running)
            named = card["url"] if dialect == "0.3" else card["supportedInterfaces"][0]["url"]
            assert named == running.url + mount
            return named, await caller.call("send", caller.message("hello"))

    _, task = asyncio.run(life())
    assert state(task) == "completed"


@pytest.mark.parametrize(("name", "dialect"), [("a2a-sdk-1.3", "1.0"), ("a2a-sdk-0.3", "0.3")])
def test_a_card_that_names_a_slash_more_leads_through_a_redirect(name: str, dialect: str) -> None:
    async def life() -> Any:
        options = ("--mount", "/rpc", "--interface-slash")
        async with agent(name, *options) as running:
            card = card_of(running)
            named = card["url"] if dialect == "0.3" else card["supportedInterfaces"][0]["url"]
            assert named == running.url + "/rpc/"
            async with Caller(running, dialect, mount="/rpc/", follow=True) as caller:
                return await caller.call("send", caller.message("hello"))

    assert state(asyncio.run(life())) == "completed"


def test_the_agents_own_log_shows_what_it_was_asked(tmp_path: Path) -> None:
    async def life(name: str) -> list[Any]:
        async with agent(name, log=tmp_path / f"{name}.jsonl") as running, Caller(running, "1.0") as caller:
            card_of(running)
            before = running.requests()
            assert {line["method"] for line in before} == {"GET"}
            await caller.call("send", caller.message("hello"))
            return running.requests()[len(before) :]

    for name in ("a2a-sdk-1.3", "a2a-js-1.3"):
        (line,) = asyncio.run(life(name))
        assert (line["method"], line["path"], line["rpc"]) == ("POST", "/", "SendMessage")
        assert line["headers"]["a2a-version"] == "1.0" and line["at"] > 0 and line["bytes"] > 100


def signed_bytes(card: Any, name: str) -> bytes:
    """What the SDK of that line signs, of an ASCII card without empty members."""
    left_out = ("signatures", "protocolVersion", "preferredTransport") if name == "a2a-sdk-0.3" else ("signatures",)
    return rfc8785.dumps({key: value for key, value in card.items() if key not in left_out})


@pytest.mark.parametrize("name", ["a2a-sdk-1.3", "a2a-sdk-0.3"])
def test_a_card_is_signed_with_the_callers_key_and_tampering_breaks_it(name: str, tmp_path: Path) -> None:
    key = JWK.generate(kty="EC", crv="P-256", kid="k1", alg="ES256")
    (tmp_path / "key.json").write_text(key.export_private())

    async def served_card(*options: str) -> Any:
        async with agent(name, "--sign", str(tmp_path / "key.json"), *options) as running:
            return card_of(running)

    def verify(card: Any) -> None:
        (signature,) = card["signatures"]
        token = JWS()
        payload = base64.urlsafe_b64encode(signed_bytes(card, name)).decode().rstrip("=")
        token.deserialize(json.dumps({**signature, "payload": payload}), key)
        assert token.jose_header["kid"] == "k1"

    verify(asyncio.run(served_card()))
    with pytest.raises(JWException):
        verify(asyncio.run(served_card("--tamper")))


@pytest.mark.parametrize("name", ["a2a-sdk-1.3", "a2a-js-1.3"])
def test_a_1_0_server_refuses_a_call_without_its_version(name: str) -> None:
    async def life() -> Any:
        async with agent(name) as running, Caller(running, "1.0") as caller:
            body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": caller.message("hello")}
            async with httpx.AsyncClient(trust_env=False) as http:
                return (await http.post(running.url + "/", json=body)).json()

    assert asyncio.run(life())["error"]["code"] == -32009


def test_the_compat_card_of_the_python_sdk_reads_as_both_and_that_of_the_js_sdk_varies() -> None:
    async def life(name: str) -> tuple[Any, Any]:
        async with agent(name) as running:
            return card_of(running), card_of(running, **{"A2A-Version": "1.0"})

    plain, versioned = asyncio.run(life("a2a-sdk-1.3+compat"))
    assert plain == versioned and plain["protocolVersion"] == "0.3"
    assert [each["protocolVersion"] for each in plain["supportedInterfaces"]] == ["1.0", "0.3"]
    plain, versioned = asyncio.run(life("a2a-js-1.3+compat"))
    assert plain["protocolVersion"].startswith("0.3") and "protocolVersion" not in versioned


def test_fasta2a_answers_submitted_and_has_to_be_asked_again() -> None:
    async def life() -> tuple[str, Any]:
        async with agent("fasta2a-2.1", "--work", "0.05") as running, Caller(running, "1.0") as caller:
            task = await caller.call("send", caller.message("hello"))
            first = state(task)
            async with asyncio.timeout(10):
                while state(task) not in ("completed", "failed"):
                    await asyncio.sleep(0.02)
                    task = await caller.call("get", {"id": task["id"]})
            return first, task

    first, task = asyncio.run(life())
    assert (first, state(task), texts(task["artifacts"])) == ("submitted", "completed", "echo: hello")


async def events_of(name: str, dialect: str) -> list[Any]:
    async with (
        agent(name) as running,
        Caller(running, dialect, mount=running.address[len(running.url) :] or "/") as caller,
    ):
        return [event async for event in caller.stream("hello") if event is not None]


def test_adk_answers_in_one_chunk_under_an_identifier_of_its_own() -> None:
    events = asyncio.run(events_of("google-adk-2.13", "1.0"))
    (update,) = [event["artifactUpdate"] for event in events if "artifactUpdate" in event]
    assert texts([update["artifact"]]) == "echo: hello" and update["artifact"]["artifactId"] != "echo"
    assert not update.get("append") and update["lastChunk"] is True
    assert state(events[-1]) == "completed"


def test_langgraph_mixes_the_generations_in_a_stream_of_1_0() -> None:
    first, *others = asyncio.run(events_of("langgraph-api-0.16", "1.0"))
    assert state(first) == "submitted" and "task" in first
    assert [event["kind"] for event in others] == ["artifact-update", "status-update"]
    assert others[-1]["status"]["state"] == "TASK_STATE_COMPLETED"


def test_langgraph_serves_a_card_under_each_assistant_and_none_at_the_root() -> None:
    async def life() -> tuple[Any, int]:
        async with agent("langgraph-api-0.16") as running:
            at_root = httpx.get(running.url + "/.well-known/agent-card.json", trust_env=False)
            return (card_of(running)["supportedInterfaces"][0]["url"] == running.address), at_root.status_code

    assert asyncio.run(life()) == (True, 400)


def test_python_a2a_declares_json_rpc_and_does_not_speak_it() -> None:
    async def life() -> tuple[Any, httpx.Response]:
        async with agent("python-a2a-0.5") as running, Caller(running, "0.3") as caller:
            body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": caller.message("hello")}
            async with httpx.AsyncClient(trust_env=False) as http:
                return card_of(running), await http.post(running.url + "/", json=body)

    card, answer = asyncio.run(life())
    assert (card["protocolVersion"], card["preferredTransport"], card["url"][:7]) == ("0.3.0", "JSONRPC", "http://")
    assert answer.status_code == 500 and "Unknown content type: None" in answer.text


def test_crewai_refuses_a_type_that_its_card_does_not_declare_and_streams_one_event() -> None:
    async def life() -> tuple[Any, Any]:
        async with agent("crewai-1.15") as running, Caller(running, "0.3") as caller:
            params = caller.message("hello")
            params["message"]["parts"] = [{"kind": "file", "file": {"bytes": "aGk=", "mimeType": "image/png"}}]
            body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params}
            async with httpx.AsyncClient(trust_env=False) as http:
                refused = (await http.post(running.url + "/", json=body)).json()
            return refused, [event async for event in caller.stream("hello")]

    refused, (task,) = asyncio.run(life())
    assert refused["error"]["code"] == -32602 and "Unsupported content type(s): image/png" in json.dumps(refused)
    assert (task["kind"], state(task), texts(task["artifacts"])) == ("task", "completed", "echo: hello")


@pytest.mark.parametrize(
    ("name", "refused"),
    [("a2a-go-2.3", ()), ("a2a-rust-0.5", (None, "0.3", "v1.0", "9.9")), ("a2a-sdk-1.3", (None, "0.3", "9.9"))],
)
def test_which_spellings_of_a_version_a_1_0_server_lets_pass(name: str, refused: tuple[str | None, ...]) -> None:
    async def life() -> dict[str | None, Any]:
        async with agent(name) as running, Caller(running, "1.0") as caller, httpx.AsyncClient(trust_env=False) as http:
            body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": caller.message("hello")}
            answers = {}
            for version in (None, "0.3", "1", "1.0", "1.0.0", "1.0.0-rc", "1.5", "v1.0", "9.9"):
                headers = {"A2A-Version": version} if version else {}
                answers[version] = (await http.post(running.url + "/", json=body, headers=headers)).json()
            return answers

    codes = {version: answer.get("error", {}).get("code") for version, answer in asyncio.run(life()).items()}
    assert codes == {version: -32009 if version in refused else None for version in codes}


def test_the_tag_of_a_card_of_the_rust_sdk_is_its_version_whatever_it_holds() -> None:
    """A validator that does not change with the content: a client that trusts it never sees a changed card."""

    async def life(*options: str) -> str:
        async with agent("a2a-rust-0.5", *options) as running:
            return httpx.get(running.card_url, trust_env=False).headers["etag"]

    assert asyncio.run(life()) == asyncio.run(life("--modes", "text/csv")) == '"1.0.0"'


@pytest.mark.parametrize("variant", ["rest", "full"])
def test_http_json_is_served_where_the_card_says(variant: str) -> None:
    async def life() -> Any:
        async with agent(f"a2a-sdk-1.3+{variant}") as running, Caller(running, "1.0") as caller:
            declared = {each["protocolBinding"]: each["url"] for each in card_of(running)["supportedInterfaces"]}
            headers = {"A2A-Version": "1.0", "Content-Type": "application/a2a+json"}
            async with httpx.AsyncClient(trust_env=False, headers=headers) as http:
                content = json.dumps(caller.message("hello"))
                return (await http.post(declared["HTTP+JSON"] + "/message:send", content=content)).json()["task"]

    task = asyncio.run(life())
    assert (state(task), texts(task["artifacts"])) == ("completed", "echo: hello")


@pytest.mark.parametrize("name", ["a2a-sdk-1.3"])
def test_strict_modes_switch_on_the_sdks_own_refusal(name: str) -> None:
    async def life() -> Any:
        async with agent(name, "--strict-modes") as running, Caller(running, "1.0") as caller:
            params = caller.message("hello")
            params["message"]["parts"] = [{"raw": "aGk=", "mediaType": "image/png"}]
            body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
            async with httpx.AsyncClient(trust_env=False, headers={"A2A-Version": "1.0"}) as http:
                return (await http.post(running.url + "/", json=body)).json()

    assert asyncio.run(life())["error"]["code"] == -32005


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_either_installer_builds_the_same_packages(installer: str, tmp_path: Path) -> None:
    if installer == "uv" and not find_uv():
        pytest.skip("there is no uv on this machine")
    vendor = find_vendor("fasta2a-2.1")
    built = built_or_skipped(vendor, cache=tmp_path, installer=installer)
    assert built.installer == installer and built.bytes > 1_000_000
    pinned = set(re.findall(r"^([a-z][a-z0-9-]*==[^ ;]+)", vendor.runtime.lock.read_text(), flags=re.MULTILINE))
    assert pinned <= {package.replace("_", "-").lower() for package in built.packages}


def test_a_package_that_is_not_the_one_that_was_locked_is_not_installed(tmp_path: Path) -> None:
    vendor = find_vendor("fasta2a-2.1")
    lock = tmp_path / "requirements.lock"
    lock.write_text(re.sub("sha256:[0-9a-f]{8}", "sha256:00000000", vendor.runtime.lock.read_text()))
    changed = replace(vendor, runtime=replace(vendor.runtime, lock=lock))
    built_or_skipped(vendor, cache=tmp_path / "good")
    with pytest.raises(HarnessFault, match="step 'install' ended with exit status") as fault:
        ensure_environment(changed, cache=tmp_path / "bad")
    assert fault.value.fields["cause"] == "failed"
    assert "hash" in Path(fault.value.fields["log"]).read_text().lower()
