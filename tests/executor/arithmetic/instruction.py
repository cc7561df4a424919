"""Runs one instruction for many operands, each in a thread of its own."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.executor.launching.instruction_harness import HEADER, instruction_harness

__all__ = ["HEADER", "run"]


def run(
    instruction: str, inputs: Sequence[Sequence[int]], types: Sequence[str], results: Sequence[str]
) -> list[list[int]]:
    """What `instruction` gives for each tuple of operands; all as bits, see `single`."""
    return [list(row) for row in instruction_harness(instruction, inputs, types, results).run()]
