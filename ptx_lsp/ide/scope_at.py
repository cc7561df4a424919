"""The names that are known at a place of a function."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import Scope
from ptx_lsp.model.symbols import Declared, Label, Register, Variable
from ptx_lsp.syntax import nodes


def scope_at(function: Function, offset: int) -> Scope:
    """The scope of the innermost block around `offset` of the file.

    A block without instructions has that of the block around it.
    """
    at = offset - function.item.start
    blocks = _blocks(function, at)
    instructions = function.body.instructions
    for depth in range(len(blocks), 0, -1):
        block = blocks[depth - 1]
        index = bisect_right(instructions, block.start, key=lambda one: one.node.start)
        if index < len(instructions) and instructions[index].node.start < block.end:
            node, scope = instructions[index]
            inside = len(_blocks(function, node.start))
            for _ in range(inside - depth):
                scope = scope.parent or scope
            return scope
    return function.body.scope


def visible(function: Function, offset: int, prefix: str) -> Iterator[Declared]:
    """What can be named at `offset` and begins with `prefix`: of a range the registers that are used
    somewhere. Labels may come later, all else must have been declared before.
    """
    at = offset - function.item.start
    seen: set[str] = set()
    scope: Scope | None = scope_at(function, offset)
    while scope is not None:
        for name, symbol in scope.names.items():
            if name.startswith(prefix) and name not in seen and (
                isinstance(symbol, Label) or symbol.place.start < at
            ):
                seen.add(name)
                yield symbol
        scope = scope.parent


def ranges(function: Function, offset: int) -> Iterator[tuple[Register | Variable, int]]:
    """The ranges that are declared before `offset`, with how many they have."""
    at = offset - function.item.start
    scope: Scope | None = scope_at(function, offset)
    while scope is not None:
        for found in scope.ranges.values():
            if found.declared.place.start < at:
                yield found.declared, found.count
        scope = scope.parent


def _blocks(function: Function, at: int) -> list[nodes.Block]:
    """The blocks around `at`, without the body, the outermost first."""
    found: list[nodes.Block] = []
    block = function.node.body
    while block is not None:
        index = bisect_right(block.statements, at, key=lambda one: one.start) - 1
        inner = block.statements[index] if index >= 0 else None
        block = inner if isinstance(inner, nodes.Block) and at <= inner.end else None
        if block is not None:
            found.append(block)
    return found
