"""Warp-level instructions: shuffles, votes, matches, reductions, elections."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic import floats
from ptx_lsp.executor.arithmetic.program import Array, Bools, DType, Program
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.machine.control import Collective
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.selector import Choices
from ptx_lsp.isa.types import TYPES, Type
from ptx_lsp.syntax import nodes

Masks = npt.NDArray[np.uint32]
Exchange = Callable[[Choices, Wave, Bools, list[Array]], tuple[Array, ...]]
"""Computes the results from the modifiers, the participating lanes, and the operands."""


class Warp(Collective):
    """An instruction of a warp. `members` computes the mask of the lanes that it waits for, where it has
    one; the lanes that take part are those of it that execute the instruction.
    """

    def __init__(
        self, key: str, exchange: Exchange, choices: Choices, operands: Program, members: Program | None,
        destinations: tuple[int | None, ...], dtypes: dict[int, DType],
    ) -> None:
        self.key = key
        self._exchange = exchange
        self._choices = choices
        self.operands = operands
        self.members = members
        self.destinations = destinations
        self._dtypes = dtypes

    def run(self, wave: Wave, mask: Bools | None) -> None:
        masks, operands = self.masks(wave), self.operands.run(wave.registers)
        active = _taking_part(wave, wave.full_mask(mask), masks)
        self._write(wave, self._results(wave, active, operands, masks), mask)

    def run_with(self, wave: Wave, mask: Bools, others: list[tuple[Collective, Bools]]) -> None:
        parties = [(self, mask)]
        parties += [(other, lanes) for other, lanes in others if isinstance(other, Warp)]
        active = np.zeros(wave.shape, np.bool_)
        operands: list[Array] = []
        masks: Masks = np.zeros(wave.shape, np.uint32)
        for party, lanes in parties:
            own = party.masks(wave)
            active = active | _taking_part(wave, lanes, own)
            masks = masks if own is None else np.where(lanes, own, masks)
            values = party.operands.run(wave.registers)
            operands = [
                np.where(lanes, mine, before)
                for mine, before in zip(values, operands or values, strict=True)
            ]
        results = self._results(wave, active, operands, masks)
        for party, lanes in parties:
            party._write(wave, results, lanes)

    def _results(
        self, wave: Wave, active: Bools, operands: list[Array], masks: Masks | None
    ) -> tuple[Array, ...]:
        """What the lanes get, each from those of its warp that have the same mask."""
        if masks is None or masks.size == 1 or self._exchange not in _COMBINING:
            return self._exchange(self._choices, wave, active, operands)
        if self._exchange is _match:
            return _match(self._choices, wave, active, [*operands, masks])
        masks, left = wave.broadcast(masks), active
        results: tuple[Array, ...] = ()
        while True:
            same = left & (masks == _of_first(wave, masks, left))
            found = self._exchange(self._choices, wave, same, operands)
            if results:
                found = tuple(np.where(same, new, old) for new, old in zip(found, results, strict=True))
            results, left = found, left & ~same
            if not left.any():
                return results

    def incomplete(self, wave: Wave, mask: Bools | None, arrived: Bools | None) -> Bools | None:
        if self.members is None or mask is None:
            return None
        there = mask if arrived is None else arrived
        missing = ballot(np.logical_and(wave.live_mask(), ~there))
        if not missing.any():
            return None
        masks = self.masks(wave)
        assert masks is not None
        waiting = np.logical_and(mask, (masks & of_lanes(wave, missing)) != 0)
        return waiting if waiting.any() else None

    def masks(self, wave: Wave) -> Masks | None:
        """The mask of each lane, or one for all; None where the instruction has none."""
        return None if self.members is None else np.asarray(self.members.run(wave.registers)[0], np.uint32)

    def awaited(self, wave: Wave, mask: Bools) -> Bools:
        """The lanes for which the lanes of a mask wait, themselves included."""
        masks = self.masks(wave)
        if masks is None:
            return mask
        wanted = np.where(mask, masks, np.uint32(0))
        together = np.bitwise_or.reduce(wanted.reshape(wave.shape[0], -1, WARP_SIZE), axis=2, keepdims=True)
        everyone = named(wave, of_lanes(wave, together))
        return np.logical_or(mask, everyone & wave.exists)

    def awaits(self, wave: Wave, lanes: Bools) -> str:
        warps = (self.awaited(wave, lanes) & wave.live_mask() & ~lanes).reshape(-1, WARP_SIZE)
        missing = np.flatnonzero(warps[np.argmax(warps.any(axis=1))]).tolist()
        others = super().awaits(wave, lanes)
        return f"{others} (lanes {ranges(missing)})" if missing else others

    def _write(self, wave: Wave, results: tuple[Array, ...], mask: Bools | None) -> None:
        for number, value in zip(self.destinations, results, strict=False):
            if number is not None:
                wave.write(number, value.astype(self._dtypes[number], copy=False), mask)


def warp(node: nodes.Instruction, match: Match, operands: Operands) -> Warp:
    """`shfl`, `vote`, `match`, `activemask`, `redux.sync`, `elect.sync` or `bar.warp.sync`."""
    choices = match.candidate.choices
    destinations: list[int | None] = []
    read: list[tuple[nodes.Expression, Type]] = []
    members: Program | None = None
    for operand, (place, wanted) in zip(node.operands, match.places, strict=True):
        if wanted.access == "write":
            pair = isinstance(operand, nodes.Pair)
            parts = (operand.left, operand.right) if pair else (operand,)
            destinations += [operands.number(part) for part in parts]
        elif place.name == "membermask":
            members = sources([(operand, TYPES[".u32"])], operands)
        else:
            read.append((operand, _type(wanted.type)))
    exchange = _EXCHANGES[match.entry.opcode]
    return Warp(
        node.opcode.text, exchange, choices, sources(read, operands), members, tuple(destinations),
        operands.frame.dtypes,
    )


OPCODES = frozenset({"shfl", "vote", "match", "activemask", "redux", "elect"})


def _type(name: object) -> Type:
    return TYPES[str(name).partition("|")[0]]


def lane(wave: Wave) -> Masks:
    return np.asarray(wave.threads % np.uint32(WARP_SIZE), np.uint32)


def named(wave: Wave, masks: Masks) -> Bools:
    """Which lanes their masks name."""
    return np.asarray(masks >> lane(wave) & np.uint32(1), np.bool_)


def _taking_part(wave: Wave, lanes: Bools, masks: Masks | None) -> Bools:
    """Those of the lanes that their masks name."""
    return lanes if masks is None else np.logical_and(lanes, named(wave, masks))


def ballot(holds: Bools) -> Masks:
    """For each warp (blocks by warps by 1) the mask of the lanes in which it holds."""
    rows = holds.reshape(holds.shape[0], -1, WARP_SIZE)
    return np.packbits(rows, axis=2, bitorder="little").view(np.uint32)


def of_lanes(wave: Wave, masks: Masks) -> Masks:
    """The masks of warps (`ballot`), given to their lanes."""
    return np.asarray(_spread(wave, masks), np.uint32)


def _of_first(wave: Wave, values: Array, lanes: Bools) -> Array:
    """In all lanes of each warp, the value of the first of `lanes`, or any value if there are none."""
    rows = (wave.shape[0], -1, WARP_SIZE)
    first = np.argmax(lanes.reshape(rows), axis=2, keepdims=True)
    return _spread(wave, np.take_along_axis(values.reshape(rows), first, axis=2))


def _spread(wave: Wave, value: Array) -> Array:
    """A value of each warp, given to its lanes."""
    return np.repeat(value, WARP_SIZE, axis=2).reshape(wave.shape)


def _shuffle(
    choices: Choices, wave: Wave, active: Bools, operands: list[Array]
) -> tuple[Array, ...]:
    value, b, c = operands[0], *(np.asarray(one, np.int64) for one in operands[1:3])
    here = lane(wave).astype(np.int64)
    segment, limit, by = c >> 8 & 31, c & 31, b & 31
    last = here & segment | limit & ~segment
    match choices["mode"]:
        case ".up":
            source = here - by
            inside = source >= last
        case ".down":
            source = here + by
            inside = source <= last
        case ".bfly":
            source = here ^ by
            inside = source <= last
        case _:
            source = here & segment | by & ~segment
            inside = source <= last
    source = np.where(inside, source, here)
    column = wave.threads - lane(wave) + source
    full = wave.broadcast(value)
    if column.shape[0] == 1 and column.shape[1] == wave.shape[1]:
        return full[:, column[0]], inside
    return np.take_along_axis(full, wave.broadcast(column), axis=1), inside


def _vote(
    choices: Choices, wave: Wave, active: Bools, operands: list[Array]
) -> tuple[Array, ...]:
    holds = ballot(np.logical_and(active, np.asarray(operands[0], np.bool_)))
    if ".ballot" in choices.modifiers:
        return (_spread(wave, holds),)
    all_of_them = holds == ballot(active)
    match choices["mode"]:
        case ".all":
            result = all_of_them
        case ".any":
            result = holds != 0
        case _:
            result = all_of_them | (holds == 0)
    return (_spread(wave, result),)


def _active_mask(
    choices: Choices, wave: Wave, active: Bools, operands: list[Array]
) -> tuple[Array, ...]:
    return (_spread(wave, ballot(active)),)


def _match(
    choices: Choices, wave: Wave, active: Bools, operands: list[Array]
) -> tuple[Array, ...]:
    """The operands are the values and, where they are not the same, the masks."""
    fellows = active.reshape(wave.shape[0], -1, 1, WARP_SIZE)
    values, *masks = (wave.broadcast(one).reshape(wave.shape[0], -1, WARP_SIZE) for one in operands)
    for one in masks:
        fellows = fellows & (one[:, :, :, None] == one[:, :, None, :])
    same = fellows & (values[:, :, :, None] == values[:, :, None, :])
    found = _packed(wave, same)
    if ".any" in choices.modifiers:
        return (found,)
    complete = found == _packed(wave, np.broadcast_to(fellows, same.shape))
    return np.where(complete, found, np.uint32(0)), complete


def _packed(wave: Wave, lanes: Bools) -> Masks:
    """The mask of each lane, from its row of lanes."""
    return np.packbits(lanes, axis=3, bitorder="little").view(np.uint32).reshape(wave.shape)


def _reduce(
    choices: Choices, wave: Wave, active: Bools, operands: list[Array]
) -> tuple[Array, ...]:
    rows = (wave.shape[0], -1, WARP_SIZE)
    type = choices["type"] or ".b32"
    if ".f32" in choices.modifiers:
        return (_spread(wave, _extreme(choices, wave, active, operands[0])),)
    dtype = np.dtype(np.int32 if type == ".s32" else np.uint32)
    values = wave.broadcast(operands[0]).view(dtype).reshape(rows)
    function, start = _REDUCTIONS[choices["op"]](dtype)
    result = function.reduce(
        values, axis=2, keepdims=True, where=active.reshape(rows), initial=start, dtype=dtype
    )
    return (_spread(wave, result).view(np.uint32),)


def _extreme(choices: Choices, wave: Wave, active: Bools, bits: Array) -> Array:
    """The least or greatest `.f32` of each warp; a NaN loses, or with .NaN wins."""
    values = np.where(active, wave.broadcast(bits).view(np.float32), np.float32(np.nan))
    if ".abs" in choices.modifiers:
        values = np.abs(values)
    rows = values.reshape(wave.shape[0], -1, WARP_SIZE)
    function = floats.least if choices["op"] == ".min" else floats.greatest
    width = WARP_SIZE
    while width > 1:
        width //= 2
        rows = function(rows[:, :, :width], rows[:, :, width : 2 * width])
    if ".NaN" in choices.modifiers:
        nan = np.logical_and(active, np.isnan(wave.broadcast(bits).view(np.float32)))
        rows = np.where(ballot(nan) != 0, np.float32(np.nan), rows)
    canonical = np.where(np.isnan(rows), np.uint32(0x7FFFFFFF), rows.view(np.uint32))
    return canonical.astype(np.uint32)


def _limit(name: str, dtype: DType) -> int:
    bounds = np.iinfo(np.dtype(np.int32) if dtype.kind == "i" else np.dtype(np.uint32))
    return bounds.max if name == "min" else bounds.min


_REDUCTIONS: dict[str, Callable[[DType], tuple[np.ufunc, int]]] = {
    ".add": lambda dtype: (np.add, 0),
    ".min": lambda dtype: (np.minimum, _limit("min", dtype)),
    ".max": lambda dtype: (np.maximum, _limit("max", dtype)),
    ".and": lambda dtype: (np.bitwise_and, 0xFFFFFFFF),
    ".or": lambda dtype: (np.bitwise_or, 0),
    ".xor": lambda dtype: (np.bitwise_xor, 0),
}


def _nothing(
    choices: Choices, wave: Wave, active: Bools, operands: list[Array]
) -> tuple[Array, ...]:
    """`bar.warp.sync`: all there is to it is to wait."""
    return ()


def _elect(
    choices: Choices, wave: Wave, active: Bools, operands: list[Array]
) -> tuple[Array, ...]:
    first = np.argmax(active.reshape(wave.shape[0], -1, WARP_SIZE), axis=2, keepdims=True)
    leader = _spread(wave, first.astype(np.uint32))
    return leader, np.equal(leader, lane(wave))


_COMBINING = frozenset((_vote, _match, _reduce, _elect))
"""What depends on which lanes take part."""

_EXCHANGES: dict[str, Exchange] = {
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "activemask": _active_mask,
    "redux": _reduce,
    "elect": _elect,
    "bar": _nothing,
}


def ranges(numbers: list[int]) -> str:
    """Numbers in order, in words: `0, 4 to 7`."""
    starts = [one for one in numbers if one - 1 not in numbers]
    ends = [one for one in numbers if one + 1 not in numbers]
    return ", ".join(
        str(start) if start == end else f"{start} to {end}" for start, end in zip(starts, ends, strict=True)
    )
