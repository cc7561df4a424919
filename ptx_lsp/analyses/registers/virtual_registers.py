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

from collections.abc import Collection, Iterable

from ptx_lsp.analyses._flow import MachineBlock, share_registers
from ptx_lsp.analyses.control_flow.block_identity import BlockIdentity, block_identities
from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.dataflow.definitions import NEVER, SEVERAL, Definitions, definitions, readers
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions, instructions
from ptx_lsp.analyses.registers.machine_blocks import MachineCode, allocated_registers
from ptx_lsp.analyses.registers.machine_kind import Coalescing, coalescing
from ptx_lsp.analyses.registers.needed_halves import may_be_narrow, narrowed
from ptx_lsp.analyses.registers.shared_registers import SharedRegisters
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_index
from ptx_lsp.named_tuple import NamedTuple


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
    return _Coalescing(function, flow, allocated, definitions(function)).run()


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
        self.readers = readers(function)
        self.shared = SharedRegisters(function, flow, defined, self.readers)
        self.dependents: dict[int, list[int]] | None = None

    def run(self) -> VirtualRegisters:
        """The virtual registers of a function of which nothing is known."""
        self.is_eliminated = bytearray(len(self.flow.uses))
        allocated = zip(self.allocated, self.only, strict=True)
        self.values = [() if number == NEVER else words for words, number in allocated]
        self.narrow(may_be_narrow(self.function, self.flow, self.allocated))
        self.share(shape_index(self.function).items(), None)
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

    def share(self, by_shape: Iterable[tuple[Shape, list[int]]], registers: set[int] | None) -> None:
        """Finds what the results of some instructions share: all of them, or those among `registers`."""
        flow = self.flow
        share_registers(
            flow.uses, flow.defs, flow.kinds, self.only, self.allocated, self.values, self.is_eliminated,
            self.readers, self.shared.groups(by_shape), registers,
        )  # fmt: skip

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
            for register, is_index in self.shared.scaled.of_variables()
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
        by_shape: dict[Shape, list[int]] = {}
        for number in {self.only[register] for register in touched} - {NEVER, SEVERAL}:
            by_shape.setdefault(new.kinds[number].shape, []).append(number)
        self.share(by_shape.items(), touched)
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
