"""What the server answers to: a table of methods, which is also what it tells clients that it can."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

from lsprotocol import types

from ptx_lsp.server.session import Session

_P = TypeVar("_P")
_R = TypeVar("_R")


class Feature(NamedTuple):
    """One method. `options` are what the client is told of it; `replaces_builtin` is for what pygls
    handles itself and must not: its text model breaks lines where LSP does not, and takes time in
    proportion to the file for each position.
    """

    method: str
    options: object
    bound_to: Callable[[Session], Callable[..., object]]
    replaces_builtin: bool = False


FEATURES: dict[str, Feature] = {}


def feature(
    method: str, options: object = None, *, replaces_builtin: bool = False
) -> Callable[[Callable[[Session, _P], _R]], Callable[[Session, _P], _R]]:
    def register(handle: Callable[[Session, _P], _R]) -> Callable[[Session, _P], _R]:
        def bound_to(session: Session) -> Callable[..., object]:
            return partial(handle, session)

        FEATURES[method] = Feature(method, options, bound_to, replaces_builtin)
        return handle

    return register


@feature(types.INITIALIZE)
def initialize(session: Session, params: types.InitializeParams) -> None:
    session.initialize(params)


@feature(types.SHUTDOWN)
def shutdown(session: Session, _: None) -> None:
    session.is_shut_down = True


@feature(types.TEXT_DOCUMENT_DID_OPEN, replaces_builtin=True)
def did_open(session: Session, params: types.DidOpenTextDocumentParams) -> None:
    session.open(params.text_document)


@feature(types.TEXT_DOCUMENT_DID_CHANGE, replaces_builtin=True)
def did_change(session: Session, params: types.DidChangeTextDocumentParams) -> None:
    session.change(params)


@feature(types.TEXT_DOCUMENT_DID_CLOSE, replaces_builtin=True)
def did_close(session: Session, params: types.DidCloseTextDocumentParams) -> None:
    session.close_file(params.text_document.uri)
