"""What a kernel can call, as ptxas counts it, in random programs."""

from __future__ import annotations

import pytest

from ptx_lsp import ptxas
from tests.oracle.calls.called import COUNT, is_rejected_here, judged, programs, recorded
from tests.strength import number


def test_the_rules_say_what_ptxas_said() -> None:
    verdicts = recorded()
    assert len(verdicts) == COUNT
    assert set(verdicts.values()) == {True, False}
    differ = [one.seed for one in programs(0, COUNT) if is_rejected_here(one) != verdicts[one.seed]]
    assert differ == []


def test_ptxas_still_says_so() -> None:
    tool = ptxas.find()
    if tool is None:
        pytest.skip("no ptxas here; what it said is recorded")
    every = list(programs(0, number(40, COUNT)))
    known = recorded()
    assert judged(every, tool) == {one.seed: known[one.seed] for one in every}
