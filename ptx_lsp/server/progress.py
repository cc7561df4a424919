"""Reports the progress of a file's initial analysis to the client."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import PurePosixPath
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ptx_lsp.server.client import Client
from ptx_lsp.server.openfile import OpenFile
from ptx_lsp.server.publisher import send


class Progress:
    """Reports nothing if the client cannot show progress."""

    def __init__(self, server: LanguageServer, client: Callable[[], Client]) -> None:
        self._server = server
        self._client = client
        self._numbers = count(1)
        self._tokens: dict[OpenFile, str] = {}

    def tell(self, file: OpenFile, share: float | None) -> None:
        """Reports the completed `share` of the work on a file, from 0 to 1; None when finished."""
        token = self._tokens.get(file)
        if share is None:
            if token is not None:
                del self._tokens[file]
                self._send(token, types.WorkDoneProgressEnd())
        elif token is not None:
            self._send(token, types.WorkDoneProgressReport(percentage=int(100 * share)))
        elif self._client().shows_progress:
            token = self._tokens[file] = f"ptx-lsp/{next(self._numbers)}"
            send(
                self._server.window_work_done_progress_create(
                    types.WorkDoneProgressCreateParams(token)
                )
            )
            name = PurePosixPath(unquote(file.uri)).name
            begin = types.WorkDoneProgressBegin(
                "Analysing", message=name, percentage=int(100 * share), cancellable=False
            )
            self._send(token, begin)

    def _send(
        self,
        token: str,
        value: types.WorkDoneProgressBegin
        | types.WorkDoneProgressReport
        | types.WorkDoneProgressEnd,
    ) -> None:
        """Begin is sent without waiting for the answer to `create`: messages keep their order."""
        self._server.progress(types.ProgressParams(token, value))
