"""Asynchronous matrix multiplication by a warpgroup (PTX ISA, "Asynchronous Warpgroup Level Matrix
Instructions").

Four warps multiply a 64-row matrix A, in registers or in shared memory, by a matrix B in shared
memory. A descriptor of 64 bits stands for a matrix in shared memory.
"""

from __future__ import annotations

from ptx_lsp.isa.instructions.mma import UNCHECKED_WORD
from ptx_lsp.isa.schema.entry import Since, instruction
from ptx_lsp.isa.schema.operand import immediate, predicate, reads, reads_and_writes
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_WARPGROUP: Final[Since] = ("", "8.0", "sm_90a")

instruction(
    "wgmma.fence",
    section="asynchronous-warpgroup-level-matrix-instructions-wgmma-fence",
    summary="Orders earlier accesses to registers before the wgmma.mma_async that uses them.",
    syntax="wgmma.fence.sync.aligned;",
    since=[_WARPGROUP],
    example="wgmma.fence.sync.aligned;",
)

instruction(
    "wgmma.commit_group",
    section="asynchronous-warpgroup-level-matrix-instructions-wgmma-commit-group",
    summary="Closes a group of all wgmma.mma_async since the last one, to be waited for together.",
    syntax="wgmma.commit_group.sync.aligned;",
    since=[_WARPGROUP],
    example="wgmma.commit_group.sync.aligned;",
)

instruction(
    "wgmma.wait_group",
    section="asynchronous-warpgroup-level-matrix-instructions-wgmma-wait-group",
    summary="Waits until at most N of the latest groups of wgmma.mma_async are unfinished.",
    syntax="wgmma.wait_group.sync.aligned N;",
    operands={"N": immediate(0, 2**63 - 1)},
    since=[_WARPGROUP],
    example="wgmma.wait_group.sync.aligned 0;",
)

_EVERY_N = tuple(range(8, 257, 8))
_EVEN_N = (8, 24, *range(16, 257, 16))  # integers and bits: no odd multiple of 8 beyond 24


def _shapes(k: int, columns: tuple[int, ...] = _EVERY_N) -> str:
    return "{ " + ", ".join(f".m64n{n}k{k}" for n in sorted(columns)) + " }"


def _counts() -> dict[str, int]:
    """Registers of D in a lane, for each shape: 64 * N values for 128 lanes, .f16 two by two."""
    counts: dict[str, int] = {}
    for n in _EVERY_N:
        shapes = "|".join(f".m64n{n}k{k}" for k in (8, 16, 32, 64, 256))
        counts[f"dtype=.f16 {shapes}"] = n // 4
        counts[shapes] = n // 2
    return counts


_D = reads_and_writes({"dtype=.f16": ".b32", ".s32": ".s32", "": ".f32"}, count=_counts())
_DESCRIPTOR = reads(".u64")
_OPERANDS: Final = {
    "d": _D,
    "a": reads(".b32", count=4),
    "a-desc": _DESCRIPTOR,
    "b-desc": _DESCRIPTOR,
    "scale-d": predicate()._replace(values=(0, 1)),
    "negate-a": immediate(values=(1, -1)),
    "negate-b": immediate(values=(1, -1)),
    "transpose-a": immediate(0, 1),
    "transpose-b": immediate(0, 1),
}

# In each form A stands in shared memory, or in registers, which cannot be transposed.
_SIGNS = "scale-d, negate-a, negate-b"
_SHARED_A = f"d, a-desc, b-desc, {_SIGNS}"
_OWN_A = f"d, a, b-desc, {_SIGNS}"
_NAME = "wgmma.mma_async.sync.aligned"

instruction(
    "wgmma.mma_async",
    section="asynchronous-warpgroup-level-matrix-instructions-wgmma-mma",
    summary="Starts to multiply two matrices by a warpgroup and to add the product to D, or with a"
    " false scale-d to replace D: D = A*B + D.",
    syntax=f"""
        {_NAME}.shape.dtype.f16.f16          {_SHARED_A}, transpose-a, transpose-b;
        {_NAME}.shape.dtype.f16.f16          {_OWN_A}, transpose-b;
        {_NAME}.shape.f32.bf16.bf16          {_SHARED_A}, transpose-a, transpose-b;
        {_NAME}.shape.f32.bf16.bf16          {_OWN_A}, transpose-b;
        .shape = {_shapes(16)};
        .dtype = {{ .f16, .f32 }};
        -----
        {_NAME}.shape.f32.tf32.tf32          {_SHARED_A};
        {_NAME}.shape.f32.tf32.tf32          {_OWN_A};
        .shape = {_shapes(8)};
        -----
        {_NAME}.shape.dtype.atype.btype      {_SHARED_A};
        {_NAME}.shape.dtype.atype.btype      {_OWN_A};
        .shape = {_shapes(32)};
        .atype = .btype = {{ .e4m3, .e5m2 }};
        -----
        {_NAME}.shape{{.satfinite}}.s32.atype.btype  d, a-desc, b-desc, scale-d;
        {_NAME}.shape{{.satfinite}}.s32.atype.btype  d, a, b-desc, scale-d;
        .shape = {_shapes(32, _EVEN_N)};
        .atype = .btype = {{ .s8, .u8 }};
        -----
        {_NAME}.shape.s32.b1.b1.and.popc     d, a-desc, b-desc, scale-d;
        {_NAME}.shape.s32.b1.b1.and.popc     d, a, b-desc, scale-d;
        .shape = {_shapes(256, _EVEN_N)};
    """,
    operands=_OPERANDS,
    since=[_WARPGROUP, (".s8 .u8", "8.4", "sm_90a")],
    notes=["ptxas takes n = 240 and 256 for .s8 and .u8; the manual's list ends at 224."],
    example="wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2,"
    " %p1, 1, -1, 0, 1;",
)

_SPARSE = "wgmma.mma_async.sp.sync.aligned"
# The selector says which of four neighbouring lanes hold the metadata: a pair, or all.
_SPARSE_OPERANDS: Final = {
    **_OPERANDS,
    "metadata": UNCHECKED_WORD,
    "pair": immediate(0, 1),
    "all": immediate(values=(0,)),
}
_SPARSE_SHARED_A = f"d, a-desc, b-desc, metadata, pair, {_SIGNS}"
_SPARSE_OWN_A = f"d, a, b-desc, metadata, pair, {_SIGNS}"

instruction(
    "wgmma.mma_async.sp",
    section="asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-sp",
    summary="Starts to multiply a sparse matrix, half of whose elements are zero, by a dense one in"
    " a warpgroup and to add the product to D: D = A*B + D.",
    syntax=f"""
        {_SPARSE}.shape.dtype.f16.f16        {_SPARSE_SHARED_A}, transpose-a, transpose-b;
        {_SPARSE}.shape.dtype.f16.f16        {_SPARSE_OWN_A}, transpose-b;
        {_SPARSE}.shape.f32.bf16.bf16        {_SPARSE_SHARED_A}, transpose-a, transpose-b;
        {_SPARSE}.shape.f32.bf16.bf16        {_SPARSE_OWN_A}, transpose-b;
        .shape = {_shapes(32)};
        .dtype = {{ .f16, .f32 }};
        -----
        {_SPARSE}.shape.f32.tf32.tf32        {_SPARSE_SHARED_A};
        {_SPARSE}.shape.f32.tf32.tf32        {_SPARSE_OWN_A};
        .shape = {_shapes(16)};
        -----
        {_SPARSE}.shape.dtype.atype.btype    d, a-desc, b-desc, metadata, all, {_SIGNS};
        {_SPARSE}.shape.dtype.atype.btype    d, a, b-desc, metadata, all, {_SIGNS};
        .shape = {_shapes(64)};
        .atype = .btype = {{ .e4m3, .e5m2 }};
        -----
        {_SPARSE}.shape{{.satfinite}}.s32.atype.btype  d, a-desc, b-desc, metadata, all, scale-d;
        {_SPARSE}.shape{{.satfinite}}.s32.atype.btype  d, a, b-desc, metadata, all, scale-d;
        .shape = {_shapes(64, _EVEN_N)};
        .atype = .btype = {{ .s8, .u8 }};
    """,
    operands=_SPARSE_OPERANDS,
    since=[("", "8.2", "sm_90a"), (".s8 .u8", "8.4", "sm_90a")],
    example="wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1,"
    " %rd2, %r1, 0, %p1, 1, -1, 0, 1;",
)
