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

from analyses.instructions.instruction_kind import InstructionKind, kind_of
from analyses.instructions.register_index import RegisterIndex, register_index
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
        "_all", "_infos", "_registers", "body", "defs", "guards", "indices", "kinds",
        "partial_defs", "register_index", "used", "uses",
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
        self.used: dict[int, Register] = {}
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
            for index, register in self.used.items():
                found[index] = register
            self._registers = tuple(found)
        return self._registers

    def register(self, index: int) -> Register:
        """The register with an index that an instruction names."""
        return self.used[index]

    def index_of(self, register: Register) -> int | None:
        """The index of `register`; None if it has none (`RegisterIndex.find`)."""
        return self.register_index.find(register)

    def info(self, number: int) -> InstructionInfo:
        """One instruction: always the same object."""
        found = self._infos[number]
        if found is None:
            found = self._infos[number] = InstructionInfo(
                number, self.body.instructions[number], self.kinds[number], self.uses[number],
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
        guard = self.body.instructions[number].guard
        return guard is None or not guard.negated

    # -- reading --------------------------------------------------------------------------------

    def read(self, shapes: Sequence[Shape], first: int, end: int) -> None:
        """Reads the instructions from `first` up to `end` (exclusive), and inserts them at `first`."""
        reader = _Reader(self)
        if not self.indices:
            reader.name_all()
        reader.between(shapes, first, end)
        self._infos[first:first] = [None] * (end - first)

    def without(self, body: Body, change: InstructionRangeEdit) -> FunctionInstructions:
        """A copy for the body after an edit, without the instructions that the edit touched."""
        first, old_end, end = change
        found = FunctionInstructions(body, self.register_index)
        found.kinds = self.kinds.copy()
        found.uses = self.uses.copy()
        found.defs = self.defs.copy()
        found.partial_defs = self.partial_defs.copy()
        found.guards = self.guards.copy()
        del found.kinds[first:old_end], found.uses[first:old_end], found.defs[first:old_end]
        del found.partial_defs[first:old_end], found.guards[first:old_end]
        if old_end == end:
            found._infos = self._infos.copy()
            del found._infos[first:old_end]
        else:
            found._infos = self._infos[:first] + [None] * (len(self._infos) - old_end)
        found.indices = self.indices.copy()
        found.used = self.used.copy()
        return found

    def add(self, symbol: Register) -> int:
        """The index of a register that is named for the first time."""
        index = self.indices[symbol] = self.register_index.index(symbol)
        self.used[index] = symbol
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


class _Reader:
    def __init__(self, flow: FunctionInstructions) -> None:
        self.flow = flow
        self.symbols = flow.body.symbols
        self.indices = flow.indices
        self.reads: list[int] = []
        self.writes: list[int] = []
        self.keeps: list[int] = []
        """The registers of the current instruction that are read, written and partially written."""

    def between(self, shapes: Sequence[Shape], first: int, end: int) -> None:
        """Reads the instructions from `first` up to `end` (exclusive) into the lists of the function."""
        body, symbols, indices = self.flow.body.instructions, self.symbols, self.indices
        kinds: list[InstructionKind] = []
        uses: list[tuple[int, ...]] = []
        defs: list[tuple[int, ...]] = []
        partial_defs: list[tuple[int, ...]] = []
        guards: list[int] = []
        for number in range(first, end):
            node = body[number]
            kind = kind_of(shapes[number])
            kinds.append(kind)
            if kind.is_plain:
                operands = node.operands
                try:
                    if kind.has_register_address:
                        uses.append(
                            tuple([indices[symbols[_register_name(operands[place])]] for place in kind.reads])
                        )
                    else:
                        uses.append(tuple([indices[symbols[operands[place].start]] for place in kind.reads]))
                    written = tuple([indices[symbols[operands[place].start]] for place in kind.writes])
                    defs.append(written)
                    if node.guard is None:
                        partial_defs.append(())
                        guards.append(-1)
                    else:
                        partial_defs.append(written)
                        guards.append(indices[symbols[node.guard.predicate.start]])
                    continue
                except KeyError:  # a register of the module, or one that is named for the first time
                    del uses[number - first :], defs[number - first :], partial_defs[number - first :]
            reads: list[int] = []
            writes: list[int] = []
            keeps: list[int] = []
            self.reads, self.writes, self.keeps = reads, writes, keeps
            for operand, access in zip(node.operands, kind.accesses, strict=True):
                if type(operand) is nodes.Name:  # most of them, so without a call
                    index = indices.get(symbols.get(operand.start), -1)
                    if index < 0:
                        index = self.register(operand)
                    if index >= 0:
                        code = access.own
                        if code == READ:
                            reads.append(index)
                        elif code == WRITE:
                            writes.append(index)
                        elif code != NONE:
                            self.add(index, code)
                elif type(operand) is not nodes.Number:
                    self.operand(operand, access)
            written = tuple(writes)
            uses.append(tuple(reads))
            defs.append(written)
            if node.guard is None:
                partial_defs.append(tuple(keeps))
                guards.append(-1)
            else:
                partial_defs.append(written)
                guards.append(self.guard(node.guard.predicate))
        flow = self.flow
        flow.kinds[first:first] = kinds
        flow.uses[first:first] = uses
        flow.defs[first:first] = defs
        flow.partial_defs[first:first] = partial_defs
        flow.guards[first:first] = guards

    def name_all(self) -> None:
        """Adds all registers that the function names."""
        numbering, indices, used = self.flow.register_index, self.indices, self.flow.used
        for scope in self.flow.body.scopes:
            for symbol in scope.names.values():
                if type(symbol) is Register:
                    index = numbering.find(symbol)
                    if index is not None:
                        indices[symbol] = index
                        used[index] = symbol

    def register(self, name: nodes.Name) -> int:
        """The index of the register that a name refers to; -1 if it is not a register."""
        symbol = self.symbols.get(name.start)
        index = self.indices.get(symbol, -1)
        if index < 0 and isinstance(symbol, Register):
            return self.flow.add(symbol)
        return index

    def guard(self, predicate: nodes.Expression) -> int:
        """The register of a guard; -1 if it has none."""
        if isinstance(predicate, nodes.Name):
            return self.register(predicate)
        found = -1
        for name in names_in(predicate):
            found = self.register(name)
        return found

    def add(self, index: int, code: int) -> None:
        """Adds the access to a whole register."""
        if code != WRITE:
            self.reads.append(index)
        if code != READ:
            self.writes.append(index)
            if code != WRITE:
                self.keeps.append(index)

    def operand(self, operand: nodes.Operand, access: OperandAccess) -> None:
        """Reads the registers of an operand or of a part of one."""
        if isinstance(operand, nodes.Name):
            if access.own != NONE:
                index = self.register(operand)
                if index >= 0:
                    self.add(index, access.own)
        elif isinstance(operand, nodes.Address):
            for item in operand.items:
                self.read_names(item)
        elif isinstance(operand, (nodes.Vector, nodes.Group)):
            self.items(operand.items, access)
        elif isinstance(operand, nodes.Pair):
            self.operand(operand.left, access)
            if isinstance(operand.right, nodes.Name):
                self.operand(operand.right, OperandAccess(access.pair))
        elif access.own == READ:
            self.read_names(operand)
        elif isinstance(operand, nodes.Member):
            if access.own != NONE and isinstance(operand.object, nodes.Name):
                self.write_component(operand.object, is_read=access.own != WRITE)
        elif access.own != NONE:
            self.read_names(operand)

    def items(self, items: tuple[nodes.Expression, ...], access: OperandAccess) -> None:
        symbols, indices = self.symbols, self.indices
        parts = access.parts if len(access.parts) == len(items) else None
        whole = access if not access.parts and not access.pair else OperandAccess(access.own)
        for place, item in enumerate(items):
            inner = whole if parts is None else parts[place]
            index = -1
            if type(item) is nodes.Name:
                index = indices.get(symbols.get(item.start), -1)
            if index < 0:
                self.operand(item, inner)
            elif inner.own == READ:
                self.reads.append(index)
            elif inner.own == WRITE:
                self.writes.append(index)
            elif inner.own != NONE:
                self.add(index, inner.own)

    def read_names(self, value: nodes.Expression) -> None:
        """Reads the registers in a part of an operand."""
        if type(value) is nodes.Binary and isinstance(value.right, nodes.Number):
            value = value.left  # `[r+4]`
        if type(value) is nodes.Name:
            index = self.indices.get(self.symbols.get(value.start), -1)
            if index < 0:
                index = self.register(value)
            if index >= 0:
                self.reads.append(index)
            return
        for name in names_in(value):
            index = self.register(name)
            if index >= 0:
                self.reads.append(index)

    def write_component(self, name: nodes.Name, *, is_read: bool) -> None:
        index = self.register(name)
        if index >= 0:
            self.writes.append(index)
            self.keeps.append(index)
            if is_read:
                self.reads.append(index)


def _register_name(operand: nodes.Operand) -> int:
    """Where the register is named in `r`, `[r]` or `[r+4]`."""
    if type(operand) is nodes.Address:
        return operand.items[0].start
    return operand.start
