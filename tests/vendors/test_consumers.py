"""Consumers that are run (issue 4, item 3): whatever one does, its account is read or its failure is named.

The consumers here are a few lines, with and without the kit that the real ones use; no SDK and no agent.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.bundled import bundled_root
from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.consumers import ConsumerResult, ResultLine, run_consumer
from a2a_lab.vendors.environments import Environment
from a2a_lab.vendors.vendor import Program, Runtime, Vendor
from tests.vendors.test_served import gone_soon, lives

SHARED = bundled_root() / "data" / "vendors" / "shared"
ACCOUNT = {"ok": True, "state": "completed", "artifacts": [], "events": 1, "error": None, "said": "completed"}

KIT = """
import sys
sys.path += [SHARED, SDK]
from consumer_kit import Reported, consumer_options, payload_of, run
async def converse(options, seen):
    import sdk
    payload = payload_of(options)
    HOW
run(converse, consumer_options("a consumer"))
"""
SDK = """
class Refused(Exception): pass
def call():
    try:
        {}["card"]
    except KeyError as error:
        raise Refused("no card") from error
"""
NODE_KIT = """
import { consumerOptions, payloadOf, run } from './consumer_kit.mjs';
import * as sdk from './sdk.mjs';
await run(async (options, seen) => {
  const payload = payloadOf(options);
  HOW
}, consumerOptions());
"""
NODE_SDK = """
export function call() { throw new TypeError('fetch failed', { cause: new Error('connection refused') }); }
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of the vendor and its programs."""
    (tmp_path / "vendors").mkdir()
    return tmp_path / "vendors"


def consume(home: Path, program: str, *, name: str = "consumer.py", **asked: Any) -> ConsumerResult:
    """Run the program as the consumer of a vendor that holds nothing else."""
    (home / name).write_text(program)
    (home / "bin").mkdir(exist_ok=True)
    (home / "bin" / "python").unlink(missing_ok=True)
    (home / "bin" / "python").symlink_to(sys.executable)
    kind = "python" if name.endswith("py") else "node"
    lock = home / "lock"
    vendor = Vendor(
        name="acme",
        title="Acme",
        version="1",
        roles=("consumer",),
        dialects=("1.0",),
        bindings=("JSONRPC",),
        folder=home,
        runtime=Runtime(kind=kind, lock=lock),
        consumer=Program(launch=(f"{{{kind}}}", f"{{programs}}/{name}", "--url", "{url}")),
    )
    facts = {"runtime": "", "installer": "", "seconds": 0.0, "bytes": 0, "built": "", "packages": ()}
    environment = Environment(name="acme", folder=home, kind=kind, **facts)
    asked = {"url": "http://127.0.0.1:1", "op": "send", "text": "hello", "timeout_s": 3, "cap_s": 30, **asked}
    return asyncio.run(run_consumer(vendor, environment, **asked))


def with_kit(how: str, home: Path) -> str:
    sdk = home.parent / "sdk"  # not under the folder of the programs, all of which the kit takes for ours
    sdk.mkdir(exist_ok=True)
    (sdk / "sdk.py").write_text(SDK)
    (home / "shared").mkdir(exist_ok=True)
    shutil.copy(SHARED / "consumer_kit.py", home / "shared" / "consumer_kit.py")
    return KIT.replace("SHARED", repr(str(home / "shared"))).replace("SDK", repr(str(sdk))).replace("HOW", how)


def test_the_account_is_the_last_line_that_is_one_whatever_else_is_printed(home: Path) -> None:
    program = f"""
        import sys
        print({json.dumps({**ACCOUNT, "said": "a peer's text that a log shows"})!r}, flush=True)
        sys.stderr.write("x" * 3_000_000 + "\\n")
        print("[info] without a line end", end="", file=sys.stderr, flush=True)
        print()
        print({json.dumps(ACCOUNT)!r}, flush=True)
        print('{{"ok": only a beginning')
    """
    result = consume(home, textwrap.dedent(program))
    assert (result.said, result.exit_status, result.hung) == ("completed", 0, False)
    assert len(result.output) < 100_000


def test_a_line_is_found_however_it_is_cut() -> None:
    data = b'noise {"ok"\n{"okay": 1}\n' + json.dumps(ACCOUNT).encode() + b"\n{}\n"
    for size in (1, 2, 7, len(data)):
        line = ResultLine()
        for start in range(0, len(data), size):
            line.add(data[start : start + size])
        assert line.account == ACCOUNT


def test_a_consumer_is_told_what_to_do_and_nothing_of_the_lab(home: Path) -> None:
    program = f"""
        import json, os, sys
        told = json.dumps([sys.argv[1:], "LAB_SECRET" in os.environ, os.getcwd()])
        print(json.dumps({{**{ACCOUNT!r}, "said": told}}))
    """
    os.environ["LAB_SECRET"] = "x"
    try:
        result = consume(home, textwrap.dedent(program), text="--dashed", mode="image/png", file=home / "p")
    finally:
        del os.environ["LAB_SECRET"]
    argv, secret, folder = json.loads(result.said)
    assert argv[:2] == ["--url", "http://127.0.0.1:1"] and "--text=--dashed" in argv and not secret
    assert argv[argv.index("--timeout") + 1] == "3" and argv[argv.index("--file") + 1] == str(home / "p")
    assert folder != str(home) and not Path(folder).exists()


def test_a_consumer_that_does_not_end_is_ended_and_named(home: Path) -> None:
    result = consume(home, "import time\nprint('waiting', flush=True)\ntime.sleep(600)", cap_s=1.0)
    assert (result.ok, result.hung, result.exit_status) == (False, True, -15)
    assert result.error == "the consumer did not end within 1 s, and was ended by the lab"
    assert "waiting" in result.output and 1.0 <= result.duration_s < 5.0


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit(3)", "a bug of its program, not of its SDK"),
        ("print('no line')", "ended with exit status 0 and without a result"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended with exit status -9 and without a result"),
    ],
)
def test_a_consumer_without_an_account_is_our_fault_and_shows_its_last_words(
    program: str, why: str, home: Path
) -> None:
    with pytest.raises(HarnessFault, match=why) as fault:
        consume(home, "print('last words', flush=True)\n" + program)
    assert fault.value.fields["step"] == "consume" and "last words" in fault.value.fields["output"]


def test_the_kit_reports_what_the_sdk_delivered(home: Path) -> None:
    how = """
    seen.event(); seen.status("TaskState.TASK_STATE_INPUT_REQUIRED"); seen.artifact("a", "one ")
    seen.event(); seen.artifact("a", "two", append=True)
    seen.event(); seen.nothing_in_it()"""
    result = consume(home, with_kit(how, home))
    assert (result.ok, result.state, result.events, result.error) == (True, "input-required", 3, None)
    assert [(each.id, each.text) for each in result.artifacts] == [("a", "one two")]
    assert result.said == "input-required, artifact 'a': 'one two', 1 of 3 events had nothing in them"


def test_an_sdk_that_delivers_nothing_and_says_nothing_is_not_ok(home: Path) -> None:
    result = consume(home, with_kit("pass", home))
    assert (result.ok, result.error) == (False, None)
    assert result.said == "nothing came, and the SDK reported no error"


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("sdk.call()", "Refused: no card (from KeyError: 'card')"),
        ("raise Reported('JSON-RPC error -32601')", "JSON-RPC error -32601"),
        ("exec(compile('raise SystemExit(7)', 'elsewhere', 'exec'))", "SystemExit: 7"),
    ],
)
def test_what_the_sdk_raises_is_the_result(how: str, error: str, home: Path) -> None:
    result = consume(home, with_kit(how, home))
    assert (result.ok, result.error, result.exit_status) == (False, error, 0)


def test_a_mistake_of_our_own_lines_is_no_result(home: Path) -> None:
    with pytest.raises(HarnessFault, match="a bug of its program"):
        consume(home, with_kit("seen.no_such_thing()", home))


@pytest.mark.parametrize(
    ("mode", "content", "kind"),
    [
        ("text/csv", b"a,b", ("text", "a,b", None)),
        ("application/json", b'{"a": 1}', ("data", "", {"a": 1})),
        ("application/json", b"a", ("data", "", {"text": "a"})),
        ("image/png", b"\x89PNG", ("raw", "", None)),
    ],
)
def test_a_payload_becomes_the_part_its_type_calls_for(mode: str, content: bytes, kind: Any, home: Path) -> None:
    (home / "payload").write_bytes(content)
    how = "seen.event(); seen.message(repr((payload.kind, payload.text, payload.data)))"
    result = consume(home, with_kit(how, home), mode=mode, file=home / "payload")
    assert result.said == f"answered, message {repr(kind)!r}"


@pytest.mark.skipif(not shutil.which("node"), reason="there is no Node on this machine")
@pytest.mark.parametrize(
    ("how", "error", "said"),
    [
        ("seen.event(); seen.status('TASK_STATE_COMPLETED'); seen.artifact('a', 'x'); seen.artifact('a', 'y', true)",
         None, "completed, artifact 'a': 'xy'"),
        ("sdk.call()", "TypeError: fetch failed (from Error: connection refused)", None),
        ("setTimeout(() => sdk.call(), 1); await new Promise((resolve) => setTimeout(resolve, 5000))",
         "TypeError: fetch failed (from Error: connection refused)", None),
        ("seen.event(); seen.message(`${payload.kind} ${options.timeoutMs}`)", None, "answered, message 'text 3000'"),
        ("", None, "nothing came, and the SDK reported no error"),
    ],
)  # fmt: skip
def test_the_node_kit_does_the_same(how: str, error: str | None, said: str | None, home: Path) -> None:
    (home / "sdk.mjs").write_text(NODE_SDK)
    shutil.copy(SHARED / "consumer_kit.mjs", home / "consumer_kit.mjs")
    result = consume(home, NODE_KIT.replace("HOW", how), name="consumer.mjs")
    assert result.error == error and said in (None, result.said)


@pytest.mark.skipif(not shutil.which("node"), reason="there is no Node on this machine")
def test_a_mistake_of_our_own_lines_is_no_result_in_node_either(home: Path) -> None:
    (home / "sdk.mjs").write_text(NODE_SDK)
    shutil.copy(SHARED / "consumer_kit.mjs", home / "consumer_kit.mjs")
    with pytest.raises(HarnessFault, match="a bug of its program"):
        consume(home, NODE_KIT.replace("HOW", "seen.noSuchThing()"), name="consumer.mjs")


def test_nothing_outlives_a_lab_that_is_killed(home: Path) -> None:
    told = home / "pid"
    program = f"import os, time; open({str(told)!r}, 'w').write(f'{{os.getpid()}}\\n'); time.sleep(600)"
    lab = textwrap.dedent(f"""
        import sys
        sys.path[:0] = {[str(Path(__file__).parent.parent.parent)]!r}
        from pathlib import Path
        from tests.vendors.test_consumers import consume
        consume(Path({str(home)!r}), {program!r}, cap_s=600)
    """)
    with subprocess.Popen([sys.executable, "-c", lab], stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 30.0
        while not (told.exists() and told.read_text().endswith("\n")) and time.monotonic() < until:
            time.sleep(0.02)
        consumer = int(told.read_text())
        assert lives(consumer)
        process.kill()
        process.wait(10)
    assert gone_soon(consumer)
