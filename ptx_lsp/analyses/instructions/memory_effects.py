"""The effects of instructions besides writing registers, for a compiler that knows only C++.

1. An instruction *orders* memory if other accesses must not move across it: fences, barriers, waits, and
   accesses with acquire or release semantics.
2. It *writes* or *reads* memory if the table says so of one of its addresses. Memory that nothing writes
   while the kernel runs does not count: `.const`, `.param`, textures, and loads with `.nc`.
3. It *acts* if it has another effect, such as `nanosleep`, a commit, or a change of tensor memory.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from ptx_lsp.analyses.instructions.side_effects import PURE
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.isa.schema.table import opcodes
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import Final, TypeAlias

Effect: TypeAlias = Literal["none", "read", "act", "write", "order"]
"""From the weakest to the strongest."""
EFFECTS: Final[tuple[Effect, ...]] = ("none", "read", "act", "write", "order")

_ORDERING: Final = (
    "bar", "barrier", "cp.async.bulk.wait_group", "cp.async.mbarrier.arrive", "cp.async.wait_all",
    "cp.async.wait_group", "fabric.wait", "fence", "griddepcontrol.wait", "mbarrier.arrive",
    "mbarrier.arrive_drop", "mbarrier.test_wait", "mbarrier.try_wait", "membar", "tcgen05.fence",
    "tcgen05.wait", "tensormap.cp_fenceproxy", "wgmma.fence", "wgmma.wait_group",
)  # fmt: skip
_ORDERING_MODIFIERS: Final = frozenset({"acquire", "release", "acq_rel", "sc"})
_PURE: Final = PURE | {
    "activemask", "alloca", "bra", "brx", "createpolicy", "elect", "exit", "istypep", "match", "mma",
    "movmatrix", "redux", "ret", "shfl", "spcompress", "spdecompress", "stackrestore", "stacksave", "suq",
    "tex", "tld4", "txq", "vote", "mbarrier.pending_count", "wmma.mma", "clusterlaunchcontrol.query_cancel",
}  # fmt: skip
_ACTING: Final = ("tcgen05.cp", "tcgen05.mma", "tcgen05.shift", "tcgen05.st")
"""Opcodes that write tensor memory."""
_WRITING: Final = ("atom", "cp", "red", "st", "stmatrix", "sured", "sust")
_READING: Final = ("ld", "ldmatrix", "ldu", "mbarrier.check_layout", "multimem.ld_reduce", "suld", "wmma")
_NOT_WRITING: Final = frozenset({"commit_group", "prefetch"})
_UNCHANGED: Final = frozenset({"const", "param", "nc"})


@lru_cache(maxsize=1 << 12)
def effect_of(shape: Shape) -> Effect:
    """The strongest effect of an instruction; none if the table does not have it."""
    name = shape.spelling.replace("::", ".")
    modifiers = set(name.split(".")[1:])
    if "relaxed" not in modifiers and (
        _is(name, _ORDERING) or not modifiers.isdisjoint(_ORDERING_MODIFIERS)
    ):
        return "order"
    if _is(name, _PURE) or shape.opcode not in opcodes():
        return "none"
    if _is(name, _ACTING) or not modifiers.isdisjoint(_NOT_WRITING):
        return "act"
    if _is(name, _WRITING) or _writes(shape):
        return "write"
    if _is(name, _READING):
        return "read" if modifiers.isdisjoint(_UNCHANGED) else "none"
    return "act"


def _is(name: str, prefixes: Collection[str]) -> bool:
    """Whether a spelling begins with one of these, up to a dot."""
    end = len(name)
    while end >= 0:
        if name[:end] in prefixes:
            return True
        end = name.rfind(".", 0, end)
    return False


def _writes(shape: Shape) -> bool:
    """Whether the table says that the memory at an address is written."""
    match = shape.match
    return match is not None and any(
        "address" in operand.kinds and operand.access in ("write", "both") for _, operand in match.places
    )
