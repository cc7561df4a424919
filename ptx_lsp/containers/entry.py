"""The contents of containers as formats yield them: entries, parts that are containers, and damage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ptx_lsp.containers.byte_range import ByteRange
from ptx_lsp.named_tuple import NamedTuple

PTX: Final = "PTX"
MACHINE_CODE: Final = "machine code"
LTO_IR: Final = "LTO IR"
TILE_IR: Final = "tile IR"


class Place(NamedTuple):
    """Where the bytes of an entry are; the fields are those of `Payload` (`payload.py`)."""

    offset: int
    stored: int
    compression: str
    whole: int
    start: int
    size: int


_NOWHERE: Final = Place(0, 0, "", 0, 0, 0)


class Entry(NamedTuple):
    """One entry of a fat binary."""

    kind: str
    """`PTX`, or what it is instead, for messages."""
    target: str
    version: str = ""
    place: Place = _NOWHERE
    identifier: str = ""
    options: str = ""


class Part(NamedTuple):
    """A part of a container that may be one itself, such as a file of an archive."""

    name: str
    bytes: ByteRange


class Damage(NamedTuple):
    """Something that could not be read: a line for the user."""

    line: str


Content = Entry | Part | Damage


@dataclass(frozen=True, slots=True)
class Format:
    """A format of containers."""

    name: str
    """For messages: `ELF file`."""
    magic: tuple[bytes, ...]
    """The first bytes of its files."""
    contents: Callable[[ByteRange], Iterator[Content]]
    """The contents of a file, in its order. Raises ContainerError if it is not of this format."""
    recognises: Callable[[ByteRange], bool] = lambda data: True
    """Whether a file with these first bytes is of this format."""
