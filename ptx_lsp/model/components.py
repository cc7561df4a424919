"""Components (`v.x`, `%tid.y`, the selector in `%r1.b0`) of what has no such component."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from ptx_lsp.facts import fact
from ptx_lsp.isa.operand import Argument
from ptx_lsp.model.arguments import SELECTORS, argument
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Symbol
from ptx_lsp.syntax import nodes

Of: TypeAlias = Literal["vector", "register", "other"]
_OF_VECTOR = frozenset({".x", ".y", ".z", ".w", ".r", ".g", ".b", ".a"})
"""ptxas does not look at how many elements there are."""


class WrongComponent(NamedTuple):
    """A component that is not there. `symbol` is what the name before it stands for; `of`, whether that is
    a vector, a register that is none, or something that never has components.
    """

    instruction: nodes.Instruction
    member: nodes.Member
    symbol: Symbol
    of: Of


@fact
def wrong_components(function: Function) -> tuple[WrongComponent, ...]:
    """Those of the operands of `function`, in order. Names that are not declared are passed over."""
    return tuple(
        WrongComponent(instruction, member, symbol, of)
        for instruction, _ in function.body.instructions
        for operand in instruction.operands
        if type(operand) is not nodes.Name  # most of them, so without a call
        for member in _members(operand)
        if isinstance(member.object, nodes.Name) and len(member.components) == 1
        if (symbol := function.resolve(member.object)) is not None
        if (of := _lacks(argument(function, member.object), member.components[0].text))
    )


def _members(value: nodes.Expression) -> Iterator[nodes.Member]:
    match value:
        case nodes.Member():
            yield value
        case nodes.Vector() | nodes.Address():
            for item in value.items:
                # what stands in brackets itself is a syntax error
                if not (isinstance(value, nodes.Address) and isinstance(item, nodes.Member)):
                    yield from _members(item)
        case nodes.Unary():
            yield from _members(value.value)
        case _:
            return


def _lacks(whole: Argument, component: str) -> Of | None:
    match whole.kind:
        case "vector":
            return None if component in _OF_VECTOR else "vector"
        case "register":
            return None if component in SELECTORS else "register"
        case _:
            return "other"
