"""Checks the arguments of a call against the parameters of the callee."""

from __future__ import annotations

from ptx_lsp.isa.types import TYPES, Kind, Type, fits
from ptx_lsp.model.calls.calls import Formal
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import argument
from ptx_lsp.model.symbols import Predefined, Register, Variable, element_type, vector_length
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

if TYPE_CHECKING:
    from typing import TypeAlias

Reason: TypeAlias = Literal["no value", "own parameter", "space", "type", "alignment"]
"""The kind of mismatch. The argument is `_`, a `.param` parameter of the calling function, or not a register,
`.param` variable or constant; or its type or alignment differs from the parameter's.
"""

_CONSTANTS = ("integer", "float", "single")
_UNKNOWN = -1


class ArgumentType(NamedTuple):
    """The properties that must match: `length` counts the elements of an array (None: not an array, 0:
    unsized), `alignment` is in bytes.
    """

    type: Type
    vector: int
    length: int | None
    alignment: int

    @property
    def bytes(self) -> int:
        """Bytes per element."""
        return _size(self.type) * self.vector

    def __str__(self) -> str:
        vector = f".v{self.vector} " if self.vector > 1 else ""
        if self.length is None:
            return f"`{vector}{self.type.name}`"
        return f"`{vector}{self.type.name}[{self.length or ''}]`"


class ArgumentMismatch(NamedTuple):
    """The type passed, if known, and the type expected."""

    reason: Reason
    given: ArgumentType | None
    wanted: ArgumentType | None


def argument_mismatch(
    function: Function, actual: nodes.Operand, formal: Formal, *, is_return: bool
) -> ArgumentMismatch | None:
    """The mismatch of `actual`, which a call in `function` passes for `formal`; None if they match or the
    types are unknown.
    """
    wanted = declared_type(formal.declaration, formal.declarator)
    given: ArgumentType | None = None
    reason: Reason | None = None
    if not isinstance(actual, nodes.Name):
        reason = _constant_mismatch(argument(function, actual).kind, wanted)
    elif actual.text == "_":
        reason = None if is_return else "no value"
    else:
        match function.resolve(actual):
            case None:
                pass
            case Predefined(name="WARP_SZ"):
                reason = _constant_mismatch("integer", wanted)
            case Variable(space=".param", is_parameter=True):
                reason = "own parameter"
            case Register() | Variable(space=".param") as symbol:
                given = type_of_symbol(symbol)
                reason = _type_mismatch(given, wanted)
                if reason == "alignment" and _is_aligned(function, symbol):
                    reason = None
            case _:
                reason = "space"
    return ArgumentMismatch(reason, given, wanted) if reason else None


def prototype_mismatch(callee: nodes.Function, prototype: nodes.CallPrototype) -> str | None:
    """The first parameter or result that differs between a call prototype and the function."""
    for what, declared, promised in (
        ("result", _types(callee.returns), _types(prototype.returns)),
        ("parameter", _types(callee.parameters), _types(prototype.parameters)),
    ):
        if len(declared) != len(promised):
            plural = "" if len(declared) == 1 else "s"
            return f"it has {len(declared)} {what}{plural}, but the prototype has {len(promised)}"
        for number, (one, other) in enumerate(zip(declared, promised, strict=True), 1):
            if one is not None and other is not None and not _types_agree(one, other):
                return f"its {what} {number} is {one}, but the prototype has {other}"
    return None


def _types(declarations: tuple[nodes.Declaration, ...] | None) -> list[ArgumentType | None]:
    return [declared_type(one, declarator) for one in declarations or () for declarator in one.declarators]


def type_of_symbol(symbol: Register | Variable) -> ArgumentType | None:
    """The type that a name passes; None if its declaration is not understood. A register's `.align` is
    ignored, because it is rarely written.
    """
    if isinstance(symbol, Variable):
        return declared_type(symbol.declaration, symbol.declarator)
    type = TYPES.get(symbol.type)
    return ArgumentType(type, symbol.vector, None, _size(type) * symbol.vector) if type is not None else None


def declared_type(declaration: nodes.Declaration, declarator: nodes.Declarator) -> ArgumentType | None:
    """The type of a variable or parameter; None if the declaration is not understood."""
    type = TYPES.get(element_type(declaration))
    if type is None or type.kind is Kind.HANDLE:
        return None
    vector = vector_length(declaration)
    length = _length(declarator.dimensions)
    alignment = _alignment(declaration, _size(type) * vector)
    if alignment is None or length == _UNKNOWN:
        return None
    return ArgumentType(type, vector, length, alignment)


def _size(type: Type) -> int:
    """In bytes, which is also its natural alignment; ptxas gives a predicate 4."""
    return type.bytes or 4


def _alignment(declaration: nodes.Declaration, natural: int) -> int | None:
    """The alignment in bytes, which `.align` can only raise; None if it is not a number."""
    if declaration.alignment is None:
        return natural
    number = declaration.alignment
    stated = integer(number.text) if isinstance(number, nodes.Number) else None
    return max(stated, natural) if stated else None


def _length(dimensions: tuple[nodes.Expression | None, ...]) -> int | None:
    """None: no array; 0: unsized; `_UNKNOWN`: no plain number, or more than one."""
    if not dimensions:
        return None
    size = dimensions[0]
    if size is None and len(dimensions) == 1:
        return 0
    found = integer(size.text) if isinstance(size, nodes.Number) and len(dimensions) == 1 else None
    return _UNKNOWN if found is None else found


def _constant_mismatch(kind: str, wanted: ArgumentType | None) -> Reason | None:
    if kind not in _CONSTANTS or wanted is None or wanted.vector > 1:
        return None
    if wanted.length is not None:
        return "type"
    type = wanted.type
    if type.kind is Kind.BITS:
        return None
    if type.name == ".f16x2":
        return None if kind == "single" else "type"
    if type.is_integer:
        return None if kind == "integer" else "type"
    if type.kind is Kind.FLOAT:
        return "type" if kind == "integer" else None
    return "type"


def _type_mismatch(given: ArgumentType | None, wanted: ArgumentType | None) -> Reason | None:
    if given is None or wanted is None:
        return None
    if not _types_agree(given, wanted):
        return "type"
    return None if given.alignment == wanted.alignment else "alignment"


def _is_aligned(function: Function, symbol: Register | Variable) -> bool:
    """Whether this is a register whose declaration has an `.align`."""
    return isinstance(symbol, Register) and any(
        isinstance(statement, nodes.Declaration)
        and statement.alignment is not None
        and any(found is symbol.declarator for found in statement.declarators)
        for statement, _ in function.body.directives
    )


def _types_agree(given: ArgumentType, wanted: ArgumentType) -> bool:
    """In doubt yes."""
    if (given.length is None) != (wanted.length is None):
        return False
    if given.length is None:
        if given.bytes != wanted.bytes:
            return False
        if given.vector > 1 or wanted.vector > 1:
            return True
        return _scalars_agree(given.type, wanted.type)
    if wanted.length and given.length * given.bytes != wanted.length * wanted.bytes:
        return False
    if Kind.ALTERNATE in (given.type.kind, wanted.type.kind) or given.vector > 1:
        return True
    return _elements_agree(given.type, wanted.type)


def _scalars_agree(given: Type, wanted: Type) -> bool:
    """`.f16x2` goes with everything of its size, predicates included."""
    if ".f16x2" in (given.name, wanted.name):
        return True
    return given is wanted or fits(given, wanted)


def _elements_agree(given: Type, wanted: Type) -> bool:
    """Element sizes of arrays of equal size may differ if one element type is untyped bits."""
    return Kind.BITS in (given.kind, wanted.kind) or fits(given, wanted)
