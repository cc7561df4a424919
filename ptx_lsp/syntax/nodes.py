"""The typed, read-only nodes of a PTX file.

A node is the result of parsing only: names are not resolved and opcodes are not looked up. `start` and `end`
are byte offsets from the start of the top-level statement (the `Item`) that contains the node. A function
therefore keeps its nodes when the text before it changes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Name(NamedTuple):
    """An identifier, or a modifier or directive name with its leading dot."""

    start: int
    end: int
    text: str


class Number(NamedTuple):
    """A literal as written: `0x1F`, `1.5`, `0f3F800000`; `kind` is the name of its grammar node."""

    start: int
    end: int
    text: str
    kind: str


class String(NamedTuple):
    """A string with its quotes."""

    start: int
    end: int
    text: str


class Missing(NamedTuple):
    """The place of a missing token."""

    start: int
    end: int


class Member(NamedTuple):
    """`%tid.x`, `v.y`, `%r1.b0`"""

    start: int
    end: int
    object: Expression
    components: tuple[Name, ...]


class Element(NamedTuple):
    """`a[4]`: an array element, or in PTX 1.x its address."""

    start: int
    end: int
    array: Name
    indices: tuple[Expression, ...]


class Unary(NamedTuple):
    """`-x`, `!p`, `~x`, `+x`"""

    start: int
    end: int
    operator: str
    value: Expression


class Binary(NamedTuple):
    """`sym+4`"""

    start: int
    end: int
    operator: str
    left: Expression
    right: Expression


class Conditional(NamedTuple):
    """`a ? b : c`"""

    start: int
    end: int
    condition: Expression
    then: Expression
    otherwise: Expression


class Cast(NamedTuple):
    """`(.s64) x`"""

    start: int
    end: int
    type: Name
    value: Expression


class Relocation(NamedTuple):
    """`generic(name)`, or the bytes of an address that a mask selects: `0xFF(name)`."""

    start: int
    end: int
    operator: Name | Number
    values: tuple[Expression, ...]


class Group(NamedTuple):
    """`(a, b)`: the arguments of a call; with one item also a parenthesised expression."""

    start: int
    end: int
    items: tuple[Operand, ...]


class Pair(NamedTuple):
    """`p|q`, `{a, b}|p`: two destinations."""

    start: int
    end: int
    left: Name | Vector
    right: Name | Missing


class Address(NamedTuple):
    """`[a+4]`, `[tensor, {x, y}]`; `suffix` is the `.unified` of `[a].unified`."""

    start: int
    end: int
    items: tuple[Operand, ...]
    suffix: Name | None


class Vector(NamedTuple):
    """`{a, b, c, d}`"""

    start: int
    end: int
    items: tuple[Operand, ...]


class FieldValue(NamedTuple):
    """`width = 4`, in the initialiser of a texture or sampler. Names in it are PTX keywords."""

    start: int
    end: int
    name: Name
    value: Expression


class InitializerList(NamedTuple):
    """`{1, {2, 3}}`"""

    start: int
    end: int
    items: tuple[Expression, ...]


class Nested(NamedTuple):
    """An expression that is nested too deeply to be lowered."""

    start: int
    end: int


Expression: TypeAlias = (
    Name | Number | String | Missing | Member | Element | Unary | Binary | Conditional | Cast
    | Relocation | Group | Pair | Address | Vector | InitializerList | FieldValue | Nested
)
Operand: TypeAlias = Expression


class Opcode(NamedTuple):
    """`add.s32`: `text` is the spelling with its modifiers and without blanks. `bank` is the `.const[2]` of
    `ld.const[2].u32`, whose `text` has only the state space.
    """

    start: int
    end: int
    text: str
    bank: Name | None = None


class Guard(NamedTuple):
    """`@p` or `@!p`"""

    start: int
    end: int
    negated: bool
    predicate: Expression


class Instruction(NamedTuple):
    """`@p add.s32 d, a, b;`"""

    start: int
    end: int
    guard: Guard | None
    opcode: Opcode
    operands: tuple[Operand, ...]


class Label(NamedTuple):
    """`name:`"""

    start: int
    end: int
    name: Name


class Block(NamedTuple):
    """`{ ... }`; `guard` is the guard of a guarded group."""

    start: int
    end: int
    guard: Guard | None
    statements: tuple[Statement, ...]


class Declarator(NamedTuple):
    """`name<8>`, `name[4][2] = {...}`; an unsized dimension is None."""

    start: int
    end: int
    name: Name
    range: Number | Missing | None
    dimensions: tuple[Expression | None, ...]
    initializer: Expression | None


class Attribute(NamedTuple):
    """One `.managed` or `.unified(1, 2)` of `.attribute(...)`."""

    start: int
    end: int
    name: Name
    values: tuple[Expression, ...]


class Declaration(NamedTuple):
    """`.global .align 4 .u32 a[4], b;` and each parameter of a list.

    `modifiers` are the vector, type and `.ptr` parts in order; `type_name` is a PTX 1.x structure.
    """

    start: int
    end: int
    linkage: tuple[Name, ...]
    space: Name | None
    bank: Expression | None
    modifiers: tuple[Name, ...]
    type_name: Name | None
    alignment: Number | Missing | None
    attributes: tuple[Attribute, ...]
    declarators: tuple[Declarator, ...]


class Directive(NamedTuple):
    """A directive without a node class of its own: `.maxntid 256, 1, 1`, `.pragma "nounroll";`."""

    start: int
    end: int
    linkage: tuple[Name, ...]
    name: Name
    arguments: tuple[Expression, ...]


class Version(NamedTuple):
    """`.version 8.5`"""

    start: int
    end: int
    number: Number | Missing


class Target(NamedTuple):
    """`.target sm_90a, debug`"""

    start: int
    end: int
    names: tuple[Name, ...]


class AddressSize(NamedTuple):
    """`.address_size 64`"""

    start: int
    end: int
    bits: Number | Missing


class File(NamedTuple):
    """`.file 1 "a.cu", 1700000000, 512`; `numbers` are the time and the size."""

    start: int
    end: int
    number: Number | Missing
    path: String | Missing
    numbers: tuple[Number | Missing, ...] = ()


class LocationAttribute(NamedTuple):
    """`function_name $L__info_string0`, with a number if an offset is added, or `inlined_at 1 10 5`."""

    start: int
    end: int
    name: Name
    values: tuple[Name | Number, ...]


class Location(NamedTuple):
    """`.loc 1 5 3, function_name $L__info_string0, inlined_at 1 10 5`"""

    start: int
    end: int
    file: Number | Missing
    line: Number | Missing
    column: Number | Missing
    attributes: tuple[LocationAttribute, ...]


class Section(NamedTuple):
    """`.section .debug_info { ... }`; `labels` are the labels in it, `types` the words such as `.b8` that its
    data lines begin with, each at its first occurrence.
    """

    start: int
    end: int
    name: Name | None
    labels: tuple[Name, ...]
    types: tuple[Name, ...]


class Alias(NamedTuple):
    """`.alias name, aliasee;`"""

    start: int
    end: int
    name: Name | Missing
    aliasee: Name | Missing


class CallPrototype(NamedTuple):
    """`.callprototype (.param .b32 _) _ (.param .b64 _);`, named by the label before it."""

    start: int
    end: int
    returns: tuple[Declaration, ...] | None
    parameters: tuple[Declaration, ...]
    directives: tuple[Directive, ...]


class TargetList(NamedTuple):
    """`.branchtargets L0, L1;` or `.calltargets f, g;`"""

    start: int
    end: int
    kind: Name
    names: tuple[Name, ...]


class Aggregate(NamedTuple):
    """`.struct name { ... };` of PTX 1.x"""

    start: int
    end: int
    kind: Name
    name: Name | None
    fields: tuple[Declaration | Aggregate, ...]


class Junk(NamedTuple):
    """Text that is not a statement."""

    start: int
    end: int


class DwarfLine(NamedTuple):
    """`@@DWARF ...`"""

    start: int
    end: int


class Dimension(NamedTuple):
    """`[16]` after the name of a kernel of PTX 1.x; `size` is None if absent."""

    start: int
    end: int
    size: Expression | None


class Function(NamedTuple):
    """An `.entry` or `.func`, defined (`body`) or only declared."""

    start: int
    end: int
    linkage: tuple[Name, ...]
    kind: Name
    attributes: tuple[Attribute, ...]
    returns: tuple[Declaration, ...] | None
    name: Name | None
    dimensions: tuple[Dimension, ...]
    parameters: tuple[Declaration, ...] | None
    directives: tuple[Directive, ...]
    body: Block | None


Statement: TypeAlias = (
    Instruction | Label | Block | Declaration | Directive | Version | Target | AddressSize | File
    | Location | Section | Alias | CallPrototype | TargetList | Aggregate | Junk | DwarfLine
    | Function
)
