"""Atomic operations: `atom` and `red`. Lanes with the same address run sequentially, the lowest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.atomic_ops import (
    AtomicOp,
    Sum,
    accumulated,
    array_type,
    atomic_op,
    compare_and_swap,
    exchange,
)
from ptx_lsp.executor.arithmetic.program import UNSIGNED, Array, Bools, Program
from ptx_lsp.executor.instructions.access import (
    active,
    address_of,
    of_lanes,
    place,
    scatter,
    sources,
    type_of,
    writable,
)
from ptx_lsp.executor.machine.address_resolution import ResolvedAddress, Spaces
from ptx_lsp.executor.machine.memory import Space
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import Type
from ptx_lsp.syntax import nodes

Indices: TypeAlias = npt.NDArray[np.int64]
_ROUNDS = 8


class Atomic:
    """`atom` or (without destinations) `red`. Each element of a vector is updated by itself."""

    def __init__(
        self, spaces: Spaces, space: Space, address: Program, operands: Program, type: Type,
        modifiers: frozenset[str], destinations: tuple[int | None, ...], count: int,
    ) -> None:
        """`count` is the number of elements."""
        self._spaces = spaces
        self.space: Space = space
        self.address, self.operands = address, operands
        self._update = atomic_op(modifiers, type)
        self._flushes = type.name == ".f32" and ".add" in modifiers and ".noftz" not in modifiers
        self.dtype = array_type(type)
        self.width = type.width // 8 // self.dtype.itemsize
        self.destinations = destinations
        self.count = count

    def place(self, wave: Wave, lane: int) -> str:
        """The memory that a lane (flat number) changes, and its value, for messages; "" if unknown."""
        if self.address.reads & set(self.destinations):
            return ""
        size = self.dtype.itemsize * self.width
        return place(wave, lane, self._spaces, self.space, self.address, size)

    def run(self, wave: Wave, mask: Bools | None) -> None:
        addresses, lanes = active(wave, self.address, wave.present(mask), whole=True)
        operands = [
            of_lanes(wave, value, lanes).view(self.dtype)
            for value in self.operands.run(wave.registers)
        ]
        size = self.dtype.itemsize * self.width
        found = self._spaces.resolve(
            wave, addresses, self.space, size * self.count, lanes, "update"
        )
        numbers = iter(self.destinations)
        for at in range(self.count):
            step = self.count * self.width
            values = [
                np.stack(operands[first : first + self.width], axis=-1)
                for first in range(at * self.width, len(operands), step)
            ]
            old = np.zeros((*addresses.shape, self.width), self.dtype)
            for reach, part in found:
                here = np.ones(addresses.shape, np.bool_) if part is None else part
                index = self._index(reach, size) + at
                memory = self._memory(reach)
                given = [value[here] for value in values]
                old[here] = _in_turns(memory, index, given, self._of(reach))
            self._write(wave, numbers, old, mask, lanes)

    def operation(self, space: Space) -> AtomicOp | None:
        """The operation on memory of a state space; None where that is not known (a generic address)."""
        if self._flushes and space in ("", ".global"):
            return Sum(flushes=True) if space else None
        return self._update

    def _of(self, reach: ResolvedAddress) -> AtomicOp:
        found = self.operation(reach.space)
        assert found is not None
        return found

    def _index(self, reach: ResolvedAddress, size: int) -> Indices:
        return (reach.offsets >> np.uint64(size.bit_length() - 1)).astype(np.int64).reshape(-1)

    def _memory(self, reach: ResolvedAddress) -> Array:
        flat = writable(reach, self.dtype)
        return flat[: flat.size // self.width * self.width].reshape(-1, self.width)

    def _write(
        self, wave: Wave, numbers: Iterator[int | None], old: Array, mask: Bools | None, lanes: Bools | None
    ) -> None:
        bits = old.view(UNSIGNED[8 * self.dtype.itemsize])
        for part, number in zip(range(self.width), numbers, strict=False):
            if number is None:
                continue
            if lanes is None:
                wave.write(number, bits[..., part], mask)
            else:
                scatter(wave, number, bits[..., part], lanes)


def atomic(node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces) -> Atomic:
    choices = match.candidate.choices
    type = type_of(match)
    returns = match.entry.opcode == "atom"
    rest = node.operands[1:] if returns else node.operands
    space, address = address_of(rest[0], match, operands)
    destinations = operands.numbers(node.operands[0]) if returns else ()
    names = [place.name for place, _ in match.places][len(node.operands) - len(rest) :]
    read = [(operand, type) for operand, name in zip(rest, names, strict=True) if name in "bc"]
    count = int(choices["vec"].removeprefix(".v") or 1)
    return Atomic(
        spaces, space, address, sources(read, operands), type, choices.modifiers, destinations, count
    )


def _in_turns(memory: Array, index: Indices, values: list[Array], update: AtomicOp) -> Array:
    """Updates rows of memory one lane after the other; what each lane found."""
    old = np.zeros((index.size, memory.shape[1]), memory.dtype)
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.ones(ordered.shape, np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(first)
    if update is np.add and memory.dtype.kind in "iu":
        return _added(memory[:, 0], index, values[0][:, 0], order, starts).reshape(-1, 1)
    if update is exchange:
        return _exchanged(memory, index, values[0], order, starts)
    if update is compare_and_swap:
        order = _swapped(memory, index, values, order, starts, old)
        if not order.size:
            return old
        starts = np.flatnonzero(np.diff(index[order], prepend=-1))
        ordered = order
    counts = np.diff(np.append(starts, ordered.size))
    if counts.size and counts.size < counts.max() and memory.shape[1] == 1:
        found = _run(memory[:, 0], index, values[0][:, 0], order, starts, update)
        if found is not None:
            return found.reshape(-1, 1)
    turn = 0
    while starts.size:
        lanes = order[starts + turn]
        at = index[lanes]
        old[lanes] = memory[at]
        memory[at] = update(old[lanes], *(value[lanes] for value in values))
        turn += 1
        left = counts > turn
        starts, counts = starts[left], counts[left]
    return old


def _run(
    memory: Array, index: Indices, value: Array, order: Indices, starts: Indices, update: AtomicOp
) -> Array | None:
    """The same for few elements that many lanes meet at; None where that cannot be."""
    old = np.zeros(index.shape, memory.dtype)
    last: list[tuple[int, Array]] = []
    for lanes in np.split(order, starts[1:]):
        at = int(index[lanes[0]])
        after = accumulated(update, np.concatenate([memory[at : at + 1], value[lanes]]))
        if after is None:
            return None
        old[lanes] = after[:-1]
        last.append((at, after[-1:]))
    for at, value in last:
        memory[at : at + 1] = value
    return old


def _exchanged(
    memory: Array, index: Indices, value: Array, order: Indices, starts: Indices
) -> Array:
    """Each lane finds what the one before it has left."""
    ordered = value[order]
    before = np.concatenate([ordered[:1], ordered[:-1]])
    before[starts] = memory[index[order[starts]]]
    memory[index[order]] = ordered  # the last one counts
    old = np.empty_like(before)
    old[order] = before
    return old


def _swapped(
    memory: Array, index: Indices, values: list[Array], order: Indices, starts: Indices, old: Array
) -> Indices:
    """Compares and swaps: up to the first lane that finds what it compares with, all find the same. Some
    rounds of that; the lanes that are left then, in order.
    """
    wanted, given = (value[order] for value in values)
    places = np.arange(order.size)
    segment = np.repeat(np.arange(starts.size), np.diff(np.append(starts, order.size)))
    at = index[order[starts]]
    left = np.ones(order.size, np.bool_)
    for _ in range(_ROUNDS):
        found = memory[at][segment]
        hits = np.where(left & (wanted == found).all(axis=1), places, order.size)
        first = np.minimum.reduceat(hits, starts)
        done = left & (places <= first[segment])
        old[order[done]] = found[done]
        swaps = first < order.size
        memory[at[swaps]] = given[first[swaps]]
        left &= ~done
        if not left.any():
            break
    return order[left]


def _added(
    memory: Array, index: Indices, value: Array, order: Indices, starts: Indices
) -> Array:
    """The same for sums of integers, at once: what a lane finds is the sum of those before it."""
    ordered = value[order]
    through = np.cumsum(ordered, dtype=memory.dtype)
    before = np.subtract(through, ordered)
    lengths = np.diff(np.append(starts, ordered.size))
    before = np.subtract(before, np.repeat(before[starts], lengths))
    old = np.zeros(index.shape, memory.dtype)
    old[order] = np.add(before, memory[index[order]])
    np.add.at(memory, index, value)
    return old
