"""The functions whose address a file takes, and which functions take one, as ptxas counts them.

1. An instruction takes the address of a function that it names, other than to call it, or by naming a
   variable of `.global` or `.const` whose initial value contains it. With `mov` the variables in that
   initial value count too, and so on.
2. Functions are read in the order of their first declarations, each before those that it calls (not by an
   alias). In each, the first use of a variable counts. A variable counts only for the first function that
   takes its address with `mov`, or the address of one that leads to it; unless it is `.visible` or `.weak`,
   which count for each function that names them, but not as what another leads to, nor does what they lead
   to.
3. Anywhere in a file, an address is also taken by the initial value of a variable of the module, and by what
   the initial value of a variable leads to that an instruction names.
4. Addresses of kernels do not count.

Probed with ptxas 13.5 (docs/ptxas.md), on random programs too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.facts import fact, module_fact
from ptx_lsp.model.body import names_in
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import AliasName, FunctionName, Register, Symbol, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import TypeAlias


class Addresses(NamedTuple):
    """By their names, the functions that take an address of a function, and the functions or aliases whose
    address is taken anywhere.
    """

    takers: frozenset[str]
    taken: tuple[str, ...]


class Uses(NamedTuple):
    """The functions that the instructions of a function call by name, the other names in them, in order, and
    whether there is a call through an address.
    """

    called: tuple[str, ...]
    named: tuple[Use, ...]
    calls_addresses: bool


class Use(NamedTuple):
    """The first use of a name. `local` is the variable if the function declares it."""

    name: str
    local: Variable | None
    is_mov: bool


@module_fact
def addresses(module: Module) -> Addresses:
    """The addresses of functions that a file takes."""
    return _Reading(module).result()


@fact
def uses(function: Function) -> Uses:
    """The names of the module, and of initialised variables of its own, in the instructions of a function."""
    known = [(call.target, function.resolve(call.target)) for call in calls(function)]
    by_name = {name.start: name.text for name, one in known if isinstance(one, FunctionName | AliasName)}
    through = any(isinstance(one, Register) for _, one in known)
    own = {id(one.declarator) for one in function.body.variables if _initial_value(one) is not None}
    if not own and not any(map(_may_lead_to_functions, function.linked.values())):
        return Uses((), (), through)
    found: dict[tuple[str, Variable | None], bool] = {}
    for instruction in function.body.instructions:
        is_mov = instruction.opcode.text.partition(".")[0] == "mov"
        for operand in instruction.operands:
            for name in names_in(operand):
                symbol = function.symbols.get(name.start)
                if isinstance(symbol, Variable) and id(symbol.declarator) in own:
                    found.setdefault((name.text, symbol), is_mov)
                elif symbol is None and name.start not in by_name and name.text in function.linked:
                    found.setdefault((name.text, None), is_mov)
    named = tuple([Use(*key, is_mov) for key, is_mov in found.items()])
    return Uses(tuple(dict.fromkeys(by_name.values())), named, through)


def _may_lead_to_functions(symbol: Symbol) -> bool:
    if isinstance(symbol, Variable):
        return symbol.space in _WITH_VALUES
    return isinstance(symbol, FunctionName | AliasName)


def _initial_value(symbol: Symbol) -> nodes.Expression | None:
    if isinstance(symbol, Variable) and symbol.space in _WITH_VALUES:
        return symbol.declarator.initializer
    return None


_WITH_VALUES = (".global", ".const")


class _Table(NamedTuple):
    """A variable, and the function that declares it."""

    variable: Variable
    function: Function | None

    @property
    def key(self) -> int:
        return id(self.variable.declarator)

    @property
    def is_visible(self) -> bool:
        return self.variable.linkage in (".visible", ".weak", ".extern")


_Meaning: TypeAlias = "str | _Table"
"""The name of a function or alias, or a variable with an initial value."""


class _Reading:
    """The functions of a file, read in the order of ptxas."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._moved: set[int] = set()
        """The variables that count for no function any more."""
        self._passed: set[int] = set()
        """Those that count no more as what another leads to."""
        self._followed: set[int] = set()
        self._known: dict[int, tuple[_Meaning, ...]] = {}
        """The values of tables."""
        self._takers: set[str] = set()
        self._taken: dict[str, None] = {}

    def result(self) -> Addresses:
        tables = [_Table(one, None) for one in self._module.variables if isinstance(one, Variable)]
        for table in tables:
            if table.is_visible:
                self._passes(table, is_mov=False)
        seen: set[str] = set()
        definitions = self._module.definitions
        for first in self._module.functions:
            waiting = [first.name]
            while waiting:
                name = waiting.pop()
                function = definitions.get(name)
                if function is not None and name not in seen:
                    seen.add(name)
                    if self._takes_an_address(function):
                        self._takers.add(name)
                    waiting += reversed(uses(function).called)
        for table in tables:
            self._take(one for one in self._values(table) if isinstance(one, str))
        return Addresses(frozenset(self._takers), tuple(self._taken))

    def _takes_an_address(self, function: Function) -> bool:
        found = False
        for use in uses(function).named:
            meaning = self._meaning(use.name) if use.local is None else _Table(use.local, function)
            if isinstance(meaning, str):
                self._take((meaning,))
                found = True
            elif meaning is not None:
                self._follow(meaning)
                if meaning.key not in self._moved:
                    found |= self._passes(meaning, use.is_mov)
        return found

    def _passes(self, table: _Table, is_mov: bool) -> bool:
        """Whether a name of a table takes the address of a function."""
        found = any(isinstance(one, str) for one in self._values(table))
        if is_mov:
            self._passed.add(table.key)
            if not table.is_visible:
                self._moved.add(table.key)
        waiting = [table]
        while waiting:
            for one in self._values(waiting.pop()):
                if isinstance(one, str):
                    found |= is_mov
                elif one.key not in self._passed and not (is_mov and one.is_visible):
                    self._passed.add(one.key)
                    if is_mov:
                        self._moved.add(one.key)
                    waiting.append(one)
        return found

    def _follow(self, table: _Table) -> None:
        """Counts what a table leads to as taken somewhere."""
        waiting = [table]
        while waiting:
            one = waiting.pop()
            if one.key not in self._followed:
                self._followed.add(one.key)
                self._take(value for value in self._values(one) if isinstance(value, str))
                waiting += [value for value in self._values(one) if not isinstance(value, str)]

    def _take(self, names: Iterable[str]) -> None:
        self._taken.update(dict.fromkeys(names))

    def _values(self, table: _Table) -> tuple[_Meaning, ...]:
        """The functions and variables in an initial value."""
        if table.key not in self._known:
            self._known[table.key] = tuple(self._read(table))
        return self._known[table.key]

    def _read(self, table: _Table) -> Iterator[_Meaning]:
        value = table.variable.declarator.initializer
        for name in names_in(value) if value is not None else ():
            local = table.function.symbols.get(name.start) if table.function is not None else None
            if isinstance(local, Variable):
                yield _Table(local, table.function)
            elif local is None and (meaning := self._meaning(name.text)) is not None:
                yield meaning

    def _meaning(self, name: str) -> _Meaning | None:
        """What a name of the module stands for, if it leads to functions."""
        symbols = [symbol for _, symbol in self._module.names.get(name, ())]
        first = symbols[0] if symbols else None
        if isinstance(first, FunctionName | AliasName):
            is_kernel = any(isinstance(one, FunctionName) and one.is_kernel for one in symbols)
            return None if is_kernel else name
        variable = next((one for one in symbols if _initial_value(one) is not None), None)
        return _Table(variable, None) if isinstance(variable, Variable) else None
