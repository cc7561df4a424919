"""Versions, targets, and what satisfies a requirement."""

from __future__ import annotations

import pytest

from ptx_lsp.isa.target import (
    TARGETS,
    VERSIONS,
    Target,
    Version,
    parse_requirement,
    parse_target,
    parse_version,
    satisfies,
)


def _meets(needed: tuple[str, int | str], version: str, name: str) -> bool:
    target = parse_target(name)
    assert target is not None
    return satisfies(parse_requirement(*needed), parse_version(version), target)


def test_versions_have_the_gaps_of_ptxas() -> None:
    assert len(VERSIONS) == 49
    for text in ("1.6", "2.4", "3.3", "4.4", "5.2", "6.6", "7.9", "8.9", "9.6"):
        assert parse_version(text) not in VERSIONS


def test_targets_and_their_synonyms() -> None:
    assert parse_target("sm_90a") == parse_target("compute_90a") == Target(90, "a")
    assert parse_target("lto_90") is None
    assert parse_target("SM_90") is None
    assert len(TARGETS) == 48
    assert TARGETS[Target(88)] == Version(9, 0)


@pytest.mark.parametrize(
    ("needed", "version", "target", "met"),
    [
        (("8.0", 90), "8.0", "sm_90", True),
        (("8.0", 90), "8.0", "sm_120a", True),
        (("8.0", 90), "7.8", "sm_90", False),
        (("8.0", 90), "8.0", "sm_89", False),
        (("8.0", "sm_90a"), "9.0", "sm_90a", True),
        (("8.0", "sm_90a"), "9.0", "sm_100a", False),
        (("8.8", "sm_100f"), "9.0", "sm_103a", True),
        (("8.8", "sm_100f"), "9.0", "sm_103", False),
        (("8.8", "sm_100f"), "9.0", "sm_110f", False),
        (("8.8", "sm_103f"), "9.0", "sm_100f", False),
        (("8.8", "sm_110f"), "9.0", "sm_101a", True),
        (("6.0", 30), "5.1", "sm_30", True),
    ],
)
def test_satisfies(needed: tuple[str, int | str], version: str, target: str, met: bool) -> None:
    assert _meets(needed, version, target) is met
