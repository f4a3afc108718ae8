"""A2A 0.2 over JSON-RPC: the calls and objects of 0.3, but the extended card, which is a GET beside the endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final
from urllib.parse import urljoin

from a2a_lab.core.model import Json
from a2a_lab.core.policy import Bounds
from a2a_lab.wire import rest_answers, strict_json
from a2a_lab.wire.messages import Answer, Headers, Op, OutMessage, RequestFacts, WireRequest
from a2a_lab.wire.spelling import V0_2, Spelling
from a2a_lab.wire.v0_3 import JsonRpc03

EXTENDED_CARD: Final = "agent/authenticatedExtendedCard"


class JsonRpc02(JsonRpc03):
    """The dialect "0.2". Its methods are those of 0.3, so only the card tells the two apart."""

    id = "0.2"
    spelling: ClassVar[Spelling] = V0_2
    names: ClassVar[Mapping[Op, str]] = {**JsonRpc03.names, "extended-card": f"GET /{EXTENDED_CARD}"}

    def request(
        self,
        op: Op,
        *,
        url: str,
        rpc_id: Json,
        message: OutMessage | None = None,
        task_id: str | None = None,
        tenant: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        accepts: tuple[str, ...] = (),
        return_immediately: bool | None = None,
        history_length: int | None = None,
        extensions: tuple[str, ...] = (),
        context_id: str | None = None,
    ) -> WireRequest:
        """A request of ours. The extended card lies beside the endpoint (0.2.6 §7.10)."""
        if op == "extended-card":
            headers = {"Accept": "application/json"} | self.service_headers(extensions)
            return WireRequest(method="GET", url=urljoin(url, EXTENDED_CARD), headers=headers)
        return super().request(
            op,
            url=url,
            rpc_id=rpc_id,
            message=message,
            task_id=task_id,
            tenant=tenant,
            metadata=metadata,
            accepts=accepts,
            return_immediately=return_immediately,
            history_length=history_length,
            extensions=extensions,
            context_id=context_id,
        )

    def write_params(self, op: Op, **asked: Any) -> dict[str, Json] | None:
        """As in 0.3; up to 0.2.5 a configuration MUST say which outputs are accepted, and none named are all."""
        params = super().write_params(op, **asked)
        configuration = params.get("configuration") if params is not None else None
        if isinstance(configuration, dict):
            configuration.setdefault("acceptedOutputModes", [])
        return params

    def read_answer(
        self,
        op: Op,
        *,
        rpc_id: Json,
        status: int,
        headers: Headers,
        body: bytes,
        bounds: Bounds = strict_json.DEFAULT_BOUNDS,
    ) -> Answer:
        """Read a whole body as the answer to `op`; the extended card comes without an envelope."""
        if op == "extended-card":
            return rest_answers.read_answer(self, op, status=status, headers=headers, body=body, bounds=bounds)
        return super().read_answer(op, rpc_id=rpc_id, status=status, headers=headers, body=body, bounds=bounds)

    def parse_request(self, body: bytes, *, method: str = "POST", url: str = "") -> RequestFacts:
        """Read a consumer's request. Raises MalformedJson."""
        if method == "GET" and url.partition("?")[0].endswith(f"/{EXTENDED_CARD}"):
            return RequestFacts(op="extended-card", method=self.names["extended-card"], rpc_id=None, endpoint=url)
        return super().parse_request(body, method=method, url=url)
