"""The correction of the simulated registers, learned from kernels whose registers ptxas has reported.

1. Three models (`boosted_trees`) read the features of a kernel. They give the logarithms of the factors for
   the registers used and for those that are live at once, and the error that is usual for such a kernel, also
   as a logarithm.
2. The interval reaches that error times `below` below the estimate, and times `above` above it.
3. `python -m tests.oracle.registers train` writes the models and the two constants to `correction.json`. The
   constants come from kernels of repositories that the models were not trained on.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Sequence
from functools import cache
from math import exp

from ptx_lsp.analyses.registers import boosted_trees
from ptx_lsp.analyses.registers.features import FEATURES
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.prepared import prepared
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypedDict

    from ptx_lsp.analyses.registers.boosted_trees import Tree

    class Correction(TypedDict):
        """The contents of the file. Trees name features by their place in `features`."""

        features: list[str]
        below: float
        above: float
        used: list[Tree]
        live: list[Tree]
        error: list[Tree]


FILE: Final = os.path.join(os.path.dirname(__file__), "correction.json")
MODELS: Final = ("used", "live", "error")
_MOST: Final = 0.8
"""No logarithm of a factor is beyond this, either way."""
_LEAST_ERROR: Final = 0.02


class Predicted(NamedTuple):
    """The values of the models for a kernel (1)."""

    used: float
    live: float
    error: float


class Factors(NamedTuple):
    """Of the simulated registers: used, live at once, and at both ends of the interval."""

    used: float
    live: float
    low: float
    high: float


def corrected(features: Sequence[int]) -> Factors:
    """The factors for a kernel with these features."""
    known = correction()
    found = predicted(*[boosted_trees.value(model, features) for model in known.models])
    return factors(found, known.below, known.above)


def predicted(used: float, live: float, error: float) -> Predicted:
    """The values of the models, within bounds."""
    return Predicted(_within(used), _within(live), max(_LEAST_ERROR, error))


def factors(found: Predicted, below: float, above: float) -> Factors:
    """The factors that follow from what the models say, with these constants (2)."""
    return Factors(
        exp(found.used),
        exp(found.live),
        exp(found.used - below * found.error),
        exp(found.used + above * found.error),
    )


class _Correction(NamedTuple):
    """The contents of the file, with packed models."""

    models: tuple[bytes, ...]
    below: float
    above: float


@cache
def correction() -> _Correction:
    """The trained models. Raises ValueError if they read other features."""
    known = _prepared() or _packed()
    names, below, above = marshal.loads(known["constants"])
    if names != list(FEATURES):
        raise ValueError(f"{FILE} was trained with other features: train it again")
    return _Correction(tuple([known[name] for name in MODELS]), below, above)


def prepare() -> None:
    """Writes the packed models, for a package that is being built."""
    _prepared(write=True)


def _prepared(write: bool | None = None) -> dict[str, bytes] | None:
    sources = [FILE, boosted_trees.__file__, __file__]
    return prepared("correction", os.path.dirname(FILE), sources, _packed, write)


def _packed() -> dict[str, bytes]:
    import json  # slow to import

    with open(FILE, "rb") as file:
        found: Correction = json.load(file)
    constants = marshal.dumps((found["features"], found["below"], found["above"]))
    return {"constants": constants} | {name: boosted_trees.packed(found[name]) for name in MODELS}


def _within(logarithm: float) -> float:
    return max(-_MOST, min(_MOST, logarithm))
