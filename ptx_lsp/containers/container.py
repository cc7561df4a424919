"""Containers and their members: PTX texts inside other files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.payload import Payload
from ptx_lsp.named_tuple import NamedTuple

SEPARATOR: Final = "!"
"""Between the path of a container and the name of a member."""


class Member(NamedTuple):
    """One PTX text of a container."""

    name: str
    """`N:sm_XX`: its number among the PTX texts, from 1, and its target."""
    target: str
    """The target as the container states it, such as `sm_90a`. The text may have another one."""
    version: str
    """The PTX version as the container states it, such as `8.7`."""
    payload: Payload
    identifier: str = ""
    """The name of the source file that the compiler was given, if it is recorded."""
    options: str = ""
    """The options for ptxas that are recorded."""
    part: str = ""
    """The file of an archive that it is in."""

    @property
    def size(self) -> int:
        """The size of the text in bytes as stated. It may include padding."""
        return self.payload.size

    @property
    def compression(self) -> str:
        return self.payload.compression

    @property
    def compressed_size(self) -> int:
        """The bytes that it takes in the file, together with what is compressed with it."""
        return self.payload.stored

    def read(self) -> bytes:
        """Its text, without the NUL bytes at its end. Raises ContainerError and OSError."""
        return self.payload.read()


class OtherCode(NamedTuple):
    """Entries without PTX."""

    kind: str
    """Such as `machine code`."""
    target: str
    number: int


class Container(NamedTuple):
    """A file with PTX texts."""

    path: str
    format: str
    """The format, for messages: `fat binary`, `ELF file`, `archive`."""
    members: tuple[Member, ...]
    others: tuple[OtherCode, ...] = ()
    """The entries that are not PTX."""
    damage: tuple[str, ...] = ()
    """One line for each part that could not be read. The members are those that could."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines about the whole container: that it holds no PTX, and what is damaged."""
        if self.members:
            return self.damage
        return (_without_ptx(self.format, self.others), *self.damage)

    def member(self, name: str) -> Member:
        """The member with a name, or with a number. Raises ContainerError."""
        for one in self.members:
            if name in (one.name, one.name.partition(":")[0]):
                return one
        if not self.members:
            raise ContainerError(self.notes[0])
        names = _listed(one.name for one in self.members)
        raise ContainerError(f"has no member `{name}`; it has {names}")


_MOST_LISTED = 8


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    shown = [f"`{name}`" for name in found[:_MOST_LISTED]]
    left = len(found) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


def _without_ptx(form: str, others: Iterable[OtherCode]) -> str:
    targets: dict[str, list[str]] = {}
    for one in others:
        targets.setdefault(one.kind, []).append(one.target)
    if not targets:
        article = "an" if form[0].lower() in "aeio" else "a"
        return f"is {article} {form} without device code"
    held = "; ".join(f"{kind} for {', '.join(names)}" for kind, names in targets.items())
    return f"holds no PTX, only {held}"
