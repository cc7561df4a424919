"""Nodes of statements."""

from __future__ import annotations

from ptx_lsp.static_typing import TYPE_CHECKING, final
from ptx_lsp.syntax.nodes.expressions import (
    Expression,
    Missing,
    Name,
    Number,
    Operand,
    String,
)
from ptx_lsp.syntax.nodes.node import Node

if TYPE_CHECKING:
    from typing import TypeAlias


@final
class Opcode(Node):
    """`add.s32`: `text` is the spelling with its modifiers and without blanks. `bank` is the `.const[2]` of
    `ld.const[2].u32`, whose `text` has only the state space.
    """

    __slots__ = ("bank", "text")

    def __init__(self, start: int, end: int, text: str, bank: Name | None = None) -> None:
        self.start = start
        self.end = end
        self.text = text
        self.bank = bank


@final
class Guard(Node):
    """`@p` or `@!p`"""

    __slots__ = ("negated", "predicate")

    def __init__(self, start: int, end: int, negated: bool, predicate: Expression) -> None:
        self.start = start
        self.end = end
        self.negated = negated
        self.predicate = predicate


@final
class Instruction(Node):
    """`@p add.s32 d, a, b;`"""

    __slots__ = ("guard", "opcode", "operands")

    def __init__(
        self,
        start: int,
        end: int,
        guard: Guard | None,
        opcode: Opcode,
        operands: tuple[Operand, ...],
    ) -> None:
        self.start = start
        self.end = end
        self.guard = guard
        self.opcode = opcode
        self.operands = operands


@final
class Label(Node):
    """`name:`"""

    __slots__ = ("name",)

    def __init__(self, start: int, end: int, name: Name) -> None:
        self.start = start
        self.end = end
        self.name = name


@final
class Block(Node):
    """`{ ... }`; `guard` is the guard of a guarded group."""

    __slots__ = ("guard", "statements")

    def __init__(self, start: int, end: int, guard: Guard | None, statements: tuple[Statement, ...]) -> None:
        self.start = start
        self.end = end
        self.guard = guard
        self.statements = statements


@final
class Declarator(Node):
    """`name<8>`, `name[4][2] = {...}`; an unsized dimension is None."""

    __slots__ = ("dimensions", "initializer", "name", "range")

    def __init__(
        self,
        start: int,
        end: int,
        name: Name,
        range: Number | Missing | None,
        dimensions: tuple[Expression | None, ...],
        initializer: Expression | None,
    ) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.range = range
        self.dimensions = dimensions
        self.initializer = initializer


@final
class Attribute(Node):
    """One `.managed` or `.unified(1, 2)` of `.attribute(...)`."""

    __slots__ = ("name", "values")

    def __init__(self, start: int, end: int, name: Name, values: tuple[Expression, ...]) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.values = values


@final
class Declaration(Node):
    """`.global .align 4 .u32 a[4], b;` and each parameter of a list.

    `modifiers` are the vector, type and `.ptr` parts in order; `type_name` is a PTX 1.x structure.
    """

    __slots__ = (
        "alignment", "attributes", "bank", "declarators", "linkage", "modifiers", "space", "type_name",
    )  # fmt: skip

    def __init__(
        self,
        start: int,
        end: int,
        linkage: tuple[Name, ...],
        space: Name | None,
        bank: Expression | None,
        modifiers: tuple[Name, ...],
        type_name: Name | None,
        alignment: Number | Missing | None,
        attributes: tuple[Attribute, ...],
        declarators: tuple[Declarator, ...],
    ) -> None:
        self.start = start
        self.end = end
        self.linkage = linkage
        self.space = space
        self.bank = bank
        self.modifiers = modifiers
        self.type_name = type_name
        self.alignment = alignment
        self.attributes = attributes
        self.declarators = declarators


@final
class Directive(Node):
    """A directive without a node class of its own: `.maxntid 256, 1, 1`, `.pragma "nounroll";`."""

    __slots__ = ("arguments", "linkage", "name")

    def __init__(
        self,
        start: int,
        end: int,
        linkage: tuple[Name, ...],
        name: Name,
        arguments: tuple[Expression, ...],
    ) -> None:
        self.start = start
        self.end = end
        self.linkage = linkage
        self.name = name
        self.arguments = arguments


@final
class Version(Node):
    """`.version 8.5`"""

    __slots__ = ("number",)

    def __init__(self, start: int, end: int, number: Number | Missing) -> None:
        self.start = start
        self.end = end
        self.number = number


@final
class Target(Node):
    """`.target sm_90a, debug`"""

    __slots__ = ("names",)

    def __init__(self, start: int, end: int, names: tuple[Name, ...]) -> None:
        self.start = start
        self.end = end
        self.names = names


@final
class AddressSize(Node):
    """`.address_size 64`"""

    __slots__ = ("bits",)

    def __init__(self, start: int, end: int, bits: Number | Missing) -> None:
        self.start = start
        self.end = end
        self.bits = bits


@final
class File(Node):
    """`.file 1 "a.cu", 1700000000, 512`; `numbers` are the time and the size."""

    __slots__ = ("number", "numbers", "path")

    def __init__(
        self,
        start: int,
        end: int,
        number: Number | Missing,
        path: String | Missing,
        numbers: tuple[Number | Missing, ...] = (),
    ) -> None:
        self.start = start
        self.end = end
        self.number = number
        self.path = path
        self.numbers = numbers


@final
class LocationAttribute(Node):
    """`function_name $L__info_string0`, with a number if an offset is added, or `inlined_at 1 10 5`."""

    __slots__ = ("name", "values")

    def __init__(self, start: int, end: int, name: Name, values: tuple[Name | Number, ...]) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.values = values


@final
class Location(Node):
    """`.loc 1 5 3, function_name $L__info_string0, inlined_at 1 10 5`"""

    __slots__ = ("attributes", "column", "file", "line")

    def __init__(
        self,
        start: int,
        end: int,
        file: Number | Missing,
        line: Number | Missing,
        column: Number | Missing,
        attributes: tuple[LocationAttribute, ...],
    ) -> None:
        self.start = start
        self.end = end
        self.file = file
        self.line = line
        self.column = column
        self.attributes = attributes


@final
class Section(Node):
    """`.section .debug_info { ... }`; `labels` are the labels in it, `types` the words such as `.b8` that its
    data lines begin with, each at its first occurrence.
    """

    __slots__ = ("labels", "name", "types")

    def __init__(
        self,
        start: int,
        end: int,
        name: Name | None,
        labels: tuple[Name, ...],
        types: tuple[Name, ...],
    ) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.labels = labels
        self.types = types


@final
class Alias(Node):
    """`.alias name, aliasee;`"""

    __slots__ = ("aliasee", "name")

    def __init__(self, start: int, end: int, name: Name | Missing, aliasee: Name | Missing) -> None:
        self.start = start
        self.end = end
        self.name = name
        self.aliasee = aliasee


@final
class CallPrototype(Node):
    """`.callprototype (.param .b32 _) _ (.param .b64 _);`, named by the label before it."""

    __slots__ = ("directives", "parameters", "returns")

    def __init__(
        self,
        start: int,
        end: int,
        returns: tuple[Declaration, ...] | None,
        parameters: tuple[Declaration, ...],
        directives: tuple[Directive, ...],
    ) -> None:
        self.start = start
        self.end = end
        self.returns = returns
        self.parameters = parameters
        self.directives = directives


@final
class TargetList(Node):
    """`.branchtargets L0, L1;` or `.calltargets f, g;`"""

    __slots__ = ("kind", "names")

    def __init__(self, start: int, end: int, kind: Name, names: tuple[Name, ...]) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.names = names


@final
class Aggregate(Node):
    """`.struct name { ... };` of PTX 1.x"""

    __slots__ = ("fields", "kind", "name")

    def __init__(
        self,
        start: int,
        end: int,
        kind: Name,
        name: Name | None,
        fields: tuple[Declaration | Aggregate, ...],
    ) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.name = name
        self.fields = fields


@final
class Junk(Node):
    """Text that is not a statement."""

    __slots__ = ()


@final
class DwarfLine(Node):
    """`@@DWARF ...`"""

    __slots__ = ()


@final
class Dimension(Node):
    """`[16]` after the name of a kernel of PTX 1.x; `size` is None if absent."""

    __slots__ = ("size",)

    def __init__(self, start: int, end: int, size: Expression | None) -> None:
        self.start = start
        self.end = end
        self.size = size


@final
class Function(Node):
    """An `.entry` or `.func`, defined (`body`) or only declared."""

    __slots__ = (
        "attributes", "body", "dimensions", "directives", "kind", "linkage", "name", "parameters",
        "returns",
    )  # fmt: skip

    def __init__(
        self,
        start: int,
        end: int,
        linkage: tuple[Name, ...],
        kind: Name,
        attributes: tuple[Attribute, ...],
        returns: tuple[Declaration, ...] | None,
        name: Name | None,
        dimensions: tuple[Dimension, ...],
        parameters: tuple[Declaration, ...] | None,
        directives: tuple[Directive, ...],
        body: Block | None,
    ) -> None:
        self.start = start
        self.end = end
        self.linkage = linkage
        self.kind = kind
        self.attributes = attributes
        self.returns = returns
        self.name = name
        self.dimensions = dimensions
        self.parameters = parameters
        self.directives = directives
        self.body = body

    def with_body(self, body: Block) -> Function:
        """This function with another body."""
        return Function(
            self.start, self.end, self.linkage, self.kind, self.attributes, self.returns, self.name,
            self.dimensions, self.parameters, self.directives, body,
        )  # fmt: skip


Statement: TypeAlias = (
    Instruction | Label | Block | Declaration | Directive | Version | Target | AddressSize | File
    | Location | Section | Alias | CallPrototype | TargetList | Aggregate | Junk | DwarfLine
    | Function
)
