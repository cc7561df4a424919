"""Several threads may ask for facts about one function at the same time, and all see the same ones."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from ptx_lsp.analyses.dataflow.ssa import ssa_form
from ptx_lsp.analyses.divergence.lane_values import lane_values
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.text import Edit
from tests.oracle import corpus


@pytest.fixture
def _restless() -> Iterator[None]:
    """Threads take turns all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_restless")
def test_facts_asked_for_while_rules_run_are_those_that_rules_see() -> None:
    data = max(corpus.files(), key=lambda path: path.stat().st_size).read_bytes()[:60_000]
    data = data[: data.rindex(b"}") + 1]
    linting = LintSession(Module.parse(data.decode()))
    places = [match.end() for match in re.finditer(rb"%r\d+(?=,)", data)][::40][:20]
    with ThreadPoolExecutor(2) as pool:
        for added, at in enumerate(places):
            edit = Edit(at + added, at + added, b"1")
            module = Module(linting.module.document.edited(edit), linting.module)
            asked = [pool.submit(_ask, module, first) for first in (0, 1)]
            linting = LintSession(module, previous=linting)
            assert all(one.result() for one in asked)
    text = linting.module.document.source.text
    assert linting.diagnostics == LintSession(Module.parse(text)).diagnostics


def _ask(module: Module, first: int) -> bool:
    facts = (uniformity, ssa_form, lane_values)
    functions = [one for one in module.functions if one.symbol.is_definition]
    return all(fact(one) is fact(one) for one in functions for fact in (*facts[first:], *facts))
