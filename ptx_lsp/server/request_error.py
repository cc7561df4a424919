"""Requests that are valid but cannot be fulfilled: the answer is an error that the client shows."""

from __future__ import annotations

import logging

from lsprotocol.types import LSPErrorCodes
from pygls.exceptions import JsonRpcException


class RequestFailedError(JsonRpcException):
    """The reason why a request cannot be fulfilled, in words for the user (LSP error code `RequestFailed`).
    """

    CODE = LSPErrorCodes.RequestFailed.value


class RequestFailedFilter(logging.Filter):
    """Keeps these errors, which are not server failures, out of the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], RequestFailedError))
