"""What an error code means in each dialect (wire-facts 8): the same number may mean different things.

Only tables and two look-ups. Whether a code was the right one for its situation is decided in `core.refusals`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

STANDARD: Final[Mapping[int, str]] = {
    -32700: "ParseError",
    -32600: "InvalidRequest",
    -32601: "MethodNotFound",
    -32602: "InvalidParams",
    -32603: "InternalError",
}

_SHARED = {
    -32001: "TaskNotFound",
    -32002: "TaskNotCancelable",
    -32003: "PushNotificationNotSupported",
    -32004: "UnsupportedOperation",
    -32005: "ContentTypeNotSupported",
}
_V0_2 = _SHARED | {-32006: "InvalidAgentResponse"}
_V0_3 = _V0_2 | {-32007: "ExtendedAgentCardNotConfigured"}

A2A: Final[Mapping[str, Mapping[int, str]]] = {
    "0.1": _SHARED
    | {
        -32006: "StreamingNotSupported",
        -32007: "AuthenticationRequired",
        -32008: "AuthorizationFailed",
        -32009: "InvalidTaskState",
        -32010: "RateLimitExceeded",
        -32011: "ResourceUnavailable",
    },
    "0.2": _V0_2,
    "0.3": _V0_3,
    "1.0": _V0_3 | {-32008: "ExtensionSupportRequired", -32009: "VersionNotSupported"},
}

# HTTP+JSON: the status of 1.0.1, then that of 1.0.0 where it differs; both are accepted, the one seen is reported.
HTTP_STATUS: Final[Mapping[str, tuple[int, ...]]] = {
    "TaskNotFound": (404,),
    "TaskNotCancelable": (400, 409),
    "PushNotificationNotSupported": (400,),
    "UnsupportedOperation": (400,),
    "ContentTypeNotSupported": (400, 415),
    "InvalidAgentResponse": (500, 502),
    "ExtendedAgentCardNotConfigured": (400,),
    "ExtensionSupportRequired": (400,),
    "VersionNotSupported": (400,),
}

# gRPC: the status code of 1.0.1, then that of 1.0.0 where it differs; both are accepted, the one seen is reported.
GRPC_STATUS: Final[Mapping[str, tuple[str, ...]]] = {
    "TaskNotFound": ("NOT_FOUND",),
    "TaskNotCancelable": ("FAILED_PRECONDITION",),
    "PushNotificationNotSupported": ("FAILED_PRECONDITION", "UNIMPLEMENTED"),
    "UnsupportedOperation": ("FAILED_PRECONDITION", "UNIMPLEMENTED"),
    "ContentTypeNotSupported": ("INVALID_ARGUMENT",),
    "InvalidAgentResponse": ("INTERNAL",),
    "ExtendedAgentCardNotConfigured": ("FAILED_PRECONDITION",),
    "ExtensionSupportRequired": ("FAILED_PRECONDITION",),
    "VersionNotSupported": ("FAILED_PRECONDITION", "UNIMPLEMENTED"),
}

# 0.3 fixes no table; these are the statuses of its Python SDK, where they mean one thing.
LEGACY_HTTP: Final[Mapping[int, str]] = {
    400: "InvalidRequest",
    404: "MethodNotFound",
    405: "MethodNotFound",
    409: "TaskNotCancelable",
    415: "ContentTypeNotSupported",
    422: "InvalidParams",
    500: "InternalError",
    501: "UnsupportedOperation",
    502: "InvalidAgentResponse",
}

SERVER_CODES: Final = range(-32099, -31999)
"""The codes that JSON-RPC leaves to the application; A2A took its own from here."""


def error_name(dialect: str, code: object) -> str | None:
    """The name of a code in a dialect; None for a code that neither A2A nor JSON-RPC defines there."""
    if isinstance(code, bool) or not isinstance(code, int):
        return None
    return A2A.get(dialect, {}).get(code) or STANDARD.get(code)


def error_code(dialect: str, name: str) -> int | None:
    """The code of a name in a dialect; None where the dialect has no such error."""
    codes = {**A2A.get(dialect, {}), **STANDARD}
    return next((code for code, known in codes.items() if known == name), None)
