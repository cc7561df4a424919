"""Sums of decision trees (gradient boosting), as plain data.

1. A tree is a list of nodes, one after another. A leaf is `LEAF, number`. Any other node is `feature,
   threshold, place`: its left subtree follows it, for features up to the threshold, and its right one starts
   at that place of the list.
2. The value of a model is the sum of the leaves that its trees lead to, in units of `1 / UNITS`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

UNITS: Final = 10_000
LEAF: Final = -1
Tree: TypeAlias = list[int]


def value(trees: Sequence[Tree], features: Sequence[int]) -> float:
    """The value of a model for these features."""
    total = 0
    for tree in trees:
        at = 0
        while (feature := tree[at]) >= 0:
            at = at + 3 if features[feature] <= tree[at + 1] else tree[at + 2]
        total += tree[at + 1]
    return total / UNITS
