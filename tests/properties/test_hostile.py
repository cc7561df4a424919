"""Linting, and a keystroke, cost at most 2.5 times as much for a text of twice the size, whatever its shape.

Cost is the number of calls, of Python and of C, and of resumed generators: the same each time, on every
machine.
The limits of analyses are small here, so that texts are above them that do not take long.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from benchmarks.hostile import edits
from benchmarks.shapes import SHAPES
from ptx_lsp.analyses.control_flow import cfg, dominance
from ptx_lsp.ide.editing import formatting as formatting_of
from ptx_lsp.ide.editing.formatting import formatting
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.fixes import similar_names
from ptx_lsp.lint.rules import undeclared_name
from ptx_lsp.model.instructions.checks import checks
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source, Span

Count = Callable[[Callable[[], object]], int]
"""Does some work and returns its cost."""
_MOST = 2.5


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dominance, "_VISITS_ANYWAY", 20)
    monkeypatch.setattr(dominance, "_VISITS_OF_EACH", 2)
    monkeypatch.setattr(cfg, "_EDGES_ANYWAY", 20)
    monkeypatch.setattr(cfg, "_EDGES_OF_EACH", 2)
    monkeypatch.setattr(formatting_of, "_MOST_INDENTED", 4)
    monkeypatch.setattr(similar_names, "_MOST", 4)
    monkeypatch.setattr(undeclared_name, "_MOST_GUESSES", 4)
    monkeypatch.setattr(undeclared_name, "_MOST_FUNCTIONS", 4)


@pytest.mark.parametrize("name", SHAPES)
def test_the_cost_of_linting_grows_with_the_text(name: str) -> None:
    def cost(size: int, count: Count) -> int:
        data = _text(name, size)
        return count(lambda: _linted(data).diagnostics)

    _assert_linear(cost, name)


@pytest.mark.parametrize("name", SHAPES)
def test_the_cost_of_a_keystroke_grows_with_the_text(name: str) -> None:
    def cost(size: int, count: Count) -> int:
        data = _text(name, size)
        before = _linted(data)
        document, found = before.module.document, 0
        for _, edit in edits(data):
            found += count(
                lambda edit=edit: LintSession(
                    Module(document.edited(edit), before.module), previous=before
                ).worst(1_000)
            )
        return found

    _assert_linear(cost, name)


@pytest.mark.parametrize("name", SHAPES)
def test_the_cost_of_formatting_grows_with_the_text(name: str) -> None:
    """So do the blanks that are inserted. A part of the text costs no more than all of it."""

    def cost(size: int, count: Count) -> int:
        module = Module(Document.parse(Source(_text(name, size))))
        whole = formatting(module)
        middle = len(module.document.source.data) // 2
        calls = count(lambda: formatting(module))
        assert count(lambda: formatting(module, span=Span(middle, middle + 100))) <= 1.1 * calls + 100
        return calls + sum([len(edit.replacement) for edit in whole])

    _assert_linear(cost, name)


@pytest.mark.parametrize("name", [
    "short-instructions", "prototypes", "registers", "unknown-opcodes", "wrong-operands", "used-labels",
    "one-line",
])  # fmt: skip
def test_linting_takes_less_than_200_bytes_for_each_byte(name: str) -> None:
    """In a process of its own: a table that all texts share may grow at any of them."""
    run = subprocess.run(
        [sys.executable, "-c", _PEAK, name], capture_output=True, text=True, check=True, timeout=300
    )
    peak, size = map(int, run.stdout.split())
    assert peak < 200 * size


_PEAK = """
import sys, tracemalloc
from benchmarks.shapes import SHAPES
from ptx_lsp.cli.checking.check import check
from ptx_lsp.cli.inputs import Input
from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint.configuration.selection import chosen

shape, settings = SHAPES[sys.argv[1]], Settings(chosen([]))
check(Input("", shape.text(shape.tested).encode()), settings)  # what is the same for every text is known
data = shape.text(max(shape.size // 4, min(shape.size, 10_000))).encode()
tracemalloc.start()
check(Input("", data), settings)
print(tracemalloc.get_traced_memory()[1], len(data))
"""


def test_whether_an_instruction_is_broken_is_not_asked_of_each_syntax_error() -> None:
    def cost(size: int) -> int:
        (function,) = _linted(_text("missing-commas", size)).module.functions
        function.facts.clear()
        return _calls(lambda: checks(function))

    cost(300)
    assert cost(600) <= _MOST * cost(300)


def _assert_linear(cost: Callable[[int, Count], int], name: str) -> None:
    size = SHAPES[name].tested
    cost(size + 1, _none)  # what is the same for every text is known, but nothing of the two texts compared
    growth = len(_text(name, 2 * size)) / len(_text(name, size))  # 4 for `call-everything`
    assert cost(2 * size, _calls) <= _MOST * max(1.0, growth / 2) * cost(size, _calls)


def _text(name: str, size: int) -> bytes:
    return SHAPES[name].text(size).encode()


def _linted(data: bytes) -> LintSession:
    return LintSession(Module(Document.parse(Source(data))))


def _none(work: Callable[[], object]) -> int:
    """Does the work without the counting, which takes longer than the work."""
    resolve.cache_clear()
    work()
    return 0


def _calls(work: Callable[[], object]) -> int:
    count = 0

    def tick(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    resolve.cache_clear()
    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
