"""Uniformity analysis: which values are the same for all threads of the grid, a block or a warp, and which
branches diverge.

1. The level of a value is the join of the level that its instruction contributes (`divergence_sources.py`)
   and the levels of its inputs. Inputs of a partial definition also include the guard and the previous value.
2. The level of a phi is the join of its inputs and, at a join of a divergent branch, of that branch
   (`sync_dependence.py`). A branch also raises values defined in a cycle that it exits, where they are read
   outside (temporal divergence), and all definitions in assumed-divergent blocks. A value without inputs (a
   number, a parameter of a kernel) is the same at all times.
3. The level of `bra` and `brx` is that of their guard and index; of `call`, that of its guard and of the
   register that it goes through. `ret` and `exit` are at most as uniform as the branches that they are
   control-dependent on, because not all threads leave there together.
4. Threads that diverge at a branch reconverge at its reconvergence point, and instructions that threads of a
   warp reach together are executed together. Nothing is claimed about other threads.
5. The solution is a fixed point: every value starts as uniform in the grid and is raised until nothing
   changes.
6. Nothing is known about a function whose branches are too complex (`sync_dependence.py`) or that has no SSA
   form (`ssa.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from ptx_lsp.analyses.control_flow.dominance import Dominance, dominance
from ptx_lsp.analyses.dataflow.ssa import NONE, SsaForm, ssa_form
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.sync_dependence import sync_dependence
from ptx_lsp.analyses.divergence.uniformity_solver import OWN, SECOND_RESULT, Solution, solve
from ptx_lsp.analyses.divergence.uniformity_transfer import TransferFunctions
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class Reason(NamedTuple):
    """One link of an explanation: what `instruction` contributes; -1 for the function itself."""

    instruction: int
    text: str


class Cause(NamedTuple):
    """Why a value has its level: another value, a divergent branch (its block), or `text`. A value together
    with a block is temporal divergence: that branch exits the loop that defines the value.
    """

    value: int = NONE
    block: int = NONE
    text: str = ""


class Uniformity:
    """The uniformity levels of the values (`SsaForm`) and blocks of a function."""

    def __init__(
        self,
        form: SsaForm,
        transfers: TransferFunctions,
        paths: Dominance,
        solution: Solution,
        *,
        is_available: bool,
    ) -> None:
        self.ssa: Final = form
        self.transfers: Final = transfers
        self.dominance: Final = paths
        self.solution: Final = solution
        self.levels: Final = solution.levels
        """The levels of the values, as numbers."""
        self.branches: Final = {block: _LEVELS[level] for block, level in solution.branches.items()}
        """For each reached block with several successors, the uniformity of its branch."""
        self.is_available: Final = is_available
        """Whether the function was simple enough to analyse (6)."""
        self._controlling_branches: Final[dict[int, tuple[InstructionInfo, ...]]] = {}

    def level(self, value: int) -> UniformityLevel:
        """The level of a value where it is defined."""
        return _LEVELS[self.levels[value]]

    def is_uniform(self, value: int) -> bool:
        """Whether all threads of each warp have the same value where it is defined."""
        return self.levels[value] <= _WARP

    def depends_on_path(self, value: int) -> bool:
        """Whether threads of a warp may have a value from different ways to where it is defined, or from
        different iterations: a phi, or a result that does not depend on its inputs alone.
        """
        join, out_of_step = self.ssa.phis.get(value), self.solution.out_of_step
        if join is not None:
            return join.block in self.solution.divergent_joins
        if not out_of_step or self.ssa.block_of(value) not in out_of_step:
            return False
        number = self.ssa.definitions[value]
        return number >= 0 and self.transfers.base_level(number) != _GRID

    def def_levels(self, number: int) -> tuple[UniformityLevel, ...]:
        """The levels of the registers that instruction `number` defines, in the order of
        `InstructionInfo.defs`.
        """
        return tuple(
            self.level(value) if value != NONE else UniformityLevel.UNKNOWN
            for value in self.ssa.by_instruction[number].defs
        )

    def use_level(self, number: int, register: int) -> UniformityLevel:
        """The level of a register as instruction `number` reads it."""
        step, found = self.ssa.instructions.info(number), self.ssa.by_instruction[number]
        for one, value in zip((*step.uses, step.guard), (*found.uses, found.guard), strict=True):
            if one == register:
                return self.level_at(value, self.ssa.cfg.block_of[number])
        raise KeyError(register)

    def guard_level(self, number: int) -> UniformityLevel:
        """The level of the guard of instruction `number`; `GRID` if absent."""
        return self.level_at(self.ssa.by_instruction[number].guard, self.ssa.cfg.block_of[number])

    def execution_level(self, number: int) -> UniformityLevel:
        """The uniformity with which instruction `number` executes, branches or exits (3); for others, the
        level of the guard.
        """
        block = self.ssa.cfg.block_of[number]
        if block not in self.ssa.cfg.reached:
            return UniformityLevel.UNKNOWN
        level = max(self.guard_level(number), _LEVELS[self.transfers.control_level(number)])
        for value in self.transfers.of(number).target_inputs:
            level = max(level, self.level_at(value, block))
        if self.ssa.instructions.info(number).opcode in ("ret", "exit"):
            level = max(level, self.block_level(block))
        return level

    def block_level(self, block: int) -> UniformityLevel:
        """The uniformity with which a block is reached: whether all threads of a warp reach it, or none."""
        return self._block_levels[block][0]

    def controlling_branches(self, block: int) -> tuple[InstructionInfo, ...]:
        """The non-uniform branches that `block` is control-dependent on, directly or not, the nearest
        first.
        """
        known = self._controlling_branches.get(block)
        if known is None:
            known = self._controlling_branches[block] = self._find_controlling_branches(block)
        return known

    def _find_controlling_branches(self, block: int) -> tuple[InstructionInfo, ...]:
        found: list[InstructionInfo] = []
        seen: set[int] = set()
        waiting = [block] if self.is_available else []
        for one in waiting:
            for above in self.dominance.control_dependences[one]:
                if above not in seen:
                    seen.add(above)
                    waiting.append(above)
                    if not self.branches[above].is_uniform:
                        last = self.ssa.cfg.blocks[above].end - 1
                        found.append(self.ssa.instructions.info(last))
        return tuple(found)

    def reasons(self, number: int) -> tuple[Reason, ...]:
        """Why instruction `number` has its execution level, back to the source of divergence."""
        block = self.ssa.cfg.block_of[number]
        level = self.execution_level(number)
        for value in self.transfers.branch_inputs(number):
            if self.level_at(value, block) == level:
                return _without_circles(self._chain(value, block, level))
        decided = self._block_levels[block][1]
        if decided == NONE or level > self._block_levels[block][0]:
            return ()
        return _without_circles(self._branch_chain(decided, "", "decides whether this is reached", set()))

    def value_reasons(self, value: int) -> tuple[Reason, ...]:
        """Why a value has its level."""
        return _without_circles(self._chain(value, self.ssa.block_of(value), self.level(value)))

    def level_at(self, value: int, block: int) -> UniformityLevel:
        """The level of a value where `block` reads it."""
        if value == NONE:
            return UniformityLevel.GRID if self.is_available else UniformityLevel.UNKNOWN
        level = self.levels[value]
        for blocks, worse, _ in self.solution.temporal_divergence.get(value, ()):
            if block not in blocks and worse > level:
                level = worse
        return _LEVELS[level]

    def escapes(self, value: int, block: int) -> bool:
        """Whether threads of a warp may read the value in `block` from different iterations of the loop that
        defines it (temporal divergence).
        """
        found = self.solution.temporal_divergence.get(value)
        return found is not None and any(
            level > _WARP and block not in together for together, level, _ in found
        )

    # -- reasons --------------------------------------------------------------------------------

    def _chain(
        self, value: int, block: int, level: UniformityLevel, seen: set[int] | None = None
    ) -> Iterator[_Link]:
        """The links from a value to the source of its level."""
        seen = set() if seen is None else seen
        while value not in seen:
            seen.add(value)
            if self.levels[value] < level:  # it escapes
                for blocks, worse, branch in self.solution.temporal_divergence.get(value, ()):
                    if block not in blocks and worse == level:
                        name = self.register_name(value)
                        yield from self._branch_chain(branch, name, self._loop_exit_text(value), seen)
                        return
            number, name = self.ssa.definitions[value], self.register_name(value)
            cause = self.cause(value)
            if cause.block != NONE:
                holds = f"decides what `{name}` holds"
                text = holds if cause.value == NONE else self._loop_exit_text(cause.value)
                yield from self._branch_chain(cause.block, name, text, seen)
                return
            if cause.value == NONE:
                if cause.text:
                    yield _Link(name, Reason(number, cause.text))
                return
            if number != NONE:
                text = f"`{name}` depends on `{self.register_name(cause.value)}`"
                yield _Link(name, Reason(number, text))
            block = self.ssa.block_of(value)
            value = cause.value

    def cause(self, value: int) -> Cause:
        """Why a value has its level."""
        if self.ssa.is_initial(value):
            register = self.ssa.instructions.registers[value]
            given = "is given by the caller" if register.is_parameter else "is not written before"
            return Cause(text=f"`{register.name}` {given}")
        cause = self.solution.cause_values[value]
        if cause == OWN:
            return Cause(text=self.transfers.of(self.ssa.definitions[value]).reason)
        if cause == SECOND_RESULT:
            return Cause(text="differs from lane to lane")
        return Cause(cause, self.solution.cause_blocks[value])

    def _loop_exit_text(self, value: int) -> str:
        return f"threads leave the loop that makes `{self.register_name(value)}` at different times"

    def _branch_chain(self, block: int, subject: str, text: str, seen: set[int]) -> Iterator[_Link]:
        number = self.ssa.cfg.blocks[block].end - 1
        yield _Link(subject, Reason(number, text))
        level = self.branches.get(block, UniformityLevel.GRID)
        for value in self.transfers.branch_inputs(number):
            if self.level_at(value, block) == level:
                yield from self._chain(value, block, level, seen)
                return

    def register_name(self, value: int) -> str:
        """The name of the register that holds the value."""
        register = self.ssa.register(value)
        return self.ssa.instructions.registers[register].name if register >= 0 else "the carry"

    # -- control --------------------------------------------------------------------------------

    @cached_property
    def _block_levels(self) -> tuple[tuple[UniformityLevel, int], ...]:
        """The level of each block, and the block whose branch causes it."""
        if not self.is_available:
            return ((UniformityLevel.UNKNOWN, NONE),) * len(self.ssa.cfg.blocks)
        found = [(UniformityLevel.GRID, NONE) for _ in self.ssa.cfg.blocks]
        below: list[list[int]] = [[] for _ in found]
        for block, deciding in enumerate(self.dominance.control_dependences):
            for above in deciding:
                below[above].append(block)
        for level in sorted(UniformityLevel, reverse=True):
            waiting = [block for block, own in self.branches.items() if own == level]
            source = {block: block for block in waiting}
            for above in waiting:
                for block in below[above]:
                    if found[block][0] < level:
                        found[block] = (level, source[above])
                        source.setdefault(block, source[above])
                        waiting.append(block)
        return tuple(found)


class _Link(NamedTuple):
    """A reason, and the register that it explains; "" if it explains none."""

    subject: str
    reason: Reason


def _without_circles(links: Iterable[_Link]) -> tuple[Reason, ...]:
    """The reasons; of several for one register the last, as a register with several values may depend on
    itself.
    """
    found: list[_Link] = []
    places: dict[str, int] = {}
    for link in links:
        again = places.get(link.subject, len(found))
        for circle in found[again:]:
            del places[circle.subject]
        del found[again:]
        places[link.subject] = again
        found.append(link)
    return tuple(one.reason for one in found)


@incremental_fact
def uniformity(function: Function, earlier: Previous[Uniformity] | None) -> Uniformity:
    """The uniformity of the values and branches of `function`."""
    form, dependence = ssa_form(function), sync_dependence(function)
    transfers = TransferFunctions(function, form)
    before = None
    if earlier is not None and earlier.value.transfers.context == transfers.context:
        before = earlier.value.ssa, earlier.value.solution
    is_available = form.is_available and not dependence.is_too_complex
    solution = solve(form, transfers, dependence, before)
    return Uniformity(form, transfers, dominance(function), solution, is_available=is_available)


_LEVELS: Final = tuple(UniformityLevel)
_GRID: Final = int(UniformityLevel.GRID)
_WARP: Final = int(UniformityLevel.WARP)
