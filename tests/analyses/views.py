"""What the Markdown files of this folder can speak of: sentences about lines, computed by an analysis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from ptx_lsp.analyses.control_flow.cfg import Cfg, cfg
from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.dataflow.definite_assignment import uninitialized_reads
from ptx_lsp.analyses.dataflow.liveness import liveness
from ptx_lsp.analyses.dataflow.pointer_provenance import accesses_at
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions, instructions
from ptx_lsp.model.function import Function

Sentence = tuple[int, str]
"""The number of a step and what is said of it."""


def values(function: Function) -> Iterator[Sentence]:
    """What each step does with registers."""
    flow = instructions(function)
    for step in flow.instructions:
        for verb, registers in (
            ("reads", step.uses), ("writes", step.defs), ("keeps", step.partial_defs)
        ):
            if registers:
                yield step.number, f"{verb} {_names(flow, registers)}"
        if step.guard >= 0:
            yield step.number, f"guard {_names(flow, [step.guard])}"


def blocks(function: Function) -> Iterator[Sentence]:
    """At the first step of each block, its number and where control goes from there."""
    graph = cfg(function)
    for block in graph.blocks[:-1]:
        targets = " ".join(_number(graph, target) for target in block.successors)
        unknown = " or elsewhere" if block.has_unknown_successors else ""
        yield block.first, f"block {block.number} -> {targets}{unknown}"
        if block.number not in graph.reached:
            yield block.first, "unreached"


def dominators(function: Function) -> Iterator[Sentence]:
    """At the first step of each block but those that control does not reach."""
    found, graph = dominance(function), cfg(function)
    for block in graph.blocks[:-1]:
        if block.number in graph.reached:
            above = found.immediate_dominators[block.number]
            if above >= 0:
                yield block.first, f"dominated by {above}"
            if block.is_branching:
                meeting = _number(graph, found.reconvergence(block.number))
                yield block.first, f"reconverges at {meeting}"
    for loop in found.loops:
        inside = " ".join(map(str, sorted(loop.blocks)))
        back = " ".join(map(str, sorted(loop.latches)))
        yield graph.blocks[loop.header].first, f"loop of {inside} back from {back}"
    if found.is_irreducible:
        yield 0, "irreducible"


def live(function: Function) -> Iterator[Sentence]:
    """Which registers are live after each step, and, where some are, before the first one of a block."""
    flow, graph, found = instructions(function), cfg(function), liveness(function)
    for step in flow.instructions:
        after = found.after(step.number)
        if after:
            yield step.number, f"live {_sorted(flow, after)}"
    for block in graph.blocks[:-1]:
        if found.live_in[block.number]:
            yield block.first, f"before {_sorted(flow, found.live_in[block.number])}"


def unwritten(function: Function) -> Iterator[Sentence]:
    """The first read of each register that is not written on every way."""
    flow = instructions(function)
    for found in uninitialized_reads(function):
        name = flow.registers[found.register].name
        yield found.instruction, f"{name} {'never' if found.on_all_paths else 'not always'} written"


def addresses(function: Function) -> Iterator[Sentence]:
    """Where the address of an access through a register comes from."""
    steps = instructions(function).instructions
    numbers = {step.node: step.number for step in steps if step.opcode in _ACCESSES}
    for access in chain.from_iterable(accesses_at(function, number) for number in numbers.values()):
        origin = access.provenance
        variable = origin.variable.name if origin.variable is not None else "something"
        offset = "?" if origin.offset is None else str(origin.offset)
        generic = "generic " if origin.is_generic else ""
        yield numbers[access.node], f"{generic}{origin.space} {variable} + {offset}"


_ACCESSES = frozenset({"ld", "ldu", "st", "atom", "red"})

VIEWS: dict[str, Callable[[Function], Iterator[Sentence]]] = {
    "values": values,
    "blocks": blocks,
    "dominators": dominators,
    "live": live,
    "unwritten": unwritten,
    "addresses": addresses,
}


def _names(flow: FunctionInstructions, registers: Iterable[int]) -> str:
    return " ".join(flow.registers[register].name for register in registers)


def _sorted(flow: FunctionInstructions, registers: Iterable[int]) -> str:
    return " ".join(sorted(flow.registers[register].name for register in registers))


def _number(graph: Cfg, block: int) -> str:
    return "exit" if block == graph.exit else str(block)
