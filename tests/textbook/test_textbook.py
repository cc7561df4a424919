"""Kernels of textbooks, as compilers make them: no rule or check reports them, only their mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, Finding, launch
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.module import Module
from tests.oracle.textbook import CLANG_LEVELS, LEVELS, recorded
from tests.textbook.kernels import CUDA, NUMBA, TRITON, Argument, Kernel, Mistake

FILES = recorded()
RIGHT = [
    *((kernel, f"nvcc.{level}.ptx") for level in LEVELS for kernel in CUDA),
    *((kernel, f"clang.{level}.ptx") for level in CLANG_LEVELS for kernel in CUDA),
    *((kernel, f"{kernel.name}.ptx") for kernel in (*NUMBA, *TRITON)),
]
WRONG = [
    (kernel, name, mistake)
    for name in sorted(FILES)
    if ".bug" in name
    for kernel in CUDA
    if (mistake := kernel.mistakes[int(name.removesuffix(".ptx")[-1]) - 1]) is not None
]
RULES = {"divergent-barrier", "divergent-aligned", "false-uni", "wrong-mask", "uninitialised-read"}


def run(kernel: Kernel, file: str) -> tuple[tuple[Finding, ...], list[Argument], list[Argument]]:
    """What `--check` finds; the arguments as they were, and afterwards."""
    given = kernel.arguments(np.random.default_rng(7))
    after = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
    try:
        found = launch(
            FILES[file], entry=entry(kernel, file), grid=kernel.grid, block=kernel.block, args=after,
            shared_bytes=kernel.shared_bytes, check=True, limit=100_000,
        )
    except ExecutionError as error:
        found = error.findings
    return found, given, after


def entry(kernel: Kernel, file: str) -> str:
    """The name of a kernel in PTX: numba's has more to it."""
    return next(name for name in names(file) if kernel.name in name)


@cache
def names(file: str) -> tuple[str, ...]:
    return tuple(function.name for function in Module.parse(FILES[file]).functions if function.is_kernel)


@cache
def linted(file: str) -> dict[str, frozenset[tuple[str, str]]]:
    """Of each function, the rules that speak of it, with their severity."""
    module = Module.parse(FILES[file])
    spans = {one.name: module.span(one.place(one.node)) for one in module.functions}
    found = LintSession(module, all_rules()).diagnostics
    return {
        name: frozenset((one.rule, one.severity) for one in found if span.start <= one.span.start < span.end)
        for name, span in spans.items()
    }


def severe(found: frozenset[tuple[str, str]]) -> Iterator[str]:
    for rule, severity in found:
        if rule in RULES or severity in ("error", "warning"):
            yield rule


def objections(kernel: Kernel, file: str) -> set[str]:
    return set(severe(linted(file)[entry(kernel, file)]))


@pytest.mark.parametrize(("kernel", "file"), RIGHT, ids=[f"{name}-{one.name}" for one, name in RIGHT])
def test_right_kernels(kernel: Kernel, file: str) -> None:
    assert not objections(kernel, file)
    found, given, after = run(kernel, file)
    assert found == ()
    for position, value in kernel.results(given).items():
        assert np.allclose(np.asarray(after[position], np.float64), np.asarray(value, np.float64))


@pytest.mark.parametrize(
    ("kernel", "file", "mistake"), WRONG, ids=[f"{name}-{one.name}" for one, name, _ in WRONG]
)
def test_mistakes(kernel: Kernel, file: str, mistake: Mistake) -> None:
    found, _, _ = run(kernel, file)
    assert mistake.check <= {one.kind for one in found}
    if file.startswith("nvcc.O3"):
        assert mistake.lint <= objections(kernel, file)


def test_functions_have_nothing_against_them() -> None:
    """Those that are called, and what stands outside of kernels."""
    for file in FILES:
        if ".bug" not in file:
            for name, found in linted(file).items():
                assert not list(severe(found)), (file, name)
