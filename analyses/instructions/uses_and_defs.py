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
from functools import lru_cache

from analyses.instructions.register_index import RegisterIndex, register_index
from analyses.instructions.side_effects import CARRYING, PURE
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.operand_access import NONE, READ, WRITE, OperandAccess
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.body import Body, names_in
from ptx_lsp.model.body_diff import InstructionRangeEdit
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.symbols import Register, Symbol
from ptx_lsp.syntax import nodes


class InstructionInfo:
    """One instruction. Registers are indices (5).

    `uses` and `defs` are in the order of the text, with one entry per occurrence. The guard is separate; -1
    if absent. `partial_defs` are the defs that keep part of the previous value.
    """

    __slots__ = ("_kind", "defs", "guard", "node", "number", "partial_defs", "uses")

    def __init__(
        self,
        number: int,
        node: nodes.Instruction,
        kind: InstructionKind,
        uses: tuple[int, ...],
        defs: tuple[int, ...],
        partial_defs: tuple[int, ...],
        guard: int,
    ) -> None:
        self.number = number
        self.node = node
        self._kind = kind
        self.uses = uses
        self.defs = defs
        self.partial_defs = partial_defs
        self.guard = guard

    @property
    def opcode(self) -> str:
        """The opcode without its modifiers: `ld`."""
        return self._kind.opcode

    @property
    def match(self) -> Match | None:
        return self._kind.match

    @property
    def spelling(self) -> str:
        return self.node.opcode.text

    @property
    def is_guarded(self) -> bool:
        return self.node.guard is not None

    def has(self, modifier: str) -> bool:
        match = self._kind.match
        return match is not None and modifier in match.candidate.choices.modifiers


class FunctionInstructions:
    """The instructions of a function, as lists by the number of the instruction. Registers are indices (5).

    `uses`, `defs`, `partial_defs` and `guards` are as in `InstructionInfo`.
    """

    __slots__ = (
        "_all", "_infos", "_registers", "_used", "body", "defs", "guards", "indices", "kinds",
        "partial_defs", "register_index", "uses",
    )  # fmt: skip

    def __init__(self, body: Body, register_index: RegisterIndex) -> None:
        self.body = body
        self.register_index = register_index
        self.kinds: list[InstructionKind] = []
        self.uses: list[tuple[int, ...]] = []
        self.defs: list[tuple[int, ...]] = []
        self.partial_defs: list[tuple[int, ...]] = []
        self.guards: list[int] = []
        self.indices: dict[Symbol | None, int] = {}
        """The index of each register that an instruction names."""
        self._used: dict[int, Register] = {}
        """The register of each index that an instruction names."""
        self._registers: tuple[Register, ...] | None = None
        self._infos: list[InstructionInfo | None] = []
        self._all: tuple[InstructionInfo, ...] | None = None

    @property
    def count(self) -> int:
        """The number of registers: their indices are smaller."""
        return self.register_index.count

    @property
    def registers(self) -> tuple[Register, ...]:
        """The registers by index, including those that no instruction names."""
        if self._registers is None:
            found = self.register_index.registers(self.body)
            for index, register in self._used.items():
                found[index] = register
            self._registers = tuple(found)
        return self._registers

    def register(self, index: int) -> Register:
        """The register with an index that an instruction names."""
        return self._used[index]

    def index_of(self, register: Register) -> int | None:
        """The index of `register`; None if it has none (`RegisterIndex.find`)."""
        return self.register_index.find(register)

    def info(self, number: int) -> InstructionInfo:
        """One instruction: always the same object."""
        found = self._infos[number]
        if found is None:
            found = self._infos[number] = InstructionInfo(
                number, self.body.instructions[number].node, self.kinds[number], self.uses[number],
                self.defs[number], self.partial_defs[number], self.guards[number],
            )  # fmt: skip
        return found

    @property
    def instructions(self) -> tuple[InstructionInfo, ...]:
        """All instructions, in order. This makes an object for each: where the lists suffice, use them."""
        if self._all is None:
            self._all = tuple([self.info(number) for number in range(len(self._infos))])
        return self._all

    def guard_value(self, number: int) -> bool:
        """The value of its guard with which an instruction executes."""
        guard = self.body.instructions[number].node.guard
        return guard is None or not guard.negated

    # -- reading --------------------------------------------------------------------------------

    def read(self, shapes: Sequence[Shape], first: int, end: int) -> None:
        """Reads the instructions from `first` up to `end` (exclusive), and inserts them at `first`."""
        read = _Reader(self, shapes)
        for number in range(first, end):
            read.instruction(number)
        self.kinds[first:first] = read.kinds
        self.uses[first:first] = read.uses
        self.defs[first:first] = read.defs
        self.partial_defs[first:first] = read.partial_defs
        self.guards[first:first] = read.guards
        self._infos[first:first] = [None] * (end - first)

    def without(self, body: Body, change: InstructionRangeEdit) -> FunctionInstructions:
        """A copy for the body after an edit, without the instructions that the edit touched."""
        first, old_end, end = change
        found = FunctionInstructions(body, self.register_index)
        found.kinds = self.kinds[:first] + self.kinds[old_end:]
        found.uses = self.uses[:first] + self.uses[old_end:]
        found.defs = self.defs[:first] + self.defs[old_end:]
        found.partial_defs = self.partial_defs[:first] + self.partial_defs[old_end:]
        found.guards = self.guards[:first] + self.guards[old_end:]
        behind = self._infos[old_end:]
        found._infos = self._infos[:first] + (behind if old_end == end else [None] * len(behind))
        found.indices = self.indices.copy()
        found._used = self._used.copy()
        return found

    def add(self, symbol: Register) -> int:
        """The index of a register that is named for the first time."""
        index = self.indices[symbol] = self.register_index.index(symbol)
        self._used[index] = symbol
        return index


@incremental_fact
def instructions(function: Function, earlier: Previous[FunctionInstructions] | None) -> FunctionInstructions:
    """The instructions of `function`."""
    body = function.body
    numbering = register_index(function)
    of_all = shapes(function)
    if earlier is None or earlier.value.register_index != numbering or not numbering.is_dense:
        found = FunctionInstructions(body, numbering)
        found.read(of_all, 0, len(body.instructions))
        return found
    found = earlier.value.without(body, earlier.change)
    found.read(of_all, earlier.change.first, earlier.change.end)
    return found


class InstructionKind:
    """What instructions of the same shape share."""

    __slots__ = ("_shape", "accesses", "codes", "is_pure", "opcode", "reads_carry", "writes_carry")

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.opcode = shape.opcode
        self.accesses = shape.accesses
        self.codes = tuple([access.own for access in shape.accesses])
        self.reads_carry = shape.opcode in CARRYING
        self.writes_carry = ".cc" in shape.spelling
        self.is_pure = shape.opcode in PURE and not self.writes_carry
        """Whether such an instruction only writes its registers, provided that it has any."""

    @property
    def match(self) -> Match | None:
        """The row of the instruction table with the operands."""
        return self._shape.match


@lru_cache(maxsize=1 << 15)
def _kind(shape: Shape) -> InstructionKind:
    return InstructionKind(shape)


class _Reader:
    def __init__(self, flow: FunctionInstructions, shapes: Sequence[Shape]) -> None:
        self.flow = flow
        self.symbols = flow.body.symbols
        self.body = flow.body.instructions
        self.shapes = shapes
        self.kinds: list[InstructionKind] = []
        self.uses: list[tuple[int, ...]] = []
        self.defs: list[tuple[int, ...]] = []
        self.partial_defs: list[tuple[int, ...]] = []
        self.guards: list[int] = []
        self.reads: list[int] = []
        self.writes: list[int] = []
        self.keeps: list[int] = []
        """The registers of the current instruction that are read, written and partially written."""

    def instruction(self, number: int) -> None:
        node = self.body[number].node
        kind = _kind(self.shapes[number])
        symbols, indices = self.symbols, self.flow.indices
        reads: list[int] = []
        writes: list[int] = []
        self.reads, self.writes, self.keeps = reads, writes, []
        for place, operand in enumerate(node.operands):
            if isinstance(operand, nodes.Name):  # most of them, so without a call
                index = indices.get(symbols.get(operand.start), -1)
                if index < 0:
                    index = self.register(operand)
                if index >= 0:
                    code = kind.codes[place]
                    if code == READ:
                        reads.append(index)
                    elif code == WRITE:
                        writes.append(index)
                    elif code != NONE:
                        reads.append(index)
                        writes.append(index)
                        self.keeps.append(index)
            else:
                self.operand(operand, kind.accesses[place])
        guard = -1
        defs = tuple(writes)
        partial_defs = tuple(self.keeps)
        if node.guard is not None:
            partial_defs = defs
            for name in names_in(node.guard.predicate):
                guard = self.register(name)
        self.kinds.append(kind)
        self.uses.append(tuple(reads))
        self.defs.append(defs)
        self.partial_defs.append(partial_defs)
        self.guards.append(guard)

    def register(self, name: nodes.Name) -> int:
        """The index of the register that a name refers to; -1 if it is not a register."""
        symbol = self.symbols.get(name.start)
        index = self.flow.indices.get(symbol, -1)
        if index < 0 and isinstance(symbol, Register):
            return self.flow.add(symbol)
        return index

    def operand(self, operand: nodes.Operand, access: OperandAccess) -> None:
        """Reads the registers of an operand or of a part of one."""
        if isinstance(operand, nodes.Address):
            for item in operand.items:
                self.read_names(item)
        elif isinstance(operand, nodes.Vector | nodes.Group):
            if len(access.parts) == len(operand.items):
                for item, part in zip(operand.items, access.parts, strict=True):
                    self.operand(item, part)
            else:
                whole = OperandAccess(access.own)
                for item in operand.items:
                    self.operand(item, whole)
        elif isinstance(operand, nodes.Pair):
            self.operand(operand.left, access)
            if isinstance(operand.right, nodes.Name):
                self.operand(operand.right, OperandAccess(access.pair))
        elif access.own == READ:
            self.read_names(operand)
        elif isinstance(operand, nodes.Name):
            if access.own != NONE:
                self.write(operand, is_whole=access.own == WRITE, is_read=access.own != WRITE)
        elif isinstance(operand, nodes.Member):
            if access.own != NONE and isinstance(operand.object, nodes.Name):
                self.write(operand.object, is_whole=False, is_read=access.own != WRITE)
        elif access.own != NONE:
            self.read_names(operand)

    def read_names(self, value: nodes.Expression) -> None:
        """Reads the registers in a part of an operand."""
        if isinstance(value, nodes.Binary) and isinstance(value.right, nodes.Number):
            value = value.left  # `[r+4]`
        if isinstance(value, nodes.Name):
            index = self.register(value)
            if index >= 0:
                self.reads.append(index)
            return
        for name in names_in(value):
            index = self.register(name)
            if index >= 0:
                self.reads.append(index)

    def write(self, name: nodes.Name, *, is_whole: bool, is_read: bool) -> None:
        index = self.register(name)
        if index >= 0:
            self.writes.append(index)
            if not is_whole:
                self.keeps.append(index)
            if is_read:
                self.reads.append(index)
