"""Structured sparse vectors: `spcompress` and `spdecompress`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools, Program
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

Words = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]


class Decompress:
    """`spdecompress`: elements go where their indices say; zeros elsewhere."""

    def __init__(
        self, operands: Program, counts: tuple[int, int], sizes: tuple[int, int],
        factor: tuple[int, int], destinations: tuple[int | None, ...],
    ) -> None:
        """`counts` are the registers of indices and of elements, `sizes` the bits of an element and of an
        index, `factor` how many elements become how many.
        """
        self._operands = operands
        self._counts = counts
        self._sizes = sizes
        self._factor = factor
        self._destinations = destinations

    def run(self, wave: Wave, mask: Bools | None) -> None:
        values = self._operands.run(wave.registers)
        indices, elements = (
            _split(_stacked(wave, part), size)
            for part, size in zip(
                (values[: self._counts[0]], values[self._counts[0] :]), self._sizes[::-1], strict=True
            )
        )
        source, target = self._factor
        groups = len(self._destinations) * 32 // self._sizes[0] // target
        shape = (*wave.shape, groups, source)
        places = indices[..., : groups * source].reshape(shape) % target
        dense = np.zeros((*wave.shape, groups, target), np.int64)
        np.put_along_axis(dense, places, elements[..., : groups * source].reshape(shape), axis=-1)
        _write(wave, self._destinations, dense.reshape(*wave.shape, -1), self._sizes[0], mask)


class Compress:
    """`spcompress`: of every four elements two, and their indices; of equal ones the first."""

    def __init__(
        self, operands: Program, sizes: tuple[int, int],
        indices: tuple[int | None, ...], elements: tuple[int | None, ...],
    ) -> None:
        """`sizes` are the bits of an element and of an index; the last operand is the descriptor."""
        self._operands = operands
        self._sizes = sizes
        self._indices, self._elements = indices, elements

    def run(self, wave: Wave, mask: Bools | None) -> None:
        *data, descriptor = self._operands.run(wave.registers)
        width, index = self._sizes
        elements = _split(_stacked(wave, data), width).reshape(*wave.shape, -1, 4)
        codes = wave.broadcast(descriptor).astype(np.int64)
        order = np.zeros_like(elements)
        for code in np.unique(codes & 31):
            here = (codes & 31) == code
            order[here] = _order(elements[here], int(code), width)
        places = np.sort(np.argsort(-order, axis=-1, kind="stable")[..., :2], axis=-1)
        chosen = np.take_along_axis(elements, places, axis=-1)
        _write(wave, self._elements, chosen.reshape(*wave.shape, -1), width, mask)
        _write(wave, self._indices, places.reshape(*wave.shape, -1), index, mask)


def _order(elements: Numbers, code: int, width: int) -> Numbers:
    """Numbers that grow with how much an element is wanted."""
    operation, type = code & 3, code >> 2
    top = 1 << (6 if type in _OF_6_BITS else width) - 1
    size = elements & (top - 1)
    negative = elements & top != 0
    nan = np.zeros(elements.shape, np.bool_)
    if width == 8 and type < 2:  # integers
        found = np.where(negative & (type == 1), elements - 2 * top, elements)
        size = np.abs(found)
    else:
        found = np.where(negative, -size - 1, size)  # -0 is less than 0
        limit = _INFINITE.get((width, type))
        if limit is not None:
            nan = size > limit
    found = size if operation & 1 else found
    found = -found if operation & 2 else found
    return np.where(nan, 1 << 40, found)


_OF_6_BITS = (4, 5)
"""The types in the descriptor that are the lower bits of a byte: `.e3m2` and `.e2m3`."""
_INFINITE = {(16, 0): 0x7C00, (16, 1): 0x7F80, (8, 2): 0x7C, (8, 3): 0x7E}
"""The greatest magnitude that is no NaN, by the width and the type in the descriptor."""


def _stacked(wave: Wave, registers: list[Array]) -> Words:
    words = [np.asarray(wave.broadcast(one), np.uint32) for one in registers]
    return np.stack(words, axis=-1)


def _split(words: Words, bits: int) -> Numbers:
    """Elements of so many bits, the lowest first."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    parts = words[..., None] >> shifts & np.uint32((1 << bits) - 1)
    return parts.reshape(*words.shape[:-1], -1).astype(np.int64)


def _write(
    wave: Wave, numbers: tuple[int | None, ...], elements: Numbers, bits: int, mask: Bools | None
) -> None:
    """Gives registers elements of so many bits, the first lowest; what is left of the last is zero."""
    each = 32 // bits
    padded = np.zeros((*wave.shape, each * len(numbers)), np.int64)
    padded[..., : elements.shape[-1]] = elements
    parts = padded.reshape(*wave.shape, len(numbers), each) << np.arange(0, 32, bits)
    words = np.bitwise_or.reduce(parts, axis=-1).astype(np.uint32)
    for at, number in enumerate(numbers):
        if number is not None:
            wave.write(number, words[..., at], mask)


def compression(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Compress | Decompress:
    choices = match.candidate.choices
    sizes = (int(choices["elemsize"][2:]), int(choices["idxsize"][2:]))
    word = TYPES[".b32"]
    if match.entry.opcode == "spcompress":
        indices, elements, *rest = node.operands
        read = sources([(operand, word) for operand in rest], operands)
        return Compress(read, sizes, operands.numbers(indices), operands.numbers(elements))
    dense, *rest = node.operands
    first, second = (len(operands.elements(operand, word)) for operand in rest)
    source, target = (int(part) for part in choices["spfactor"].removeprefix(".sp::").split(":"))
    read = sources([(operand, word) for operand in rest], operands)
    return Decompress(read, (first, second), sizes, (source, target), operands.numbers(dense))
