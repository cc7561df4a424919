"""The special registers (PTX ISA, "Special Registers"): what each holds, since when and where."""

from __future__ import annotations

from functools import cache, lru_cache

from ptx_lsp.isa.target import Requirement, parse_requirement
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

_NUMBER = lazy_pattern(r"\[(\d).*?\]|\(.*\)")


class SpecialRegister(NamedTuple):
    """One special register. `vector` counts its elements: `%tid.x` is one of 4. `reads` are the types
    that `mov` can read it in, besides the signed and untyped ones of the same sizes; its own comes first.
    """

    name: str
    reads: tuple[str, ...]
    vector: int
    requirement: Requirement
    summary: str

    @property
    def type(self) -> str:
        """Its own type."""
        return self.reads[0]

    @property
    def example(self) -> str:
        """An instruction that reads it, of those with numbers the first."""
        return self.example_of(_NUMBER.sub(lambda found: found[1] or "0", self.name))

    def example_of(self, name: str) -> str:
        """The special register of one of its names."""
        register = {".pred": "%p1", ".u64": "%rd1"}.get(self.type, "%r1")
        return f"mov{self.type} {register}, {name}{'.x' if self.vector > 1 else ''};"


_TABLE = """
%tid                        .v4 .u32|.u16      1.0 10  The thread's index in its block.
%ntid                       .v4 .u32|.u16      1.0 10  The number of threads of a block, in each dimension.
%laneid                         .u32           1.3 10  The thread's lane in its warp, from 0 to WARP_SZ - 1.
%warpid                         .u32           1.3 10  The warp's number in its block; it may change.
%nwarpid                        .u32           2.0 20  The number of warp numbers on a multiprocessor.
%ctaid                      .v4 .u32|.u16      1.0 10  The block's index in the grid.
%nctaid                     .v4 .u32|.u16      1.0 10  The number of blocks of the grid, in each dimension.
%smid                           .u32           1.3 10  The number of the multiprocessor; it may change.
%nsmid                          .u32           2.0 20  The number of multiprocessor numbers, used or not.
%gridid                         .u64|.u32|.u16 1.0 10  The number of the grid that the thread belongs to.
%is_explicit_cluster            .pred          7.8 90  Whether the launch asked for clusters by itself.
%clusterid                  .v4 .u32           7.8 90  The cluster's index in the grid.
%nclusterid                 .v4 .u32           7.8 90  The number of clusters of the grid, in each dimension.
%cluster_ctaid              .v4 .u32           7.8 90  The block's index in its cluster.
%cluster_nctaid             .v4 .u32           7.8 90  The number of blocks of a cluster, in each dimension.
%cluster_ctarank                .u32           7.8 90  The block's rank in its cluster, over all dimensions.
%cluster_nctarank               .u32           7.8 90  The number of blocks of a cluster.
%lanemask_eq                    .u32           2.0 20  A mask with the bit of the thread's lane set.
%lanemask_le                    .u32           2.0 20  A mask of the lanes up to the thread's, with it.
%lanemask_lt                    .u32           2.0 20  A mask of the lanes below the thread's.
%lanemask_ge                    .u32           2.0 20  A mask of the lanes from the thread's on, with it.
%lanemask_gt                    .u32           2.0 20  A mask of the lanes above the thread's.
%clock                          .u32           1.0 10  The low half of the counter of cycles.
%clock_hi                       .u32           5.0 20  The high half of the 64-bit counter of cycles.
%clock64                        .u64           2.0 20  A counter of cycles.
%pm[0-3]                        .u32           1.3 10  A performance counter, whose meaning is the driver's.
%pm[4-7]                        .u32           3.0 20  A performance counter, whose meaning is the driver's.
%pm[0-7]_64                     .u64           4.0 50  A 64-bit performance counter.
%envreg([12]?[0-9]|3[01])       .b32           1.0 10  A read-only register that the driver fills.
%globaltimer                    .u64           3.1 30  A global timer in nanoseconds.
%globaltimer_lo                 .u32           3.1 30  The low half of the global timer.
%globaltimer_hi                 .u32           3.1 30  The high half of the global timer.
%reserved_smem_offset_begin     .b32           7.6 80  Where the shared memory reserved by the system begins.
%reserved_smem_offset_end       .b32           7.6 80  Where the shared memory reserved by the system ends.
%reserved_smem_offset_cap       .b32           7.6 80  The size of the reserved shared memory, in bytes.
%reserved_smem_offset_[01]      .b32           7.6 80  An offset in the reserved shared memory.
%total_smem_size                .u32           4.1 20  The shared memory of a block, in bytes.
%aggr_smem_size                 .u32           8.1 90  The same, and what the system reserves of it.
%dynamic_smem_size              .u32           4.1 20  The shared memory that the launch asked for, in bytes.
%current_graph_exec             .u64           8.0 50  The handle of the graph that runs the grid, or 0.
"""


def find(name: str) -> SpecialRegister | None:
    """The special register called `name`, with its `%`; None where PTX has none of that name."""
    return _find(name) if name.startswith("%") else None


@cache
def rows() -> tuple[tuple[str, SpecialRegister], ...]:
    """Every row: a pattern for the names, and the register that it describes."""
    return tuple([(row.name, row) for row in map(_row, _TABLE.strip().splitlines())])


def _row(line: str) -> SpecialRegister:
    name, types, left = line.split(maxsplit=2)
    vector = 1
    if types.startswith(".v"):
        vector = int(types[2:])
        types, left = left.split(maxsplit=1)
    since, least, text = left.split(maxsplit=2)
    return SpecialRegister(name, tuple(types.split("|")), vector, _requirement(since, least), text)


@lru_cache(maxsize=1 << 10)  # also names that are none
def _find(name: str) -> SpecialRegister | None:
    found = _rows_by_name().get(name)
    if found is not None:
        return found
    for pattern, row in _families():
        if pattern.fullmatch(name):
            return row._replace(name=name)
    return None


@cache
def _rows_by_name() -> dict[str, SpecialRegister]:
    return {name: row for name, row in rows() if "[" not in name}


@cache
def _families() -> tuple[tuple[re.Pattern[str], SpecialRegister], ...]:
    """The rows that describe several registers, with the pattern of their names."""
    return tuple((lazy_pattern(pattern), row) for pattern, row in rows() if "[" in pattern)


def _requirement(version: str, least_target: str) -> Requirement:
    return parse_requirement(version, int(least_target))
