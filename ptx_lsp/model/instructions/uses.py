"""The declared names that a function, or the module around it, uses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple, TypeVar

from ptx_lsp.facts import (
    Previous,
    directive_fact,
    incremental_fact,
    instruction_fact,
    sparse_instruction_fact,
)
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Declared, Predefined, Register, Symbol, Variable
from ptx_lsp.syntax import nodes

_S = TypeVar("_S", bound=Declared)
_WORD = re.compile(r"[A-Za-z_$%][\w$]*")


def unused(function: Function, symbols: Iterable[_S]) -> Iterator[_S]:
    """The symbols among `symbols`, declared by the function itself, that it never uses. Any register of a
    range counts for the range.
    """
    times, others = _counts(function).times, _in_directives(function)
    for symbol in symbols:
        one = _identity(symbol)
        if one not in times and one not in others:
            yield symbol


def _identity(symbol: Symbol) -> int:
    """The identity of a symbol; the registers of a range are one."""
    return id(symbol.declarator) if isinstance(symbol, Register | Variable) else id(symbol)


class SpecialUse(NamedTuple):
    """A special register, or `WARP_SZ`, in an operand."""

    name: nodes.Name
    operand: nodes.Operand


@sparse_instruction_fact
def special_uses(function: Function, number: int) -> list[SpecialUse]:
    """The special uses in the instructions of a function."""
    symbols = function.symbols
    found: list[SpecialUse] = []
    for operand in function.body.instructions[number].node.operands:
        kind = type(operand)
        if kind is nodes.Name:  # most of them, so without a call
            if type(symbols.get(operand.start)) is Predefined:
                found += (SpecialUse(name, operand) for name in names_in(operand))
        elif kind is not nodes.Number:
            names = (one for one in names_in(operand) if type(symbols.get(one.start)) is Predefined)
            found += (SpecialUse(name, operand) for name in names)
    return found


def names_elsewhere(module: Module) -> frozenset[str]:
    """The names that statements outside functions mention: initial values, aliases, and the words of debug
    sections.
    """
    found: set[str] = set()
    source = module.document.source
    for item in module.outside:
        match item.node:
            case nodes.Declaration(declarators=declarators):
                for declarator in declarators:
                    if declarator.initializer is not None:
                        found.update(name.text for name in names_in(declarator.initializer))
            case nodes.Alias(name=name, aliasee=aliasee):
                found.update(n.text for n in (name, aliasee) if isinstance(n, nodes.Name))
            case nodes.Section() | nodes.Directive():
                text = source.data[item.start : item.end].decode(errors="replace")
                found.update(_WORD.findall(text))
            case _:
                pass
    return frozenset(found)


class _Counts(NamedTuple):
    """The names in each instruction, and the total uses of each symbol; see `_identity`."""

    named: tuple[tuple[int, ...], ...]
    times: Counter[int]


@incremental_fact
def _counts(function: Function, earlier: Previous[_Counts] | None) -> _Counts:
    named = _in_instructions(function)
    if earlier is None:
        return _Counts(named, Counter(chain.from_iterable(named)))
    before, (first, old_end, end) = earlier
    times = before.times.copy()
    times.update(chain.from_iterable(named[first:end]))
    gone = Counter(chain.from_iterable(before.named[first:old_end]))
    times.subtract(gone)
    for one in gone:
        if not times[one]:
            del times[one]
    return _Counts(named, times)


@instruction_fact
def _in_instructions(function: Function, instruction: nodes.Instruction) -> tuple[int, ...]:
    symbols = function.symbols
    found: list[int] = []
    for operand in instruction.operands:
        kind = type(operand)
        if kind is nodes.Name:  # most of them, so without a call
            symbol = symbols.get(operand.start)
            if type(symbol) is Register:
                found.append(id(symbol.declarator))
            elif symbol is not None:
                found.append(_identity(symbol))
        elif kind is not nodes.Number:
            found.extend(_named(function, operand))
    if instruction.guard is not None:
        found.extend(_named(function, instruction.guard.predicate))
    return tuple(found)


@directive_fact
def _in_directives(function: Function) -> frozenset[int]:
    """The names in target lists, aliases and initial values."""
    node = function.node
    inside = (statement for statement, _ in function.body.directives)
    return frozenset(
        one
        for statement in (*(node.returns or ()), *(node.parameters or ()), *inside)
        for value in _values(statement)
        for one in _named(function, value)
    )


def _values(statement: nodes.Statement) -> Iterator[nodes.Expression]:
    match statement:
        case nodes.TargetList(names=names):
            yield from names
        case nodes.Alias(name=name, aliasee=aliasee):
            yield from (one for one in (name, aliasee) if isinstance(one, nodes.Name))
        case nodes.Declaration(declarators=declarators):
            yield from (one.initializer for one in declarators if one.initializer is not None)
        case _:
            pass


def _named(function: Function, value: nodes.Expression) -> Iterator[int]:
    symbols = (function.symbols.get(name.start) for name in names_in(value))
    yield from (_identity(symbol) for symbol in symbols if symbol is not None)
