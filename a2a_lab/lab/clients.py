"""Says what today's clients of each generation would do with a card, since one card can be read as two (wire-facts 1).

Facts about the official SDK clients as measured; no verdict. An engineer who sees both readings side by side knows why
one client reaches the agent and the other does not.
"""

from __future__ import annotations

from a2a_lab.core.model import Card
from a2a_lab.core.quoting import quoted


def readings(card: Card) -> dict[str, str]:
    """One sentence for a client of 1.0 and one for a client of 0.3."""
    return {"1.0": _of_1_0(card), "0.3": _of_0_3(card)}


def _of_1_0(card: Card) -> str:
    document = card.document
    entries = document.get("supportedInterfaces")
    if not isinstance(entries, list) or not entries:
        url = document.get("url")
        if not isinstance(url, str):
            return "finds no interface and gives up: neither supportedInterfaces nor url is there"
        version = document.get("protocolVersion") or "0.3.0 (assumed)"
        return (
            f"with compatibility switched on it reads the old layout and calls {quoted(url)} as {version}; "
            "without it, it gives up"
        )
    usable = [
        entry
        for entry in card.interfaces
        if entry.binding == "JSONRPC" and str(entry.version or "").lstrip("vV").startswith("1")
    ]
    if not usable:
        offered = ", ".join(f"{entry.binding} {entry.version}" for entry in card.interfaces) or "nothing"
        return f"finds no JSON-RPC interface of 1.x and gives up or falls back: the card offers {offered}"
    entry = usable[0]
    tenant = f", with tenant {quoted(entry.tenant)} in every request" if entry.tenant else ""
    return f"calls SendMessage at {quoted(entry.url)} with A2A-Version 1.0{tenant}"


def _of_0_3(card: Card) -> str:
    url = card.document.get("url")
    if not isinstance(url, str):
        return "rejects the card: url is missing, which it reports as a card that does not validate"
    transport = card.document.get("preferredTransport") or "JSONRPC"
    version = card.document.get("protocolVersion") or "0.3.0 (assumed)"
    reading = f"calls message/send at {quoted(url)} over {transport}, believing version {version}"
    if card.form == "1.0":
        reading += "; these members lie outside what a 1.0 signature covers"
    return reading
