"""The linter agrees with ptxas on constant expressions, names and initial values; see `expressions.py`."""

from __future__ import annotations

import pytest

from ptx_lsp import ptxas
from tests.oracle.instructions.expressions import PLACES, differing, expressions, judged, recorded
from tests.oracle.instructions.judge import explained, is_explained

SAMPLE = 40
"""Of so many recorded expressions, one is judged anew."""
_KNOWN = explained("expressions")


@pytest.mark.parametrize("place", PLACES)
def test_the_linter_agrees(place: str) -> None:
    found = [f"{place}: {one.expression}" for one in differing(place)]
    assert [one for one in found if not is_explained(one, _KNOWN)] == []
    here = [pattern for pattern, _ in _KNOWN if pattern.startswith(f"{place}: ")]
    assert [pattern for pattern in here if not any(is_explained(one, [(pattern, "")]) for one in found)] == []


@pytest.mark.parametrize("place", PLACES)
def test_every_expression_is_recorded(place: str) -> None:
    here = [one.expression for one in recorded() if one.place == place]
    assert sorted(here) == sorted(expressions(place))


def test_verdicts_are_what_ptxas_says_today() -> None:
    tool = ptxas.find()
    if tool is None:
        pytest.skip("no ptxas at hand")
    for one in list(recorded())[::SAMPLE]:
        assert judged(tool, one.place, one.expression) == one.accepted, one
