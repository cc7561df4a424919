"""Nodes of operands and expressions."""

from __future__ import annotations

from ptx_lsp.static_typing import TYPE_CHECKING, final
from ptx_lsp.syntax.nodes.node import Node

if TYPE_CHECKING:
    from typing import TypeAlias


@final
class Name(Node):
    """An identifier, or a modifier or directive name with its leading dot."""

    __slots__ = ("text",)

    def __init__(self, start: int, end: int, text: str) -> None:
        self.start = start
        self.end = end
        self.text = text


@final
class Number(Node):
    """A literal as written: `0x1F`, `1.5`, `0f3F800000`; `kind` is the name of its grammar node."""

    __slots__ = ("kind", "text")

    def __init__(self, start: int, end: int, text: str, kind: str) -> None:
        self.start = start
        self.end = end
        self.text = text
        self.kind = kind


@final
class String(Node):
    """A string with its quotes."""

    __slots__ = ("text",)

    def __init__(self, start: int, end: int, text: str) -> None:
        self.start = start
        self.end = end
        self.text = text


@final
class Missing(Node):
    """The place of a missing token."""

    __slots__ = ()


@final
class Member(Node):
    """`%tid.x`, `v.y`, `%r1.b0`"""

    __slots__ = ("components", "object")

    def __init__(self, start: int, end: int, object: Expression, components: tuple[Name, ...]) -> None:
        self.start = start
        self.end = end
        self.object = object
        self.components = components


@final
class Element(Node):
    """`a[4]`: an array element, or in PTX 1.x its address."""

    __slots__ = ("array", "indices")

    def __init__(self, start: int, end: int, array: Name, indices: tuple[Expression, ...]) -> None:
        self.start = start
        self.end = end
        self.array = array
        self.indices = indices


@final
class Unary(Node):
    """`-x`, `!p`, `~x`, `+x`"""

    __slots__ = ("operator", "value")

    def __init__(self, start: int, end: int, operator: str, value: Expression) -> None:
        self.start = start
        self.end = end
        self.operator = operator
        self.value = value


@final
class Binary(Node):
    """`sym+4`"""

    __slots__ = ("left", "operator", "right")

    def __init__(self, start: int, end: int, operator: str, left: Expression, right: Expression) -> None:
        self.start = start
        self.end = end
        self.operator = operator
        self.left = left
        self.right = right


@final
class Conditional(Node):
    """`a ? b : c`"""

    __slots__ = ("condition", "otherwise", "then")

    def __init__(
        self,
        start: int,
        end: int,
        condition: Expression,
        then: Expression,
        otherwise: Expression,
    ) -> None:
        self.start = start
        self.end = end
        self.condition = condition
        self.then = then
        self.otherwise = otherwise


@final
class Cast(Node):
    """`(.s64) x`"""

    __slots__ = ("type", "value")

    def __init__(self, start: int, end: int, type: Name, value: Expression) -> None:
        self.start = start
        self.end = end
        self.type = type
        self.value = value


@final
class Relocation(Node):
    """`generic(name)`, or the bytes of an address that a mask selects: `0xFF(name)`."""

    __slots__ = ("operator", "values")

    def __init__(self, start: int, end: int, operator: Name | Number, values: tuple[Expression, ...]) -> None:
        self.start = start
        self.end = end
        self.operator = operator
        self.values = values


@final
class Group(Node):
    """`(a, b)`: the arguments of a call; with one item also a parenthesised expression."""

    __slots__ = ("items",)

    def __init__(self, start: int, end: int, items: tuple[Operand, ...]) -> None:
        self.start = start
        self.end = end
        self.items = items


@final
class Pair(Node):
    """`p|q`, `{a, b}|p`: two destinations."""

    __slots__ = ("left", "right")

    def __init__(self, start: int, end: int, left: Name | Vector, right: Name | Missing) -> None:
        self.start = start
        self.end = end
        self.left = left
        self.right = right


@final
class Address(Node):
    """`[a+4]`, `[tensor, {x, y}]`; `suffix` is the `.unified` of `[a].unified`."""

    __slots__ = ("items", "suffix")

    def __init__(self, start: int, end: int, items: tuple[Operand, ...], suffix: Name | None) -> None:
        self.start = start
        self.end = end
        self.items = items
        self.suffix = suffix


@final
class Vector(Node):
    """`{a, b, c, d}`"""

    __slots__ = ("items",)

    def __init__(self, start: int, end: int, items: tuple[Operand, ...]) -> None:
        self.start = start
        self.end = end
        self.items = items


@final
class FieldValue(Node):
    """`width = 4`, in the initialiser of a texture or sampler. Names in it are PTX keywords."""

    __slots__ = ("name", "value")

    def __init__(self, start: int, end: int, name: Name, value: Expression) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.value = value


@final
class InitializerList(Node):
    """`{1, {2, 3}}`"""

    __slots__ = ("items",)

    def __init__(self, start: int, end: int, items: tuple[Expression, ...]) -> None:
        self.start = start
        self.end = end
        self.items = items


@final
class Nested(Node):
    """An expression that is nested too deeply to be lowered."""

    __slots__ = ()


Expression: TypeAlias = (
    Name | Number | String | Missing | Member | Element | Unary | Binary | Conditional | Cast
    | Relocation | Group | Pair | Address | Vector | InitializerList | FieldValue | Nested
)
Operand: TypeAlias = Expression
