"""SSA form, compared with a walk through random functions, and the places of phis with their definition."""

from __future__ import annotations

from random import Random

import pytest

from ptx_lsp.analyses._flow import ValueReaders
from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.dataflow.ambiguous_registers import ambiguous_registers
from ptx_lsp.analyses.dataflow.block_summary import block_summaries
from ptx_lsp.analyses.dataflow.liveness import liveness
from ptx_lsp.analyses.dataflow.phi_placement import phi_placement
from ptx_lsp.analyses.dataflow.ssa import NONE, ssa_form
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source
from tests.analyses.random_functions import function_text
from tests.strength import seeds

_STEPS = 60


def _function(seed: int) -> Function:
    return Module(Document.parse(Source(function_text(Random(seed)).encode()))).functions[0]


@pytest.mark.parametrize("seed", seeds(50, 1_000))
def test_each_read_sees_the_last_write(seed: int) -> None:
    function, random = _function(seed), Random(seed)
    form, graph = ssa_form(function), cfg(function)
    flow = form.instructions
    assert form.is_available
    current = list(range(flow.count))
    block, steps = 0, 0
    while True:
        for phi in form.phis_of[block]:
            assert current[phi.register] in phi.inputs
        for phi in form.phis_of[block]:
            current[phi.register] = phi.value
            assert form.register(phi.value) == phi.register
        for number in graph.blocks[block].instructions:
            values = form.by_instruction[number]
            guard = flow.guards[number]
            assert values.uses == tuple(current[one] for one in flow.uses[number])
            assert values.partial_defs == tuple(current[one] for one in flow.partial_defs[number])
            assert values.guard == (NONE if guard < 0 else current[guard])
            for register, value in zip(flow.defs[number], values.defs, strict=True):
                current[register] = value
                assert (form.definitions[value], form.register(value)) == (number, register)
                assert form.block_of(value) == block
        steps += 1
        if not graph.graph.successors[block] or steps == _STEPS:
            break
        block = random.choice(graph.graph.successors[block])


@pytest.mark.parametrize("seed", seeds(50, 1_000))
def test_phis_are_at_the_frontiers_of_writes(seed: int) -> None:
    function = _function(seed)
    graph, summaries, live = cfg(function).graph, block_summaries(function), liveness(function)
    lives, frontiers = ambiguous_registers(function), dominance(function).frontiers
    placed: dict[int, set[int]] = {}
    for register in range(ssa_form(function).instructions.count):
        is_kept = any(register in summary.partially_defined for summary in summaries)
        if not is_kept and register not in lives.registers:
            continue
        waiting = [one for one in graph.reverse_postorder if register in summaries[one].defined]
        for block in waiting:
            for one in frontiers[block]:
                is_needed = is_kept or register in live.live_in[one]
                if is_needed and register not in placed.setdefault(one, set()):
                    placed[one].add(register)
                    waiting.append(one)
    found = phi_placement(function).registers
    assert {block: set(registers) for block, registers in found.items()} == placed


@pytest.mark.parametrize("seed", seeds(50, 1_000))
def test_the_other_registers_are_written_once_before_all_reads(seed: int) -> None:
    function = _function(seed)
    graph, summaries, tree = cfg(function).graph, block_summaries(function), dominance(function)
    lives = ambiguous_registers(function)
    reached = graph.reverse_postorder
    readers: dict[int, list[int]] = {}
    for block in reached:
        for register in summaries[block].exposed:
            readers.setdefault(register, []).append(block)
    if graph.exit in graph.reached:
        readers.setdefault(0, []).append(graph.exit)  # the return parameter
    assert lives.crossing == readers.keys()
    for register, blocks in readers.items():
        writers = [one for one in reached if register in summaries[one].defined]
        is_clear = (
            len(writers) == 1
            and register in summaries[writers[0]].killed
            and writers[0] not in blocks
            and all(tree.dominates(writers[0], one) for one in blocks)
        )
        assert (register not in lives.registers) == is_clear


@pytest.mark.parametrize("seed", seeds(50, 1_000))
def test_readers_of_values(seed: int) -> None:
    form, random = ssa_form(_function(seed)), Random(seed)
    order = form.cfg.reverse_postorder
    known = ValueReaders(order, form.blocks, form.phis_of, form.limit)
    entered = {
        value: [block for block in order if value in form.blocks[block].inputs]
        for value in range(form.limit)
    }
    phis = [phi for block in order for phi in form.phis_of[block]]
    blocks = frozenset(one for one in order if random.randrange(2))
    escaping: set[int] = set()
    for value in range(form.limit):
        joins = [phi for phi in phis for one in phi.inputs if one == value]
        assert (known.entered(value), known.phis(value)) == (entered[value], [phi.value for phi in joins])
        reading = {*entered[value], *(phi.block for phi in joins)}
        if not form.is_initial(value) and form.block_of(value) in blocks and not reading <= blocks:
            escaping.add(value)
    found = known.escaping(blocks)
    assert set(found) == escaping
    assert len(found) == len(escaping)


def _merged(count: int) -> str:
    """Registers that all are merged where as many branches meet."""
    return "\n".join([
        ".version 8.5\n.target sm_90\n.address_size 64\n.entry k()\n{",
        f".reg .b32 %r<{count}>;\n.reg .pred %p;",
        *[f"mov.u32 %r{i}, {i};" for i in range(count)],
        *["@%p bra JOIN;"] * count,
        *[f"add.u32 %r{i}, %r{i}, 1;" for i in range(count)],
        "JOIN:",
        *[f"st.global.u32 [{i}], %r{i};" for i in range(count)],
        "ret;\n}\n",
    ])


@pytest.mark.parametrize(("count", "is_available"), [(50, True), (500, False)])
def test_the_inputs_of_phis_count_as_visits(count: int, is_available: bool) -> None:
    """Otherwise their number grows with the square of the text."""
    function = Module(Document.parse(Source(_merged(count).encode()))).functions[0]
    form = ssa_form(function)
    assert form.is_available == is_available
    assert len(form.phis) == (count if is_available else 0)
