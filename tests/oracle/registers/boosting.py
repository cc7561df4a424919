"""Trains gradient boosted trees with LightGBM, and converts them to those that the package evaluates.

With the same rows and the same seed the trees are the same: one thread, deterministic histograms, and
thresholds and leaves as integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from math import floor
from typing import NamedTuple, Protocol, TypedDict, cast

from ptx_lsp.analyses.registers.boosted_trees import LEAF, UNITS, Tree


class Settings(NamedTuple):
    """The size of a model, and how it is trained."""

    objective: str = "huber"
    trees: int = 80
    leaves: int = 15
    rate: float = 0.07
    least_rows: int = 25
    """In a leaf."""
    alpha: float = 0.1
    """Of the Huber loss: larger errors count linearly; or the quantile."""
    seed: int = 0


class Node(TypedDict, total=False):
    """A node of a tree in a dump of LightGBM."""

    leaf_value: float
    split_feature: int
    threshold: float
    left_child: Node
    right_child: Node


class _TreeInfo(TypedDict):
    tree_structure: Node


class _Model(TypedDict):
    tree_info: list[_TreeInfo]


class _Booster(Protocol):
    def dump_model(self) -> _Model: ...


class _LightGbm(Protocol):
    def Dataset(  # noqa: N802 (its name)
        self,
        data: object,
        label: object,
        weight: object,
    ) -> object: ...

    def train(
        self, params: Mapping[str, object], train_set: object, num_boost_round: int
    ) -> _Booster: ...


def trained(
    features: Sequence[Sequence[int]],
    wanted: Sequence[float],
    weights: Sequence[float],
    settings: Settings,
) -> list[Tree]:
    """Trees whose sum approximates `wanted`."""
    import numpy

    lightgbm = _lightgbm()
    options = {
        "objective": settings.objective,
        "alpha": settings.alpha,
        "num_leaves": settings.leaves,
        "learning_rate": settings.rate,
        "min_data_in_leaf": settings.least_rows,
        "lambda_l2": 1.0,
        "feature_fraction": 0.5,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "seed": settings.seed,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
    }
    rows = lightgbm.Dataset(
        numpy.array(features, dtype=numpy.float64),
        label=numpy.array(wanted),
        weight=numpy.array(weights),
    )
    model = lightgbm.train(options, rows, settings.trees).dump_model()
    return [converted(one["tree_structure"]) for one in model["tree_info"]]


def converted(node: Node) -> Tree:
    """The nodes in the order of `boosted_trees`. Features are integers, so thresholds are rounded down."""
    if "left_child" not in node or "right_child" not in node:
        return [LEAF, round(node.get("leaf_value", 0.0) * UNITS)]
    found: Tree = [node.get("split_feature", 0), floor(node.get("threshold", 0.0)), 0]
    found += _moved(converted(node["left_child"]), len(found))
    found[2] = len(found)
    return found + _moved(converted(node["right_child"]), len(found))


def _moved(tree: Tree, by: int) -> Tree:
    """A subtree that starts at another place."""
    found = tree.copy()
    at = 0
    while at < len(found):
        if found[at] == LEAF:
            at += 2
        else:
            found[at + 2] += by
            at += 3
    return found


def _lightgbm() -> _LightGbm:
    try:
        return cast(_LightGbm, import_module("lightgbm"))
    except ImportError:
        raise SystemExit("training needs LightGBM: pip install 'ptx-lsp[train]'") from None
