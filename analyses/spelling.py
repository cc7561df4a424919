"""Steps by how they are spelt."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from analyses.steps import Step, steps
from ptx_lsp.facts import numbered
from ptx_lsp.model.function import Function


def steps_spelt(is_wanted: Callable[[str], bool]) -> Callable[[Function], list[Step]]:
    """For each function its steps with certain spellings, in order."""
    is_spelling = lru_cache(maxsize=4096)(is_wanted)

    @numbered
    def wanted(function: Function, number: int) -> tuple[bool, ...]:
        return (True,) if is_spelling(function.body.instructions[number].node.opcode.text) else ()

    def found(function: Function) -> list[Step]:
        flow = steps(function).steps
        return [flow[number] for number in wanted(function).numbers]

    return found
