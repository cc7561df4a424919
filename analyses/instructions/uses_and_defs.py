"""The instructions of a function with their register uses and defs.

1. An instruction is identified by its index in the order of the text, from 0.
2. Its row of the instruction table says which operands it uses and which it defines. A register inside an
   address is used, even if the memory is written.
3. A register that is written under a guard, in one component only, or by an operand that is both read and
   written, keeps part of its previous value: this is a *partial definition* (`partial_defs`), and also reads
   the register.
4. If the table does not have the instruction, its first operand is a definition and the others are uses.
5. Registers are identified by their index (`register_index.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from analyses.instructions.register_index import RegisterIndex, register_index
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.operand_access import OperandAccess
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes


class InstructionInfo(NamedTuple):
    """One instruction. Registers are indices into `FunctionInstructions.registers`.

    `uses` and `defs` are in the order of the text, with one entry per occurrence. The guard is separate; -1
    if absent. `partial_defs` are the defs that keep part of the previous value.
    """

    number: int
    node: nodes.Instruction
    opcode: str
    """The opcode without its modifiers: `ld`."""
    match: Match | None
    uses: tuple[int, ...]
    defs: tuple[int, ...]
    partial_defs: tuple[int, ...]
    guard: int

    @property
    def spelling(self) -> str:
        return self.node.opcode.text

    @property
    def is_guarded(self) -> bool:
        return self.node.guard is not None

    def has(self, modifier: str) -> bool:
        return self.match is not None and modifier in self.match.candidate.choices.modifiers


class FunctionInstructions:
    """The instructions of a function, and its registers by index (5)."""

    __slots__ = ("indices", "instructions", "register_index", "registers")

    def __init__(
        self,
        instructions: tuple[InstructionInfo, ...],
        registers: tuple[Register, ...],
        indices: dict[int, int],
        register_index: RegisterIndex,
    ) -> None:
        self.instructions: Final = instructions
        self.registers: Final = registers
        self.indices: Final = indices
        """The index of each register that an instruction names, by the identity of the symbol."""
        self.register_index: Final = register_index

    def index_of(self, register: Register) -> int | None:
        """The index of `register`; None if it has none (`RegisterIndex.find`)."""
        return self.register_index.find(register)


@incremental_fact
def instructions(function: Function, earlier: Previous[FunctionInstructions] | None) -> FunctionInstructions:
    """The instructions of `function`."""
    numbering = register_index(function)
    if earlier is None or earlier.value.register_index != numbering or not numbering.is_dense:
        return _Reader(function, numbering).read()
    return _Reader(function, numbering).read_changes(earlier)


class _Reader:
    def __init__(self, function: Function, numbering: RegisterIndex) -> None:
        self.function = function
        self.numbering = numbering
        self.registers: list[Register] = []
        self.numbers: dict[int, int] = {}

    def read(self) -> FunctionInstructions:
        self.registers = self.numbering.registers(self.function)
        found = self.between(0, len(self.function.body.instructions))
        return FunctionInstructions(tuple(found), tuple(self.registers), self.numbers, self.numbering)

    def read_changes(self, earlier: Previous[FunctionInstructions]) -> FunctionInstructions:
        """The instructions after an edit; unchanged ones only get new indices."""
        before, (first, old_end, end) = earlier
        self.registers, self.numbers = list(before.registers), dict(before.indices)
        behind: Sequence[InstructionInfo] = before.instructions[old_end:]
        if end != old_end:
            behind = [InstructionInfo(number, *step[1:]) for number, step in enumerate(behind, end)]
        found = (*before.instructions[:first], *self.between(first, end), *behind)
        return FunctionInstructions(found, tuple(self.registers), self.numbers, self.numbering)

    def between(self, first: int, end: int) -> list[InstructionInfo]:
        instructions = self.function.body.instructions[first:end]
        of_all = shapes(self.function)[first:end]
        return [
            self.instruction(number, node, shape)
            for number, ((node, _), shape) in enumerate(zip(instructions, of_all, strict=True), first)
        ]

    def instruction(self, number: int, node: nodes.Instruction, shape: Shape) -> InstructionInfo:
        reads: list[int] = []
        writes: list[int] = []
        keeps: list[int] = []
        symbols = self.function.body.symbols
        numbers = self.numbers
        for operand, access in zip(node.operands, shape.accesses, strict=True):
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
        return InstructionInfo(
            number, node, shape.opcode, shape.match, tuple(reads), tuple(writes), tuple(keeps), guard
        )

    def add(self, symbol: Register) -> int:
        index = self.numbers[id(symbol)] = self.numbering.index(symbol)
        self.registers[index] = symbol
        return index

    def register(self, name: nodes.Name) -> int:
        """The index of the register that a name refers to; -1 if it is not a register."""
        symbol = self.function.body.symbols.get(name.start)
        if not isinstance(symbol, Register):
            return -1
        index = self.numbers.get(id(symbol))
        return self.add(symbol) if index is None else index

    def operand(
        self,
        operand: nodes.Operand,
        access: OperandAccess,
        reads: list[int],
        writes: list[int],
        keeps: list[int],
    ) -> None:
        match operand:
            case nodes.Pair(left=left, right=right):
                self.operand(left, access, reads, writes, keeps)
                if isinstance(right, nodes.Name):
                    self.operand(right, OperandAccess(access.pair), reads, writes, keeps)
            case nodes.Vector(items=items) | nodes.Group(items=items):
                parts = access.parts if len(access.parts) == len(items) else ()
                for index, item in enumerate(items):
                    inner = parts[index] if parts else OperandAccess(access.own)
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
