"""Blocks whose steps an edit has left as they were.

1. The *content* of a block is its steps. It is the same object from one version of a function to the next
   as long as none of these steps was edited, wherever the block has moved to.
2. A `block_fact` depends on the content of one block alone: on its steps, not on their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

from analyses.cfg import cfg
from analyses.numbering import Numbering
from analyses.steps import Step, steps
from ptx_lsp.facts import Earlier, fact, lasting_fact
from ptx_lsp.model.function import Function

_T = TypeVar("_T")


class Content:
    """Stands for the steps of one block; two are equal only if they are the same object."""

    __slots__ = ()


@dataclass(frozen=True)
class Contents:
    """For each block its content."""

    of: tuple[Content, ...]
    between: dict[tuple[int, int], Content]
    """By the first step of a block, and the one behind its last."""
    numbering: Numbering
    """What the numbers of registers in them mean: with another one they are others."""


@lasting_fact
def contents(function: Function, earlier: Earlier[Contents] | None) -> Contents:
    """The contents of the blocks of `function`."""
    numbering = steps(function).numbering
    before = earlier.value.between if earlier and earlier.value.numbering == numbering else {}
    first, _, end = earlier.change if earlier else (0, 0, 0)
    growth = earlier.change.growth if earlier else 0
    found: dict[tuple[int, int], Content] = {}
    for block in cfg(function).blocks:
        place = block.first, block.end
        known = None
        if block.end <= first:
            known = before.get(place)
        elif block.first >= end:
            known = before.get((block.first - growth, block.end - growth))
        found[place] = known or Content()
    return Contents(tuple(found.values()), found, numbering)


def block_fact(
    compute: Callable[[Function, Sequence[Step]], _T],
) -> Callable[[Function], tuple[_T, ...]]:
    """Makes `compute` run once for each content; the fact is what it gives, for each block in order."""

    @lasting_fact
    @wraps(compute)
    def of_contents(
        function: Function, earlier: Earlier[dict[Content, _T]] | None
    ) -> dict[Content, _T]:
        before = earlier.value if earlier else {}
        flow = steps(function).steps
        found: dict[Content, _T] = {}
        for block, content in zip(cfg(function).blocks, contents(function).of, strict=True):
            try:
                found[content] = before[content]
            except KeyError:
                found[content] = compute(function, flow[block.first : block.end])
        return found

    @fact
    @wraps(compute)
    def of_blocks(function: Function) -> tuple[_T, ...]:
        return tuple(of_contents(function).values())

    return of_blocks
