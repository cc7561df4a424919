"""Opcodes with a separate action, and the functions that build it."""

from __future__ import annotations

from collections.abc import Callable

from ptx_lsp.executor.arithmetic.integers import constant
from ptx_lsp.executor.asynchronous.async_copy import async_copy
from ptx_lsp.executor.asynchronous.async_store import async_store, bulk_store
from ptx_lsp.executor.asynchronous.bulk_copy import bulk_copy
from ptx_lsp.executor.asynchronous.cluster_control import cluster_control
from ptx_lsp.executor.asynchronous.mbarrier_steps import mbarrier
from ptx_lsp.executor.asynchronous.multimem import multimem
from ptx_lsp.executor.asynchronous.tensor_copy import tensor_copy, tensormap
from ptx_lsp.executor.instructions.compression import compression
from ptx_lsp.executor.instructions.compute import move
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action, Nothing
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.matrices.matrix import matrix
from ptx_lsp.executor.matrices.matrix_memory import matrix_memory
from ptx_lsp.executor.matrices.warpgroup import warpgroup
from ptx_lsp.executor.tensor_memory.allocation import managing
from ptx_lsp.executor.tensor_memory.commit import commit
from ptx_lsp.executor.tensor_memory.copy import copy
from ptx_lsp.executor.tensor_memory.load_store import WaitCells, load_store
from ptx_lsp.executor.tensor_memory.multiply import multiply
from ptx_lsp.executor.textures.surface_steps import surface
from ptx_lsp.executor.textures.texture_steps import texture
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.syntax import nodes

Builder = Callable[[nodes.Instruction, Match, Operands, Spaces], Action]


def builder(match: Match) -> Builder | None:
    """The builder of an instruction's action; None for an instruction that only computes."""
    name = match.entry.name
    while name and name not in _BUILDERS:
        name = name.rpartition(".")[0]
    return _BUILDERS.get(name)


def _policy(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """`createpolicy`: a policy is opaque, and there are no caches here."""
    number = operands.number(node.operands[0])
    assert number is not None
    return move(number, constant(0), operands)


def _wait(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """`tcgen05.wait`"""
    return WaitCells(stores=".wait::st" in match.candidate.choices.modifiers)


def _fence(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """`tcgen05.fence`: what it orders is in order already."""
    return Nothing()


_BUILDERS: dict[str, Builder] = {
    "createpolicy": _policy,
    "spcompress": compression,
    "spdecompress": compression,
    "ldmatrix": matrix_memory,
    "mma": matrix,
    "movmatrix": matrix,
    "stmatrix": matrix_memory,
    "wgmma": warpgroup,
    "wmma.load": matrix_memory,
    "wmma.mma": matrix,
    "wmma.store": matrix_memory,
    "mbarrier": mbarrier,
    "clusterlaunchcontrol": cluster_control,
    "multimem": multimem,
    "tex": texture,
    "tld4": texture,
    "txq": texture,
    "suq": texture,
    "istypep": texture,
    "suld": surface,
    "sust": surface,
    "sured": surface,
    "cp.async": async_copy,
    "cp.async.bulk": bulk_copy,
    "cp.async.bulk.tensor": tensor_copy,
    "cp.reduce.async.bulk": bulk_copy,
    "cp.reduce.async.bulk.tensor": tensor_copy,
    "tensormap": tensormap,
    "st.async": async_store,
    "st.bulk": bulk_store,
    "red.async": async_store,
    "tcgen05.alloc": managing,
    "tcgen05.dealloc": managing,
    "tcgen05.relinquish_alloc_permit": managing,
    "tcgen05.ld": load_store,
    "tcgen05.st": load_store,
    "tcgen05.wait": _wait,
    "tcgen05.fence": _fence,
    "tcgen05.commit": commit,
    "tcgen05.cp": copy,
    "tcgen05.shift": copy,
    "tcgen05.mma": multiply,
}
"""By the name of a row, or what it begins with; the longest counts."""
