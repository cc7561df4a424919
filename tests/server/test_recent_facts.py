"""Analyses are kept for recent functions only, and are the same when they are computed again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from threading import Event, Thread

import pytest

from benchmarks.inputs import of_lines
from ptx_lsp.analyses.dataflow.ssa import ssa_form
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.facts import is_computed
from ptx_lsp.ide.cursor.kernel_metrics import is_cached, kernel_metrics
from ptx_lsp.ide.highlighting.encoded_tokens import token_pieces
from ptx_lsp.isa.target import Target
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.results.report import Kernel
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.server import diagnostics_scheduler, recent_facts
from ptx_lsp.server.diagnostics_scheduler import DiagnosticsPolicy, DiagnosticsScheduler
from ptx_lsp.server.openfile import OpenFile
from ptx_lsp.server.recent_facts import RecentFacts
from ptx_lsp.server.threads import Threads
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source
from tests.properties.analysis_results import analysis_results

_MOST = 300


def _nothing(*_: object) -> None:
    pass


def _none(*_: object) -> list[Diagnostic]:
    return []


def _no_rules(_: OpenFile) -> tuple[Rule, ...]:
    return ()


def _no_targets(_: OpenFile) -> tuple[Target, ...]:
    return ()


_POLICY = DiagnosticsPolicy(_no_rules, _no_targets, _none, _nothing, _nothing)


def _undisturbed(work: Callable[[], None]) -> bool:
    work()
    return True


def _analysed(module: Module) -> int:
    """The number of instructions that have analyses."""
    return sum(
        len(one.body.instructions)
        for one in module.functions
        if is_computed(ssa_form, one) or is_computed(uniformity, one)
    )


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_facts, "MOST_INSTRUCTIONS", _MOST)


def test_analyses_of_few_functions_are_kept_and_all_findings() -> None:
    chance = random.Random(3)
    text = of_lines(4_000)
    recent = RecentFacts(_undisturbed)
    module = Module(Document.read(Source(text)))
    linting = LintSession(module, staged=True)
    most = 0
    for _ in linting.steps(recent.add):
        most = max(most, _analysed(module))
    largest = max(len(one.body.instructions) for one in module.functions)
    assert sum(len(one.body.instructions) for one in module.functions) > 3 * (_MOST + largest)
    assert 0 < most <= _MOST + largest
    assert linting.diagnostics == LintSession(Module(Document.parse(Source(text)))).diagnostics
    for _ in range(12):
        data = module.document.source.data
        at = data.index(b"%r", chance.randrange(len(data) // 2)) + 3
        typed = chance.choice([b"1", b"", b" ", b"x", b";"])
        before, module = module, Module(module.document.edited(Edit(at, at, typed)), module)
        linting = LintSession(module, previous=linting, staged=True)
        list(linting.steps(recent.add))
        before.dispose(module)
        new = Module(Document.parse(Source(module.document.source.data)))
        assert linting.diagnostics == LintSession(new).diagnostics
        for some in chance.sample(range(len(module.functions)), 3):
            assert analysis_results(module.functions[some]) == analysis_results(new.functions[some])
        recent.add_all(module.functions.anywhere())
        assert _analysed(module) <= _MOST + largest


def test_analyses_that_a_request_computed_are_dropped_later() -> None:
    module = Module(Document.read(Source(of_lines(4_000))))
    recent = RecentFacts(_undisturbed)
    for function in module.functions:
        uniformity(function)
    assert _analysed(module) > 4 * _MOST
    recent.add_all(module.functions.anywhere())
    assert _analysed(module) <= _MOST
    kept = [id(one) for one in module.functions if is_computed(uniformity, one)]
    recent.add_all(module.functions.anywhere())
    assert [id(one) for one in module.functions if is_computed(uniformity, one)] == kept


def test_figures_and_tokens_of_all_functions_are_kept() -> None:
    module = Module(Document.read(Source(of_lines(4_000))))
    recent = RecentFacts(_undisturbed)
    rows = [kernel_metrics(function) for function in module.functions]
    tokens = token_pieces(module, "utf-16")
    recent.add_all(module.functions.anywhere())
    assert _analysed(module) <= _MOST
    assert all(is_cached(function) for function in module.functions)
    kept = [id(one) for one in module.functions if is_computed(uniformity, one)]
    long = [
        (one.rows, other.rows)
        for one, other in zip(tokens, token_pieces(module, "utf-16"), strict=True)
        if len(one.rows) > 100
    ]
    assert long
    assert all(one is other for one, other in long)
    assert [kernel_metrics(function) for function in module.functions] == rows
    assert _analysed(module) <= _MOST
    recent.add_all(module.functions.anywhere())
    assert [id(one) for one in module.functions if is_computed(uniformity, one)] == kept


@pytest.mark.parametrize("few", [0, 1_000_000])
def test_a_report_on_all_kernels_drops_their_analyses_on_the_way(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnostics_scheduler, "_FEW_INSTRUCTIONS", few)
    module = Module(Document.read(Source(of_lines(4_000))))
    every = tuple(module.functions)
    largest = max(len(one.body.instructions) for one in every)
    most = 0

    def compute(function: Function) -> Kernel:
        nonlocal most
        found = kernel_metrics(function)
        most = max(most, _analysed(module))
        return found

    async def report() -> list[Kernel]:
        threads = Threads()
        scheduler = DiagnosticsScheduler(threads, _POLICY)
        try:
            return await scheduler.of_each(module, every, compute)
        finally:
            scheduler.close()
            threads.close()

    found = asyncio.run(report())
    new = Module(Document.parse(Source(module.document.source.data)))
    assert found == [kernel_metrics(function) for function in new.functions]
    assert (most <= _MOST + largest) == (few == 0)
    if few == 0:
        assert _analysed(module) <= _MOST + largest


def test_nothing_is_dropped_while_an_answer_is_computed() -> None:
    threads = Threads()
    began, ends = Event(), Event()

    def answer() -> None:
        began.set()
        ends.wait(10)

    computing = Thread(target=threads.computed, args=(answer,))
    computing.start()
    began.wait(10)
    dropped: list[int] = []
    assert not threads.between_answers(lambda: dropped.append(1))
    ends.set()
    computing.join()
    assert threads.between_answers(lambda: dropped.append(2))
    assert dropped == [2]
    threads.close()
