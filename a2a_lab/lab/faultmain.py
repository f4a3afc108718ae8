"""Asks an agent what a recording asked it, and tells whether a recorded fault is still there; needs httpx alone.

The text below the mark travels inside of the scripts that `a2a-lab reproduce` makes, together with `faultfacts`. It is
a module as well, so that it is checked and tested like any other.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
import time
import uuid
from typing import Any
from urllib.parse import urlsplit

import httpx

from a2a_lab.lab.faultfacts import facts_of

# --8<-- from here on the text travels

ROOM = 1_000_000  # bytes beyond what was recorded that are read of an answer
ID_MEMBERS = ("id", "messageId", "taskId", "contextId", "sessionId")


def main(fault: dict[str, Any], arguments: list[str]) -> int:
    """1 while the fault is there, 0 when it is not seen, 2 when the agent cannot be asked."""
    reader = argparse.ArgumentParser(description=f"Shows: {fault['what']}".replace("%", "%%"))
    reader.add_argument("url", help="where the agent is, or where `a2a-lab replay case.json` says it serves")
    reader.add_argument("--rpc", help="where calls go, if that is not the recorded path below the URL")
    reader.add_argument("--header-env", action="append", default=[], metavar="NAME=VARIABLE", help="a header to add")
    reader.add_argument("--hang", type=float, default=fault["hang_s"], help="seconds without a byte that are a hang")
    reader.add_argument("--total", type=float, default=fault["total_s"], help="seconds for any one answer")
    given = reader.parse_args(arguments)
    try:
        extra = {name: os.environ[variable] for name, _, variable in (one.partition("=") for one in given.header_env)}
    except KeyError as missing:
        print(f"environment variable {missing} is not set; a header is read from it", file=sys.stderr)
        return 2
    print(f"This sends {len(fault['requests'])} requests to {given.url}; each message may start work at the agent.")
    print(f"Looking for: {fault['what']}")
    seen = ask_all(fault, given, extra)
    return concluded(fault, seen)


def ask_all(fault: dict[str, Any], given: argparse.Namespace, extra: dict[str, str]) -> list[dict[str, Any]]:
    """Make every request in its order, with the ids that the agent gave us in place of the recorded ones."""
    ids: dict[str, str] = {}
    seen = []
    with httpx.Client(headers={"Accept-Encoding": "identity"}, follow_redirects=False) as client:
        for request in fault["requests"]:
            time.sleep(request["pause_s"])
            url = renamed_url(request["url"], fault["base"], given, ids, is_call=request["method"] == "POST")
            headers = {name: value for name, value in request["headers"] if "REDACTED" not in value} | extra
            body = renamed(request["body"], ids)
            limit = given.hang if request["is_stream"] else given.total
            bound = request["bytes"] + ROOM
            found = ask(client, request["method"], url, headers, body, limit, given.total, bound, fault["origins"])
            for name, recorded in request["ids"].items():
                if found.get(name):
                    ids[recorded] = found[name]
            told = (
                f"{found['status'] or 'no answer'} {found['media']}, {found['ending']}, task {found.get('state', '-')}"
            )
            print(f"  {request['method']} {url} {request['operation']} -> {told}")
            seen.append(found)
    return seen


def ask(
    client: httpx.Client,
    method: str,
    url: str,
    headers: dict[str, str],
    body: bytes,
    quiet_s: float,
    total_s: float,
    bound: int,
    origins: list[str],
) -> dict[str, Any]:
    """Make one request, read its answer as long as the limits allow, and give its facts."""
    status, ending = None, "close"
    answered: dict[str, str] = {}
    pieces: list[bytes] = []
    size, until = 0, time.monotonic() + total_s
    try:
        timeout = httpx.Timeout(quiet_s, connect=10.0)
        with client.stream(method, url, headers=headers, content=body or None, timeout=timeout) as answer:
            status, answered = answer.status_code, {name.lower(): value for name, value in answer.headers.items()}
            for piece in answer.iter_raw():
                pieces.append(piece)
                size += len(piece)
                if time.monotonic() > until or size > bound:
                    ending = "open"
                    break
    except (httpx.ConnectError, httpx.ConnectTimeout) as problem:
        print(f"  {url} cannot be reached: {problem}")
        ending = "unreachable"
    except httpx.TimeoutException:
        ending = "open"
    except httpx.TransportError:
        ending = "reset"
    parts = urlsplit(url)
    own = (*origins, f"{parts.scheme}://{parts.netloc}")
    return facts_of(body, status, answered, b"".join(pieces), ending=ending, origins=own)


def concluded(fault: dict[str, Any], seen: list[dict[str, Any]]) -> int:
    """Compare the facts that show the fault with those that were recorded."""
    wanted = {int(place): facts for place, facts in fault["facts"].items()}
    places, statuses = [*wanted, *fault["differ"]], fault["statuses"]
    if any(seen[place]["ending"] == "unreachable" for place in places):
        print("CANNOT TELL: the agent cannot be reached")
        return 2
    if any(seen[place]["status"] in (401, 403, 429) and seen[place]["status"] != statuses[place] for place in places):
        print("CANNOT TELL: the agent wants credentials (--header-env) or patience")
        return 2
    other = [
        f"request {place + 1}: {name} is {told(seen[place].get(name))}, it was {told(value)}"
        for place, facts in wanted.items()
        for name, value in facts.items()
        if not is_as_recorded(name, seen[place].get(name), value)
    ]
    cards = [seen[place].get("card") for place in fault["differ"]]
    if cards and len(set(cards)) == 1:
        other.append("the card was the same each time")
    if other:
        print("NOT SEEN: " + "; ".join(other))
        return 0
    print(f"FAULT SEEN: {fault['told']}. {fault['what']}")
    return 1


def is_as_recorded(name: str, found: Any, recorded: Any) -> bool:
    """A shape is as recorded while all of it is there, a size while it is half as large; else when equal."""
    if name == "shape":
        return set(recorded) <= set(found or ())
    if name == "bytes":
        return 2 * int(found or 0) >= int(recorded)
    return bool(found == recorded)


def told(value: Any) -> str:
    return json.dumps(value)[:120]


def renamed(body: dict[str, Any], ids: dict[str, str]) -> bytes:
    """The body under a fresh message id, and with the agent's own ids of tasks and contexts."""
    if "json" not in body:
        return base64.b64decode(body["b64"]) if "b64" in body else body.get("text", "").encode()
    document = body["json"]
    if isinstance(document, dict) and "jsonrpc" in document:
        document = {**document, "params": with_ids(document.get("params"), ids)}
    else:
        document = with_ids(document, ids)
    return json.dumps(document).encode()


def with_ids(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [with_ids(one, ids) for one in value]
    if not isinstance(value, dict):
        return value
    made = {}
    for name, one in value.items():
        if name == "messageId" and isinstance(one, str):
            ids.setdefault(one, str(uuid.uuid4()))
        made[name] = ids.get(one, one) if name in ID_MEMBERS and isinstance(one, str) else with_ids(one, ids)
    return made


def renamed_url(recorded: str, base: str, given: argparse.Namespace, ids: dict[str, str], *, is_call: bool) -> str:
    """Where a recorded URL is at the agent that was named: below its URL, or at its origin."""
    if is_call and given.rpc:
        return str(given.rpc)
    here = str(given.url).rstrip("/")
    if base and recorded.startswith(base):
        rest = recorded[len(base) :]
    else:
        parts, own = urlsplit(recorded), urlsplit(here)
        here, rest = f"{own.scheme}://{own.netloc}", parts.path + (f"?{parts.query}" if parts.query else "")
    return here + "/".join(ids.get(piece, piece) for piece in rest.split("/"))
