"""Virtual registers: the values of a function as machine code would hold them, after copy coalescing.

A *virtual register* is 32 bits that need a machine register, identified by a number. Each is defined in one
place and may hold parts of several PTX registers.

1. A register has one virtual register per 32 bits of its type, at least one, without halves that are not
   needed (`needed_halves`). Predicates and registers that are never written have none.
2. A register with a single, unguarded definition may share virtual registers with others (*coalescing*):
   `mov` and `cvta` copy. A `mov` that packs or unpacks shares the registers of its parts, and both halves of
   a word share it. So do a `cvt` between integers if the upper bits follow from the lower ones, or come from
   a load that extends them, a shift by 32 bits, and an `and` with a mask of a half. An integer constant added
   to an address is folded into the offset of the `ld` or `st` that uses it. A product or shift that is only
   added to an address is folded into the addition (`scaled_indices`), `neg`, `abs` and `not` into operands of
   the instructions that read them, and a `cvt` to 16 bits into the `mov` that packs two of them.
3. Constants and addresses of variables are read from the instruction: they need no virtual register
   (`NO_REGISTER`). The generic address of a local variable needs one, because it is computed. Parameters of a
   kernel, `%ntid` and `%nctaid` have virtual registers, but the instructions that load them are eliminated:
   `register_files` has what a target does with them.
4. An instruction that defines none of the remaining values is *eliminated*: it is not in the machine code.
5. The numbers of a register's virtual registers do not depend on other registers. After an edit, only the
   registers that a changed instruction names, and the ones that may share with them, are lowered again, and
   then the blocks that name those.
6. Most instructions decide nothing, so objects for them (`MachineInstruction`) are made on demand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from ptx_lsp.analyses._flow import MachineBlock
from ptx_lsp.analyses.control_flow.block_identity import BlockIdentity, block_identities
from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.dataflow.definitions import NEVER, SEVERAL, Definitions, definitions, readers
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.operands import register_of
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions, instructions
from ptx_lsp.analyses.registers.machine_blocks import NO_REGISTER, MachineCode, allocated_registers
from ptx_lsp.analyses.registers.machine_kind import Coalescing, coalescing, modifiable_by
from ptx_lsp.analyses.registers.needed_halves import may_be_narrow, narrowed
from ptx_lsp.analyses.registers.scaled_indices import ScaledIndices
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_index
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

_BANKED: Final = frozenset({"%ntid", "%nctaid"})
_ADDRESSED: Final = frozenset({"ld", "ldu", "st", "atom", "red", "prefetch", "ldmatrix", "stmatrix"})
_ADDRESSED_IN_SHARED: Final = _ADDRESSED | {"cp"}
"""`cp.async` has an offset for shared memory only."""
_PACKING: Final = frozenset({"mov"})
_WORD: Final = 32
_LOWER: Final = 0xFFFFFFFF
_UPPER: Final = (-0x100000000, 0xFFFFFFFF00000000)
_BY_READERS: Final = frozenset(
    {Coalescing.OFFSET, Coalescing.SCALED, Coalescing.MODIFIED, Coalescing.PACKED}
)
"""Sharing that depends on the instructions that read the result."""
_NUMBERS: Final = frozenset({"integer", "float", "single", "double"})
_COPY_DEPTH: Final = 100
"""Copies of copies are followed up to this depth, of five calls each, so that no chain exceeds the recursion
limit of Python; without limit if they are numbered in order.
"""


@lru_cache(maxsize=1 << 14)
def _is_constant(shape: Shape) -> bool:
    """Whether instructions of a shape move a number to one register."""
    if coalescing(shape) != Coalescing.MOVED or len(shape.arguments) != 2:
        return False
    target, source = shape.arguments
    return target.kind == "register" and source.kind in _NUMBERS


class VirtualRegisters(NamedTuple):
    """The machine instructions with their virtual registers, and by block in the order of the text."""

    code: MachineCode
    definitions: Definitions
    blocks: dict[BlockIdentity, MachineBlock]
    dependents: dict[int, list[int]] | None
    """The registers that may share virtual registers with one that an instruction reads; found at the first
    edit.
    """


@incremental_fact
def virtual_registers(function: Function, earlier: Previous[VirtualRegisters] | None) -> VirtualRegisters:
    """The virtual registers of `function`."""
    flow = instructions(function)
    before = earlier.value.code if earlier is not None else None
    if earlier and before and before.flow.register_index == flow.register_index:
        defined = earlier.value.definitions.edited(before.flow, flow, earlier.change)
        return _Coalescing(function, flow, before.allocated, defined).update(earlier)
    allocated = allocated_registers(function.body, flow.register_index)
    return _Coalescing(function, flow, allocated, definitions(flow)).run()


class _Coalescing:
    """Finds the virtual registers that registers share (2, 3)."""

    def __init__(
        self,
        function: Function,
        flow: FunctionInstructions,
        allocated: list[tuple[int, ...]],
        defined: Definitions,
    ) -> None:
        self.function = function
        self.flow = flow
        self.allocated = allocated
        self.definitions = defined
        self.only = self.definitions.only
        self.is_eliminated = bytearray()
        self.values: list[tuple[int, ...]] = []
        self.waiting: set[int] = set()
        """Registers that may share and have no value yet."""
        self.in_progress: set[int] = set()
        self.readers = readers(function)
        self.scaled = ScaledIndices(function, flow, defined, self.readers)
        self.dependents: dict[int, list[int]] | None = None

    def run(self) -> VirtualRegisters:
        """The virtual registers of a function of which nothing is known."""
        self.is_eliminated = bytearray(len(self.flow.uses))
        allocated = zip(self.allocated, self.only, strict=True)
        self.values = [() if number == NEVER else words for words, number in allocated]
        self.narrow(may_be_narrow(self.function, self.flow, self.allocated))
        self.find_values(self.find_candidates())
        return self.result({}, set())

    def result(self, known: dict[BlockIdentity, MachineBlock], changed: set[int]) -> VirtualRegisters:
        """The result, with the `known` blocks that have none of the `changed` instructions."""
        function, flow = self.function, self.flow
        graph = cfg(function)
        gone = {graph.block_of[number] for number in changed} if changed else changed
        code = MachineCode(flow, self.values, self.allocated, self.is_eliminated, self.loads())
        identities = block_identities(function).blocks
        if not known:
            read = code.blocks([(block.first, block.end) for block in graph.blocks])
            blocks = dict(zip(identities, read, strict=True))
            return VirtualRegisters(code, self.definitions, blocks, self.dependents)
        is_known = [
            identity in known and block.number not in gone
            for block, identity in zip(graph.blocks, identities, strict=True)
        ]
        read = iter(code.blocks([
            (block.first, block.end)
            for block, is_same in zip(graph.blocks, is_known, strict=True)
            if not is_same
        ]))
        blocks = {
            identity: known[identity] if is_same else next(read)
            for identity, is_same in zip(identities, is_known, strict=True)
        }
        return VirtualRegisters(code, self.definitions, blocks, self.dependents)

    def loads(self) -> dict[int, int]:
        """The instructions that load parameters, by their virtual registers."""
        uses, defs, is_eliminated = self.flow.uses, self.flow.defs, self.is_eliminated
        values, allocated = self.values, self.allocated
        return {
            word: number
            for shape, numbers in shape_index(self.function).items()
            if coalescing(shape) in (Coalescing.PARAMETER, Coalescing.MOVED) and self.may_share(shape)
            for number in numbers
            if is_eliminated[number] and not uses[number]
            for register in defs[number]
            if values[register] is allocated[register]
            for word in values[register]
        }

    def find_candidates(self) -> list[int]:
        """The registers that may share virtual registers."""
        uses, defs, only, allocated = self.flow.uses, self.flow.defs, self.only, self.allocated
        found: list[int] = []
        for shape, numbers in shape_index(self.function).items():
            if not self.may_share(shape):
                continue
            more = [
                register
                for number in numbers
                for register in defs[number]
                if only[register] == number and allocated[register]
            ]
            if _is_constant(shape):
                self.eliminate(more)
                continue
            if coalescing(shape) in _BY_READERS:
                more = [register for register in more if len(uses[only[register]]) == 1]
            found += more
        return found

    def eliminate(self, constants: Iterable[int]) -> None:
        """Registers that hold constants need no virtual registers."""
        for register in constants:
            self.values[register] = (NO_REGISTER,) * len(self.allocated[register])
            self.is_eliminated[self.only[register]] = True

    def may_share(self, shape: Shape) -> bool:
        how = coalescing(shape)
        return how != Coalescing.NONE and (how != Coalescing.PARAMETER or self.function.is_kernel)

    def narrow(self, registers: Collection[int]) -> None:
        """Leaves out the halves of registers that are not needed."""
        found = narrowed(self.flow, registers, self.definitions, self.readers, self.allocated)
        if found:
            self.allocated = self.allocated.copy()
        for register, words in found.items():
            self.allocated[register] = self.values[register] = words

    def find_values(self, registers: Iterable[int]) -> None:
        """Finds the values of registers that may share, in order: the first of a cycle gets its own."""
        self.waiting = set(registers)
        for register in sorted(self.waiting):
            if register in self.waiting:
                self.value(register)

    # -- after an edit --------------------------------------------------------------------------

    def update(self, earlier: Previous[VirtualRegisters]) -> VirtualRegisters:
        """Updates the previous result after an edit."""
        before, (first, old_end, end) = earlier
        old, new = before.code.flow, self.flow
        touched = {
            register
            for lists in (
                old.uses[first:old_end], old.defs[first:old_end], new.uses[first:end], new.defs[first:end]
            )
            for registers in lists
            for register in registers
        }  # fmt: skip
        self.is_eliminated = before.code.is_eliminated[:]
        self.is_eliminated[first:old_end] = bytearray(end - first)
        touched.update(
            register
            for register, is_index in self.scaled.of_variables()
            if is_index != self.is_eliminated[self.only[register]]
        )
        self.dependents = self.dependents_after(earlier)
        self.add_dependents(touched)
        self.values = list(before.code.of_registers)
        self.narrow(touched)
        for register in touched:
            self.values[register] = self.allocated[register] if self.only[register] != NEVER else ()
        changed = set(range(first, end))
        for register in touched:
            changed.update(self.readers.of(register), self.definitions.of(register))
            for number in self.definitions.of(register):
                self.is_eliminated[number] = False
        kinds, only = new.kinds, self.only
        self.find_values([
            register
            for register in touched
            if only[register] >= 0
            and self.allocated[register]
            and self.may_share(kinds[only[register]].shape)
        ])
        return self.result(before.blocks, changed)

    def dependents_after(self, earlier: Previous[VirtualRegisters]) -> dict[int, list[int]]:
        """The dependents after an edit."""
        before, (first, old_end, end) = earlier
        old, new = before.code.flow, self.flow
        found: dict[int, list[int]] = {}
        if before.dependents is None:
            for shape, numbers in shape_index(self.function).items():
                if coalescing(shape):
                    for number in numbers:
                        for register in new.uses[number]:
                            found.setdefault(register, []).extend(new.defs[number])
            return found
        found = before.dependents.copy()
        for number in range(first, old_end):
            if coalescing(old.kinds[number].shape):
                for register in old.uses[number]:
                    left = found[register] = found[register].copy()
                    for one in old.defs[number]:
                        left.remove(one)
        for number in range(first, end):
            if coalescing(new.kinds[number].shape):
                for register in new.uses[number]:
                    found[register] = [*found.get(register, ()), *new.defs[number]]
        return found

    def add_dependents(self, found: set[int]) -> None:
        """Adds all registers that may share virtual registers with one of these."""
        dependents = self.dependents or {}
        waiting = list(found)
        while waiting:
            for register in dependents.get(waiting.pop(), ()):
                if register not in found:
                    found.add(register)
                    waiting.append(register)

    # -- the virtual registers of a register ----------------------------------------------------

    def value(self, register: int) -> tuple[int, ...]:
        waiting, in_progress = self.waiting, self.in_progress
        if register not in waiting:
            return self.values[register]
        found: tuple[int, ...] | None = None
        number = self.only[register]
        if register not in in_progress and len(in_progress) < _COPY_DEPTH:
            in_progress.add(register)  # a value that depends on itself gets its own register
            found = self.coalesced(register, number)
            in_progress.discard(register)
            if register not in waiting:  # found in the meantime, through itself
                return self.values[register]
        waiting.discard(register)
        if found is None:
            return self.values[register]
        self.is_eliminated[number] = True
        self.values[register] = found
        return found

    def single_definition(self, registers: Sequence[int]) -> tuple[int, ...] | None:
        """The virtual registers of the only element of `registers`, if it has at most one definition."""
        if len(registers) != 1 or self.only[registers[0]] == SEVERAL:
            return None
        return self.value(registers[0])

    def coalesced(self, register: int, number: int) -> tuple[int, ...] | None:
        """The virtual registers that the single definition of `register` shares; None if it allocates its
        own.
        """
        size = len(self.allocated[register])
        uses = self.flow.uses[number]
        match coalescing(self.flow.kinds[number].shape):
            case Coalescing.MOVED:
                return self.copied(register, number, size)
            case Coalescing.PARAMETER if not uses:
                return self.allocated[register]
            case Coalescing.OFFSET if self.is_offset(register, number):
                base = self.single_definition(uses)
                return base if base and base.count(NO_REGISTER) < len(base) else None
            case Coalescing.SCALED:
                index = self.scaled.index(register)
                return None if index is None else (*self.value(index), *(NO_REGISTER,) * size)[:size]
            case Coalescing.GENERIC:
                return self.generic(number, size)
            case Coalescing.WIDENED:
                low = self.single_definition(uses)
                return (low[0], NO_REGISTER) if low else None
            case Coalescing.NARROWED:
                whole = self.single_definition(uses)
                return whole[:1] if whole else None
            case Coalescing.MODIFIED if self.is_read_by(
                register, modifiable_by(self.flow.kinds[number].shape.spelling)
            ):
                return self.of_same_size(uses, size)
            case Coalescing.PACKED if self.is_read_by(register, _PACKING):
                return self.of_same_size(uses, size)
            case Coalescing.HALF:
                return self.half(number)
            case Coalescing.EXTENDED if uses and self.is_loaded(uses[0]):
                return self.of_same_size(uses, size)
            case _:
                return None

    def of_same_size(self, uses: Sequence[int], size: int) -> tuple[int, ...] | None:
        whole = self.single_definition(uses)
        return whole if whole is not None and len(whole) == size else None

    def is_read_by(self, register: int, opcodes: frozenset[str]) -> bool:
        kinds = self.flow.kinds
        return all(kinds[use].opcode in opcodes for use in self.readers.of(register))

    def is_loaded(self, register: int) -> bool:
        number = self.only[register]
        return number >= 0 and self.flow.kinds[number].opcode == "ld"

    def half(self, number: int) -> tuple[int, ...] | None:
        """The half that a shift by 32 bits or a mask leaves."""
        value = literal(self.flow.body.instructions[number].operands[-1])
        whole = self.single_definition(self.flow.uses[number])
        if not whole or len(whole) < 2:
            return None
        if self.flow.kinds[number].opcode == "shr":
            return (whole[1], NO_REGISTER) if value == _WORD else None
        if value == _LOWER:
            return whole[0], NO_REGISTER
        return (NO_REGISTER, whole[1]) if value in _UPPER else None

    def generic(self, number: int, size: int) -> tuple[int, ...] | None:
        spelling = self.flow.kinds[number].shape.spelling
        if ".local" in spelling and ".to" not in spelling:
            return None
        uses = self.flow.uses[number]
        return self.single_definition(uses) if uses else (NO_REGISTER,) * size

    def copied(self, register: int, number: int, size: int) -> tuple[int, ...] | None:
        uses, defs = self.flow.uses[number], self.flow.defs[number]
        source = self.flow.body.instructions[number].operands[-1]
        if len(defs) > 1:
            whole = self.single_definition(uses)
            if whole is None:
                return None
            at = defs.index(register) * size
            if len(defs) == 2 * len(whole) and size == 1:
                return (whole[at // 2],)  # one of two halves of a word
            return whole[at : at + size] if size * len(defs) == len(whole) else None
        if isinstance(source, nodes.Vector):
            return self.packed(source, size)
        if uses:
            return self.of_same_size(uses, size)
        name = source.object if isinstance(source, nodes.Member) else source
        if isinstance(name, nodes.Name) and name.text.startswith("%"):
            return self.allocated[register] if name.text in _BANKED else None
        return (NO_REGISTER,) * size

    def packed(self, source: nodes.Vector, size: int) -> tuple[int, ...] | None:
        if size < 2:
            return None
        parts: list[int] = []
        for item in source.items:
            register = register_of(self.flow, item)
            if register is None:
                parts.append(NO_REGISTER)
                continue
            whole = self.single_definition((register,))
            if whole is None:
                return None
            parts.extend(whole)
        return tuple(parts) if len(parts) == size else None

    def is_offset(self, register: int, number: int) -> bool:
        """Whether `register` differs from another by a constant and is used only in addresses."""
        flow = self.flow
        if len(flow.uses[number]) != 1 or literal(flow.body.instructions[number].operands[-1]) is None:
            return False
        addressed = _ADDRESSED_IN_SHARED if len(self.allocated[register]) == 1 else _ADDRESSED
        for use in self.readers.of(register):
            if flow.kinds[use].opcode not in addressed or self.is_used_outside_address(register, use):
                return False
        return True

    def is_used_outside_address(self, register: int, use: int) -> bool:
        """Whether the instruction `use` names `register` outside an address."""
        for operand in self.flow.body.instructions[use].operands:
            for part in operand.items if isinstance(operand, nodes.Vector) else (operand,):
                if register_of(self.flow, part) == register:
                    return True
        return False
