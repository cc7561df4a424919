"""Virtual registers: the values of a function as machine code would hold them, after copy coalescing.

A *virtual register* is 32 bits that need a machine register, identified by a number. Each is defined in one
place and may hold parts of several PTX registers.

1. A register has one virtual register per 32 bits of its type, at least one. Predicates have none (they use
   separate predicate registers), and neither have registers that are never written.
2. A register with a single, unguarded definition may share virtual registers with others (*coalescing*):
   `mov` and `cvta` copy. A `mov` that packs or unpacks shares the registers of its parts. So does a `cvt`
   between 32 and 64 bits if the upper half follows from the lower one. An integer constant added to an
   address is folded into the offset of the `ld` or `st` that uses it. A product or shift that is only added
   to an address is folded into the addition.
3. Constants, addresses of variables, parameters of a kernel, `%ntid` and `%nctaid` are read from the
   instruction or from the constant bank: they need no virtual register (`NO_REGISTER`). The generic address
   of a local variable needs one, because it is computed.
4. An instruction that defines none of the remaining values is *eliminated*: it is not in the machine code.
5. The numbers of a register's virtual registers do not depend on other registers. After an edit, only the
   registers that a changed instruction names, and the ones that may share with them, are lowered again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from analyses.bitset import EMPTY
from analyses.instructions.register_index import RegisterIndex
from analyses.instructions.uses_and_defs import FunctionInstructions, InstructionInfo, instructions
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import integer
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes

NO_REGISTER: Final = -1
"""Replaces the virtual register of a value that needs none."""

_BANKED: Final = frozenset({"%ntid", "%nctaid"})
_ADDRESSED: Final = frozenset({"ld", "ldu", "st", "atom", "red", "prefetch", "ldmatrix", "stmatrix"})
_SUMS: Final = frozenset({"add.s64", "add.u64"})
_COPY_DEPTH: Final = 200
"""Copies of copies are followed up to this depth; without limit if the text has them in order."""
_COALESCIBLE: Final = frozenset({"mov", "ld", "cvta", "cvt", "add", "mul", "shl"})
"""Instructions whose result may share the virtual registers of their operands."""
_OFFSETS: Final = frozenset({"add.s64", "add.u64", "add.s32", "add.u32"})


class MachineInstruction(NamedTuple):
    """An instruction that was not eliminated (its index may be an earlier one), with its virtual registers.

    `partial_defs` are the defs that keep part of the previous value. `flags_read` and `flags_written` are
    predicates, which have no virtual registers. `materialised_constants` is the number of additional
    registers that it needs during execution, for constants that it cannot encode.
    """

    instruction: InstructionInfo
    uses: frozenset[int]
    defs: frozenset[int]
    partial_defs: frozenset[int]
    flags_read: tuple[int, ...]
    flags_written: tuple[int, ...]
    materialised_constants: int


class VirtualRegisters:
    """The virtual registers of each register, lowest first, and the machine instruction of each instruction,
    if any.
    """

    __slots__ = ("count", "instructions", "of_registers", "state")

    def __init__(
        self,
        of_registers: tuple[tuple[int, ...], ...],
        instructions: tuple[MachineInstruction | None, ...],
        count: int,
        state: _LoweringState,
    ) -> None:
        self.of_registers: Final = of_registers
        self.instructions: Final = instructions
        self.count: Final = count
        self.state: Final = state


class _LoweringState(NamedTuple):
    """The definitions and uses of each register, and whether it has allocated virtual registers; then the
    starts of eliminated instructions, all instructions, and the register index.
    """

    writers: list[list[InstructionInfo]]
    readers: list[list[InstructionInfo]]
    is_allocated: list[bool]
    eliminated: set[int]
    instructions: tuple[InstructionInfo, ...]
    sizes: list[int]
    """The number of virtual registers of each register."""
    register_index: RegisterIndex


@incremental_fact
def virtual_registers(function: Function, earlier: Previous[VirtualRegisters] | None) -> VirtualRegisters:
    """The virtual registers of `function`."""
    flow = instructions(function)
    if earlier is None or earlier.value.state.register_index != flow.register_index:
        runs = flow.register_index.runs(function.body)
        sizes = [size for one, count in runs for size in [_size(one.type, one.vector)] * count]
        return _Lowering(function, flow, sizes).run()
    return _Lowering(function, flow, earlier.value.state.sizes).update(earlier)


def constant(value: nodes.Operand) -> int | None:
    """The integer value of an operand; None if it is not an integer."""
    match value:
        case nodes.Number(kind="integer", text=text):
            return integer(text)
        case nodes.Unary(operator="-", value=nodes.Number(kind="integer", text=text)):
            number = integer(text)
            return None if number is None else -number
        case _:
            return None


class _Lowering:
    def __init__(self, function: Function, flow: FunctionInstructions, sizes: list[int]) -> None:
        self.function = function
        self.flow = flow
        self.sizes = sizes
        self.firsts = [0, *accumulate(self.sizes)]
        self.writers: list[list[InstructionInfo]] = []
        self.readers: list[list[InstructionInfo]] = []
        self.values: list[tuple[int, ...] | None] = [None] * flow.count
        self.in_progress = [False] * flow.count
        self.is_allocated = [False] * flow.count
        self.eliminated: set[int] = set()
        self.depth = 0

    def run(self) -> VirtualRegisters:
        self.writers = [[] for _ in self.sizes]
        self.readers = [[] for _ in self.sizes]
        for step in self.flow.instructions:
            for register in step.defs:
                self.writers[register].append(step)
            for register in step.uses:
                self.readers[register].append(step)
        values = tuple([self.value(register) for register in range(len(self.values))])
        return self.result(values, [self.machine_instruction(step) for step in self.flow.instructions])

    def result(
        self, values: tuple[tuple[int, ...], ...], operations: Sequence[MachineInstruction | None]
    ) -> VirtualRegisters:
        flow = self.flow
        found = _LoweringState(
            self.writers,
            self.readers,
            self.is_allocated,
            self.eliminated,
            flow.instructions,
            self.sizes,
            flow.register_index,
        )
        return VirtualRegisters(values, tuple(operations), self.firsts[-1], found)

    def machine_instruction(self, step: InstructionInfo) -> MachineInstruction | None:
        if step.node.start in self.eliminated:
            return None
        sizes = self.sizes
        reads: set[int] = set()
        flags_read: list[int] = []
        for register in step.uses:
            reads.update(self.value(register))
            if not sizes[register]:
                flags_read.append(register)
        reads.discard(NO_REGISTER)
        if step.guard >= 0:
            flags_read.append(step.guard)
        writes: list[int] = []
        flags_written: list[int] = []
        for register in step.defs:
            writes += self.allocated(register)
            if not sizes[register]:
                flags_written.append(register)
        keeps = [word for register in step.partial_defs for word in self.allocated(register)]
        return MachineInstruction(
            step, frozenset(reads), frozenset(writes), frozenset(keeps) if keeps else EMPTY,
            tuple(flags_read), tuple(flags_written),
            self.materialised_constants(step) if step.opcode == "st" else 0,
        )

    # -- after an edit --------------------------------------------------------------------------

    def update(self, earlier: Previous[VirtualRegisters]) -> VirtualRegisters:
        """Lowers again after an edit, starting from the previous result."""
        before, (first, old_end, end) = earlier
        came = self.flow.instructions[first:end]
        went = before.state.instructions[first:old_end]
        named = self.replace(before.state, went, came)
        touched = self.dependent(named)
        self.values = list(before.of_registers)
        self.is_allocated = list(before.state.is_allocated)
        again = {step.node.start: step for step in came}
        for register in touched:
            for step in (*self.writers[register], *self.readers[register]):
                again[step.node.start] = step
            self.values[register] = None
            self.is_allocated[register] = False
        self.eliminated = before.state.eliminated - again.keys() - {step.node.start for step in went}
        values = tuple([
            self.value(register) if found is None else found
            for register, found in enumerate(self.values)
        ])  # fmt: skip
        operations = [*before.instructions[:first], *[None] * len(came), *before.instructions[old_end:]]
        for step in again.values():
            operations[self.number(step)] = self.machine_instruction(step)
        return self.result(values, operations)

    def number(self, step: InstructionInfo) -> int:
        """The new index of an instruction that existed before the edit."""
        offset = self.function.item.offset
        at = offset(step.node.start)
        return bisect_left(self.flow.instructions, at, key=lambda one: offset(one.node.start))

    def replace(
        self, found: _LoweringState, went: Sequence[InstructionInfo], came: Sequence[InstructionInfo]
    ) -> set[int]:
        """Updates writers and readers to the current instructions. Returns the registers that these name."""
        self.writers, self.readers = list(found.writers), list(found.readers)
        starts = {step.node.start for step in went}
        named = {register for step in (*went, *came) for register in (*step.uses, *step.defs)}
        for lists in (self.writers, self.readers):
            for register in named:
                lists[register] = [one for one in lists[register] if one.node.start not in starts]
        for step in came:
            for register in step.defs:
                self.writers[register].append(step)
            for register in step.uses:
                self.readers[register].append(step)
        return named

    def dependent(self, named: set[int]) -> set[int]:
        """These registers, and all that may share virtual registers with one of them."""
        found = set(named)
        waiting = list(named)
        while waiting:
            for step in self.readers[waiting.pop()]:
                if step.opcode in _COALESCIBLE:
                    more = [one for one in step.defs if one not in found]
                    found.update(more)
                    waiting.extend(more)
        return found

    # -- the words of a register ----------------------------------------------------------------

    def allocated(self, register: int) -> tuple[int, ...]:
        """The virtual registers that a definition of `register` allocates."""
        return self.value(register) if self.is_allocated[register] else ()

    def value(self, register: int) -> tuple[int, ...]:
        known = self.values[register]
        if known is not None:
            return known
        found: tuple[int, ...] | None = None
        if not self.sizes[register] or not self.writers[register]:
            found = ()
        elif (
            self.has_single_definition(register)
            and not self.in_progress[register]
            and self.depth < _COPY_DEPTH
        ):
            self.in_progress[register] = True  # a value that depends on itself gets its own register
            self.depth += 1
            found = self.coalesced(register, self.writers[register][0])
            self.depth -= 1
            if found is not None and self.values[register] is None:
                self.eliminated.add(self.writers[register][0].node.start)
        known = self.values[register]  # found in the meantime, through itself
        if known is not None:
            return known
        if found is None:
            found = tuple(range(self.firsts[register], self.firsts[register + 1]))
            self.is_allocated[register] = True
        self.values[register] = found
        return found

    def has_single_definition(self, register: int) -> bool:
        writers = self.writers[register]
        return len(writers) == 1 and not writers[0].partial_defs

    def single_definition(self, registers: Sequence[int]) -> tuple[int, ...] | None:
        """The virtual registers of the only element of `registers`, if it has at most one definition."""
        if len(registers) != 1 or not (
            self.has_single_definition(registers[0]) or not self.writers[registers[0]]
        ):
            return None
        return self.value(registers[0])

    def coalesced(self, register: int, step: InstructionInfo) -> tuple[int, ...] | None:
        """The virtual registers that the single definition of `register` shares; None if it allocates its
        own.
        """
        size = self.sizes[register]
        match step.opcode:
            case "mov":
                return self.copied(register, step, size)
            case "ld" if not step.uses and self.function.is_kernel and ".param" in step.spelling:
                return (NO_REGISTER,) * size
            case "cvta":
                return self.generic(step, size)
            case "cvt":
                return self.converted(step)
            case "add" if step.spelling in _OFFSETS and self.is_offset(register, step):
                base = self.single_definition(step.uses)
                return base if base and any(word != NO_REGISTER for word in base) else None
            case "mul" | "shl" if self.is_scaled_index(register, step):
                index = self.single_definition(step.uses)
                return None if index is None else (*index, *(NO_REGISTER,) * size)[:size]
            case _:
                return None

    def generic(self, step: InstructionInfo, size: int) -> tuple[int, ...] | None:
        if ".local" in step.spelling and ".to" not in step.spelling:
            return None
        return self.single_definition(step.uses) if step.uses else (NO_REGISTER,) * size

    def copied(self, register: int, step: InstructionInfo, size: int) -> tuple[int, ...] | None:
        source = step.node.operands[-1]
        if len(step.defs) > 1:
            whole = self.single_definition(step.uses)
            if whole is None:
                return None
            at = step.defs.index(register) * size
            return whole[at : at + size] if size * len(step.defs) == len(whole) else None
        if isinstance(source, nodes.Vector):
            return self.packed(source, size)
        if step.uses:
            whole = self.single_definition(step.uses)
            return whole if whole is not None and len(whole) == size else None
        name = source.object if isinstance(source, nodes.Member) else source
        if isinstance(name, nodes.Name) and name.text.startswith("%"):
            return (NO_REGISTER,) * size if name.text in _BANKED else None
        return (NO_REGISTER,) * size

    def packed(self, source: nodes.Vector, size: int) -> tuple[int, ...] | None:
        if size < 2:
            return None
        parts: list[int] = []
        for item in source.items:
            register = self.register(item)
            if register is None:
                parts.append(NO_REGISTER)
                continue
            whole = self.single_definition((register,))
            if whole is None:
                return None
            parts.extend(whole)
        return tuple(parts) if len(parts) == size else None

    def converted(self, step: InstructionInfo) -> tuple[int, ...] | None:
        if step.spelling in ("cvt.u64.u32", "cvt.s64.s32"):
            low = self.single_definition(step.uses)
            return (low[0], NO_REGISTER) if low else None
        if step.spelling in ("cvt.u32.u64", "cvt.s32.s64"):
            whole = self.single_definition(step.uses)
            return whole[:1] if whole else None
        return None

    def is_offset(self, register: int, step: InstructionInfo) -> bool:
        """Whether `register` differs from another by a constant and is used only in addresses."""
        if len(step.uses) != 1 or constant(step.node.operands[-1]) is None:
            return False
        return all(
            use.opcode in _ADDRESSED and not self.is_used_outside_address(register, use)
            for use in self.readers[register]
        )

    def is_used_outside_address(self, register: int, use: InstructionInfo) -> bool:
        """Whether `use` names `register` outside an address."""
        return any(
            self.register(part) == register
            for operand in use.node.operands
            for part in (operand.items if isinstance(operand, nodes.Vector) else (operand,))
        )

    def is_scaled_index(self, register: int, step: InstructionInfo) -> bool:
        if not (step.spelling.startswith("mul.wide") or step.spelling == "shl.b64"):
            return False
        uses = self.readers[register]
        return len(step.uses) == 1 and all(use.spelling in _SUMS for use in uses)

    def register(self, operand: nodes.Operand) -> int | None:
        if not isinstance(operand, nodes.Name):
            return None
        symbol = self.function.body.symbols.get(operand.start)
        return self.flow.indices.get(symbol)

    # -- constants --------------------------------------------------------------------------

    def materialised_constants(self, step: InstructionInfo) -> int:
        """A store takes its values from registers; only a single zero already is one."""
        if ".param" in step.spelling or len(step.node.operands) < 2:
            return 0
        source = step.node.operands[1]
        items = source.items if isinstance(source, nodes.Vector) else (source,)
        size = 2 if "64" in step.spelling else 1
        zeros = others = held = 0
        for item in items:
            register = self.register(item)
            value = self.values[register] if register is not None else None
            if value and value[0] != NO_REGISTER:
                held += 1
            elif self.is_constant(item) == 0:
                zeros += size
            else:
                others += size
        return others + (zeros if others or (held and len(items) > 1) else 0)

    def is_constant(self, item: nodes.Operand) -> int | None:
        register = self.register(item)
        if register is None:
            return constant(item)
        writers = self.writers[register]
        if len(writers) == 1 and writers[0].opcode == "mov" and not writers[0].uses:
            return constant(writers[0].node.operands[-1])
        return None


def _size(type: str, vector: int) -> int:
    found = TYPES.get(type)
    if found is None:
        return vector
    return 0 if found.width <= 1 else vector * max(1, found.width // 32)
