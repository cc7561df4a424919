"""The instructions of a function as a flow of values: which registers each one reads and writes.

1. A *step* is one instruction, numbered in the order of the text from 0.
2. What an operand does with its registers is what its row of the instruction table says. A register
   inside an address is read, whatever happens to the memory.
3. A register that is written under a guard, in one component only, or by an operand that is both read
   and written, keeps something of what it held: it is read as well (`keeps`).
4. Of an instruction that the table does not know, the first operand is written and the others are read.
5. Registers are numbered as they are declared (`numbering.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from analyses.numbering import Numbering, numbering_of
from ptx_lsp.facts import Earlier, lasting_fact
from ptx_lsp.isa.match import Match
from ptx_lsp.isa.notation import Place
from ptx_lsp.isa.operand import Access, Argument, Operand
from ptx_lsp.isa.resolve import resolve
from ptx_lsp.model.arguments import all_arguments
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes


class Step(NamedTuple):
    """One instruction. Registers are numbers, see `Steps.registers`.

    `reads` and `writes` are in the order of the text, a register as often as it stands there; the
    guard is apart: -1 where there is none. `keeps` are the written ones of which something remains.
    """

    number: int
    node: nodes.Instruction
    opcode: str
    """The spelling without its modifiers: `ld`."""
    match: Match | None
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    keeps: tuple[int, ...]
    guard: int

    @property
    def spelling(self) -> str:
        return self.node.opcode.text

    @property
    def is_guarded(self) -> bool:
        return self.node.guard is not None

    def has(self, modifier: str) -> bool:
        return self.match is not None and modifier in self.match.candidate.choices.modifiers


@dataclass(frozen=True)
class Steps:
    """The steps of a function, and the registers that it declares, by their numbers (5)."""

    steps: tuple[Step, ...]
    registers: tuple[Register, ...]
    numbers: dict[int, int]
    """The number of a register that a step names, by the identity of its symbol."""
    numbering: Numbering

    def number(self, register: Register) -> int | None:
        """The number of `register`; None where it has none, see `Numbering.find`."""
        return self.numbering.find(register)


@lasting_fact
def steps(function: Function, earlier: Earlier[Steps] | None) -> Steps:
    """The steps of `function`."""
    numbering = numbering_of(function)
    if earlier is None or earlier.value.numbering != numbering or not numbering.is_dense:
        return _Reader(function, numbering).read()
    return _Reader(function, numbering).read_changes(earlier)


class _Access(NamedTuple):
    """What happens to one operand: `parts` where its parts differ, `pair` behind a bar."""

    own: Access
    parts: tuple[_Access, ...] = ()
    pair: Access = "none"


class _Shape(NamedTuple):
    """What instructions of one spelling and with operands of the same kinds have in common."""

    opcode: str
    match: Match | None
    accesses: tuple[_Access, ...]


@lru_cache(maxsize=16384)
def _shape(spelling: str, given: tuple[Argument, ...]) -> _Shape:
    match = resolve(spelling).match(given)
    return _Shape(spelling.partition(".")[0], match, _accesses(match, len(given)))


class _Reader:
    def __init__(self, function: Function, numbering: Numbering) -> None:
        self.function = function
        self.numbering = numbering
        self.registers: list[Register] = []
        self.numbers: dict[int, int] = {}

    def read(self) -> Steps:
        self.registers = self.numbering.registers(self.function)
        found = self.between(0, len(self.function.body.instructions))
        return Steps(tuple(found), tuple(self.registers), self.numbers, self.numbering)

    def read_changes(self, earlier: Earlier[Steps]) -> Steps:
        """With the steps that are still what they were, but for their numbers."""
        before, (first, old_end, end) = earlier
        self.registers, self.numbers = list(before.registers), dict(before.numbers)
        behind: Sequence[Step] = before.steps[old_end:]
        if end != old_end:
            behind = [Step(number, *step[1:]) for number, step in enumerate(behind, end)]
        found = (*before.steps[:first], *self.between(first, end), *behind)
        return Steps(found, tuple(self.registers), self.numbers, self.numbering)

    def between(self, first: int, end: int) -> list[Step]:
        instructions = self.function.body.instructions[first:end]
        given = all_arguments(self.function)[first:end]
        return [
            self.step(number, node, arguments)
            for number, ((node, _), arguments) in enumerate(
                zip(instructions, given, strict=True), first
            )
        ]

    def step(self, number: int, node: nodes.Instruction, given: tuple[Argument, ...]) -> Step:
        opcode, match, accesses = _shape(node.opcode.text, given)
        reads: list[int] = []
        writes: list[int] = []
        keeps: list[int] = []
        symbols = self.function.body.symbols
        numbers = self.numbers
        for operand, access in zip(node.operands, accesses, strict=True):
            if type(operand) is nodes.Name:  # most of them, so without a call
                symbol = symbols.get(operand.start)
                if type(symbol) is not Register:
                    continue
                index = numbers.get(id(symbol))
                if index is None:
                    index = self.add(symbol)
                own = access.own
                if own == "write":
                    writes.append(index)
                elif own == "read":
                    reads.append(index)
                elif own == "both":
                    reads.append(index)
                    writes.append(index)
                    keeps.append(index)
            else:
                self.operand(operand, access, reads, writes, keeps)
        guard = -1
        if node.guard is not None:
            keeps = writes
            for name in names_in(node.guard.predicate):
                guard = self.register(name)
        return Step(
            number, node, opcode, match, tuple(reads), tuple(writes), tuple(keeps), guard
        )

    def add(self, symbol: Register) -> int:
        index = self.numbers[id(symbol)] = self.numbering.of(symbol)
        self.registers[index] = symbol
        return index

    def register(self, name: nodes.Name) -> int:
        """The number of the register that a name stands for; -1 where it is something else."""
        symbol = self.function.body.symbols.get(name.start)
        if not isinstance(symbol, Register):
            return -1
        index = self.numbers.get(id(symbol))
        return self.add(symbol) if index is None else index

    def operand(
        self,
        operand: nodes.Operand,
        access: _Access,
        reads: list[int],
        writes: list[int],
        keeps: list[int],
    ) -> None:
        match operand:
            case nodes.Pair(left=left, right=right):
                self.operand(left, access, reads, writes, keeps)
                if isinstance(right, nodes.Name):
                    self.operand(right, _Access(access.pair), reads, writes, keeps)
            case nodes.Vector(items=items) | nodes.Group(items=items):
                parts = access.parts if len(access.parts) == len(items) else ()
                for index, item in enumerate(items):
                    inner = parts[index] if parts else _Access(access.own)
                    self.operand(item, inner, reads, writes, keeps)
            case nodes.Name() | nodes.Member() if access.own in ("write", "both"):
                name = operand.object if isinstance(operand, nodes.Member) else operand
                index = self.register(name) if isinstance(name, nodes.Name) else -1
                if index >= 0:
                    writes.append(index)
                    if access.own == "both" or name is not operand:
                        keeps.append(index)
                    if access.own == "both":
                        reads.append(index)
            case _ if access.own != "none" or isinstance(operand, nodes.Address):
                for name in names_in(operand):
                    index = self.register(name)
                    if index >= 0:
                        reads.append(index)
            case _:
                pass


def _accesses(match: Match | None, count: int) -> tuple[_Access, ...]:
    """For each of `count` operands what happens to it."""
    if match is None:
        first: Access = "write" if count > 1 else "read"
        return (_Access(first), *[_Access("read")] * (count - 1))[:count]
    found = [_access(match, place, wanted) for place, wanted in match.places]
    return (*found, *[_Access("read")] * (count - len(found)))[:count]


def _access(match: Match, place: Place, wanted: Operand) -> _Access:
    own: Access = "read" if place.shape == "address" else wanted.access
    pair: Access = match.candidate.operand(Place(place.pair)).access if place.paired else "none"
    if place.shape not in ("vector", "list"):
        return _Access(own, (), pair)
    parts = tuple(_access(match, part, match.candidate.operand(part)) for part in place.parts)
    if parts:
        own = parts[0].own  # a list longer than its notation: all as its first
    return _Access(own, parts, pair)
