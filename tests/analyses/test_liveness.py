"""Liveness beside its definition, taken word for word: sets at every step, until nothing changes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.dataflow.liveness import liveness
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Register
from ptx_lsp.text import Edit
from tests.analyses.random_functions import function_text
from tests.oracle.corpus import files
from tests.strength import seeds

Sets = list[set[int]]


def following(function: Function) -> list[list[int]]:
    """The steps that may come after each step; the number of steps stands for the end."""
    graph = cfg(function)
    found: list[list[int]] = []
    for block in graph.blocks:
        found += [[number + 1] for number in block.instructions[:-1]]
        if block.instructions:
            found.append([graph.blocks[target].first for target in block.successors])
    return found


def may_be_read(function: Function, after: list[list[int]]) -> Sets:
    """Sentences 1 to 4, before each step and at the end."""
    flow = instructions(function)
    live: Sets = [set() for _ in range(len(flow.instructions) + 1)]
    for symbol in function.body.returns:
        number = flow.index_of(symbol) if isinstance(symbol, Register) else None
        live[-1] |= {number} if number is not None else set()
    changed = True
    while changed:
        changed = False
        for step in reversed(flow.instructions):
            later = set[int]().union(*(live[number] for number in after[step.number]))
            now = later - (set(step.defs) - set(step.partial_defs)) | used(step)
            changed |= now != live[step.number]
            live[step.number] = now
    return live


def used(step: InstructionInfo) -> set[int]:
    return {*step.uses} | ({step.guard} if step.guard >= 0 else set())


def may_be_written(function: Function, after: list[list[int]]) -> Sets:
    """Sentence 5, before each step and at the end."""
    flow = instructions(function)
    written: Sets = [set() for _ in range(len(flow.instructions) + 1)]
    changed = True
    while changed:
        changed = False
        for step in flow.instructions:
            for number in after[step.number]:
                new = written[step.number] | set(step.defs)
                if not new <= written[number]:
                    written[number] |= new
                    changed = True
    return written


def assert_as_defined(function: Function) -> None:
    flow, found, graph = instructions(function), liveness(function), cfg(function)
    after = following(function)
    read, written = may_be_read(function, after), may_be_written(function, after)
    for step in flow.instructions:
        here, name = step.number, f"{function.name}, step {step.number}: {step.spelling}"
        assert found.before(here) == read[here] & written[here], name
        later = set[int]().union(*(read[number] for number in after[here]))
        assert found.after(here) == later & (written[here] | set(step.defs)), name
    for block in graph.blocks[:-1]:
        assert found.live_in[block.number] == found.before(block.first)
        assert found.live_out[block.number] == found.after(block.end - 1)


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_real_files(path: Path) -> None:
    module = Module.parse(path.read_text())
    for function in module.functions:
        if len(function.body.instructions) <= 1500:  # the definition takes quadratic time
            assert_as_defined(function)


@pytest.mark.parametrize("seed", seeds(25, 100))
def test_random_functions(seed: int) -> None:
    (function,) = Module.parse(function_text(Random(seed))).functions
    assert_as_defined(function)


def test_a_return_register_that_nothing_names_any_more() -> None:
    text = """
.version 8.5
.target sm_90
.address_size 64
.func (.reg .b32 r) helper(.reg .b32 a) { .reg .b32 t; add.s32 t, a, 1; mov.b32 r, t; ret; }
"""
    module = Module.parse(text)
    assert liveness(module.functions[0]).live_on_entry == {1}
    at = text.index("r, t;")
    edited = Module(module.document.edited(Edit(at, at + 1, b"t")), module)
    known, fresh = (liveness(one.functions[0]) for one in (edited, Module.parse(edited.document.source.text)))
    assert (known.live_on_entry, known.not_yet_defined) == (fresh.live_on_entry, fresh.not_yet_defined)
