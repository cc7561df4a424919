"""Tests of whole kernels run twice: as they are, and with all checks, which must find nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec

import pytest

from ptx_lsp.executor import Finding, launch

CHECKED = ("test_calls", "test_cluster_copies", "test_kernels", "test_matrix_kernels")
"""Modules whose kernels are correct."""
_P = ParamSpec("_P")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.path.stem in CHECKED:
        metafunc.fixturenames.append("checked")
        metafunc.parametrize("checked", [False, True], ids=["plain", "checked"], indirect=True)


@pytest.fixture
def checked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the module of a test launch with checks."""
    if request.param:
        name = f"tests.executor.{request.path.stem}.launch"
        monkeypatch.setattr(name, _silent(partial(launch, check=True)))


def _silent(run: Callable[_P, tuple[Finding, ...]]) -> Callable[_P, tuple[Finding, ...]]:
    def launch(*args: _P.args, **options: _P.kwargs) -> tuple[Finding, ...]:
        found = run(*args, **options)
        assert found == ()
        return found

    return launch
