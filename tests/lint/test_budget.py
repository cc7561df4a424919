"""Budgets: how they are read, and which kernels break them."""

from __future__ import annotations

import pytest

from ptx_lsp.lint.configuration.budget import FIGURES, Budget, BudgetError, broken, parse, unchecked
from ptx_lsp.lint.results.report import Branches, Kernel, Measured, Occupancy, Registers

ESTIMATED = Kernel(
    "gemm_1", 7, "sm_90", Registers(140, 130, 150), shared_bytes=49153, local_bytes=0,
    occupancy=Occupancy(percent=43.8, registers_source="estimate"), branches=Branches(1, 2, 3),
)
MEASURED = ESTIMATED._replace(
    registers=Registers(140, 130, 150, measured=128),
    measured=Measured(1024, 16, 4, 8),
    occupancy=Occupancy(percent=50.0, registers_source="measured"),
)


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("registers <= 128", Budget("registers <= 128", "registers", "<=", 128)),
        ("occupancy>=50 %", Budget("occupancy>=50 %", "occupancy", ">=", 50)),
        ("shared <= 48 KiB", Budget("shared <= 48 KiB", "shared", "<=", 49152)),
        ("  spills ==  0 ", Budget("spills == 0", "spills", "==", 0)),
        ("measured registers < 0.5", Budget("measured registers < 0.5", "registers", "<", 0.5, "measured")),
    ],
)
def test_read(text: str, budget: Budget) -> None:
    assert parse(text) == budget


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a budget"),
        ("registers", "is not a budget; expected one such as `registers <= 128`"),
        ("registers != 1", "is not a budget"),
        ("register <= 1", "unknown figure `register`; did you mean `registers`?"),
        ("speed <= 1", "unknown figure `speed`; expected `registers`"),
        ("registers <= 1 KiB", "`registers` must be given without a unit, not in `KiB`"),
        ("shared <= 1 %", "`shared` must be given in `B`, `KiB`, `MiB`, not in `%`"),
        ("estimated spills == 0", "`spills` is measured, never estimated"),
    ],
)
def test_refused(text: str, said: str) -> None:
    with pytest.raises(BudgetError, match=said.replace("?", "[?]")):
        parse(text)


@pytest.mark.parametrize(
    ("kernel", "text", "breaks"),
    [
        (ESTIMATED, "registers <= 140", False),
        (ESTIMATED, "registers < 140", True),
        (MEASURED, "registers <= 128", False),
        (MEASURED, "estimated registers <= 128", True),
        (ESTIMATED, "occupancy >= 50 %", True),
        (MEASURED, "occupancy >= 50 %", False),
        (ESTIMATED, "shared <= 48 KiB", True),
        (MEASURED, "shared <= 48 KiB", False),
        (MEASURED, "spills == 0", True),
        (MEASURED, "spills <= 12", False),
        (MEASURED, "stack <= 15 B", True),
        (ESTIMATED, "divergent-branches <= 1", True),
        (ESTIMATED, "local == 0", False),
    ],
)
def test_broken(kernel: Kernel, text: str, breaks: bool) -> None:
    found = list(broken([kernel], (("gemm_*", (parse(text),)), ("other", (parse(text),)))))
    assert [one.value is not None for one in found] == [True] * breaks


@pytest.mark.parametrize("text", ["spills == 0", "measured registers <= 1", "stack == 0", "parameters <= 8"])
def test_what_is_not_known_is_told(text: str) -> None:
    found = list(broken([ESTIMATED], (("*", (parse(text),)),)))
    (said,) = unchecked(found)
    assert said.startswith(f"the budget `{text}` was not checked: ")


def test_every_figure_is_read() -> None:
    assert {name for name in FIGURES if parse(f"{name} >= 0").figure == name} == set(FIGURES)
