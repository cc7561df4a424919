"""The rule `wrong-mask`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ptx_lsp.analyses.divergence.divergent_control import ALL_LANES, divergent_control
from ptx_lsp.analyses.divergence.lane_values import first_warp_values
from ptx_lsp.analyses.divergence.uniformity_transfer import block_size
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.divergence import possibly_divergent, related
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes

_FULL = (-1, 0xFFFFFFFF)
_SYNC = frozenset({"shfl", "vote", "match", "redux", "elect"})


@function_rule("wrong-mask", code="W254", wake=opcodes("bar", "elect", "match", "redux", "shfl", "vote"))
def wrong_mask(function: Function) -> Iterator[Finding]:
    """A lane mask that does not match the lanes that execute the instruction.

    ## What it does
    Reports `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` and `bar.warp.sync` with a
    constant mask that omits a lane that executes the instruction, or includes one that a branch or guard
    excludes. The check covers the first warp of a block, where lanes are known by their thread indices.
    The severity is *information* if a block may have too few threads for the lanes in question (without
    `.reqntid`).

    ## Why it matters
    A thread must not execute such an instruction unless the mask includes its lane, and threads wait for
    all lanes of the mask. Otherwise the behaviour is undefined: wrong values, or a kernel that hangs.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<4>;
        .reg .b64 %d;
        .reg .pred %p;
        ld.param.u64 %d, [out];
        mov.u32 %r0, %tid.x;
        mov.b32 %r1, %r0;
        setp.gt.u32 %p, %r0, 15;
        @%p bra join;
        shfl.sync.bfly.b32 %r1, %r0, 8, 0x1f, 0xffffffff;
    join:
        red.global.add.u32 [%d], %r1;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<4>;
        .reg .b64 %d;
        .reg .pred %p;
        ld.param.u64 %d, [out];
        mov.u32 %r0, %tid.x;
        mov.b32 %r1, %r0;
        setp.gt.u32 %p, %r0, 15;
        @%p bra join;
        shfl.sync.bfly.b32 %r1, %r0, 8, 0x1f, 0xffff;
    join:
        red.global.add.u32 [%d], %r1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: either the mask or the branch may be wrong.
    """
    found = [step for step in _syncs(function) if step.node.operands]  # else no mask
    judged = {step.number for step in possibly_divergent(function, found)}
    found = [
        step
        for step in found
        if step.number in judged or literal(step.node.operands[-1]) not in _FULL
    ]
    if not found or not is_well_formed(function):
        return
    for step in found:
        mask = _mask(function, step)
        if mask is None:
            continue
        lanes = divergent_control(function).lanes_executing(step.number)
        finding = _left_out(function, step, lanes.active - mask) or _absent(
            function, step, mask, lanes.inactive
        )
        if finding is not None:
            yield finding


def _is_sync(spelling: str) -> bool:
    opcode = spelling.partition(".")[0]
    if opcode == "bar":
        return spelling == "bar.warp.sync"
    return opcode in _SYNC and ".sync" in spelling


_syncs = instructions_matching(_is_sync)


def _mask(function: Function, step: InstructionInfo) -> frozenset[int] | None:
    """The lanes that a constant mask names."""
    value = literal(step.node.operands[-1])
    if value is None:
        known = first_warp_values(function).operand(step, step.node.operands[-1])
        value = known.constant if known is not None else None
    return None if value is None else _lanes_of(value)


@lru_cache(maxsize=256)
def _lanes_of(mask: int) -> frozenset[int]:
    return frozenset(lane for lane in ALL_LANES if mask >> lane & 1)


def _left_out(function: Function, step: InstructionInfo, missing: frozenset[int]) -> Finding | None:
    if not missing or not function.is_kernel:  # it may be called by some lanes only
        return None
    size = block_size(function)
    threads = size.x * size.y * size.z
    missing = frozenset(lane for lane in missing if not threads or lane < threads)
    if not missing:
        return None
    place = function.place(step.node.operands[-1])
    is_one, is_sure = len(missing) == 1, bool(threads) or 0 in missing
    verb = ("executes" if is_one else "execute") if is_sure else "may execute"
    message = (
        f"{_lanes(missing)} {verb} this instruction but {'is' if is_one else 'are'} not in the mask"
    )
    return Finding(place, message, severity="warning" if is_sure else "info")


def _absent(
    function: Function, step: InstructionInfo, mask: frozenset[int], off: frozenset[int]
) -> Finding | None:
    absent = off & mask
    if not absent:
        return None
    size = block_size(function)
    threads = size.x * size.y * size.z
    absent = frozenset(lane for lane in absent if not threads or lane < threads)
    if not absent or _meets_another(function, step, mask):
        return None
    place = function.place(step.node.operands[-1])
    verb = "does" if len(absent) == 1 else "do"
    message = f"the mask includes {_lanes(absent)}, which {verb} not execute this instruction"
    parting = next(
        one
        for one in divergent_control(function).divergent_branches(step.number)
        if one.inactive_lanes & absent
    )
    return Finding(place, message, related(function, parting))


def _meets_another(function: Function, step: InstructionInfo, mask: frozenset[int]) -> bool:
    """Whether the absent lanes may meanwhile execute another such instruction with the same mask, which
    counts as well.
    """
    graph, elsewhere = (
        divergent_control(function).cfg,
        divergent_control(function).sibling_blocks(step.number),
    )
    here = graph.block_of[step.number]
    for other in _syncs(function):
        if other.opcode != step.opcode or other is step or not other.node.operands:
            continue
        block = graph.block_of[other.number]
        is_met = block in elsewhere or (block == here and other.is_guarded)
        if is_met and _mask(function, other) in (mask, None):
            return True
    return False


def _lanes(lanes: frozenset[int]) -> str:
    """`lane 3`, `lanes 4 to 7`, `lanes 0, 2, 4 and others`."""
    found = sorted(lanes)
    if len(found) == 1:
        return f"lane {found[0]}"
    if found[-1] - found[0] == len(found) - 1:
        return f"lanes {found[0]} to {found[-1]}"
    listed = ", ".join(map(str, found[:3]))
    return f"lanes {listed} and others" if len(found) > 3 else f"lanes {listed}"
