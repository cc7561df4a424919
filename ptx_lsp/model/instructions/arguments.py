"""The operands of an instruction in the terms of the instruction table.

An `isa` `Argument` has no position and no name, so that all instructions of one shape share one check.
"""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.isa import special_registers
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.constants import Constant, evaluated
from ptx_lsp.model.symbols import (
    AliasName,
    FunctionName,
    Label,
    Predefined,
    Prototype,
    Register,
    Symbol,
    TargetTable,
    Variable,
)
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import constant

UNKNOWN = Argument("unknown")
_INTEGER = Argument("integer")
_WARP_SIZE = Argument("integer", value=32)
_FLOAT = Argument("float")
_SINGLE = Argument("single")
_SINK = Argument("sink")
_LABEL = Argument("label")
_FUNCTION = Argument("function")
SELECTOR = lazy_pattern(r"\.(?:b[0-7]{1,4}|h[0-3]{1,4})")
"""A selector of one or several parts of a register, which ptxas recognises anywhere."""
COMPONENTS = (".x", ".y", ".z", ".w", ".r", ".g", ".b", ".a")
"""Components of a vector of any length: ptxas does not check the number of elements."""


def arguments(function: Function, instruction: nodes.Instruction) -> tuple[Argument, ...]:
    """The operands of an instruction of `function`, in order. An operand that cannot be classified is
    `unknown`.
    """
    symbols, linked = function.symbols, function.linked
    is_call = instruction.opcode.text.startswith("call")
    found: list[Argument] = []
    for operand in instruction.operands:
        if isinstance(operand, nodes.Name):  # most of them, so without a call
            symbol = symbols.get(operand.start) or linked.get(operand.text)
            if type(symbol) is Register:
                found.append(_register(symbol.type, symbol.vector))
                continue
        if is_call and isinstance(operand, nodes.Group):
            found.append(group(function, operand))
        else:
            found.append(argument(function, operand))
    return tuple(found)




def argument(function: Function, value: nodes.Expression) -> Argument:
    """One operand, or one part of an operand."""
    match value:
        case nodes.Name(text="_"):
            return _SINK
        case nodes.Name():
            return _of_symbol(function.resolve(value))
        case nodes.Number():
            return _number(value.kind, value.text)
        case nodes.Address():
            return Argument(
                "address",
                parts=tuple(_address_part(function, item) for item in value.items),
                suffix=value.suffix.text if value.suffix else "",
            )
        case nodes.Vector():
            return _vector(function, value)
        case nodes.Group(items=(nodes.Number() | nodes.Group() as inner,)):
            return argument(function, inner)
        case nodes.Group():
            constant = evaluated(value)
            return group(function, value) if constant is None else _constant(constant)
        case nodes.Pair():
            second = UNKNOWN
            if isinstance(value.right, nodes.Name):
                second = argument(function, value.right)
            return argument(function, value.left)._replace(pair=second)
        case nodes.Element():
            return _element(function, value)
        case nodes.Member():
            return _member(function, value)
        case nodes.Unary():
            return _unary(function, value)
        case nodes.Binary():
            return _binary(function, value)
        case nodes.Cast() | nodes.Conditional():
            constant = evaluated(value)
            return _INTEGER if constant is None else _constant(constant)
        case _:
            return UNKNOWN


def _of_symbol(symbol: Symbol | None) -> Argument:
    match symbol:
        case Register():
            return _register(symbol.type, symbol.vector)
        case Variable():
            return Argument("variable", symbol.type, symbol.space)
        case Label() | Prototype() | TargetTable():
            return _LABEL
        case FunctionName() | AliasName():
            return _FUNCTION
        case Predefined(name="WARP_SZ"):
            return _WARP_SIZE
        case Predefined():
            return _special(symbol.name)
        case _:
            return UNKNOWN


@lru_cache(maxsize=256)
def _register(type: str, vector: int) -> Argument:
    single = Argument("register", type)
    return single if vector == 1 else Argument("vector", parts=(single,) * vector)


@lru_cache(maxsize=256)
def _special(name: str) -> Argument:
    found = special_registers.find(name)
    if found is None:
        return UNKNOWN
    single = Argument("special", "|".join(found.reads))
    return single if found.vector == 1 else single._replace(parts=(single,) * found.vector)


@lru_cache(maxsize=4096)
def _number(kind: str, text: str) -> Argument:
    match kind:
        case "integer":
            return Argument("integer", value=constant(text))
        case "float":
            return _FLOAT
        case "exact_float":
            return _SINGLE if text[1] in "fF" else _FLOAT
        case _:
            return UNKNOWN


def _constant(value: Constant) -> Argument:
    return Argument("integer", value=value.value) if isinstance(value.value, int) else _FLOAT


def group(function: Function, value: nodes.Group) -> Argument:
    """The arguments of a call, and any other parenthesised operand that is not a constant."""
    parts = tuple(argument(function, item) for item in value.items)
    if len(parts) == 1 and not isinstance(value.items[0], nodes.Name):
        return UNKNOWN
    return Argument("list", parts=parts)


def _vector(function: Function, value: nodes.Vector) -> Argument:
    """ptxas takes no component of a register (`v.x`) beside a constant: it is told by its suffix."""
    parts = tuple(_part(function, item) for item in value.items)
    if any(part.kind in ("integer", "float", "single") for part in parts):
        pairs = zip(value.items, parts, strict=True)
        parts = tuple(
            part._replace(suffix=f".{item.components[0].text.lstrip('.')}")
            if isinstance(item, nodes.Member) and item.components and part.kind in ("register", "special")
            else part
            for item, part in pairs
        )
    return Argument("vector", parts=parts)


def _part(function: Function, value: nodes.Expression) -> Argument:
    """One element of a vector. ptxas ignores an existing selector, and a variable that is no array
    stands for a register of its type.
    """
    symbol = function.resolve(value) if isinstance(value, nodes.Name) else None
    if isinstance(symbol, Variable) and not symbol.declarator.dimensions and symbol.vector == 1:
        return Argument("register", symbol.type)
    part = argument(function, value)
    return part._replace(suffix="") if SELECTOR.fullmatch(part.suffix) else part


def _member(function: Function, value: nodes.Member) -> Argument:
    """A component of a vector. After a scalar it must be a selector."""
    if len(value.components) != 1:
        return UNKNOWN
    whole = argument(function, value.object)
    component = value.components[0].text
    if whole.kind in ("vector", "special") and whole.parts and component in COMPONENTS:
        return whole.parts[0]
    if whole.kind == "register" and SELECTOR.fullmatch(component):
        return whole._replace(suffix=component)
    return UNKNOWN


def _unary(function: Function, value: nodes.Unary) -> Argument:
    constant = evaluated(value)
    if constant is not None:
        return _constant(constant)
    inner = argument(function, value.value)
    if inner.kind in ("register", "special", "variable", "label", "function"):
        return inner._replace(negated=True)
    if inner.kind == "integer":
        return _INTEGER
    return inner if inner.kind in ("float", "single") else UNKNOWN


def _binary(function: Function, value: nodes.Binary) -> Argument:
    constant = evaluated(value)
    if constant is not None:
        return _constant(constant)
    base = argument(function, _base(value))
    if base.kind in ("label", "function"):
        return base._replace(suffix=value.operator)
    return base._replace(kind="offset") if base.kind in ("register", "variable") else UNKNOWN


def _address_part(function: Function, value: nodes.Expression) -> Argument:
    """A name and an offset count as the name."""
    if isinstance(value, nodes.Binary) and evaluated(value) is None:
        base = argument(function, _base(value))
        known = ("register", "variable", "label", "function", "vector")
        return base if base.kind in known or base.parts else UNKNOWN
    return argument(function, value)


def _base(value: nodes.Binary) -> nodes.Expression:
    """The first operand of a chain of operators."""
    base: nodes.Expression = value
    while isinstance(base, nodes.Binary):
        base = base.left
    return base


def _element(function: Function, value: nodes.Element) -> Argument:
    array = argument(function, value.array)
    return array._replace(kind="element") if array.kind == "variable" else UNKNOWN
