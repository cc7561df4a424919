"""Requests that are right and cannot be met: the answer is an error that the client shows."""

from __future__ import annotations

import logging

from lsprotocol.types import LSPErrorCodes
from pygls.exceptions import JsonRpcException


class RefusalError(JsonRpcException):
    """Why a request cannot be met, in words for the user."""

    CODE = LSPErrorCodes.RequestFailed.value


class NoRefusals(logging.Filter):
    """Keeps refusals, which are no failures, out of the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], RefusalError))
