"""Machine instructions: the instructions that are not eliminated, with their virtual registers. Most decide
nothing, so they are made on demand.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptx_lsp.analyses.bitset import EMPTY
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.operands import register_of
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.analyses.registers.machine_blocks import NO_REGISTER
from ptx_lsp.analyses.registers.virtual_registers import VirtualRegisters
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes


class MachineInstruction(NamedTuple):
    """An instruction with its virtual registers.

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


def machine_instructions(left: VirtualRegisters, numbers: Iterable[int]) -> list[MachineInstruction]:
    """The machine instructions of some instructions, in order."""
    is_eliminated = left.code.is_eliminated
    return [machine_instruction(left, number) for number in numbers if not is_eliminated[number]]


def machine_instruction(left: VirtualRegisters, number: int) -> MachineInstruction:
    """The machine instruction of one that is not eliminated."""
    code = left.code
    step = code.flow.info(number)
    values, allocated = code.of_registers, code.allocated
    reads: set[int] = set()
    flags_read: list[int] = []
    for register in step.uses:
        reads.update(values[register])
        if not allocated[register]:
            flags_read.append(register)
    reads.discard(NO_REGISTER)
    if step.guard >= 0:
        flags_read.append(step.guard)
    writes: list[int] = []
    flags_written: list[int] = []
    for register in step.defs:
        writes += [word for word in code.defined_by(register) if word != NO_REGISTER]
        if not allocated[register]:
            flags_written.append(register)
    keeps = [word for register in step.partial_defs for word in code.defined_by(register)]
    return MachineInstruction(
        step, frozenset(reads), frozenset(writes), frozenset(keeps) if keeps else EMPTY,
        tuple(flags_read), tuple(flags_written),
        materialised_constants(left, step.node) if step.opcode == "st" else 0,
    )  # fmt: skip


def materialised_constants(left: VirtualRegisters, store: nodes.Instruction) -> int:
    """The registers for constants that a store cannot encode: it takes its values from registers, and only a
    single zero already is one.
    """
    spelling = store.opcode.text
    if ".param" in spelling or len(store.operands) < 2:
        return 0
    source = store.operands[1]
    items = source.items if isinstance(source, nodes.Vector) else (source,)
    code = left.code
    size = 2 if "64" in spelling else 1
    zeros = others = held = 0
    for item in items:
        register = register_of(left.code.flow, item)
        value = code.of_registers[register] if register is not None else None
        if value and value[0] != NO_REGISTER:
            held += 1
        elif _constant(left, item) == 0:
            zeros += size
        else:
            others += size
    return others + (zeros if others or (held and len(items) > 1) else 0)


def _constant(left: VirtualRegisters, item: nodes.Operand) -> int | None:
    """The constant that is an operand, or that its only definition moves to it."""
    register = register_of(left.code.flow, item)
    return literal(item) if register is None else assigned_constant(left, register)


def assigned_constant(left: VirtualRegisters, register: int) -> int | None:
    """The constant that the only definition of a register assigns to it."""
    numbers, flow = left.definitions.of(register), left.code.flow
    if len(numbers) != 1 or flow.kinds[numbers[0]].opcode != "mov" or flow.uses[numbers[0]]:
        return None
    return literal(flow.body.instructions[numbers[0]].operands[-1])
