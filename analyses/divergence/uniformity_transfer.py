"""The transfer functions of the uniformity analysis: for each instruction, the values that its results depend
on and the level that it contributes itself (`divergence_sources.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from itertools import chain
from typing import Final, NamedTuple

from analyses.dataflow.ssa import NONE, BlockValues, InstructionValues, SsaForm, ssa_form
from analyses.divergence.divergence_sources import (
    LOADED,
    BlockSize,
    InstructionUniformity,
    UniformityLevel,
    instruction_uniformity,
    special_register_uniformity,
)
from analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.facts import GenerationalCache, Previous, collect_over_results, fact, incremental_fact
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.uses import SpecialUse, special_uses
from ptx_lsp.model.scope import integer
from ptx_lsp.model.symbols import (
    AliasName,
    FunctionName,
    Predefined,
    Register,
    Symbol,
    Variable,
)
from ptx_lsp.syntax import nodes


class TransferFunction(NamedTuple):
    """The level of each of the `results` is the join of `base_level` and the levels of the `inputs`.

    All are SSA values (`SsaForm`). `second_result` is the result with a separate base level; -1 if absent.
    `target_inputs` are the values that decide the target of a branch or call, without its guard.
    `control_level` is the base level of how uniformly the instruction is executed.
    """

    results: tuple[int, ...]
    inputs: tuple[int, ...]
    base_level: int
    reason: str = ""
    second_result: int = NONE
    second_base_level: int = 0
    target_inputs: tuple[int, ...] = ()
    control_level: int = 0


@incremental_fact
def block_transfers(function: Function, earlier: Previous[BlockTransfers] | None) -> BlockTransfers:
    """The transfer functions of `function`, per block."""
    return _TransferBuilder(function, ssa_form(function)).run(earlier.value if earlier else None)


@fact
def transfer_functions(function: Function) -> tuple[TransferFunction, ...]:
    """The transfer functions of `function`, per instruction."""
    return tuple(chain.from_iterable([block.functions for block in block_transfers(function).blocks]))


class BlockTransfer:
    """The transfer functions of one block: the same object as long as they are unchanged."""

    def __init__(self, plans: tuple[TransferFunction, ...]) -> None:
        self.functions = plans

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """For each value, the instructions whose results depend on it, counted from the first of the
        block.
        """
        found: dict[int, list[int]] = {}
        for index, plan in enumerate(self.functions):
            for value in dict.fromkeys(plan.inputs):
                found.setdefault(value, []).append(index)
        return found


class BlockTransfers:
    """The transfer functions per block. `context` is everything that they depend on besides the block and its
    values.
    """

    __slots__ = ("blocks", "cache", "context")

    def __init__(
        self,
        blocks: tuple[BlockTransfer, ...],
        context: tuple[BlockSize, bool],
        cache: GenerationalCache[BlockValues, BlockTransfer],
    ) -> None:
        self.blocks: Final = blocks
        self.context: Final = context
        self.cache: Final = cache


@fact
def block_size(function: Function) -> BlockSize:
    """The block size that `.reqntid` gives; empty for a function that is not a kernel."""
    for directive in reversed(function.node.directives):  # of several, ptxas takes the last
        if directive.name.text == ".reqntid" and function.is_kernel:
            sizes = [
                integer(value.text) or 0 if isinstance(value, nodes.Number) else 0
                for value in directive.arguments
            ]
            return BlockSize(*(*sizes, 1, 1, 1)[:3])
    return BlockSize()


@collect_over_results(special_uses)
def tid_yz_uses(_: Function, use: SpecialUse) -> Iterator[nodes.Name]:
    """The uses of `%tid` other than `%tid.x`."""
    if use.name.text == "%tid" and not _is_of_x(use.operand):
        yield use.name


def _is_of_x(operand: nodes.Operand) -> bool:
    if not isinstance(operand, nodes.Member):
        return False
    return [one.text for one in operand.components] == [".x"]


class _TransferBuilder:
    def __init__(self, function: Function, found: SsaForm) -> None:
        self.function = function
        self.values = found
        self.size = block_size(function)
        self.may_be_local = not function.is_kernel or self.has_local_addresses()

    def run(self, before: BlockTransfers | None) -> BlockTransfers:
        context = self.size, self.may_be_local
        known: GenerationalCache[BlockValues, BlockTransfer] = GenerationalCache()
        if before is not None and before.context == context:
            known = GenerationalCache(before.cache)
        flow = self.values.instructions.instructions
        found = [
            known.get(values)
            or known.put(values, self.block(flow[block.first : block.end], values))
            for block, values in zip(self.values.cfg.blocks, self.values.blocks, strict=True)
        ]
        return BlockTransfers(tuple(found), context, known)

    def block(self, steps: tuple[InstructionInfo, ...], values: BlockValues) -> BlockTransfer:
        pairs = zip(steps, values.by_instruction, strict=True)
        return BlockTransfer(tuple([self.transfer_function(step, found) for step, found in pairs]))

    def has_local_addresses(self) -> bool:
        function = self.function
        variables = [*function.body.variables, *function.linked.values()]
        if any(isinstance(one, Variable) and one.space == ".local" for one in variables):
            return True
        return any(
            step.opcode in ("alloca", "stacksave") or step.spelling.startswith("cvta.local")
            for step in instructions(function).instructions
        )

    def transfer_function(self, step: InstructionInfo, found: InstructionValues) -> TransferFunction:
        opcode = step.opcode
        if opcode in ("brx", "call"):
            target = self.target_values(step, found)
            is_known = bool(target) or (opcode == "call" and self.is_direct(step))
            flow = (
                UniformityLevel.GRID
                if is_known and (found.guard >= 0) == step.is_guarded
                else UniformityLevel.UNKNOWN
            )
            inputs = (*found.partial_defs, found.guard) if found.guard >= 0 else ()
            what = "is what the call gives"
            return TransferFunction(
                found.defs,
                inputs,
                UniformityLevel.UNKNOWN,
                what,
                target_inputs=target,
                control_level=flow,
            )
        flow = UniformityLevel.UNKNOWN if step.is_guarded and found.guard < 0 else UniformityLevel.GRID
        if (not found.defs and found.carry_out < 0) or NONE in found.defs:
            return _without_results(flow)
        own = self.instruction_uniformity(step)
        inputs = found.uses if own.operands is None else self.values_of_operands(step, found, own.operands)
        if found.partial_defs or found.guard >= 0:
            inputs = (*inputs, *found.partial_defs, *((found.guard,) if found.guard >= 0 else ()))
        level, text = own.level, own.reason
        if own.operands is None:
            level, text = self.level_of_names(step, level, text)
        if step.opcode in ("addc", "subc", "madc"):
            if found.carry_in >= 0:
                inputs = (*inputs, found.carry_in)
            elif level < UniformityLevel.UNKNOWN:
                level, text = UniformityLevel.UNKNOWN, "the carry comes from elsewhere"
        level = max(level, flow)
        second = _second_result(step, found) if own.second_level is not None else NONE
        return TransferFunction(self.all_results(found), inputs, level, text, second, own.second_level or 0)

    def all_results(self, found: InstructionValues) -> tuple[int, ...]:
        return found.defs if found.carry_out < 0 else (*found.defs, found.carry_out)

    # -- base levels ------------------------------------------------------------------------------

    def instruction_uniformity(self, step: InstructionInfo) -> InstructionUniformity:
        own = instruction_uniformity(step.spelling, len(step.node.operands))
        if own is not None:
            return own
        if step.opcode == "shfl":
            return self.shuffle(step)
        if ".param" in step.spelling:
            return self.parameter(step)
        if self.may_be_local:
            return InstructionUniformity(
                UniformityLevel.UNKNOWN, "may load from the local memory of each thread"
            )
        return LOADED

    def parameter(self, step: InstructionInfo) -> InstructionUniformity:
        address = step.node.operands[-1]
        for name in names_in(address):
            symbol = self.function.resolve(name)
            if isinstance(symbol, Variable) and not (
                symbol.is_parameter and self.function.is_kernel
            ):
                what = "is given by the caller" if symbol.is_parameter else "is what a call gives"
                return InstructionUniformity(UniformityLevel.UNKNOWN, f"`{symbol.name}` {what}")
        if self.function.is_kernel:
            return InstructionUniformity(UniformityLevel.GRID)
        return InstructionUniformity(UniformityLevel.UNKNOWN, "loads a parameter of a function")

    def shuffle(self, step: InstructionInfo) -> InstructionUniformity:
        """`shfl.idx d|p, a, b, c, mask`, where `c` allows any lane of the warp as the source."""
        operands = step.node.operands
        masks = (4,) if len(operands) > 4 else ()
        if ".idx" in step.spelling and len(operands) >= 4 and _is_whole_warp(operands[3]):
            return InstructionUniformity(
                UniformityLevel.WARP, "is what one lane holds", UniformityLevel.GRID, (2, *masks)
            )
        return InstructionUniformity(UniformityLevel.GRID, "", UniformityLevel.DIVERGENT, (1,))

    # -- operands --------------------------------------------------------------------------------

    def values_of_operands(
        self, step: InstructionInfo, found: InstructionValues, wanted: tuple[int, ...]
    ) -> tuple[int, ...]:
        """The values that some of the operands read."""
        chosen: list[int] = []
        for index in wanted:
            if index < len(step.node.operands):
                chosen.extend(self.values_read_by(step, found, step.node.operands[index]))
        return tuple(chosen)

    def values_read_by(
        self, step: InstructionInfo, found: InstructionValues, operand: nodes.Operand
    ) -> list[int]:
        value_of = dict(zip(step.uses, found.uses, strict=True))
        flow = self.values.instructions
        read: list[int] = []
        for name in names_in(operand):
            symbol = self.function.resolve(name)
            number = flow.index_of(symbol) if isinstance(symbol, Register) else None
            if number is not None and number in value_of:
                read.append(value_of[number])
        return read

    def target_values(self, step: InstructionInfo, found: InstructionValues) -> tuple[int, ...]:
        """The register that an indirect branch or call goes through."""
        return tuple(
            value
            for operand in step.node.operands
            if isinstance(operand, nodes.Name)
            for value in self.values_read_by(step, found, operand)
        )

    def level_of_names(
        self, step: InstructionInfo, level: UniformityLevel, text: str
    ) -> tuple[UniformityLevel, str]:
        """The join of `level` and the levels of the special registers and variables among the operands."""
        symbols = self.function.body.symbols
        for operand in step.node.operands:
            kind = type(operand)
            if kind is nodes.Number:
                continue
            if isinstance(operand, nodes.Name) and type(symbols.get(operand.start)) is Register:
                continue
            component = ""
            if isinstance(operand, nodes.Member) and operand.components:
                component = operand.components[0].text
            for name in names_in(operand):
                symbol = self.function.resolve(name)
                found = level
                if isinstance(symbol, Predefined):
                    found = special_register_uniformity(symbol.name, component, self.size)
                elif symbol is None or self.is_untracked(symbol):
                    found = UniformityLevel.UNKNOWN if name.text != "_" else level
                if found > level:
                    level, text = found, f"reads `{name.text}{component}`"
        return level, text

    def is_untracked(self, symbol: Symbol) -> bool:
        """Whether the symbol is a variable private to each thread, or a register of the module."""
        if isinstance(symbol, Variable):
            return symbol.space == ".local" and not self.function.is_kernel
        return isinstance(symbol, Register) and self.values.instructions.index_of(symbol) is None

    def is_direct(self, step: InstructionInfo) -> bool:
        """Whether a call names a function."""
        return any(
            isinstance(self.function.resolve(operand), FunctionName | AliasName)
            for operand in step.node.operands
            if isinstance(operand, nodes.Name)
        )


@cache
def _without_results(control_level: int) -> TransferFunction:
    return TransferFunction((), (), UniformityLevel.GRID, control_level=control_level)


def _is_whole_warp(operand: nodes.Operand) -> bool:
    """Whether the last lane is 31 and the warp is not cut into segments."""
    value = integer(operand.text) if isinstance(operand, nodes.Number) else None
    return value is not None and value & 0x1F1F == 0x1F


def _second_result(step: InstructionInfo, found: InstructionValues) -> int:
    """The result on the right side of `d|p`."""
    first = step.node.operands[0] if step.node.operands else None
    if not isinstance(first, nodes.Pair) or not found.defs:
        return NONE
    if isinstance(first.left, nodes.Name) and first.left.text == "_":
        return found.defs[0]
    return found.defs[1] if len(found.defs) > 1 else NONE
