"""For each step, what the uniformity of its results depends on: the values that matter, and the best that
the step can give (`sources.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from analyses.sources import LOADED, Floor, Level, Size, floor, special
from analyses.steps import Step, steps
from analyses.values import NONE, BlockValues, StepValues, Values, values
from ptx_lsp.facts import Earlier, Memory, fact, found_in, lasting_fact
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import integer
from ptx_lsp.model.symbols import (
    AliasName,
    FunctionName,
    Predefined,
    Register,
    Symbol,
    Variable,
)
from ptx_lsp.model.uses import SpecialUse, special_uses
from ptx_lsp.syntax import nodes


class Plan(NamedTuple):
    """Values are numbers, see `Values`. `made` are the results, `inputs` what they depend on; `second` is
    the result that may be worse than the others, -1 where there is none. `target` are the values that
    tell where a jump or call goes, without its guard. `flow` is the best that a jump can be.
    """

    made: tuple[int, ...]
    inputs: tuple[int, ...]
    floor: int
    text: str = ""
    second: int = NONE
    second_floor: int = 0
    target: tuple[int, ...] = ()
    flow: int = 0


@lasting_fact
def block_plans(function: Function, earlier: Earlier[BlockPlans] | None) -> BlockPlans:
    """Those of the steps of `function`, block by block."""
    return _Planning(function, values(function)).run(earlier.value if earlier else None)


@fact
def plans(function: Function) -> tuple[Plan, ...]:
    """Those of the steps of `function`."""
    return tuple(chain.from_iterable([block.plans for block in block_plans(function).of]))


class OfBlock:
    """The plans of the steps of one block: the same object for as long as they are the same."""

    def __init__(self, plans: tuple[Plan, ...]) -> None:
        self.plans = plans

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """Of each value the steps whose results depend on it, counted from the first of the block."""
        found: dict[int, list[int]] = {}
        for index, plan in enumerate(self.plans):
            for value in dict.fromkeys(plan.inputs):
                found.setdefault(value, []).append(index)
        return found


@dataclass(frozen=True)
class BlockPlans:
    """For each block its plans. `of_whole` is what they depend on besides the block and its values."""

    of: tuple[OfBlock, ...]
    of_whole: tuple[Size, bool]
    known: Memory[BlockValues, OfBlock]


@fact
def block_size(function: Function) -> Size:
    """What `.reqntid` says; nothing of a function that is no kernel."""
    for directive in reversed(function.node.directives):  # of several, ptxas takes the last
        if directive.name.text == ".reqntid" and function.is_kernel:
            sizes = [
                integer(value.text) or 0 if isinstance(value, nodes.Number) else 0
                for value in directive.arguments
            ]
            return Size(*(*sizes, 1, 1, 1)[:3])
    return Size()


@found_in(special_uses)
def uses_of_y_and_z(_: Function, use: SpecialUse) -> Iterator[nodes.Name]:
    """Where `%tid` is named, but for `%tid.x`."""
    if use.name.text == "%tid" and not _is_of_x(use.operand):
        yield use.name


def _is_of_x(operand: nodes.Operand) -> bool:
    if not isinstance(operand, nodes.Member):
        return False
    return [one.text for one in operand.components] == [".x"]


class _Planning:
    def __init__(self, function: Function, found: Values) -> None:
        self.function = function
        self.values = found
        self.size = block_size(function)
        self.may_be_local = not function.is_kernel or self.has_local_addresses()

    def run(self, before: BlockPlans | None) -> BlockPlans:
        of_whole = self.size, self.may_be_local
        known: Memory[BlockValues, OfBlock] = Memory()
        if before is not None and before.of_whole == of_whole:
            known = Memory(before.known)
        flow = self.values.steps.steps
        found = [
            known.get(values)
            or known.put(values, self.block(flow[block.first : block.end], values))
            for block, values in zip(self.values.cfg.blocks, self.values.blocks, strict=True)
        ]
        return BlockPlans(tuple(found), of_whole, known)

    def block(self, steps: tuple[Step, ...], values: BlockValues) -> OfBlock:
        pairs = zip(steps, values.of, strict=True)
        return OfBlock(tuple([self.plan(step, found) for step, found in pairs]))

    def has_local_addresses(self) -> bool:
        function = self.function
        variables = [*function.body.variables, *function.linked.values()]
        if any(isinstance(one, Variable) and one.space == ".local" for one in variables):
            return True
        return any(
            step.opcode in ("alloca", "stacksave") or step.spelling.startswith("cvta.local")
            for step in steps(function).steps
        )

    def plan(self, step: Step, found: StepValues) -> Plan:
        opcode = step.opcode
        if opcode in ("brx", "call"):
            target = self.through(step, found)
            is_known = bool(target) or (opcode == "call" and self.is_direct(step))
            flow = Level.GRID if is_known and (found.guard >= 0) == step.is_guarded else Level.UNKNOWN
            inputs = (*found.keeps, found.guard) if found.guard >= 0 else ()
            what = "is what the call gives"
            return Plan(found.writes, inputs, Level.UNKNOWN, what, target=target, flow=flow)
        flow = Level.UNKNOWN if step.is_guarded and found.guard < 0 else Level.GRID
        if (not found.writes and found.carry_out < 0) or NONE in found.writes:
            return Plan((), (), Level.GRID, flow=flow)
        best = self.floor(step)
        inputs = found.reads if best.inputs is None else self.some(step, found, best.inputs)
        if found.keeps or found.guard >= 0:
            inputs = (*inputs, *found.keeps, *((found.guard,) if found.guard >= 0 else ()))
        level, text = best.level, best.text
        if best.inputs is None:
            level, text = self.named(step, level, text)
        if step.opcode in ("addc", "subc", "madc"):
            if found.carry_in >= 0:
                inputs = (*inputs, found.carry_in)
            elif level < Level.UNKNOWN:
                level, text = Level.UNKNOWN, "the carry comes from elsewhere"
        level = max(level, flow)
        second = _second(step, found) if best.second is not None else NONE
        return Plan(self.all_made(found), inputs, level, text, second, best.second or 0)

    def all_made(self, found: StepValues) -> tuple[int, ...]:
        return found.writes if found.carry_out < 0 else (*found.writes, found.carry_out)

    # -- the best that a step can give -----------------------------------------------------------

    def floor(self, step: Step) -> Floor:
        best = floor(step.spelling, len(step.node.operands))
        if best is not None:
            return best
        if step.opcode == "shfl":
            return self.shuffle(step)
        if ".param" in step.spelling:
            return self.parameter(step)
        if self.may_be_local:
            return Floor(Level.UNKNOWN, "may load from the local memory of each thread")
        return LOADED

    def parameter(self, step: Step) -> Floor:
        address = step.node.operands[-1]
        for name in names_in(address):
            symbol = self.function.resolve(name)
            if isinstance(symbol, Variable) and not (
                symbol.is_parameter and self.function.is_kernel
            ):
                what = "is given by the caller" if symbol.is_parameter else "is what a call gives"
                return Floor(Level.UNKNOWN, f"`{symbol.name}` {what}")
        if self.function.is_kernel:
            return Floor(Level.GRID)
        return Floor(Level.UNKNOWN, "loads a parameter of a function")

    def shuffle(self, step: Step) -> Floor:
        """`shfl.idx d|p, a, b, c, mask`, where `c` says that any lane of the warp can be read."""
        operands = step.node.operands
        masks = (4,) if len(operands) > 4 else ()
        if ".idx" in step.spelling and len(operands) >= 4 and _is_whole_warp(operands[3]):
            return Floor(Level.WARP, "is what one lane holds", Level.GRID, (2, *masks))
        return Floor(Level.GRID, "", Level.DIVERGENT, (1,))

    # -- operands --------------------------------------------------------------------------------

    def some(self, step: Step, found: StepValues, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """The values read by some of the operands."""
        chosen: list[int] = []
        for index in wanted:
            if index < len(step.node.operands):
                chosen.extend(self.read_by(step, found, step.node.operands[index]))
        return tuple(chosen)

    def read_by(self, step: Step, found: StepValues, operand: nodes.Operand) -> list[int]:
        value_of = dict(zip(step.reads, found.reads, strict=True))
        flow = self.values.steps
        read: list[int] = []
        for name in names_in(operand):
            symbol = self.function.resolve(name)
            number = flow.number(symbol) if isinstance(symbol, Register) else None
            if number is not None and number in value_of:
                read.append(value_of[number])
        return read

    def through(self, step: Step, found: StepValues) -> tuple[int, ...]:
        """The register that a jump or call goes through."""
        return tuple(
            value
            for operand in step.node.operands
            if isinstance(operand, nodes.Name)
            for value in self.read_by(step, found, operand)
        )

    def named(self, step: Step, level: Level, text: str) -> tuple[Level, str]:
        """The worst of `level` and of the special registers and variables among the operands."""
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
                    found = special(symbol.name, component, self.size)
                elif symbol is None or self.is_out_of_sight(symbol):
                    found = Level.UNKNOWN if name.text != "_" else level
                if found > level:
                    level, text = found, f"reads `{name.text}{component}`"
        return level, text

    def is_out_of_sight(self, symbol: Symbol) -> bool:
        """Whether it is a variable of each thread, or a register of the module."""
        if isinstance(symbol, Variable):
            return symbol.space == ".local" and not self.function.is_kernel
        return isinstance(symbol, Register) and self.values.steps.number(symbol) is None

    def is_direct(self, step: Step) -> bool:
        """Whether a call names a function."""
        return any(
            isinstance(self.function.resolve(operand), FunctionName | AliasName)
            for operand in step.node.operands
            if isinstance(operand, nodes.Name)
        )


def _is_whole_warp(operand: nodes.Operand) -> bool:
    """Whether the last lane is 31 and the warp is not cut into segments."""
    value = integer(operand.text) if isinstance(operand, nodes.Number) else None
    return value is not None and value & 0x1F1F == 0x1F


def _second(step: Step, found: StepValues) -> int:
    """What the right side of `d|p` writes."""
    first = step.node.operands[0] if step.node.operands else None
    if not isinstance(first, nodes.Pair) or not found.writes:
        return NONE
    if isinstance(first.left, nodes.Name) and first.left.text == "_":
        return found.writes[0]
    return found.writes[1] if len(found.writes) > 1 else NONE
