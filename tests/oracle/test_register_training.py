"""The training of the correction: trees from LightGBM, left-out estimates, and intervals that hold."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from random import Random

import pytest

from ptx_lsp.analyses.registers.boosted_trees import LEAF, Tree, packed, value
from ptx_lsp.analyses.registers.features import FEATURES
from ptx_lsp.analyses.registers.simulated_registers import simulated_registers
from ptx_lsp.model.module import Module
from tests.oracle.registers import train as training
from tests.oracle.registers.boosting import Settings, converted
from tests.oracle.registers.estimates import Estimated
from tests.oracle.registers.samples import Sample
from tests.oracle.registers.train import COVERAGE, fold, to_text, train

KERNEL = ".version 8.5\n.target sm_75\n.address_size 64\n.entry k() { ret; }\n"


def samples(count: int, error: float = 0.3) -> list[Sample]:
    """Kernels of 20 origins with an error that the first feature doubles."""
    simulated = simulated_registers(Module.parse(KERNEL).definitions["k"])
    assert simulated is not None
    random = Random(1)
    found: list[Sample] = []
    for number in range(count):
        kind = number % 2
        used = max(4, round(60 * (1 + (1 + kind) * random.uniform(-error, error) / 2)))
        row = Estimated(
            "f", f"k{number}", "p", f"someone/{number % 20}", "nvcc", "O3", "sm_75", 10, 0,
            used, used - 3, 57, 60, 0, 0,
        )  # fmt: skip
        features = (kind, *(random.randrange(100) for _ in FEATURES[1:]))
        found.append(Sample(row, simulated._replace(used=60, peak_live=57), features, number % 3 == 0))
    return found


def test_trees_are_converted_node_by_node() -> None:
    tree = converted({
        "split_feature": 3, "threshold": 7.5,
        "left_child": {"leaf_value": 0.5},
        "right_child": {
            "split_feature": 0, "threshold": 2.0,
            "left_child": {"leaf_value": -0.25}, "right_child": {"leaf_value": 1.0},
        },
    })  # fmt: skip
    assert tree == [3, 7, 5, LEAF, 5000, 0, 2, 10, LEAF, -2500, LEAF, 10000]
    for features, wanted in (((0, 0, 0, 7), 0.5), ((2, 0, 0, 8), -0.25), ((3, 0, 0, 8), 1.0)):
        assert value(packed([tree]), features) == wanted
    assert converted({"leaf_value": 0.1}) == [LEAF, 1000]


@pytest.fixture
def no_lightgbm(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """In its place the mean of each kind; returns how many rows each model was trained with."""
    sizes: list[int] = []

    def means(
        features: Sequence[Sequence[int]], wanted: Sequence[float], weights: Sequence[float], _: Settings
    ) -> list[Tree]:
        sizes.append(len(features))
        groups = [
            [one for one, row in zip(wanted, features, strict=True) if row[0] == kind] for kind in (0, 1)
        ]
        low, high = (round(10_000 * sum(group) / len(group)) for group in groups)
        return [[0, 0, 5, LEAF, low, LEAF, high]]

    monkeypatch.setattr(training, "trained", means)
    return sizes


def test_left_out_intervals_hold_as_many_as_they_should(no_lightgbm: list[int]) -> None:
    rows = samples(800)
    found = train(rows)
    assert set(no_lightgbm) > {800}  # all for the correction itself, fewer for what is left out
    judged = [one for row, one in zip(rows, found.left_out, strict=True) if row.is_calibration]
    share = sum(one.low <= one.used <= one.high for one in judged) / len(judged)
    assert COVERAGE <= share <= COVERAGE + 0.03
    widths = [0, 0]
    for one, row in zip(found.left_out, rows, strict=True):
        widths[row.features[0]] += one.high - one.low
    assert widths[0] < 0.7 * widths[1]


def test_without_kernels_for_calibration_all_decide(no_lightgbm: list[int]) -> None:
    found = train([row._replace(is_calibration=False) for row in samples(800)])
    share = sum(one.low <= one.used <= one.high for one in found.left_out) / 800
    assert COVERAGE <= share <= COVERAGE + 0.03


def test_an_origin_is_in_one_fold_that_the_seed_decides() -> None:
    names = [f"someone/{number}" for number in range(100)]
    assert [fold(name, 1) for name in names] == [fold(name, 1) for name in names]
    assert [fold(name, 1) for name in names] != [fold(name, 2) for name in names]
    assert {fold(name, 1) for name in names} == set(range(training.FOLDS))


def test_a_file_has_a_line_for_each_tree(no_lightgbm: list[int]) -> None:
    text = to_text(train(samples(100)).correction)
    assert text.count("\n[0,0,5,-1,") == 3


def test_lightgbm_finds_what_there_is_and_repeats_it() -> None:
    pytest.importorskip("lightgbm")
    rows = samples(400, 0.0)
    rows = [
        row._replace(estimated=row.estimated._replace(used=50 + 20 * row.features[0])) for row in rows
    ]
    first, second = train(rows), train(rows)
    assert to_text(first.correction) == to_text(second.correction)
    errors = [abs(log(one.estimate / one.used)) for one in first.left_out]
    assert sum(errors) / len(errors) < 0.05
