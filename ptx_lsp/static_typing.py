"""Names of `typing` without their meaning at run time. To import `typing` takes as long as forty modules. So
modules that every run of the command imports take `TYPE_CHECKING` and the names that are evaluated from here.
They import those that only annotations have if `TYPE_CHECKING`.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import AnyStr, Generic, Literal, Protocol, TypeVar, cast, final, overload
else:

    class Generic:
        """A base that adds nothing, and what may stand in types that are evaluated."""

        __slots__ = ()

        def __class_getitem__(cls, _):
            return cls

    Literal = Protocol = Generic

    class TypeVar:
        """What may stand in types that are evaluated."""

        def __init__(self, _name, *_constraints, bound=None): ...

        def __or__(self, _):
            return self

        __ror__ = __or__

    AnyStr = TypeVar("AnyStr")

    def cast(_type, value):
        return value

    def final(decorated):
        return decorated

    overload = final

__all__ = [
    "TYPE_CHECKING",
    "AnyStr",
    "Generic",
    "Literal",
    "Protocol",
    "TypeVar",
    "cast",
    "final",
    "overload",
]
