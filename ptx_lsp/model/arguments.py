"""What stands at each operand of an instruction, in the terms of the instruction table.

An `isa` `Argument` has no position and no name, so that the many instructions of one shape are judged
once.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ptx_lsp.facts import instruction_fact
from ptx_lsp.isa import special_registers
from ptx_lsp.isa.operand import Argument
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import integer
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

UNKNOWN = Argument("unknown")
_INTEGER = Argument("integer")
_FLOAT = Argument("float")
_SINGLE = Argument("single")
_SINK = Argument("sink")
_LABEL = Argument("label")
_FUNCTION = Argument("function")
SELECTOR = re.compile(r"\.(?:b[0-7]{1,4}|h[0-3]{1,4})")
"""A part of a register, or several: what ptxas knows, wherever it may stand."""
COMPONENTS = (".x", ".y", ".z", ".w", ".r", ".g", ".b", ".a")
"""Of any vector: ptxas does not look at how many elements there are."""


def arguments(function: Function, instruction: nodes.Instruction) -> tuple[Argument, ...]:
    """The operands of an instruction of `function`, in order. What cannot be told is `unknown`."""
    symbols, linked = function.body.symbols, function.linked
    found: list[Argument] = []
    for operand in instruction.operands:
        if isinstance(operand, nodes.Name):  # most of them, so without a call
            symbol = symbols.get(operand.start) or linked.get(operand.text)
            if type(symbol) is Register:
                found.append(_register(symbol.type, symbol.vector))
                continue
        found.append(argument(function, operand))
    return tuple(found)


all_arguments = instruction_fact(arguments)
"""The operands of each instruction of a function, in order."""


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
                parts=tuple(argument(function, item) for item in value.items),
                suffix=value.suffix.text if value.suffix else "",
            )
        case nodes.Vector():
            return Argument("vector", parts=tuple(_part(function, i) for i in value.items))
        case nodes.Group():
            return _group(function, value)
        case nodes.Pair():
            second = UNKNOWN
            if isinstance(value.right, nodes.Name):
                second = argument(function, value.right)
            return argument(function, value.left)._replace(pair=second)
        case nodes.Member():
            return _member(function, value)
        case nodes.Unary():
            return _unary(function, value)
        case nodes.Binary():
            return _binary(function, value)
        case nodes.Cast() | nodes.Conditional():
            return _INTEGER
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
            return _INTEGER
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
            return Argument("integer", value=integer(text))
        case "float":
            return _FLOAT
        case "exact_float":
            return _SINGLE if text[1] in "fF" else _FLOAT
        case _:
            return UNKNOWN


def _group(function: Function, value: nodes.Group) -> Argument:
    """A list; what one constant in parentheses is, its place in the instruction decides."""
    parts = tuple(argument(function, item) for item in value.items)
    if len(parts) == 1 and not isinstance(value.items[0], nodes.Name):
        return UNKNOWN
    return Argument("list", parts=parts)


def _part(function: Function, value: nodes.Expression) -> Argument:
    """One element of a vector, where ptxas passes over a selector that there is."""
    part = argument(function, value)
    return part._replace(suffix="") if SELECTOR.fullmatch(part.suffix) else part


def _member(function: Function, value: nodes.Member) -> Argument:
    """A component of a vector, or what stands behind a scalar: there it must be a selector."""
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
    inner = argument(function, value.value)
    if value.operator == "-" and inner.kind == "integer":
        return inner._replace(value=None if inner.value is None else -inner.value)
    if inner.kind in ("register", "special", "variable", "label", "function"):
        return inner._replace(negated=True)
    if inner.kind == "integer":
        return _INTEGER
    return inner if inner.kind in ("float", "single") else UNKNOWN


def _binary(function: Function, value: nodes.Binary) -> Argument:
    """A register with an offset counts as the register; of constants only the kind is told."""
    left, right = argument(function, value.left), argument(function, value.right)
    if left.kind in ("integer", "float") and right.kind in ("integer", "float"):
        return _FLOAT if "float" in (left.kind, right.kind) else _INTEGER
    if left.kind == "variable":
        return left._replace(offset=True)
    return left if left.kind == "register" else UNKNOWN
