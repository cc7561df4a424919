"""The rule `uncoalesced-access`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.divergence.divergent_control import divergent_control
from ptx_lsp.analyses.divergence.lane_values import lane_values
from ptx_lsp.analyses.divergence.memory_access import (
    LINE,
    SECTOR,
    WarpAccess,
    accesses_by_lane,
    bytes_of,
    may_access_by_lane,
    sectors_of,
)
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.divergence import MAY_KNOW_LANES
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes


@function_rule("uncoalesced-access", code="P311", wake=opcodes("ld", "st", "ldu") & MAY_KNOW_LANES)
def uncoalesced_access(function: Function) -> Iterator[Finding]:
    """An access to global memory that touches many more sectors than necessary.

    ## What it does
    Reports `ld.global` and `st.global` whose addresses differ between lanes by known amounts, if a full
    warp touches at least twice as many sectors (of 32 bytes) as its data requires and no access at the
    same address, up to a constant, uses the rest of those sectors. The severity is *information* from a
    factor of four, otherwise *hint*. Similar accesses in one function are reported once. Accesses that
    only some lanes are known to execute are not checked.

    If such accesses use their sectors together, as the copies of an unrolled loop over the rows of a matrix
    do, they are reported as *hint*, and only if the addresses of lanes are 128 bytes or more apart: a warp
    then needs at least 4 KB of the L1 cache until the last of them.

    The block size is that of `.reqntid`, of the launch comment, of `--threads`, or of `.maxntid`.

    ## Why it matters
    Memory is transferred in sectors. The unused parts of sectors waste bandwidth.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 4 in, .param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<3>;
        .reg .b64 %d<6>;
        ld.param.u64 %d0, [in];
        ld.param.u64 %d1, [out];
        mov.u32 %r0, %tid.x;
        mul.wide.u32 %d2, %r0, 128;
        add.s64 %d3, %d0, %d2;
        ld.global.b32 %r1, [%d3];
        mul.wide.u32 %d4, %r0, 4;
        add.s64 %d5, %d1, %d4;
        st.global.b32 [%d5], %r1;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 4 in, .param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<3>;
        .reg .b64 %d<6>;
        ld.param.u64 %d0, [in];
        ld.param.u64 %d1, [out];
        mov.u32 %r0, %tid.x;
        mul.wide.u32 %d2, %r0, 4;
        add.s64 %d3, %d0, %d2;
        ld.global.b32 %r1, [%d3];
        mul.wide.u32 %d4, %r0, 4;
        add.s64 %d5, %d1, %d4;
        st.global.b32 [%d5], %r1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: change the data layout, or read the data through shared memory.
    """
    if not may_access_by_lane(function) or not is_well_formed(function):
        return
    flow = instructions(function)
    groups: dict[int, list[WarpAccess]] = {}
    for access in accesses_by_lane(function):
        if access.space == "global":
            groups.setdefault(_root(function, access.base), []).append(access)
    alike: dict[tuple[str, int, int, int | None, bool], list[WarpAccess]] = {}
    for accesses in groups.values():
        wasteful = [one for one in accesses if _is_wasteful(one)]
        if not wasteful or not divergent_control(function).is_full_warp(wasteful[0].number):
            continue
        together = _use_all(accesses)
        for one in wasteful:
            if not together or abs(one.stride or 0) >= LINE:
                kind = (flow.info(one.number).opcode, one.size, one.sectors or 0, one.stride, together)
                alike.setdefault(kind, []).append(one)
    for (*_, together), (first, *others) in alike.items():
        more = f" ({len(others)} more like this)" if others else ""
        apart = f"{abs(first.stride)} bytes apart" if first.stride else "scattered"
        message = (
            f"a warp touches {first.sectors} sectors, but its data would fit in "
            f"{first.least_sectors}: the addresses of the lanes are {apart}{more}"
        )
        if together:
            message += "; the accesses of each lane use its sectors only together"
        is_bad = not together and (first.sectors or 0) >= 4 * first.least_sectors
        place = function.place(flow.info(first.number).node.opcode)
        yield Finding(place, message, severity="info" if is_bad else "hint")


def _root(function: Function, value: int) -> int:
    """The value that constants have been added to."""
    values = lane_values(function).uniformity.ssa
    while value >= 0 and values.definitions[value] >= 0:
        step = values.instructions.info(values.definitions[value])
        reads = values.by_instruction[step.number].uses
        is_constant = step.opcode == "add" and literal(step.node.operands[-1]) is not None
        if not is_constant or len(reads) != 1 or step.is_guarded:
            break
        value = reads[0]
    return value


def _is_wasteful(access: WarpAccess) -> bool:
    return (access.sectors or 0) >= 2 * access.least_sectors


def _use_all(accesses: list[WarpAccess]) -> bool:
    """Whether these accesses together want most of the sectors that they touch."""
    wanted: set[int] = set()
    touched: set[int] = set()
    for access in accesses:
        offsets = access.lanes.offsets if access.lanes is not None else ()
        touched |= sectors_of(offsets, access.size)
        wanted |= bytes_of(offsets, access.size)
    return 2 * len(wanted) > SECTOR * len(touched)
