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

from ptx_lsp.analyses.instructions.instruction_kind import InstructionKind, kind_of
from ptx_lsp.analyses.instructions.register_index import RegisterIndex, register_index
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model._core import register_accesses
from ptx_lsp.model.body import Body
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
        kinds = list(map(kind_of, shapes[first:end]))
        uses, defs, partial_defs, guards = register_accesses(
            self.body.instructions[first:end], [kind.accesses for kind in kinds], self.body.symbols,
            self.indices, self.used, self.register_index.firsts, self.register_index.index,
        )  # fmt: skip
        self.kinds[first:first] = kinds
        self.uses[first:first] = uses
        self.defs[first:first] = defs
        self.partial_defs[first:first] = partial_defs
        self.guards[first:first] = guards
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
