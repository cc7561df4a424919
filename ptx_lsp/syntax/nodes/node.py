"""The base of all nodes, and their comparison by value."""

from __future__ import annotations

from ptx_lsp.static_typing import cast


class Node:
    """A part of a top-level statement: `start` and `end` are marks in it (`stable_offsets.py`).

    Nodes are equal only if they are the same object; `is_same` compares their contents.
    """

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        """The class and its fields, for those who debug."""
        own = [f"{name}={getattr(self, name)!r}" for name in field_names(type(self))]
        return f"{type(self).__name__}({', '.join([str(self.start), str(self.end), *own])})"


_FIELDS: dict[type[Node], tuple[str, ...]] = {}


def field_names(kind: type[Node]) -> tuple[str, ...]:
    """The names of the fields of a node class after `start` and `end`, in alphabetical order."""
    found = _FIELDS.get(kind)
    if found is None:
        # a compiled class has no slots
        names = getattr(kind, "__mypyc_attrs__", ()) or getattr(kind, "__slots__", ())
        found = _FIELDS[kind] = tuple(sorted({*cast("tuple[str, ...]", names)} - {"start", "end"}))
    return found


def is_same(one: object, other: object, shift: int = 0) -> bool:
    """Whether two nodes, or tuples of nodes, are equal in all fields, where all marks of `other` are larger
    than those of `one` by `shift`.
    """
    if isinstance(one, Node):
        if not isinstance(other, Node) or type(one) is not type(other):
            return False
        if one.start + shift != other.start or one.end + shift != other.end:
            return False
        return all(
            is_same(getattr(one, name), getattr(other, name), shift) for name in field_names(type(one))
        )
    if isinstance(one, tuple):
        if not isinstance(other, tuple):
            return False
        ones, others = cast("tuple[object, ...]", one), cast("tuple[object, ...]", other)
        return len(ones) == len(others) and all(map(is_same, ones, others, [shift] * len(ones)))
    return one == other
