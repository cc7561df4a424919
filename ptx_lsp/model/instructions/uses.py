"""The declared names that a function, or the module around it, uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.model._core import add_users
from ptx_lsp.model.body import instruction_names, names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.features import PREDEFINED
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import sparse_instruction_fact
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Declared, Predefined, Register, Symbol, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, TypeVar
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

_S = TypeVar("_S", bound=Declared)
_WORD = lazy_pattern(r"[A-Za-z_$%][\w$]*")


def unused(function: Function, symbols: Iterable[_S]) -> Iterator[_S]:
    """The symbols among `symbols`, declared by the function itself, that it never uses. Any register of a
    range counts for the range.
    """
    used = _users(function).identities
    for symbol in symbols:
        if _identity(symbol) not in used:
            yield symbol


def _identity(symbol: Symbol) -> object:
    """What identifies a symbol, as for `add_users`; the registers of a range are one."""
    return symbol.declarator if isinstance(symbol, Register | Variable) else symbol


class SpecialUse(NamedTuple):
    """A special register, or `WARP_SZ`, in an operand."""

    name: nodes.Name
    operand: nodes.Operand


@sparse_instruction_fact(InstructionWake(features=PREDEFINED))
def special_uses(function: Function, number: int) -> list[SpecialUse]:
    """The special uses in the instructions of a function."""
    symbols = function.symbols
    found: list[SpecialUse] = []
    for operand in function.body.instructions[number].operands:
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


class _Users:
    """The used symbols. For each of them, there is a name in `starts` (its stable offset) that is not in the
    declaration of the symbol; `symbols` is parallel to that.
    """

    __slots__ = ("identities", "starts", "symbols")

    def __init__(self, identities: set[object], starts: list[int], symbols: list[Symbol]) -> None:
        self.identities: Final = identities
        self.starts: Final = starts
        self.symbols: Final = symbols

    def add(self, named: Mapping[int, Symbol]) -> _Users:
        """Adds the symbols of names, by start."""
        add_users(self.identities, self.starts, self.symbols, named)
        return self


@incremental_fact
def _users(function: Function, earlier: Previous[_Users] | None) -> _Users:
    symbols = function.symbols
    if earlier is not None:
        known = earlier.value
        if list(map(symbols.get, known.starts)) == known.symbols:  # else, other names may use the symbol
            first, _, end = earlier.change
            starts = [start for one in function.body.instructions[first:end] for start in _starts(one)]
            named = {start: symbols[start] for start in starts if start in symbols}
            return _Users(known.identities.copy(), known.starts.copy(), known.symbols.copy()).add(named)
    return _Users(set(), [], []).add(symbols)


def _starts(node: nodes.Instruction) -> list[int]:
    """Where an instruction names something."""
    return [name.start for name in instruction_names(node)]
