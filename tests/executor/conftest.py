"""Tests of whole kernels run twice: as they are, and with all checks, which must find nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ParamSpec

import pytest

from ptx_lsp.executor import Finding, launch

CHECKED = ("test_calls", "test_cluster_copies", "test_kernels", "test_matrix_kernels", "test_together")
"""Modules whose kernels are correct."""
EXPECTED = {"test_the_last_block_sums": {"race"}}
"""The last block reads what others wrote before a fence, but has no fence of its own before it reads."""
_ROOT = Path(__file__).parents[2]
_P = ParamSpec("_P")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.path.stem in CHECKED:
        metafunc.fixturenames.append("checked")
        metafunc.parametrize("checked", [False, True], ids=["plain", "checked"], indirect=True)


@pytest.fixture
def checked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the module of a test launch with checks."""
    if request.param:
        module = ".".join(request.path.relative_to(_ROOT).with_suffix("").parts)
        expected = EXPECTED.get(request.node.name.partition("[")[0], set())
        monkeypatch.setattr(f"{module}.launch", _finding(expected, partial(launch, check=True)))


def _finding(
    kinds: set[str], run: Callable[_P, tuple[Finding, ...]]
) -> Callable[_P, tuple[Finding, ...]]:
    def launch(*args: _P.args, **options: _P.kwargs) -> tuple[Finding, ...]:
        found = run(*args, **options)
        assert {one.kind for one in found} == kinds, found
        return found

    return launch
