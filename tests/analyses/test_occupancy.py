"""Occupancy against the recorded answers of NVIDIA's calculator, and its questions against occupancy."""

from __future__ import annotations

from itertools import islice

from tests.oracle import occupancy as oracle


def test_the_same_as_the_header() -> None:
    record = oracle.recorded()
    assert len(record.brief) >= 100_000
    assert list(islice(oracle.disagreements(record), 10)) == []
