"""Archives of object files (`.a`), as `ar` writes them: with names as GNU and as BSD have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ptx_lsp.containers.byte_range import ByteRange
from ptx_lsp.containers.entry import Content, Damage, Format, Part
from ptx_lsp.containers.error import ContainerError

_MAGIC: Final = b"!<arch>\n"
_THIN: Final = b"!<thin>\n"
_HEADER: Final = 60
_END: Final = b"`\n"
_LONGEST_NAME: Final = 4096
_INDEXES: Final = ("/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64")
"""The names of symbol tables."""
_NAMES: Final = "//"
"""The name of the table of long names."""


def _contents(data: ByteRange) -> Iterator[Content]:
    if data.read(0, len(_THIN)) == _THIN:
        raise ContainerError(
            "is a thin archive: its object files are outside of it; name those instead"
        )
    names = data.part(0, 0)
    offset = len(_MAGIC)
    while offset < data.size:
        header = data.read(offset, _HEADER)
        size = _number(header[48:58])
        start = offset + _HEADER
        if size is None or header[58:] != _END or size > data.size - start:
            yield Damage(
                f"is truncated or damaged: no complete file of the archive at byte {offset}"
            )
            return
        name = header[:16].decode("latin-1").rstrip(" ")
        found = data.part(start, size)
        if name == _NAMES:
            names = found
        elif name.startswith("#1/"):
            length = min(_number(header[3:16]) or 0, size)
            name = _text(found.read(0, min(length, _LONGEST_NAME)).rstrip(b"\0"))
            found = found.part(length, size - length)
        elif (place := _number(header[1:16])) is not None and name.startswith("/"):
            name = _text(names.read(place, _LONGEST_NAME).partition(b"/\n")[0])
        if name not in (*_INDEXES, _NAMES):
            yield Part(name.removesuffix("/"), found)
        offset = start + size + size % 2


def _number(field: bytes) -> int | None:
    text = field.rstrip(b" ")
    return int(text) if text.isdigit() else None


def _text(name: bytes) -> str:
    return name.decode(errors="replace")


FORMAT: Final = Format("archive", (_MAGIC, _THIN), _contents)
