"""The declared names that a function, or the module around it, uses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ptx_lsp.facts import fact
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.features import PREDEFINED
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import sparse_instruction_fact
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Declared, Predefined, Register, Symbol, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes

_S = TypeVar("_S", bound=Declared)
_WORD = re.compile(r"[A-Za-z_$%][\w$]*")


def unused(function: Function, symbols: Iterable[_S]) -> Iterator[_S]:
    """The symbols among `symbols`, declared by the function itself, that it never uses. Any register of a
    range counts for the range.
    """
    for symbol in symbols:
        if _identity(symbol) not in _used(function):
            yield symbol


def _identity(symbol: Symbol) -> int:
    """The identity of a symbol; the registers of a range are one."""
    if isinstance(symbol, Register):
        return id(symbol.declarator)
    return id(symbol.declarator) if isinstance(symbol, Variable) else id(symbol)


class SpecialUse(NamedTuple):
    """A special register, or `WARP_SZ`, in an operand."""

    name: nodes.Name
    operand: nodes.Operand


@sparse_instruction_fact(InstructionWake(features=PREDEFINED))
def special_uses(function: Function, number: int) -> list[SpecialUse]:
    """The special uses in the instructions of a function."""
    symbols = function.symbols
    found: list[SpecialUse] = []
    for operand in function.body.instructions[number].node.operands:
        names = names_in(operand)
        found += [SpecialUse(one, operand) for one in names if type(symbols.get(one.start)) is Predefined]
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


@fact
def _used(function: Function) -> set[int]:
    """The identities of the symbols that the function names anywhere but in their declarations."""
    symbols = function.symbols
    found: set[int] = set()
    for symbol, times in Counter(symbols.values()).items():
        if isinstance(symbol, Predefined):
            continue
        if times > 1 or symbols.get(symbol.place.start) is not symbol:
            found.add(_identity(symbol))
    return found
