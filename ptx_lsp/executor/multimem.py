"""Operations on multimem addresses.

A multimem address stands for one place in the memory of each of several GPUs. Here is one GPU, so it is an
ordinary address in global memory: a reduction of what is loaded is that value, and a store goes to one place.
"""

from __future__ import annotations

from ptx_lsp.executor.access import load, store
from ptx_lsp.executor.async_store import async_store
from ptx_lsp.executor.atomic import atomic
from ptx_lsp.executor.bulk_copy import bulk_copy
from ptx_lsp.executor.control import Action
from ptx_lsp.executor.operands import Operands
from ptx_lsp.executor.spaces import Spaces
from ptx_lsp.isa.resolve import Match
from ptx_lsp.syntax import nodes


def multimem(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of an instruction whose opcode is `multimem`."""
    match match.entry.name.removeprefix("multimem."):
        case "ld_reduce":
            return load(node, match, operands, spaces)
        case "st":
            return store(node, match, operands, spaces)
        case "red":
            return atomic(node, match, operands, spaces)
        case "st.async" | "red.async":
            return async_store(node, match, operands, spaces)
        case _:
            return bulk_copy(node, match, operands, spaces)
