"""What the Python consumers have in common: their options, what they note down, and the one line they end with.

Runs inside a vendor's own environment and knows no SDK. A consumer hands `run` a coroutine that discovers and talks as
its SDK does by itself, and notes in `Seen` what the SDK delivered. Whatever the SDK raises is the result's `error`, in
full; only an error that our own lines raise is our bug, and ends the program with status 3 and no result.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent.parent
OWN_BUG = 3
SHOWN_CHARACTERS = 120  # of a text, in the sentence only
CAUSES = 3  # SDKs wrap what their HTTP library said; what it said is often all there is to know


def consumer_options(description: str | None) -> argparse.ArgumentParser:
    """The options that every consumer understands."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--url", required=True, help="address of the agent, as a user would be told it")
    parser.add_argument("--op", choices=("send", "stream"), required=True)
    parser.add_argument("--text", required=True, help="what to say")
    parser.add_argument("--mode", default="text/plain", metavar="MIME", help="media type of what is sent")
    parser.add_argument("--file", type=Path, default=None, help="send the content of this file instead of the text")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="S", help="the SDK's transport timeout")
    parser.add_argument("--card-path", default=None, metavar="PATH", help="where to look for the card, when told")
    return parser


def times_option(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """An orchestrator goes on living after its first task; this one can be given several, one after another."""
    parser.add_argument("--times", type=int, default=1, metavar="N", help="how many tasks it is given, each the same")
    return parser


@dataclass(frozen=True)
class Payload:
    """What is to be sent: `kind` is "text", "data" (then `data` is JSON) or "raw" (then `raw` is bytes)."""

    kind: str
    mode: str
    text: str
    data: Any
    raw: bytes


def payload_of(options: argparse.Namespace) -> Payload:
    """The text or the file, as the part of a message that its media type calls for."""
    content = options.file.read_bytes() if options.file else options.text.encode()
    mode: str = options.mode
    if mode.startswith("text/"):
        return Payload("text", mode, content.decode("utf-8", "replace"), None, content)
    if mode == "application/json":
        try:
            return Payload("data", mode, "", json.loads(content), content)
        except ValueError:
            return Payload("data", mode, "", {"text": content.decode("utf-8", "replace")}, content)
    return Payload("raw", mode, "", None, content)


class Reported(Exception):
    """An error that the SDK returned as a value, raised so that it is told like those that it raises."""


@dataclass
class Seen:
    """What the SDK delivered to its caller, in the order it came."""

    state: str | None = None
    events: int = 0
    empty: int = 0
    artifacts: dict[str, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)

    def matched(self, on: str) -> None:
        """The consumer chose the agent now, for what it had read of it: a step that leaves no traffic."""
        self.steps.append({"at": time.time(), "what": "match", "told": on})

    def event(self) -> None:
        self.events += 1

    def nothing_in_it(self) -> None:
        """An event of which the SDK kept nothing."""
        self.empty += 1

    def status(self, state: str) -> None:
        """The task's state, as any SDK spells it."""
        self.state = state.rpartition(".")[2].removeprefix("TASK_STATE_").lower().replace("_", "-")

    def artifact(self, artifact_id: str, text: str, *, append: bool = False) -> None:
        self.artifacts[artifact_id] = (self.artifacts.get(artifact_id, "") if append else "") + text

    def snapshot(self, artifacts: Iterable[tuple[str, str]]) -> None:
        """All artifacts of the task, replacing what was noted before."""
        self.artifacts = dict(artifacts)

    def message(self, text: str) -> None:
        self.messages.append(text)

    def beside(self, error: str) -> None:
        """An error that the SDK told somebody, while it gave its caller an answer all the same."""
        if error not in self.asides:
            self.asides.append(error)

    def said(self, error: str | None) -> str:
        """One sentence: what a user of this consumer would be left with."""
        if error:
            return f"failed after {self.events} event{'s' * (self.events != 1)}: {shortened(error)}"
        if not self.events:
            return "nothing came, and the SDK reported no error"
        parts = [self.state or ("answered" if self.messages else "ended without a state")]
        parts += [f"artifact {name!r}: {shortened(text)!r}" for name, text in self.artifacts.items()]
        parts += [f"message {shortened(text)!r}" for text in self.messages]
        if self.empty:
            parts.append(f"{self.empty} of {self.events} events had nothing in them")
        parts += [f"while beside the answer it reported {shortened(text)!r}" for text in self.asides]
        return ", ".join(parts)

    def result(self, error: str | None) -> dict[str, Any]:
        return {
            "ok": error is None and self.events > 0,
            "state": self.state,
            "artifacts": [{"id": name, "text": text} for name, text in self.artifacts.items()],
            "events": self.events,
            "error": "; ".join([error, *self.asides] if error else self.asides) or None,
            "said": self.said(error),
            **({"steps": self.steps} if self.steps else {}),
        }


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 3] + "..."


def run(converse: Callable[[argparse.Namespace, Seen], Awaitable[None]], parser: argparse.ArgumentParser) -> NoReturn:
    """Talk, and end with the result on standard output, or with status 3 where the bug is ours."""
    options = parser.parse_args()
    seen, error = Seen(), None

    async def talking() -> None:
        await converse(options, seen)

    try:
        asyncio.run(talking())
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # some SDKs raise cancellation or SystemExit; that too is what they report
        if raised_here(problem):
            traceback.print_exc()
            sys.exit(OWN_BUG)
        error = told(problem)
    finish(seen.result(error))


def raised_here(problem: BaseException) -> bool:
    """Whether one of our own lines raised it, not the SDK's nor one below."""
    if isinstance(problem, Reported):
        return False
    at = problem.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    return bool(at) and HERE in Path(at.tb_frame.f_code.co_filename).resolve().parents


def told(problem: BaseException) -> str:
    """The error with its class and its causes, as far as they say more."""
    if isinstance(problem, Reported):
        return str(problem)
    inner = getattr(problem, "exceptions", None)
    if isinstance(inner, list | tuple) and inner:
        return "; ".join(told(each) for each in inner)
    text = f"{type(problem).__name__}: {problem}".rstrip(": ")
    cause = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
    for _ in range(CAUSES):
        if cause is None:
            break
        more = f"{type(cause).__name__}: {cause}".rstrip(": ")
        if (str(cause) or more) not in text:  # an error without a word still has a name
            text += f" (from {more})"
        cause = cause.__cause__
    return text


def finish(result: dict[str, Any]) -> NoReturn:
    """Write the result and end at once: threads that an SDK left behind neither delay nor follow it."""
    sys.stdout.flush()
    sys.stderr.flush()
    line = ("\n" + json.dumps(result, ensure_ascii=True) + "\n").encode("ascii")
    while line:
        line = line[os.write(1, line) :]
    os._exit(0)
