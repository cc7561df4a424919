"""Wakes of facts about instructions: declarations of the shapes at which a fact may find something.

Such a fact looks only at those instructions. The declaration is evaluated once per shape: each has a bit in
the mask of the shapes that satisfy it. The masks of the shapes of a function are combined, so a fact that
nothing in a function wakes costs a single test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_counts, shape_index, shapes
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class InstructionWake:
    """A condition on shapes; `bit` stands for it in masks. All the given parts must hold."""

    __slots__ = ("bit", "features", "opcodes", "spelled", "where")

    def __init__(
        self,
        opcodes: Iterable[str] | None = None,
        features: int = 0,
        spelled: Callable[[str], bool] | None = None,
        where: Callable[[Shape], bool] | None = None,
    ) -> None:
        """`opcodes` are the possible opcodes, without modifiers; at least one of `features` must be there;
        `spelled` is a condition on the opcode with its modifiers; `where` is one on the whole shape, and is
        asked last.
        """
        self.opcodes = None if opcodes is None else frozenset(opcodes)
        self.features = features
        self.spelled = spelled
        self.where = where
        self.bit = 1 << len(WAKES)
        WAKES.append(self)
        wakes_of_spelling.cache_clear()
        _of_features.cache_clear()

    def is_satisfied(self, shape: Shape) -> bool:
        """Whether a shape satisfies the condition."""
        return (
            (self.opcodes is None or shape.opcode in self.opcodes)
            and (self.spelled is None or self.spelled(shape.spelling))
            and (not self.features or self.features & shape.features != 0)
            and (self.where is None or self.where(shape))
        )


WAKES: Final[list[InstructionWake]] = []
"""All conditions, by the numbers of their bits."""


def wakes_of(shape: Shape) -> int:
    """The mask of the conditions that a shape satisfies."""
    count = len(WAKES)
    if shape.wakes_known != count:
        if shape.wakes_known:  # a module that was imported since has added some
            found = shape.wakes
            for wake in WAKES[shape.wakes_known :]:
                if wake.is_satisfied(shape):
                    found |= wake.bit
        else:
            found = wakes_of_spelling(shape.spelling) & _of_features(shape.features)
            for wake in WAKES:
                if wake.where is not None and found & wake.bit and not wake.where(shape):
                    found ^= wake.bit
        shape.wakes = found
        shape.wakes_known = count
    return shape.wakes


@lru_cache(maxsize=1 << 14)
def wakes_of_spelling(spelling: str) -> int:
    """The mask of the conditions that an opcode with its modifiers satisfies, as far as it decides."""
    opcode = spelling.partition(".")[0]
    found = 0
    for wake in WAKES:
        if wake.opcodes is not None and opcode not in wake.opcodes:
            continue
        if wake.spelled is None or wake.spelled(spelling):
            found |= wake.bit
    return found


@lru_cache(maxsize=1 << 10)
def _of_features(features: int) -> int:
    found = 0
    for wake in WAKES:
        if not wake.features or wake.features & features:
            found |= wake.bit
    return found


class _Mask:
    """The mask of a function, and how many conditions there were when it was computed."""

    __slots__ = ("count", "mask")

    def __init__(self, mask: int, count: int) -> None:
        self.mask = mask
        self.count = count


def function_wakes(function: Function) -> int:
    """The mask of the conditions that some instruction of a function satisfies."""
    if not function.body.instructions:
        return 0
    known = function.facts.get(function_wakes)
    if isinstance(known, _Mask) and known.count == len(WAKES):
        return known.mask
    count, mask = len(WAKES), 0
    for shape in shape_counts(function).counts:
        mask |= wakes_of(shape)
    function.facts[function_wakes] = _Mask(mask, count)
    return mask


def is_awake(function: Function, wake: InstructionWake) -> bool:
    """Whether some instruction of a function satisfies a condition."""
    return function_wakes(function) & wake.bit != 0


def waking(function: Function, wake: InstructionWake) -> list[int]:
    """The indices of the instructions that satisfy a condition, in order."""
    if not function_wakes(function) & wake.bit:
        return []
    bit = wake.bit  # the masks of the shapes are known now
    found = [numbers for shape, numbers in shape_index(function).items() if shape.wakes & bit]
    if len(found) == 1:
        return found[0]
    every: list[int] = []
    for numbers in found:
        every += numbers
    every.sort()
    return every


def waking_between(function: Function, wake: InstructionWake, first: int, end: int) -> list[int]:
    """The instructions of them from `first` up to `end` (exclusive)."""
    of_all, bit = shapes(function), wake.bit
    return [number for number in range(first, end) if wakes_of(of_all[number]) & bit]
