"""The requests about containers: their members, and the text and the kernels of a member (docs/protocol.md).

Only paths are read that the client names.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pygls.uris import to_fs_path

from ptx_lsp.containers.container import SEPARATOR, Container, Member
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.demangler import demangled, short_name
from ptx_lsp.model.module import Module
from ptx_lsp.server.containers.known_containers import KnownContainers
from ptx_lsp.server.containers.member_uri import member_address, member_uri
from ptx_lsp.server.convert import Converter
from ptx_lsp.server.feature import handler, uri_of
from ptx_lsp.server.features.panels import kernels_of
from ptx_lsp.server.json import Json
from ptx_lsp.server.request_error import RequestFailedError
from ptx_lsp.server.session import Session
from ptx_lsp.server.skeleton import skeleton
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source


@handler("ptx/containerMembers")
async def on_container_members(session: Session, asked: object) -> Json:
    """The members and other entries of a file. Texts are not read."""
    path = to_fs_path(uri_of(asked))
    if path is None:
        raise RequestFailedError(f"`{uri_of(asked)}` is not a file on this disk")
    return await session.threads.answer(_members, session.containers, path)


@handler("ptx/memberText")
async def on_member_text(session: Session, asked: object) -> Json:
    return {"text": await session.threads.answer(_text, session.containers, uri_of(asked))}


@handler("ptx/memberKernels")
async def on_member_kernels(session: Session, asked: object) -> Json:
    """The kernels of a member, without analysing them."""
    uri = uri_of(asked)
    settings = session.configurations.effective_settings(uri, session.settings).settings
    data = await session.threads.answer(_bytes, session.containers, uri)
    return await session.threads.read(_kernels, uri, data, session, settings.demangle)


def _members(containers: KnownContainers, path: str) -> Json:
    with _failing(path):
        found = containers.container(path)
    return {
        "format": found.format,
        "members": [_member(found, one) for one in found.members],
        "others": [
            {"kind": one.kind, "target": one.target, "count": one.number} for one in found.others
        ],
        "notes": list[Json](found.notes),
    }


def _member(container: Container, found: Member) -> Json:
    return {
        "name": found.name,
        "uri": member_uri(f"{container.path}{SEPARATOR}{found.name}"),
        "target": found.target,
        "version": found.version,
        "size": found.size,
        "compression": found.compression or None,
        "source": found.identifier or None,
        "part": found.part or None,
    }


def _text(containers: KnownContainers, uri: str) -> str:
    return _bytes(containers, uri).decode("utf-8", "replace")


def _bytes(containers: KnownContainers, uri: str) -> bytes:
    with _failing(member_address(uri) or uri):
        return containers.text(uri)


def _kernels(uri: str, data: bytes, session: Session, demangle: bool) -> Json:
    module = Module(Document.parse(Source(skeleton(data))))  # bodies contain no names of kernels
    try:
        kernels = list(kernels_of(module))
        names = demangled(one.name for one in kernels) if demangle else {}
        convert = Converter(uri, Source(data), session.client)
        return {
            "kernels": [
                {
                    "name": one.name,
                    "displayName": short_name(names[one.name]) if one.name in names else one.name,
                    "selectionRange": convert.json_range(module.span(one.symbol.place)),
                }
                for one in kernels
            ]
        }
    finally:
        module.dispose(module)


@contextmanager
def _failing(path: str) -> Generator[None]:
    """What goes wrong with a file, as one line for the user."""
    try:
        yield
    except ContainerError as error:
        raise RequestFailedError(f"{Path(path).name}: {error}") from error
    except OSError as error:
        raise RequestFailedError(f"{Path(path).name}: {error.strerror}") from error
