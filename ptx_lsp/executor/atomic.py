"""Atomic operations: `atom` and `red`. Lanes that meet at an address take turns, the lowest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.access import (
    active,
    address_of,
    of_lanes,
    scatter,
    sources,
    type_of,
    writable,
)
from ptx_lsp.executor.errors import ExecutionError
from ptx_lsp.executor.operands import Operands
from ptx_lsp.executor.program import FLOAT, SIGNED, UNSIGNED, Array, Bools, DType, Program
from ptx_lsp.executor.spaces import Space, Spaces
from ptx_lsp.executor.wave import Wave
from ptx_lsp.isa.resolve import Match
from ptx_lsp.isa.types import Kind, Type
from ptx_lsp.syntax import nodes

Indices: TypeAlias = npt.NDArray[np.int64]
Update: TypeAlias = Callable[..., Array]
"""The new value, from the old one and the operands."""


class Atomic:
    """`atom` (with a destination) or `red`."""

    def __init__(
        self, spaces: Spaces, space: Space, address: Program, operands: Program, update: Update,
        dtype: DType, destination: int | None,
    ) -> None:
        self._spaces = spaces
        self._space: Space = space
        self._address, self._operands = address, operands
        self._update = update
        self._dtype = dtype
        self._destination = destination

    def run(self, wave: Wave, mask: Bools | None) -> None:
        addresses, lanes = active(wave, self._address, wave.present(mask), whole=True)
        values = [
            of_lanes(wave, value, lanes).view(self._dtype)
            for value in self._operands.run(wave.registers)
        ]
        old = np.zeros(addresses.shape, self._dtype)
        size = self._dtype.itemsize
        for reach, part in self._spaces.reach(wave, addresses, self._space, size, lanes, "update"):
            memory = writable(reach, self._dtype)
            here = np.ones(addresses.shape, np.bool_) if part is None else part
            index = (reach.offsets >> np.uint64(size.bit_length() - 1)).astype(np.int64).reshape(-1)
            old[here] = _in_turns(memory, index, [value[here] for value in values], self._update)
        if self._destination is None:
            return
        bits = old.view(UNSIGNED[8 * size])
        if lanes is None:
            wave.write(self._destination, bits, mask)
        else:
            scatter(wave, self._destination, bits, lanes)


def atomic(node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces) -> Atomic:
    choices = match.candidate.choices
    type = type_of(match)
    if choices["vec"] or type.kind is Kind.ALTERNATE:
        raise ExecutionError(f"`{node.opcode.text}` cannot be executed yet", "unsupported")
    returns = match.entry.opcode == "atom"
    rest = node.operands[1:] if returns else node.operands
    space, address = address_of(rest[0], match, operands)
    destination = operands.number(node.operands[0]) if returns else None
    names = [place.name for place, _ in match.places][len(node.operands) - len(rest) :]
    read = [(operand, type) for operand, name in zip(rest, names, strict=True) if name in "bc"]
    update = _update(choices.modifiers)
    return Atomic(
        spaces, space, address, sources(read, operands), update, _array_type(type), destination
    )


def _in_turns(memory: Array, index: Indices, values: list[Array], update: Update) -> Array:
    """Updates the elements of memory one lane after the other; what each lane found."""
    old = np.zeros(index.shape, memory.dtype)
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.ones(ordered.shape, np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(first)
    if update is _add and memory.dtype.kind in "iu":
        return _added(memory, index, values[0], order, starts)
    counts = np.diff(np.append(starts, ordered.size))
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


def _array_type(type: Type) -> DType:
    if type.kind is Kind.FLOAT:
        return FLOAT[type.width]
    return (SIGNED if type.kind is Kind.SIGNED else UNSIGNED)[type.width]


def _update(modifiers: frozenset[str]) -> Update:
    return next(update for name, update in _UPDATES.items() if name in modifiers)


def _add(old: Array, b: Array) -> Array:
    return np.add(old, b)


def _increase(old: Array, b: Array) -> Array:
    return np.where(np.greater_equal(old, b), np.uint32(0), np.add(old, np.uint32(1)))


def _decrease(old: Array, b: Array) -> Array:
    wraps = np.logical_or(np.equal(old, 0), np.greater(old, b))
    return np.where(wraps, b, np.subtract(old, np.uint32(1)))


def _compare_and_swap(old: Array, b: Array, c: Array) -> Array:
    return np.where(np.equal(old, b), c, old)


def _exchange(old: Array, b: Array) -> Array:
    return b


_UPDATES: dict[str, Update] = {
    ".add": _add,
    ".inc": _increase,
    ".dec": _decrease,
    ".cas": _compare_and_swap,
    ".exch": _exchange,
    ".min": np.minimum,
    ".max": np.maximum,
    ".and": np.bitwise_and,
    ".or": np.bitwise_or,
    ".xor": np.bitwise_xor,
}
