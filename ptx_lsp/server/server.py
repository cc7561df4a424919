"""The pygls server: receives messages and sends answers. `session` holds its knowledge of files."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import cast

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import (
    FeatureNotificationError,
    FeatureRequestError,
    JsonRpcException,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.protocol.json_rpc import JsonRPCRequestMessage, RPCMessage

from ptx_lsp import __version__
from ptx_lsp.server.feature import all_features
from ptx_lsp.server.json import Json, JsonText
from ptx_lsp.server.memory import prepare_converter
from ptx_lsp.server.session import Session
from ptx_lsp.server.transport import InvalidJson

_log = logging.getLogger(__name__)


class Server:
    """The server of one client, driven by `transport`."""

    def __init__(self) -> None:
        self.exit_code: int | None = None
        self._is_initialized = False
        converter = default_converter()
        self.pygls = _Pygls(
            "ptx-lsp",
            __version__,
            types.TextDocumentSyncKind.Incremental,
            protocol_cls=_Protocol,
            converter_factory=lambda: converter,
        )
        self.protocol = cast(_Protocol, self.pygls.protocol)
        prepare = partial(self.protocol.prepare, converter)
        self.session = Session(self.pygls, self.protocol.notify_plainly, prepare)
        for one in all_features().values():
            handle = one.bound_to(self.session)
            self.pygls.feature(one.method, one.options)(handle)
            if one.method.startswith("ptx/"):
                self.protocol.plain.add(one.method)
            if one.replaces_builtin:
                self.protocol.ours[one.method] = handle
        self.protocol.ours[types.EXIT] = self._exit
        self.methods = frozenset(all_features())

    def _exit(self, _: object) -> None:
        self.exit_code = 0 if self.session.is_shut_down else 1

    def connect(self, write: Callable[[bytes], None]) -> None:
        self.protocol.set_writer(_Writer(write))

    def receive(self, message: object) -> None:
        """Handles one message. An invalid one also gets an answer, and so does a request out of turn."""
        try:
            error = self._out_of_turn(message)
            if error is not None:
                self._refuse(message, error)
                return
            if self._is_dropped(message):
                return
            structured = self.protocol.structure_message(cast(dict[str, object], message))
            self.protocol.handle_message(cast(RPCMessage, structured))
        except JsonRpcException as error:
            _log.error("message with invalid parameters: %s", error)
            self._refuse(message, error)
        except Exception:
            _log.exception("failed to handle a message")

    def disconnect(self) -> None:
        self.session.close()

    def _out_of_turn(self, message: object) -> JsonRpcException | None:
        """The error of a message that is none, or of a request before `initialize` or after `shutdown`."""
        if isinstance(message, InvalidJson):
            return JsonRpcParseError(f"the message is not JSON: {message.reason}")
        fields = _fields(message)
        method = fields.get("method")
        if not isinstance(method, str):
            is_response = "result" in fields or "error" in fields
            return None if is_response else JsonRpcInvalidRequest("the message has no method")
        if "id" not in fields:
            return None
        if method == types.INITIALIZE and not self._is_initialized:
            self._is_initialized = True
            return None
        if method == types.INITIALIZE:
            return JsonRpcInvalidRequest("`initialize` was requested before")
        if not self._is_initialized:
            return JsonRpcServerNotInitialized(f"`{method}` was requested before `initialize`")
        if self.session.is_shut_down:
            return JsonRpcInvalidRequest(f"`{method}` was requested after `shutdown`")
        return None

    def _is_dropped(self, message: object) -> bool:
        """Whether a message is a notification before `initialize`, of which only `exit` counts."""
        fields = _fields(message)
        return not self._is_initialized and "id" not in fields and fields.get("method") != types.EXIT

    def _refuse(self, message: object, error: JsonRpcException) -> None:
        match _fields(message):
            case {"method": str(), "id": int() | str() as identity}:
                self.protocol.refuse(identity, error)
            case {"method": str()}:
                pass
            case _:
                self.protocol.refuse(None, error)


def _fields(message: object) -> dict[str, object]:
    return cast("dict[str, object]", message) if isinstance(message, dict) else {}


class _Pygls(LanguageServer):
    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Reports to the log and to the client's log; never as a message box."""
        if source is FeatureRequestError:
            return  # it is logged, and the client has it as the answer
        _log.error("%s", error, exc_info=error)
        level = types.MessageType.Error
        if source is FeatureNotificationError:
            level = types.MessageType.Warning
        self.window_log_message(types.LogMessageParams(level, str(error)))


class _Protocol(LanguageServerProtocol):
    """Lets our handlers replace those of pygls."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        self.ours: dict[str, Callable[..., object]] = {}
        self.plain: set[str] = set()
        super().__init__(server, converter)

    def prepare(self, converter: Converter) -> None:
        """Does early what else the first messages would wait for."""
        prepare_converter(converter, all_features())
        for method in all_features():
            self.get_message_type(method)
            self.get_result_type(method)

    def _get_handler(self, feature_name: str) -> Callable[..., object]:
        return self.ours.get(feature_name) or super()._get_handler(feature_name)

    def structure_message(self, data: dict[str, object]) -> object:
        """Parameters of requests beyond LSP stay plain JSON."""
        if data.get("method", "") in self.plain and "id" in data:
            identity, method = cast(int | str, data["id"]), cast(str, data["method"])
            return JsonRPCRequestMessage(identity, method, "2.0", data.get("params"))
        return super().structure_message(data)

    def _send_response(
        self, msg_id: str | int, result: object = None, error: types.ResponseError | None = None
    ) -> None:
        if isinstance(result, JsonText):
            self._result_types.pop(msg_id, None)
            begun = f'{{"jsonrpc":"{self.VERSION}","id":{json.dumps(msg_id)},"result":'
            self._send_text(begun, result.text, "}")
        else:
            super()._send_response(msg_id, result, error)

    def _send_text(self, *parts: str) -> None:
        """Sends a message that is already JSON. Its parts may be large, so they are joined only once."""
        if self.writer is not None:
            data = [part.encode() for part in parts]
            self.writer.write(b"".join([b"Content-Length: %d\r\n\r\n" % sum(map(len, data)), *data]))

    def _send_handler_result(self, future: Future[object], *, msg_id: str | int) -> None:
        """The traceback of an exception leads to its frames, and one of these to the future that has the
        exception. Old reference cycles are never collected, and this one would hold a whole text.
        """
        super()._send_handler_result(future, msg_id=msg_id)
        error = None if future.cancelled() else future.exception()
        if error is not None:
            error.__traceback__ = None

    def notify_plainly(self, method: str, params: Json) -> None:
        """Sends a notification whose parameters are already JSON: converting them to pygls types takes longer
        than computing them.
        """
        self._send_data({"jsonrpc": self.VERSION, "method": method, "params": params})

    def refuse(self, identity: str | int | None, error: JsonRpcException) -> None:
        """Answers with an error; `identity` is None if the message has none that could be read."""
        if identity is not None:
            self._send_response(identity, error=error.to_response_error())
        else:
            told = {"code": error.code, "message": error.message}
            self._send_text(json.dumps({"jsonrpc": self.VERSION, "id": None, "error": told}))


class _Writer:
    """The writer that pygls uses."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write

    def write(self, data: bytes) -> None:
        self._write(data)

    def close(self) -> None:
        pass
