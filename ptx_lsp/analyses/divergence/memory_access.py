"""Memory access patterns of the lanes of a warp, estimated for a full warp.

1. An access is a `ld`, `st`, `ldu`, `atom`, `red` or `cp.async` at an address of `.global`, `.shared`,
   `.const`, `.local` or a generic one. The lanes' addresses are those of `lane_values.py`, with the same
   assumptions. The uniform part is assumed to be a multiple of 128 bytes.
2. All lanes at one address: *broadcast*. Every accessed sector (32 bytes), except possibly the first, is
   completely used: *coalesced*. Otherwise the access is *strided* if the distance between consecutive lanes
   is constant, else *scattered*. It is also scattered if the address depends on loaded data, and *unknown*
   otherwise. The `.local` memory of lanes is interleaved, so an access at one address is coalesced.
3. Shared memory has 32 banks of 4 bytes. Lanes of one group (the warp, or its halves for 8 bytes, or its
   quarters for 16) that access different words of one bank are served sequentially. The degree is the number
   of words in the busiest bank of a group; 1 means no conflict.
4. Accesses of one block with the same opcode, base register and base value, at consecutive offsets, could be
   one vector access. No other memory access, barrier or call may be between them, and the addresses of loads
   must not change in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.lane_arithmetic import UNIFORM, WARP, LaneOffsets, shifted
from ptx_lsp.analyses.divergence.lane_sources import LaneSources, alignment_of, may_differ_by_lane
from ptx_lsp.analyses.divergence.lane_values import LaneValues, lane_values
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.facts import Previous, fact, incremental_fact
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.body import Body
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.wakes import InstructionWake, is_awake, waking
from ptx_lsp.model.symbols import Register, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final, TypeAlias

Pattern: TypeAlias = Literal["coalesced", "strided", "broadcast", "scattered", "unknown"]

_WARP: Final = int(UniformityLevel.WARP)

SECTOR = 32
"""Bytes per read of global memory."""

LINE = 128
"""Bytes per line of the L1 cache."""

BANKS = 32
BANK_BYTES = 4
"""Bytes per word of a bank of shared memory."""


class WarpAccess(NamedTuple):
    """One address of one instruction, as the lanes of a warp access it.

    `size` is in bytes per lane. `space` has no dot and is empty for a generic address. `lanes` are the
    addresses, if known.
    """

    number: int
    space: str
    size: int
    base: int
    """The value of the register in the address; -1 if it has none."""
    offset: int
    lanes: LaneOffsets | None
    is_data: bool
    """Whether the address depends on loaded data in a way that is not known."""

    @property
    def pattern(self) -> Pattern:
        addresses, size = self.lanes, self.size
        if addresses is None:
            return "scattered" if self.is_data else "unknown"
        if addresses.is_uniform:
            return "coalesced" if self.space == "local" else "broadcast"
        touched = len(sectors_of(addresses.offsets, size))
        used = len(bytes_of(addresses.offsets, size))
        first = min(addresses.offsets) % SECTOR
        if touched == -(-(first + used) // SECTOR):
            return "coalesced"
        return "strided" if addresses.stride is not None else "scattered"

    @property
    def stride(self) -> int | None:
        """Bytes from each lane to the next; None if it varies."""
        return self.lanes.stride if self.lanes else None

    @property
    def sectors(self) -> int | None:
        """The sectors that one execution accesses; None if unknown."""
        lanes = self.lanes
        return _sector_count(lanes.spread, lanes.first % SECTOR, self.size) if lanes else None

    @property
    def least_sectors(self) -> int:
        """The number of sectors if the lanes' data were contiguous."""
        return -(-WARP * self.size // SECTOR)

    @property
    def bank_conflict(self) -> int | None:
        """The degree (3) of an access to shared memory; None if it is unknown or the space is different."""
        if self.lanes is None or self.space != "shared":
            return None
        return _bank_conflict(self.lanes.spread, self.lanes.first % BANK_BYTES, self.size)


class Neighbours(NamedTuple):
    """Accesses that could be one access of `size` bytes, in the order of their addresses. `is_aligned`: the
    first address is known to be a multiple of `size`.
    """

    accesses: tuple[WarpAccess, ...]
    size: int
    is_aligned: bool


class MemoryAccess:
    """The accesses of a function, in order."""

    __slots__ = ("accesses", "neighbours")

    def __init__(
        self,
        accesses: tuple[WarpAccess, ...],
        neighbours: tuple[Neighbours, ...],
    ) -> None:
        self.accesses: Final = accesses
        self.neighbours: Final = neighbours

    def of_instruction(self, number: int) -> tuple[WarpAccess, ...]:
        """The accesses of instruction `number`."""
        return tuple(access for access in self.accesses if access.number == number)


@fact
def memory_access(function: Function) -> MemoryAccess:
    """The memory accesses of `function` with their costs."""
    known = lane_values(function)
    steps = known.uniformity.ssa.instructions.instructions
    graph = known.uniformity.ssa.cfg
    accesses: list[WarpAccess] = []
    neighbours: list[Neighbours] = []
    for block in graph.blocks:
        if block.number in graph.reached:
            inside = steps[block.first : block.end]
            found = [
                access._replace(is_data=True)
                if access.lanes is None and access.base in known.data
                else access
                for step in inside
                for access in _accesses(function, known, step)
            ]
            accesses.extend(found)
            neighbours.extend(_neighbours(inside, found))
    return MemoryAccess(tuple(accesses), tuple(neighbours))


def may_access_by_lane(function: Function) -> bool:
    """Whether `accesses_by_lane` may have anything. This costs next to nothing."""
    return is_awake(function, _plain_accesses) and may_differ_by_lane(function)


def accesses_by_lane(function: Function) -> tuple[WarpAccess, ...]:
    """The `ld`, `ldu` and `st` in global and shared memory whose lanes are known to access different
    addresses; none if the lanes of full warps are not known.
    """
    if not may_access_by_lane(function) or not LaneSources(function, is_first_warp=False).has_full_warps:
        return ()
    return _lane_accesses(function).accesses


class _LaneAccesses:
    """The accesses, and for each its address without the offset, by the number of the instruction."""

    __slots__ = ("accesses", "addresses")

    def __init__(
        self, accesses: tuple[WarpAccess, ...], addresses: dict[int, tuple[LaneOffsets, WarpAccess]]
    ) -> None:
        self.accesses: Final = accesses
        self.addresses: Final = addresses


@incremental_fact
def _lane_accesses(function: Function, earlier: Previous[_LaneAccesses] | None) -> _LaneAccesses:
    known, body = lane_values(function), function.body
    uniformity = known.uniformity
    values, levels, block_of = uniformity.ssa.by_instruction, uniformity.levels, uniformity.ssa.cfg.block_of
    escaping = uniformity.solution.temporal_divergence
    based: list[tuple[int, int]] = []
    for number in waking(function, _plain_accesses):
        uses = values[number].uses
        if uses and uses[0] >= 0 and levels[uses[0]] > _WARP:
            based.append((number, uses[0]))
    known.evaluate([base for _, base in based])
    before: dict[int, tuple[LaneOffsets, WarpAccess]] = {}
    first = end = growth = 0
    if earlier is not None:
        before, (first, _, end), growth = earlier.value.addresses, earlier.change, earlier.change.growth
    found: list[WarpAccess] = []
    addresses: dict[int, tuple[LaneOffsets, WarpAccess]] = {}
    for number, base in based:
        lanes = known.value_at(base, block_of[number]) if base in escaping else known.value(base)
        if lanes is None or lanes.is_uniform:
            continue
        old = None
        if number < first or number >= end:
            old = before.get(number if number < first else number - growth)
        if old is not None and old[0] is lanes and old[1].base == base:
            access: WarpAccess | None = old[1]
            if old[1].number != number:
                access = old[1]._replace(number=number)
        else:
            access = _access_at_register(body, number, base, lanes)
        if access is not None:
            found.append(access)
            addresses[number] = (lanes, access)
    return _LaneAccesses(tuple(found), addresses)


def _access_at_register(body: Body, number: int, base: int, lanes: LaneOffsets) -> WarpAccess | None:
    """The access of an instruction at the first register that it reads."""
    node = body.instructions[number]
    kind = _access_kind(node.opcode.text)
    if kind is None:
        return None
    for operand in node.operands:
        if type(operand) is nodes.Address:
            size, (space, *_) = kind
            address, offset = _base_and_offset(operand.items[0])
            if type(address) is nodes.Name and address.start in body.symbols:
                return WarpAccess(number, space, size, base, offset, shifted(lanes, offset), is_data=False)
    return None


def _is_plain_access(shape: Shape) -> bool:
    """Whether it is an access at a register, which is then the first register that it reads."""
    kind = _access_kind(shape.spelling)
    if kind is None or kind[1][0] not in ("global", "shared"):
        return False
    bases = [one.parts[0].kind for one in shape.arguments if one.kind == "address" and one.parts]
    return bases == ["register"]


_plain_accesses: Final = InstructionWake(opcodes=("ld", "ldu", "st"), where=_is_plain_access)


def _accesses(function: Function, known: LaneValues, step: InstructionInfo) -> list[WarpAccess]:
    kind = _access_kind(step.spelling)
    if kind is None:
        return []
    size, spaces = kind
    addresses = [one for one in step.node.operands if isinstance(one, nodes.Address)]
    if not size and step.opcode == "cp" and len(step.node.operands) > 2:
        size = literal(step.node.operands[2]) or 0
    if not size:
        return []
    return [
        _access(function, known, step, address, space, size)
        for address, space in zip(addresses, spaces, strict=False)
        if address.items
    ]


@lru_cache(maxsize=2048)
def _access_kind(spelling: str) -> tuple[int, tuple[str, ...]] | None:
    """The bytes per lane (0: an operand gives them) and the spaces of the addresses; None if there is no
    access.
    """
    opcode, *modifiers = spelling.split(".")
    spaces = tuple(space for one in modifiers if (space := one.partition("::")[0]) in _SPACES)
    if opcode == "cp":
        is_plain = modifiers[:1] == ["async"] and modifiers[1:2] in (["ca"], ["cg"])
        return (0, ("shared", "global")) if is_plain else None
    if opcode not in ("ld", "ldu", "st", "atom", "red") or "param" in spaces or "async" in modifiers:
        return None
    type = TYPES.get(f".{modifiers[-1]}") if modifiers else None
    if type is None or not type.bytes:
        return None
    count = next((int(one[1:]) for one in modifiers if one in ("v2", "v4", "v8")), 1)
    return type.bytes * count, spaces[:1] or ("",)


_SPACES = frozenset({"global", "shared", "const", "local", "param"})


def _access(
    function: Function,
    known: LaneValues,
    step: InstructionInfo,
    operand: nodes.Address,
    space: str,
    size: int,
) -> WarpAccess:
    base = -1
    where: LaneOffsets | None = None
    address, offset = _base_and_offset(operand.items[0])
    match function.resolve(address) if isinstance(address, nodes.Name) else None:
        case Register() as symbol:
            index = known.uniformity.ssa.instructions.index_of(symbol)
            if index in step.uses:
                base = known.uniformity.ssa.by_instruction[step.number].uses[step.uses.index(index)]
                where = known.value_at(base, known.uniformity.ssa.cfg.block_of[step.number])
        case Variable() as symbol:
            where = UNIFORM._replace(alignment=alignment_of(symbol))
        case _:
            pass
    if where is not None:
        where = shifted(where, offset)
    return WarpAccess(step.number, space, size, base, offset, where, is_data=False)


def _base_and_offset(address: nodes.Expression) -> tuple[nodes.Expression, int]:
    """The parts of `a+4` or `a-4`; the offset of other expressions is 0."""
    if isinstance(address, nodes.Binary) and address.operator in ("+", "-"):
        distance = literal(address.right) or 0
        return address.left, distance if address.operator == "+" else -distance
    return address, 0


@lru_cache(maxsize=4096)
def sectors_of(offsets: tuple[int, ...], size: int) -> frozenset[int]:
    """The indices of the sectors that accesses of `size` bytes at these offsets touch."""
    return frozenset(
        sector for one in offsets for sector in range(one // SECTOR, (one + size - 1) // SECTOR + 1)
    )


@lru_cache(maxsize=4096)
def bytes_of(offsets: tuple[int, ...], size: int) -> frozenset[int]:
    """The bytes that these accesses touch."""
    return frozenset(byte for one in offsets for byte in range(one, one + size))


@lru_cache(maxsize=4096)
def _sector_count(spread: tuple[int, ...], first: int, size: int) -> int:
    """The number of sectors; it depends only on where in its sector the `first` lane is."""
    return len(sectors_of(tuple([first + one for one in spread]), size))


@lru_cache(maxsize=4096)
def _bank_conflict(spread: tuple[int, ...], within_word: int, size: int) -> int:
    """The degree; it depends only on where in its word the first lane is."""
    offsets = [within_word + one for one in spread]
    group = WARP if size <= BANK_BYTES else WARP * BANK_BYTES // size
    degree = 1
    for first in range(0, WARP, max(group, 1)):
        wanted: dict[int, set[int]] = {}
        for one in offsets[first : first + group]:
            for word in range(one // BANK_BYTES, (one + size - 1) // BANK_BYTES + 1):
                wanted.setdefault(word % BANKS, set()).add(word)
        degree = max(degree, max(map(len, wanted.values()), default=0))
    return degree


def _neighbours(steps: Sequence[InstructionInfo], found: list[WarpAccess]) -> list[Neighbours]:
    """Runs of accesses of one block that could be one; see 4."""
    by_number = {access.number: access for access in found}
    groups: list[Neighbours] = []
    run: list[WarpAccess] = []
    spelling = ""
    for step in steps:
        access = by_number.get(step.number)
        if access is None:
            if step.opcode in _BETWEEN:
                groups.extend(_vectors(run))
                run = []
            continue
        is_same = run and spelling == step.spelling
        if not is_same or access.base != run[0].base or step.is_guarded:
            groups.extend(_vectors(run))
            run = []
        is_plain = _ORDERED.isdisjoint(step.spelling.split("."))
        if step.opcode in ("ld", "st") and is_plain and access.base >= 0 and not step.is_guarded:
            run.append(access)
            spelling = step.spelling
    groups.extend(_vectors(run))
    return groups


_ORDERED = frozenset({"volatile", "relaxed", "acquire", "release", "mmio"})
_BETWEEN = frozenset({"bar", "barrier", "call", "membar", "fence", "mbarrier", "cp", "multimem", "wmma"})


def _vectors(run: list[WarpAccess]) -> list[Neighbours]:
    """The longest vectors of 16, 8 or 4 bytes that a run can be cut into."""
    found: list[Neighbours] = []
    ordered = sorted(run, key=lambda access: access.offset)
    while len(ordered) > 1:
        count = next((n for n in (4, 2) if _is_vector(ordered[:n], n)), 0)
        if count:
            parts = tuple(ordered[:count])
            size = count * parts[0].size
            where = parts[0].lanes
            found.append(Neighbours(parts, size, where is not None and where.multiple % size == 0))
        del ordered[: count or 1]
    return found


def _is_vector(parts: list[WarpAccess], count: int) -> bool:
    size = parts[0].size
    return (
        len(parts) == count
        and count * size <= 16
        and parts[0].offset % (count * size) == 0
        and all(one.offset == parts[0].offset + i * size for i, one in enumerate(parts))
    )
