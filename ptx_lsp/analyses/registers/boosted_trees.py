"""Sums of decision trees (gradient boosting), as plain data.

1. A tree is a list of nodes, one after another. A leaf is `LEAF, number`. Any other node is `feature,
   threshold, place`: its left subtree follows it, for features up to the threshold, and its right one starts
   at that place of the list.
2. The value of a model is the sum of the leaves that its trees lead to, in units of `1 / UNITS`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate

from ptx_lsp.analyses._flow import sum_of_leaves
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

UNITS: Final = 10_000
LEAF: Final = -1
Tree: TypeAlias = list[int]


def packed(trees: Sequence[Tree]) -> bytes:
    """A model: the number of its trees, the places where they begin, and their nodes, in integers of 32 bits.
    """
    starts = list(accumulate(map(len, trees), initial=1 + len(trees)))[: len(trees)]
    return array("i", [len(trees), *starts, *(number for tree in trees for number in tree)]).tobytes()


def value(model: bytes, features: Sequence[int]) -> float:
    """The value of a model for these features."""
    return sum_of_leaves(model, tuple(features)) / UNITS
