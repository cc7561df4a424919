"""Defines and finds features. The feature table also determines the announced server capabilities.

A feature is a function in one of the modules of `features/`, with the method that it answers.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Coroutine
from functools import cache, partial
from typing import NamedTuple, Protocol, TypeVar, cast

from lsprotocol import types

from ptx_lsp.server.diagnostics_scheduler import FileDiagnostics
from ptx_lsp.server.inline.host_files import HostView
from ptx_lsp.server.inline.host_scheduler import HostDiagnostics
from ptx_lsp.server.json import Json, at, text
from ptx_lsp.server.session import Session, View


class _Identifier(Protocol):
    @property
    def uri(self) -> str: ...


class OfFile(Protocol):
    """Parameters that name a file."""

    @property
    def text_document(self) -> _Identifier: ...


class AtPosition(OfFile, Protocol):
    """Parameters that name a position in a file."""

    @property
    def position(self) -> types.Position: ...


_P = TypeVar("_P")
_R = TypeVar("_R")
_F = TypeVar("_F", bound=OfFile)
_A = TypeVar("_A", bound=AtPosition)
_Answer = Callable[[Session, _F], Coroutine[object, object, _R | None]]


class Feature(NamedTuple):
    """One method. `options` are its announced capabilities. `replaces_builtin` is for methods that pygls
    handles itself. Its text model must not be used: it breaks lines differently from LSP, and its cost per
    position is proportional to the file.
    """

    method: str
    options: object
    bound_to: Callable[[Session], Callable[..., object]]
    replaces_builtin: bool = False


_FOUND: dict[str, Feature] = {}


@cache
def all_features() -> dict[str, Feature]:
    """Every feature of the package `features`, by its method. They are discovered, not listed."""
    from ptx_lsp.server import features

    for module in pkgutil.iter_modules(features.__path__):
        importlib.import_module(f"{features.__name__}.{module.name}")
    return _FOUND


def handler(
    method: str, options: object = None, *, replaces_builtin: bool = False
) -> Callable[[Callable[[Session, _P], _R]], Callable[[Session, _P], _R]]:
    """Registers a function that is called on the event loop."""

    def register(handle: Callable[[Session, _P], _R]) -> Callable[[Session, _P], _R]:
        def bound_to(session: Session) -> Callable[..., object]:
            return partial(handle, session)

        _FOUND[method] = Feature(method, options, bound_to, replaces_builtin)
        return handle

    return register


def answer(
    method: str, options: object = None, *, of_outlines: bool = True, at_once: bool = False
) -> Callable[[Callable[[View, _F], _R]], _Answer[_F, _R]]:
    """Registers a function of an open file, called in a thread. For other files the answer is null; without
    `of_outlines`, also for files too large to be read completely. `at_once`: a user is waiting for the
    answer, so it takes precedence over findings.
    """

    def register(work: Callable[[View, _F], _R]) -> _Answer[_F, _R]:
        async def handle(session: Session, params: _F) -> _R | None:
            view = await session.view(params.text_document.uri)
            if view is None or (view.snapshot.is_skeleton and not of_outlines):
                return None
            return await session.threads.answer(work, view, params)

        async def handle_at_once(session: Session, params: _F) -> _R | None:
            with session.threads.answering_at_once():
                return await handle(session, params)

        return handler(method, options)(handle_at_once if at_once else handle)

    return register


def answer_at(
    method: str, options: object = None, *, at_once: bool = False
) -> Callable[[Callable[[View, _A], _R]], Callable[[Session, _A], Coroutine[object, object, _R | None]]]:
    """Registers a function of a position in an open file, or in a block of inline assembly; elsewhere in
    files in other languages the answer is null.
    """

    def register(
        work: Callable[[View, _A], _R]
    ) -> Callable[[Session, _A], Coroutine[object, object, _R | None]]:
        async def handle(session: Session, params: _A) -> _R | None:
            view = await session.view_at(params.text_document.uri, params.position)
            return await session.threads.answer(work, view, params) if view is not None else None

        async def handle_at_once(session: Session, params: _A) -> _R | None:
            with session.threads.answering_at_once():
                return await handle(session, params)

        return handler(method, options)(handle_at_once if at_once else handle)

    return register


def answer_of_hosts(
    method: str,
) -> Callable[[Callable[[HostView, _F], _R]], Callable[[HostView, _F], _R]]:
    """Registers a function of an open file in another language, for a method that is answered for PTX files,
    too.
    """

    def register(work: Callable[[HostView, _F], _R]) -> Callable[[HostView, _F], _R]:
        of_ptx = _FOUND[method]

        def bound_to(session: Session) -> Callable[..., object]:
            otherwise = of_ptx.bound_to(session)

            async def handle(params: _F) -> object:
                view = await session.hosts.view(params.text_document.uri)
                if view is None:
                    return await cast("Awaitable[object]", otherwise(params))
                return await session.threads.answer(work, view, params)

            return handle

        _FOUND[method] = of_ptx._replace(bound_to=bound_to)
        return work

    return register


def answer_with_findings(
    method: str, options: object = None
) -> Callable[[Callable[[View, FileDiagnostics, _F], _R]], _Answer[_F, _R]]:
    """Registers a function of an open file that also gets its findings, at least those so far."""

    def register(work: Callable[[View, FileDiagnostics, _F], _R]) -> _Answer[_F, _R]:
        async def handle(session: Session, params: _F) -> _R | None:
            found = await session.diagnostics(params.text_document.uri)
            if found is None:
                return None
            file, findings = found
            view = session.view_of(file, findings.snapshot)
            return await session.threads.answer(work, view, findings, params)

        return handler(method, options)(handle)

    return register


def answer_of_hosts_with_findings(
    method: str,
) -> Callable[
    [Callable[[HostView, HostDiagnostics, _F], _R]], Callable[[HostView, HostDiagnostics, _F], _R]
]:
    """Registers such a function that also gets the findings of the file."""

    def register(
        work: Callable[[HostView, HostDiagnostics, _F], _R]
    ) -> Callable[[HostView, HostDiagnostics, _F], _R]:
        of_ptx = _FOUND[method]

        def bound_to(session: Session) -> Callable[..., object]:
            otherwise = of_ptx.bound_to(session)

            async def handle(params: _F) -> object:
                found = await session.host_diagnostics(params.text_document.uri)
                if found is None:
                    return await cast("Awaitable[object]", otherwise(params))
                file, findings = found
                view = session.hosts.view_of(file, findings.snapshot)
                return await session.threads.answer(work, view, findings, params)

            return handle

        _FOUND[method] = of_ptx._replace(bound_to=bound_to)
        return work

    return register


def panel(method: str) -> Callable[[Callable[[View, object], Json]], Callable[[View, object], Json]]:
    """Registers a function that answers a request beyond LSP about an open file; it gets the parameters as
    JSON.
    """

    def register(work: Callable[[View, object], Json]) -> Callable[[View, object], Json]:
        async def handle(session: Session, params: object) -> Json:
            view = await session.view(uri_of(params))
            return None if view is None else await session.threads.answer(work, view, params)

        handler(method)(handle)
        return work

    return register


def uri_of(params: object) -> str:
    """The file that the parameters of a request beyond LSP name."""
    return text(at(at(params, "textDocument"), "uri")) or ""
