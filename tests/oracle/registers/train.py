"""Trains the correction of the register estimate: `python -m tests.oracle.registers train --data FOLDER`.

1. Origins are repositories, or programs of collections. They are dealt to folds. The estimate of a kernel
   with its origin *left out* comes from models that saw no kernel of its fold.
2. An origin with many kernels weighs as much as the square root of their number.
3. The interval's constants are those with which the left-out intervals hold `COVERAGE` of the kernels, with
   as many above as below: of the kernels for calibration if there are any, else of all.
4. The same rows and the same seed give the same bytes.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple

from ptx_lsp.analyses.registers.boosted_trees import Tree, packed, value
from ptx_lsp.analyses.registers.correction import MODELS, Predicted, factors, predicted
from ptx_lsp.analyses.registers.features import FEATURES
from tests.oracle.registers.boosting import Settings, trained
from tests.oracle.registers.estimates import Estimated
from tests.oracle.registers.parts import drawn
from tests.oracle.registers.samples import Sample

if TYPE_CHECKING:
    from ptx_lsp.analyses.registers.correction import Correction

FOLDS = 10
COVERAGE = 0.895
_USED = Settings(objective="l1", trees=100, leaves=24, least_rows=20)
_LIVE = Settings(objective="l1", trees=100, leaves=24, least_rows=20)
_ERROR = Settings(objective="quantile", alpha=0.75, trees=60, leaves=8, rate=0.1, least_rows=60)
_LARGEST_ERROR = 0.7


class Trained(NamedTuple):
    """The correction, and the kernels with their origins left out."""

    correction: Correction
    left_out: list[Estimated]


class _Model(NamedTuple):
    """The trees of all rows, and the value for each row with its origin left out."""

    trees: list[Tree]
    left_out: list[float]


def train(rows: Sequence[Sample], seed: int = 0) -> Trained:
    """The correction for these kernels."""
    weights = _weights(rows)
    used = [log(row.estimated.used / row.simulated.used) for row in rows]
    live = [log((row.estimated.live or 1) / row.simulated.peak_live) for row in rows]
    with_live = [float(row.estimated.live is not None) for row in rows]
    weights_live = [a * b for a, b in zip(weights, with_live, strict=True)]
    used_model = _model(rows, used, weights, _USED._replace(seed=seed))
    live_model = _model(rows, live, weights_live, _LIVE._replace(seed=seed))
    errors = [
        min(_LARGEST_ERROR, abs(truth - found))
        for truth, found in zip(used, used_model.left_out, strict=True)
    ]
    error_model = _model(rows, errors, weights, _ERROR._replace(seed=seed))
    models = (used_model, live_model, error_model)
    found = [predicted(*one) for one in zip(*(model.left_out for model in models), strict=True)]
    below, above = _constants(rows, found, used)
    correction: Correction = {
        "features": list(FEATURES),
        "below": below,
        "above": above,
        "used": used_model.trees,
        "live": live_model.trees,
        "error": error_model.trees,
    }
    return Trained(correction, _corrected(rows, found, below, above))


def to_text(correction: Correction) -> str:
    """The file of a correction: JSON with a line for each tree."""
    parts = [f'"{name}": {json.dumps(correction[name])}' for name in ("features", "below", "above")]
    for name in MODELS:
        trees = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in correction[name])
        parts.append(f'"{name}": [\n{trees}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def fold(origin: str, seed: int) -> int:
    """The fold of an origin (1)."""
    return int(drawn(str(seed), origin) * FOLDS)


def _weights(rows: Sequence[Sample]) -> list[float]:
    """Sentence 2."""
    counts = Counter(row.origin for row in rows)
    return [counts[row.origin] ** -0.5 for row in rows]


def _model(
    rows: Sequence[Sample], wanted: Sequence[float], weights: Sequence[float], settings: Settings
) -> _Model:
    folds = [fold(row.origin, settings.seed) for row in rows]
    features = [row.features for row in rows]
    left_out = [0.0] * len(rows)
    for number in sorted(set(folds)):
        others = [place for place, one in enumerate(folds) if one != number]
        model = packed(_fit(features, wanted, weights, others, settings))
        for place, one in enumerate(folds):
            if one == number:
                left_out[place] = value(model, features[place])
    return _Model(_fit(features, wanted, weights, range(len(rows)), settings), left_out)


def _fit(
    features: Sequence[Sequence[int]],
    wanted: Sequence[float],
    weights: Sequence[float],
    places: Sequence[int],
    settings: Settings,
) -> list[Tree]:
    kept = [place for place in places if weights[place]]
    return trained(
        [features[place] for place in kept],
        [wanted[place] for place in kept],
        [weights[place] for place in kept],
        settings,
    )


def _constants(
    rows: Sequence[Sample], found: Sequence[Predicted], used: Sequence[float]
) -> tuple[float, float]:
    """The constants of the interval (3)."""
    triples = list(zip(rows, found, used, strict=True))
    judged = [triple for triple in triples if triple[0].is_calibration] or triples
    judged_rows, judged_found = [triple[0] for triple in judged], [triple[1] for triple in judged]
    ratios = sorted((truth - one.used) / one.error for _, one, truth in judged)

    def constants(outside: int) -> tuple[float, float]:
        return (
            round(max(0.0, -ratios[outside]), 3),
            round(max(0.0, ratios[-1 - outside]), 3),
        )

    def uncovered(outside: int) -> float:
        kernels = _corrected(judged_rows, judged_found, *constants(outside))
        return 1 - sum(one.low <= one.used <= one.high for one in kernels) / len(kernels)

    most = bisect_right(range(len(ratios) // 2), 1 - COVERAGE, key=uncovered)
    return constants(max(0, most - 1))


def _corrected(
    rows: Sequence[Sample], found: Sequence[Predicted], below: float, above: float
) -> list[Estimated]:
    return [
        row.corrected(factors(one, below, above))
        for row, one in zip(rows, found, strict=True)
    ]
