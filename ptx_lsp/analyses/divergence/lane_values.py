"""An abstract domain for values that are affine in the lane: a uniform base plus a constant offset per lane.

1. A value is `uniform base + offset of the lane`. The base is a multiple of `alignment`. If `alignment` is 0,
   there is no base and the offsets are the values themselves.
2. Lanes are numbered along x, then y, then z. The block size is that of `.reqntid`, else that of the launches
   (`Function.launch_block`), else that of `.maxntid`. If none is given, rows are assumed to be whole warps:
   `%tid.x` is a multiple of 32 and the lane, `%tid.y` and `%tid.z` are uniform.
3. Additions, multiplications by constants, shifts, masks and bitwise operations on bits below the alignment
   preserve that form, and so do conversions between integers. Arithmetic is assumed not to wrap around.
4. A phi has the offsets of its inputs if all agree up to a uniform difference and it does not depend on the
   path that a thread took. Nothing is known of a function that `uniformity.py` does not analyse.
5. A value that is uniform in each warp (`uniformity.py`) has equal offsets; so has one that depends only on
   values with equal offsets, such as a load from `[tid.x / 32]`. The offsets of other values are unknown.
   They are `data` if they depend on a loaded value that is not uniform.
6. Where threads may read a value from different iterations of a loop (temporal divergence), it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptx_lsp.analyses.dataflow.ssa import NONE
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.lane_arithmetic import LaneOffsets
from ptx_lsp.analyses.divergence.lane_evaluation import evaluate
from ptx_lsp.analyses.divergence.lane_sources import LaneSources
from ptx_lsp.analyses.divergence.uniformity import Uniformity, uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.symbols import Register
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final


class LaneValues:
    """The lane offsets of the values of a function, evaluated on demand."""

    __slots__ = ("_data", "_inputs", "_known", "sources", "uniformity")

    def __init__(self, uniformity: Uniformity, sources: LaneSources) -> None:
        self.uniformity: Final = uniformity
        self.sources: Final = sources
        self._known: Final[dict[int, LaneOffsets | None]] = {NONE: None}
        self._inputs: Final[dict[int, tuple[int, ...]]] = {}
        """The values that each known value was evaluated from."""
        self._data: frozenset[int] | None = None

    @property
    def evaluated(self) -> frozenset[int]:
        """The values that have been asked for, and those that they depend on."""
        return frozenset(self._known)

    def value_at(self, value: int, block: int) -> LaneOffsets | None:
        """The lane offsets of a value where `block` reads it (6); None if unknown."""
        return None if self.uniformity.escapes(value, block) else self.value(value)

    def value(self, value: int) -> LaneOffsets | None:
        """The lane offsets of a value where it is defined; None if unknown."""
        if not self.uniformity.is_available:
            return None
        if value not in self._known:
            self.evaluate([value])
        return self._known[value]

    def evaluate(self, values: list[int]) -> None:
        """Evaluates several values, which costs less than one by one."""
        known = self._known
        missing = [value for value in values if value not in known]
        if missing:
            found, inputs = evaluate(missing, self.uniformity, self.sources, known)
            known.update(found)
            self._inputs.update(inputs)

    def take_over(self, before: LaneValues) -> None:
        """Takes the values of the previous revision over, except those that depend on an edit."""
        if not self._is_comparable(before):
            return
        inputs, known = before._inputs.copy(), before._known.copy()
        changed = self._changed(before, inputs)
        count = -1
        while count != len(changed):  # once more if a phi reads a changed value along a back edge
            count = len(changed)
            changed.update([value for value, own in inputs.items() if not changed.isdisjoint(own)])
        for value, own in inputs.items():
            if value not in changed:
                self._known[value] = known[value]
                self._inputs[value] = own

    def _is_comparable(self, before: LaneValues) -> bool:
        """Whether only the instructions of blocks differ, if anything does."""
        mine, others = self.sources, before.sources
        return (
            self.uniformity.ssa.cfg.graph is before.uniformity.ssa.cfg.graph
            and self.uniformity.solution.temporal_divergence == before.uniformity.solution.temporal_divergence
            and self.uniformity.transfers.context == before.uniformity.transfers.context
            and mine.block_size == others.block_size
            and mine.has_known_lane_order == others.has_known_lane_order
            and mine.declarations == others.declarations
            and self.uniformity.ssa.instructions.count == before.uniformity.ssa.instructions.count
        )

    def _changed(self, before: LaneValues, values: Iterable[int]) -> set[int]:
        """The values among `values` that are not defined as before."""
        mine, others = self.uniformity, before.uniformity
        form, old_form, levels, old_levels = mine.ssa, others.ssa, mine.levels, others.levels
        blocks = [one is other for one, other in zip(form.blocks, old_form.blocks, strict=True)]
        definitions, block_of = form.definitions, form.cfg.block_of
        phis, old_phis = form.phis, old_form.phis
        first, limit = form.instructions.count, form.limit
        found: set[int] = set()
        for value in values:
            if value < first:
                continue
            if value >= limit or levels[value] != old_levels[value]:
                found.add(value)
                continue
            join = phis.get(value)
            if join is None:
                number = definitions[value]
                if number < 0 or not blocks[block_of[number]]:
                    found.add(value)
            elif (
                mine.depends_on_path(value) != others.depends_on_path(value) or join != old_phis.get(value)
            ):
                found.add(value)
        return found

    def operand(self, step: InstructionInfo, operand: nodes.Operand) -> LaneOffsets | None:
        """The lane offsets of an operand; None if unknown."""
        symbol = self.sources.function.resolve(operand) if isinstance(operand, nodes.Name) else None
        if not isinstance(symbol, Register):
            return self.sources.operand(operand)
        form = self.uniformity.ssa
        index = form.instructions.index_of(symbol)
        if index not in step.uses:
            return None
        value = form.by_instruction[step.number].uses[step.uses.index(index)]
        return self.value_at(value, form.cfg.block_of[step.number])

    @property
    def data(self) -> frozenset[int]:
        """The values that are data (5)."""
        if self._data is None:
            self._data = self._found_data()
        return self._data

    def _found_data(self) -> frozenset[int]:
        """Marks the values that depend on a loaded value, along their use-def chains."""
        form, levels = self.uniformity.ssa, self.uniformity.levels
        of_all = shapes(self.sources.function)
        found: set[int] = set()
        for block in form.cfg.reverse_postorder:
            for join in form.phis_of[block]:
                if not found.isdisjoint(join.inputs) and self.value(join.value) is None:
                    found.add(join.value)
            for number in form.cfg.blocks[block].instructions:
                values = form.by_instruction[number]
                if of_all[number].opcode in _LOADING or not found.isdisjoint(values.uses):
                    found.update(
                        [
                            value
                            for value in values.defs
                            if levels[value] >= UniformityLevel.UNKNOWN and self.value(value) is None
                        ]
                    )
        return frozenset(found)


@incremental_fact
def lane_values(function: Function, earlier: Previous[LaneValues] | None) -> LaneValues:
    """The lane offsets of the values of `function`."""
    return _revision(LaneSources(function, is_first_warp=False), earlier)


@incremental_fact
def first_warp_values(function: Function, earlier: Previous[LaneValues] | None) -> LaneValues:
    """The lane offsets in the first warp of each block, where `%tid.x` is the lane itself."""
    return _revision(LaneSources(function, is_first_warp=True), earlier)


def _revision(sources: LaneSources, earlier: Previous[LaneValues] | None) -> LaneValues:
    found = LaneValues(uniformity(sources.function), sources)
    if earlier is not None:
        found.take_over(earlier.value)
    return found


_LOADING: Final = frozenset({"ld", "ldu", "atom", "tex", "tld4", "suld", "shfl"})
