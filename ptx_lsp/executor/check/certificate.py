"""Certificates: proofs by a run in native code that no check finds anything in a launch.

1. The kernel computes, loads and stores, jumps, exits and waits at `bar.sync 0`; nothing else. On every path
   a register is written before it is read.
2. It runs in native code that notes who uses which cell of memory (`native.tracking`). It ends as suspect
   where something might be a finding: an access to a cell that another thread has used in the same period,
   and of which one writes; a read of shared memory that was never written; an access that is not within the
   variable or buffer of its address; a divisor of 0; threads of a block that do not all meet at one barrier.
3. A run without suspicion has no findings in any order: each thread has read what it would always read. After
   any other, memory is as before, and the launch runs with all checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.bounds import VariableBounds, keeps_origin
from ptx_lsp.executor.check.division import divisor
from ptx_lsp.executor.check.races.memory_order import is_strong
from ptx_lsp.executor.instructions.access import Load, Store
from ptx_lsp.executor.instructions.compute import Compute
from ptx_lsp.executor.instrumentation.usage import Usages
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import (
    Block,
    Jump,
    Leave,
    Nothing,
    Step,
    TableJump,
    successors,
)
from ptx_lsp.executor.machine.locals import Placed
from ptx_lsp.executor.machine.memory import Buffer, Bytes, Memory
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.native.hot import HotKernel
from ptx_lsp.executor.native.points import Place, is_plain_barrier
from ptx_lsp.executor.native.tracking import Checks
from ptx_lsp.executor.scheduling.native_turns import Stops

Words = npt.NDArray[np.int64]
_GRANULE = 4
_POINTER = 8
_HARMLESS = frozenset(("nanosleep", "pmevent", "prefetch", "prefetchu"))


class SuspectError(Exception):
    """A run may have findings."""


@dataclass(frozen=True, eq=False)
class Certifiable:
    """A kernel of sentence 1: what to check in native code, and the buffer that each access to global memory
    must keep within.
    """

    checks: Checks
    origins: Mapping[Place, Placed]


def certifiable(
    blocks: Sequence[Block], usages: Usages, frame: RegisterLayout, spaces: Spaces, bounds: VariableBounds
) -> Certifiable | None:
    """None where that is not known of a kernel."""
    places = {
        (number, at): step for number, block in enumerate(blocks) if block.rank < len(blocks)
        for at, step in enumerate(block.steps)
    }
    steps = list(places.values())
    if not all(_is_simple(step, usages) for step in steps) or not _writes_first(blocks, usages, frame):
        return None
    if spaces.memory.replicas or spaces.memory.allocations is not None:
        return None
    origins = _Origins(steps, usages, spaces, bounds)
    granule, constant = _GRANULE, set[int]()
    ranges: dict[int, tuple[int, int]] = {}
    buffers: dict[Place, Placed] = {}
    divisors: dict[int, tuple[int, int]] = {}
    for place, step in places.items():
        usage, action = usages.of(step), step.action
        found = divisor(usage)
        if found is not None:
            register, bits = found
            if not isinstance(action, Compute) or register.number not in action.program.reads:
                return None  # `rem` of 0 reads no divisor, so native code may not have its value
            divisors[id(step)] = register.number, min(bits, 8 * frame.dtypes[register.number].itemsize)
        if not isinstance(action, Load | Store):
            continue
        if ".nc" in usage.modifiers:
            constant.add(id(step))
        count = len(action.destinations) if isinstance(action, Load) else len(action.values.outputs)
        size = action.element.itemsize * count
        possible = origins.of(step)
        if action.space == ".param":
            if isinstance(action, Load) and action.element.itemsize < _POINTER and any(
                frame.dtypes[one].itemsize == _POINTER for one in action.destinations if one is not None
            ):  # perhaps a short pointer
                return None
            address = action.address.known_value
            if address is None or any(
                one.space == ".param" and not one.start <= address <= one.start + one.size - size
                for one in possible
            ):
                return None
            continue
        granule = min(granule, action.element.itemsize)
        if action.space == ".shared":
            here = [one for one in possible if one.space == ".shared"]
            if any(one.size < size for one in here):
                return None
            if here:
                start = max(one.start for one in here)
                ranges[id(step)] = start, max(start, min(one.start + one.size for one in here))
                if len(here) > 1:
                    return None
            continue
        here = [one for one in possible if one.space == ".global"]
        if len(here) > 1:
            return None
        if here:
            buffers[place] = here[0]
    return Certifiable(Checks(granule, ranges, frozenset(constant), divisors), buffers)


def _is_simple(step: Step, usages: Usages) -> bool:
    """Sentence 1."""
    match step.action:
        case Compute() | Jump() | TableJump() | Leave(kind="ret" | "exit"):
            pass
        case Nothing():
            return step.source is not None and usages.of(step).opcode in _HARMLESS
        case Load(space=space):
            if space not in (".global", ".shared", ".param", ".const"):
                return False
        case Store(space=space):
            if space not in (".global", ".shared"):
                return False
        case _:
            return is_plain_barrier(step)
    usage = usages.of(step)
    if step.source is None:
        return True
    return usage.match is not None and not is_strong(usage) and usage.opcode != "call"


def _writes_first(blocks: Sequence[Block], usages: Usages, frame: RegisterLayout) -> bool:
    """Whether a register is written before it is read on every path."""
    known: list[set[int] | None] = [None] * len(blocks)
    known[0] = set(frame.specials.values())
    waiting = [0]
    while waiting:
        number = waiting.pop()
        written = set(known[number] or ())
        for step in blocks[number].steps:
            usage = usages.of(step)
            if step.guard < 0:
                written.update(one.number for one in usage.writes)
        for target in successors(blocks[number].steps, number + 1):
            if target < len(blocks):
                before = known[target]
                after = written if before is None else before & written
                if after != before:
                    known[target] = set(after)
                    waiting.append(target)
    for block, start in zip(blocks, known, strict=True):
        if start is None:
            continue
        written = set(start)
        for step in block.steps:
            usage = usages.of(step)
            if any(one.number not in written for one in usage.reads) or usage.accumulates is not None:
                return False
            if step.guard < 0:
                written.update(one.number for one in usage.writes)
    return True


class _Origins:
    """The variables and buffers that registers may originate in (`VariableBounds`), wherever they are."""

    def __init__(
        self, steps: Sequence[Step], usages: Usages, spaces: Spaces, bounds: VariableBounds
    ) -> None:
        self._usages = usages
        self._bounds = bounds
        self._found: dict[int, set[int]] = {}
        before = -1
        while (count := sum(map(len, self._found.values()))) != before:
            before = count
            for step in steps:
                usage = usages.of(step)
                origins = {bounds.static_number(step, usage)} if keeps_origin(usage) else set[int]()
                if isinstance(step.action, Load) and step.action.space == ".param":
                    origins |= set(_passed(step.action, spaces, bounds))
                elif keeps_origin(usage):
                    for registers in usage.operands[1:]:
                        for one in registers:
                            origins |= self._found.get(one.number, set())
                for one in usage.writes:
                    self._found.setdefault(one.number, set()).update(origins)

    def of(self, step: Step) -> list[Placed]:
        """Those of the address of an access."""
        usage = self._usages.of(step)
        if usage.variable is not None:
            found = {self._bounds.static_number(step, usage)}
        else:
            found = self._found.get(usage.base.number, set()) if usage.base is not None else set[int]()
        return [self._bounds.placed(number) for number in sorted(found) if number]


def _passed(action: Load, spaces: Spaces, bounds: VariableBounds) -> Iterator[int]:
    """The buffers that a loaded parameter may point into."""
    start = action.address.known_value
    if start is None or action.element.itemsize != _POINTER:
        return
    data = spaces.parameters
    for at in range(start, start + _POINTER * len(action.destinations), _POINTER):
        if at + _POINTER <= data.size:
            yield bounds.pointed_at(int(data[at : at + _POINTER].view(np.uint64)[0]))


class _Uses:
    """The cells of a launch, and the sites of its accesses."""

    def __init__(self, granule: int, written: set[int], memory: Memory) -> None:
        """`written`: the indices of the buffers that the kernel writes."""
        self._granule = granule
        self._cells = {
            one.base: np.zeros(-(-one.data.size // granule), np.uint32)
            for index, one in enumerate(memory.buffers) if index in written
        }
        self.sites: list[Words] = []
        self.is_suspect = False

    def cells(self, buffer: Buffer) -> npt.NDArray[np.uint32] | None:
        return self._cells.get(buffer.base)

    def note(self, sites: Words, *, is_suspect: bool) -> None:
        self.sites.append(sites)
        self.is_suspect |= is_suspect


class Certifying(HotKernel):
    """Native code with checks. Its runs raise SuspectError unless they are certain to have no findings."""

    uses: _Uses

    def run(self, wave: Wave, groups: Mapping[int, Bools | None]) -> Stops:
        found = self.code.run(wave, self.spaces, (), groups, self.uses)
        if self.uses.is_suspect or found.exited is not None:
            raise SuspectError
        return found


class Certificates:
    """Certifies the launches of a prepared kernel."""

    def __init__(self, kernel: Certifying, memory: Memory, blocks: Sequence[Block]) -> None:
        self._kernel = kernel
        self._blocks = blocks
        self._memory = memory
        self._written: set[int] = set()
        """The indices of the buffers that the kernel is known to write."""
        self._saved: dict[int, Bytes] = {}

    @property
    def kernel(self) -> Certifying:
        return self._kernel

    def begin(self, found: Certifiable) -> None:
        """A run begins: what it writes is saved."""
        self._found = found
        for index in self._written:
            data = self._memory.buffers[index].data
            saved = self._saved.get(index)
            if saved is None or saved.size != data.size:
                saved = self._saved[index] = np.empty(data.size, np.uint8)
            saved[:] = data
        self._kernel.uses = _Uses(self._found.checks.granule, self._written, self._memory)

    def is_certain(self) -> bool:
        """Whether each access of the run was within the buffer of its address."""
        source = self._kernel.code.source
        for sites in self._kernel.uses.sites:
            for at, (base, end, *_) in enumerate(sites.tolist()):
                placed = self._found.origins.get(source.site_places[at])
                if end and placed is not None and placed.start != base:
                    return False
        return True

    def undo(self) -> bool:
        """Memory is as before the run; whether another one may be certain, now that it is known what the
        kernel writes.
        """
        for index in self._written:
            self._memory.buffers[index].data[:] = self._saved[index]
        source, before = self._kernel.code.source, len(self._written)
        stores = {
            at for at, (block, step) in source.site_places.items()
            if isinstance(self._blocks[block].steps[step].action, Store)
        }
        indices = {one.base: index for index, one in enumerate(self._memory.buffers)}
        for sites in self._kernel.uses.sites:
            used = {sites[at][0] for at in stores if sites[at][1]}
            self._written |= {indices[int(base)] for base in used}
        return len(self._written) > before
