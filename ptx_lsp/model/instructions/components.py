"""Components (`v.x`, `%tid.y`, the selector in `%r1.b0`) that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import COMPONENTS, SELECTOR, argument
from ptx_lsp.model.instructions.features import MEMBER
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import collect_over_instructions
from ptx_lsp.model.symbols import Predefined, Symbol
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import TypeAlias

Of: TypeAlias = Literal["vector", "register", "special register", "other"]


class WrongComponent(NamedTuple):
    """A component that does not exist. `symbol` is the symbol of the name before it. `of` classifies that
    symbol: a vector, a register or special register that is not a vector, or a symbol that never has
    components.
    """

    instruction: nodes.Instruction
    member: nodes.Member
    symbol: Symbol
    of: Of


def _has_unknown(shape: Shape) -> bool:
    return any(map(_is_unknown, shape.arguments))


def _is_unknown(argument: Argument) -> bool:
    return argument.kind == "unknown" or any(map(_is_unknown, argument.parts))


@collect_over_instructions(InstructionWake(features=MEMBER, where=_has_unknown))
def wrong_components(
    function: Function, instruction: nodes.Instruction
) -> Iterator[WrongComponent]:
    """The wrong components in the operands of a function, in order. Undeclared names are ignored."""
    for operand in instruction.operands:
        if type(operand) is nodes.Name:  # most of them, so without a call
            continue
        for member, in_braces in _members(operand):
            if not isinstance(member.object, nodes.Name) or len(member.components) != 1:
                continue
            symbol, component = function.resolve(member.object), member.components[0].text
            if symbol is None or (in_braces and _SELECTOR.fullmatch(component)):
                continue
            of = _lacks(symbol, argument(function, member.object), component)
            if of is not None:
                yield WrongComponent(instruction, member, symbol, of)


_SELECTOR = lazy_pattern(r"\.[bh]\d*")
"""ptxas ignores these in braces."""


def _members(
    value: nodes.Expression, in_braces: bool = False
) -> Iterator[tuple[nodes.Member, bool]]:
    match value:
        case nodes.Member():
            yield value, in_braces
        case nodes.Vector(items=items):
            for item in items:
                yield from _members(item, True)
        case nodes.Address(items=items):
            for item in items:
                if not isinstance(item, nodes.Member):  # that is a syntax error
                    yield from _members(item)
        case nodes.Unary(value=inner):
            yield from _members(inner, in_braces)
        case _:
            return


def _lacks(symbol: Symbol, whole: Argument, component: str) -> Of | None:
    if whole.kind == "unknown":
        return None
    if whole.kind in ("vector", "special") and whole.parts:
        return None if component in COMPONENTS else "vector"
    if whole.kind == "register":
        return None if SELECTOR.fullmatch(component) else "register"
    return "special register" if isinstance(symbol, Predefined) else "other"
