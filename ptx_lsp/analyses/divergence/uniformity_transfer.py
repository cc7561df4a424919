"""The transfer functions of the uniformity analysis: for each instruction, the values that its results depend
on and the level that it contributes itself (`divergence_sources.py`).

Most instructions are *plain*: their results depend on all that they read, and their shape alone determines
what they contribute.
"""

from __future__ import annotations

from ptx_lsp.analyses._flow import InstructionValues
from ptx_lsp.analyses.dataflow.ssa import NONE, SsaForm
from ptx_lsp.analyses.divergence.divergence_sources import (
    LOADED,
    BlockSize,
    InstructionUniformity,
    UniformityLevel,
    instruction_uniformity,
    special_register_uniformity,
)
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.facts import fact
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.features import (
    CALL_PARAMETER,
    GUARDED,
    OTHER_SYNTAX,
    PREDEFINED,
    UNRESOLVED,
    UNUSUAL_GUARD,
    VARIABLE,
)
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.instructions.wakes import InstructionWake, is_awake
from ptx_lsp.model.symbols import (
    AliasName,
    FunctionName,
    Predefined,
    Register,
    Symbol,
    Variable,
)
from ptx_lsp.process_tables import process_table
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

if TYPE_CHECKING:
    from typing import Final

_MOST_SHAPES: Final = 1 << 15
_GRID: Final = int(UniformityLevel.GRID)
_UNKNOWN: Final = int(UniformityLevel.UNKNOWN)
_THROUGH: Final = frozenset({"brx", "call"})
"""Opcodes of jumps that may go through a register."""
_CARRYING: Final = frozenset({"addc", "subc", "madc"})


class TransferFunction:
    """The level of each of the `results` is the join of `base_level` and the levels of the `inputs`.

    All are SSA values (`SsaForm`). `second_result` is the result with a separate base level; -1 if absent.
    `target_inputs` are the values that decide the target of a branch or call, without its guard.
    `control_level` is the base level of how uniformly the instruction is executed.
    """

    __slots__ = (
        "base_level", "control_level", "inputs", "reason", "results", "second_base_level", "second_result",
        "target_inputs",
    )  # fmt: skip

    def __init__(
        self,
        results: tuple[int, ...],
        inputs: tuple[int, ...],
        base_level: int,
        reason: str = "",
        second_result: int = NONE,
        second_base_level: int = 0,
        target_inputs: tuple[int, ...] = (),
        control_level: int = 0,
    ) -> None:
        self.results = results
        self.inputs = inputs
        self.base_level = base_level
        self.reason = reason
        self.second_result = second_result
        self.second_base_level = second_base_level
        self.target_inputs = target_inputs
        self.control_level = control_level


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


class TransferFunctions:
    """The transfer functions of a function, created on demand. `context` is everything that they depend on
    besides the instructions and their values.
    """

    def __init__(self, function: Function, form: SsaForm) -> None:
        self.function = function
        self.form = form
        self.values = form.by_instruction
        self.shapes = shapes(function)
        self.size = block_size(function)
        self.may_be_local = not function.is_kernel or _has_local_addresses(function)
        self.context = (self.size, self.may_be_local)
        self._names_module_registers = any(isinstance(one, Register) for one in function.linked.values())
        self.plain_levels: dict[Shape, int] = {}
        """What plain instructions contribute, by shape, as far as it is known; -1 for other instructions."""
        if not self._names_module_registers:
            self.plain_levels = _plain_levels(self.may_be_local, function.is_kernel)
        self._known: dict[int, TransferFunction] = {}

    def plain_level(self, number: int) -> int:
        """The level that a plain instruction contributes; -1 for other instructions."""
        if self._names_module_registers:
            return NONE
        shape = self.shapes[number]
        level = self.plain_levels.get(shape)
        if level is None:
            level = _plain_level(shape, self.may_be_local, self.function.is_kernel)
            if len(self.plain_levels) >= _MOST_SHAPES:
                self.plain_levels.clear()
            self.plain_levels[shape] = level
        return level

    def inputs(self, number: int) -> tuple[int, ...]:
        """The values that the results of an instruction depend on; none if it has no results."""
        found = self.values[number]
        if not found.defs and found.carry_out < 0:
            return ()
        return _all_inputs(found, found.uses) if self.plain_level(number) >= 0 else self.of(number).inputs

    def base_level(self, number: int) -> int:
        """The level that an instruction contributes itself."""
        level = self.plain_level(number)
        return level if level >= 0 else self.of(number).base_level

    def is_constant(self, number: int) -> bool:
        """Whether the results of an instruction are the same at all times."""
        found = self.values[number]
        level = self.plain_level(number)
        if level < 0:
            return not self.of(number).inputs and not self.of(number).base_level
        return not level and not found.uses and not found.partial_defs and found.guard < 0

    def branch_inputs(self, number: int) -> tuple[int, ...]:
        """The values that decide where a jump goes: its guard, and its index or address."""
        guard = self.values[number].guard
        if self.shapes[number].opcode not in _THROUGH:
            return () if guard < 0 else (guard,)
        targets = self.of(number).target_inputs
        return targets if guard < 0 else (guard, *targets)

    def control_level(self, number: int) -> int:
        """The base level of how uniformly an instruction is executed."""
        shape = self.shapes[number]
        if shape.opcode in _THROUGH:
            return self.of(number).control_level
        return _UNKNOWN if shape.features & GUARDED and self.values[number].guard < 0 else _GRID

    def of(self, number: int) -> TransferFunction:
        """The transfer function of an instruction."""
        found = self._known.get(number)
        if found is None:
            step = self.form.instructions.info(number)
            found = self._known[number] = self._created(step, self.values[number])
        return found

    def _created(self, step: InstructionInfo, found: InstructionValues) -> TransferFunction:
        opcode = step.opcode
        if opcode in _THROUGH:
            return self._transfer_of_jump(step, found)
        control = self.control_level(step.number)
        if (not found.defs and found.carry_out < 0) or NONE in found.defs:
            return TransferFunction((), (), UniformityLevel.GRID)
        own = self._instruction_uniformity(step)
        uses = found.uses if own.operands is None else self._values_of_operands(step, found, own.operands)
        inputs = _all_inputs(found, uses)
        level, text = own.level, own.reason
        if own.operands is None:
            level, text = self._level_of_names(step, level, text)
        if opcode in _CARRYING:
            if found.carry_in >= 0:
                inputs = (*inputs, found.carry_in)
            elif level < UniformityLevel.UNKNOWN:
                level, text = UniformityLevel.UNKNOWN, "the carry comes from elsewhere"
        results = found.defs if found.carry_out < 0 else (*found.defs, found.carry_out)
        second = _second_result(step, found) if own.second_level is not None else NONE
        base = max(int(level), control)
        return TransferFunction(results, inputs, base, text, second, own.second_level or 0)

    def _transfer_of_jump(self, step: InstructionInfo, found: InstructionValues) -> TransferFunction:
        target = self._target_values(step, found)
        is_known = bool(target) or (step.opcode == "call" and self._is_direct(step))
        control = (
            UniformityLevel.GRID
            if is_known and (found.guard >= 0) == step.is_guarded
            else UniformityLevel.UNKNOWN
        )
        return TransferFunction(
            found.defs,
            (*found.partial_defs, found.guard) if found.guard >= 0 else (),
            UniformityLevel.UNKNOWN,
            "is what the call gives",
            target_inputs=target,
            control_level=control,
        )

    # -- base levels ------------------------------------------------------------------------------

    def _instruction_uniformity(self, step: InstructionInfo) -> InstructionUniformity:
        own = instruction_uniformity(step.spelling, len(step.node.operands))
        if own is not None:
            return own
        if step.opcode == "shfl":
            return _shuffle(step)
        if ".param" in step.spelling:
            return self._parameter(step)
        return _LOCAL if self.may_be_local else LOADED

    def _parameter(self, step: InstructionInfo) -> InstructionUniformity:
        address = step.node.operands[-1]
        for name in names_in(address):
            symbol = self.function.resolve(name)
            if isinstance(symbol, Variable) and not (symbol.is_parameter and self.function.is_kernel):
                what = "is given by the caller" if symbol.is_parameter else "is what a call gives"
                return InstructionUniformity(UniformityLevel.UNKNOWN, f"`{symbol.name}` {what}")
        if self.function.is_kernel:
            return InstructionUniformity(UniformityLevel.GRID)
        return InstructionUniformity(UniformityLevel.UNKNOWN, "loads a parameter of a function")

    # -- operands --------------------------------------------------------------------------------

    def _values_of_operands(
        self, step: InstructionInfo, found: InstructionValues, wanted: tuple[int, ...]
    ) -> tuple[int, ...]:
        """The values that some of the operands read."""
        chosen: list[int] = []
        for index in wanted:
            if index < len(step.node.operands):
                chosen.extend(self._values_read_by(step, found, step.node.operands[index]))
        return tuple(chosen)

    def _values_read_by(
        self, step: InstructionInfo, found: InstructionValues, operand: nodes.Operand
    ) -> list[int]:
        indices, uses = self.form.instructions.indices, step.uses
        read: list[int] = []
        for name in (operand,) if isinstance(operand, nodes.Name) else names_in(operand):
            number = indices.get(self.function.resolve(name), -1)
            if number in uses:
                read.append(found.uses[uses.index(number)])
        return read

    def _target_values(self, step: InstructionInfo, found: InstructionValues) -> tuple[int, ...]:
        """The register that an indirect branch or call goes through."""
        return tuple(
            [
                value
                for operand in step.node.operands
                if isinstance(operand, nodes.Name)
                for value in self._values_read_by(step, found, operand)
            ]
        )

    def _level_of_names(
        self, step: InstructionInfo, level: UniformityLevel, text: str
    ) -> tuple[UniformityLevel, str]:
        """The join of `level` and the levels of the special registers and variables among the operands."""
        for operand in step.node.operands:
            component = ""
            if isinstance(operand, nodes.Member) and operand.components:
                component = operand.components[0].text
            for name in names_in(operand):
                symbol = self.function.resolve(name)
                found = level
                if isinstance(symbol, Predefined):
                    found = special_register_uniformity(symbol.name, component, self.size)
                elif symbol is None or self._is_untracked(symbol):
                    found = UniformityLevel.UNKNOWN if name.text != "_" else level
                if found > level:
                    level, text = found, f"reads `{name.text}{component}`"
        return level, text

    def _is_untracked(self, symbol: Symbol) -> bool:
        """Whether the symbol is a variable private to each thread, or a register of the module."""
        if isinstance(symbol, Variable):
            return symbol.space == ".local" and not self.function.is_kernel
        return isinstance(symbol, Register) and self.form.instructions.index_of(symbol) is None

    def _is_direct(self, step: InstructionInfo) -> bool:
        """Whether a call names a function."""
        return any(
            isinstance(self.function.resolve(operand), FunctionName | AliasName)
            for operand in step.node.operands
            if isinstance(operand, nodes.Name)
        )


_LOCAL: Final = InstructionUniformity(
    UniformityLevel.UNKNOWN, "may load from the local memory of each thread"
)

_PLAIN_LEVELS: Final[dict[tuple[bool, bool], dict[Shape, int]]] = process_table({})
"""`TransferFunctions.plain_levels` for each kind of function."""


def _plain_levels(may_be_local: bool, is_kernel: bool) -> dict[Shape, int]:
    return _PLAIN_LEVELS.setdefault((may_be_local, is_kernel), {})


def _plain_level(shape: Shape, may_be_local: bool, is_kernel: bool) -> int:
    named = PREDEFINED | UNRESOLVED | UNUSUAL_GUARD | OTHER_SYNTAX
    if not is_kernel:
        named |= VARIABLE
    if shape.features & named or shape.opcode in _THROUGH:
        return NONE
    if shape.opcode in _CARRYING or ".cc" in shape.spelling:
        return NONE
    own = instruction_uniformity(shape.spelling, len(shape.arguments))
    if own is None:
        if shape.opcode == "shfl":
            return NONE
        if ".param" in shape.spelling:
            return _GRID if is_kernel and _reads_own_parameter(shape) else NONE
        own = _LOCAL if may_be_local else LOADED
    return int(own.level) if own.operands is None and own.second_level is None else NONE


def _reads_own_parameter(shape: Shape) -> bool:
    """Whether a `ld.param` in a kernel names a parameter of the kernel, or no variable."""
    address = shape.arguments[-1] if shape.arguments else None
    if address is None or address.kind != "address" or shape.features & CALL_PARAMETER:
        return False
    return all(part.kind == "register" or part.space == ".param" for part in address.parts)


def _all_inputs(found: InstructionValues, uses: tuple[int, ...]) -> tuple[int, ...]:
    """`uses`, and what a partial definition also depends on."""
    if not found.partial_defs and found.guard < 0:
        return uses
    return (*uses, *found.partial_defs, *((found.guard,) if found.guard >= 0 else ()))


_local_addresses: Final = InstructionWake(
    opcodes=("alloca", "stacksave", "cvta"),
    where=lambda shape: shape.opcode != "cvta" or shape.spelling.startswith("cvta.local"),
)


def _has_local_addresses(function: Function) -> bool:
    variables = (*function.body.variables, *function.linked.values())
    if any(isinstance(one, Variable) and one.space == ".local" for one in variables):
        return True
    return is_awake(function, _local_addresses)


def _shuffle(step: InstructionInfo) -> InstructionUniformity:
    """`shfl.idx d|p, a, b, c, mask`, where `c` allows any lane of the warp as the source."""
    operands = step.node.operands
    if ".idx" in step.spelling and len(operands) >= 4 and _is_whole_warp(operands[3]):
        return _FROM_ONE_LANE if len(operands) > 4 else _FROM_ONE_LANE_WITHOUT_MASK
    return _FROM_LANES


_FROM_LANES: Final = InstructionUniformity(UniformityLevel.GRID, "", UniformityLevel.DIVERGENT, (1,))
_FROM_ONE_LANE: Final = InstructionUniformity(
    UniformityLevel.WARP, "is what one lane holds", UniformityLevel.GRID, (2, 4)
)
_FROM_ONE_LANE_WITHOUT_MASK: Final = _FROM_ONE_LANE._replace(operands=(2,))


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
