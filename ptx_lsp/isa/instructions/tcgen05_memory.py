"""Tensor Memory: allocation, loads, stores, copies and what orders them.

PTX ISA, sections "Tensor Memory Allocation and Management Instructions" to "TensorCore 5th
Generation Async Synchronization Operations", without the matrix instructions.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import address, immediate, reads, writes

_TENSOR_CORE = ("", "8.6", "sm_100f sm_110f")
_EXCLUSIVE = (".exclusive", "9.4", 100)
_COLUMNS = reads(".u32")._replace(values=(32, 64, 128, 256, 512))
_COLUMNS_NOTE = "ptxas wants a constant nCols to be 32, 64, 128, 256 or 512."

instruction(
    "tcgen05.alloc",
    section="tcgen05-instructions-tcgen05-alloc-dealloc-relinquish-alloc-permit",
    summary="Allocates nCols columns of Tensor Memory and stores their address in shared memory;"
    " waits until they are free.",
    syntax="""
        tcgen05.alloc.cta_group.sync.aligned{.exclusive}{.shared::cta}.b32 [dst], nCols;
        .cta_group = { .cta_group::1, .cta_group::2 };
    """,
    operands={
        "dst": address({".shared::cta": ".shared"}, access="write", type=".u64|.u32"),
        "nCols": _COLUMNS,
    },
    since=[_TENSOR_CORE, _EXCLUSIVE],
    notes=[_COLUMNS_NOTE],
    example="tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;",
)

instruction(
    "tcgen05.dealloc",
    section="tcgen05-instructions-tcgen05-alloc-dealloc-relinquish-alloc-permit",
    summary="Gives back nCols columns of Tensor Memory that tcgen05.alloc handed out at taddr.",
    syntax="""
        tcgen05.dealloc.cta_group.sync.aligned{.exclusive}.b32 taddr, nCols;
        .cta_group = { .cta_group::1, .cta_group::2 };
    """,
    operands={"taddr": reads(".u32"), "nCols": _COLUMNS},
    since=[_TENSOR_CORE, _EXCLUSIVE],
    notes=[_COLUMNS_NOTE],
    example="tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;",
)

instruction(
    "tcgen05.relinquish_alloc_permit",
    section="tcgen05-instructions-tcgen05-alloc-dealloc-relinquish-alloc-permit",
    summary="Declares that this CTA allocates no more Tensor Memory, so that others may.",
    syntax="""
        tcgen05.relinquish_alloc_permit.cta_group.sync.aligned;
        .cta_group = { .cta_group::1, .cta_group::2 };
    """,
    since=[_TENSOR_CORE],
    example="tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;",
)

_TMEM = address(type=".u32")
_SPLIT = immediate()
_REGISTERS = {
    f"{shape}.x{number}": number * wide
    for number in (1, 2, 4, 8, 16, 32, 64, 128)
    for shape, wide in ((".16x128b ", 2), (".16x256b ", 4), ("", 1))
    if number * wide <= 128
}
_TOO_MANY = [
    (".16x128b .x128", ".16x128b goes up to .x64: an instruction moves at most 128 registers"),
    (".16x256b .x64|.x128", ".16x256b goes up to .x32: an instruction moves at most 128 registers"),
]

_ONE_KIND_NOTE = "ptxas refuses integer registers together with .f32 registers in r."

instruction(
    "tcgen05.ld",
    section="tcgen05-instructions-tcgen05-ld",
    summary="Starts to load a shape of Tensor Memory, .num times, into the registers of a warp; "
            "tcgen05.wait::ld waits for completion.",
    syntax="""
        tcgen05.ld.sync.aligned.shape1.num{.pack}.b32 r, [taddr];
        tcgen05.ld.sync.aligned.shape2.num{.pack}.b32 r, [taddr], immHalfSplitoff;
        .shape1 = { .16x64b, .16x128b, .16x256b, .32x32b };
        .shape2 = { .16x32bx2 };
        .num    = { .x1, .x2, .x4, .x8, .x16, .x32, .x64, .x128 };
        .pack   = { .pack::16b };
    """,
    operands={
        "r": writes(".b32", count=_REGISTERS),
        "taddr": _TMEM,
        "immHalfSplitoff": _SPLIT,
    },
    unless=_TOO_MANY,
    since=[_TENSOR_CORE],
    notes=[_ONE_KIND_NOTE],
    example="tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];",
)

instruction(
    "tcgen05.ld.red",
    section="tcgen05-instructions-tcgen05-ld",
    summary="Loads like tcgen05.ld and gives each thread the least or greatest of what it loaded.",
    syntax="""
        tcgen05.ld.red.sync.aligned.shape3.num.redOp{.abs}{.NaN}.f32 r, redval, [taddr];
        tcgen05.ld.red.sync.aligned.shape4.num.redOp{.abs}{.NaN}.f32 r, redval, [taddr],
            immHalfSplitoff;
        tcgen05.ld.red.sync.aligned.shape3.num.redOp.type r, redval, [taddr];
        tcgen05.ld.red.sync.aligned.shape4.num.redOp.type r, redval, [taddr], immHalfSplitoff;
        .shape3 = { .32x32b };
        .shape4 = { .16x32bx2 };
        .num    = { .x2, .x4, .x8, .x16, .x32, .x64, .x128 };
        .redOp  = { .min, .max };
        .type   = { .u32, .s32 };
    """,
    operands={
        "r": writes(".b32", count=".num"),
        "redval": writes(".b32", count=(0, 1)),
        "taddr": _TMEM,
        "immHalfSplitoff": _SPLIT,
    },
    since=[("", "8.8", "sm_103f sm_110f")],
    notes=[_ONE_KIND_NOTE],
    example="tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32 {%r1, %r2}, %r3, [%r4];",
)

_COMPRESSED = {
    "mdata": writes(".b32", count={".x64": 2, ".x128": 4, "": 1}),
    "cdata": writes(".b32", count={".x4": 2, ".x8": 4, ".x16": 8, ".x32": 16, ".x64": 32, ".x128": 64}),
    "taddr": _TMEM,
}
_COMPRESSED_DEFINITIONS = """
        .num   = { .x4, .x8, .x16, .x32, .x64, .x128 };
        .redOp = { .min, .max };
        .sp    = { .sp::2:4 };
"""

instruction(
    "tcgen05.ld.red.spcompress",
    section="tcgen05-instructions-tcgen05-ld",
    summary="Loads like tcgen05.ld.red, picks two of every four elements and writes them, their indices, and"
    " the least or greatest.",
    syntax=f"""
        tcgen05.ld.red.spcompress.sync.aligned.32x32b.num.redOp.sp{{.abs}}{{.NaN}}.f32.b2
            mdata, cdata, redval, [taddr];
        {_COMPRESSED_DEFINITIONS}
    """,
    operands={**_COMPRESSED, "redval": writes(".b32", count=(0, 1))},
    since=[("", "9.4", "sm_107a")],
    example="tcgen05.ld.red.spcompress.sync.aligned.32x32b.x4.min.sp::2:4.f32.b2"
    " {%r1}, {%r2, %r3}, %r4, [%r5];",
)

instruction(
    "tcgen05.ld.spcompress",
    section="tcgen05-instructions-tcgen05-ld",
    summary="Loads like tcgen05.ld, picks two of every four elements and writes them and their indices.",
    syntax=f"""
        tcgen05.ld.spcompress.sync.aligned.32x32b.num.redOp.sp{{.abs}}.f32.b2
            mdata, cdata, [taddr];
        {_COMPRESSED_DEFINITIONS}
    """,
    operands=_COMPRESSED,
    since=[("", "9.4", "sm_107a")],
    example="tcgen05.ld.spcompress.sync.aligned.32x32b.x4.min.sp::2:4.f32.b2 {%r1}, {%r2, %r3}, [%r4];",
)

instruction(
    "tcgen05.st",
    section="tcgen05-instructions-tcgen05-st",
    summary="Starts to store the registers of a warp into a shape of Tensor Memory, .num times; "
            "tcgen05.wait::st waits for completion.",
    syntax="""
        tcgen05.st.sync.aligned.shape1.num{.unpack}.b32 [taddr], r;
        tcgen05.st.sync.aligned.shape2.num{.unpack}.b32 [taddr], immHalfSplitoff, r;
        .shape1 = { .16x64b, .16x128b, .16x256b, .32x32b };
        .shape2 = { .16x32bx2 };
        .num    = { .x1, .x2, .x4, .x8, .x16, .x32, .x64, .x128 };
        .unpack = { .unpack::16b };
    """,
    operands={
        "r": reads(".b32", count=_REGISTERS),
        "taddr": address(type=".u32", access="write"),
        "immHalfSplitoff": _SPLIT,
    },
    unless=_TOO_MANY,
    since=[_TENSOR_CORE],
    notes=[
        "ptxas takes constants in r beside at least one register.",
        _ONE_KIND_NOTE,
    ],
    example="tcgen05.st.sync.aligned.16x64b.x2.b32 [%r1], {%r2, %r3};",
)

instruction(
    "tcgen05.wait",
    section="tcgen05-instructions-tcgen05-wait",
    summary="Waits until all tcgen05.ld, or all tcgen05.st, of this thread are complete.",
    syntax="""
        tcgen05.wait_operation.sync.aligned;
        .wait_operation = { .wait::ld, .wait::st };
    """,
    since=[_TENSOR_CORE],
    example="tcgen05.wait::ld.sync.aligned;",
)

instruction(
    "tcgen05.cp",
    section="tcgen05-instructions-tcgen05-cp",
    summary="Starts a copy of a matrix from shared memory into Tensor Memory,"
    " to several warps or out of a 4- or 6-bit format if asked.",
    syntax="""
        tcgen05.cp.cta_group.shape{.dst_fmt.src_fmt} [taddr], s-desc;
        tcgen05.cp.cta_group.64x128b.warpx2{.dst_fmt.src_fmt} [taddr], s-desc;
        tcgen05.cp.cta_group.32x128b.warpx4{.dst_fmt.src_fmt} [taddr], s-desc;
        .cta_group = { .cta_group::1, .cta_group::2 };
        .shape     = { .128x256b, .4x256b, .128x128b };
        .warpx2    = { .warpx2::02_13, .warpx2::01_23 };
        .dst_fmt   = { .b8x16 };
        .src_fmt   = { .b6x16_p32, .b4x16_p64 };
    """,
    operands={"taddr": address(access="write", type=".u32"), "s-desc": reads(".u64")},
    since=[_TENSOR_CORE],
    example="tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%r1], %rd1;",
)

instruction(
    "tcgen05.shift",
    section="tcgen05-instructions-tcgen05-shift",
    summary="Starts to move all rows of a matrix in Tensor Memory but the last down by one row.",
    syntax="""
        tcgen05.shift.cta_group.down [taddr];
        .cta_group = { .cta_group::1, .cta_group::2 };
    """,
    operands={"taddr": address(access="both", type=".u32")},
    since=[("", "8.6", "sm_100a sm_103a sm_107a sm_110a")],
    notes=["The manual does not list sm_107a; ptxas takes it."],
    example="tcgen05.shift.cta_group::1.down [%r1];",
)

instruction(
    "tcgen05.fence",
    section="tcgen05-special-sync-operations-fence",
    summary="Orders this thread's tcgen05 operations before, or after,"
    " what synchronizes it with other threads.",
    syntax="""
        tcgen05.fence;
        .fence = { .fence::before_thread_sync, .fence::after_thread_sync };
    """,
    since=[_TENSOR_CORE],
    example="tcgen05.fence::after_thread_sync;",
)

instruction(
    "tcgen05.commit",
    section="tcgen-async-sync-operations-commit",
    summary="Makes an mbarrier in shared memory track all tcgen05 operations that this thread has"
    " started; their completion arrives on it once.",
    syntax="""
        tcgen05.commit.cta_group.completion_mechanism{.restrict}{.shared::cluster}.b64 [mbar];
        tcgen05.commit.cta_group.completion_mechanism{.restrict}{.shared::cluster}.multicast.b64
            [mbar], ctaMask;
        tcgen05.commit.cta_group.completion_mechanism{.restrict}{.shared::cluster}.wide.b64
            [mbar], wideMask;
        .cta_group            = { .cta_group::1, .cta_group::2 };
        .completion_mechanism = { .mbarrier::arrive::one };
        .restrict             = { .sync_restrict::shared::read::mma::a, .sync_restrict::shared::cta,
                                  .sync_restrict::shared::cluster };
        .multicast            = { .multicast::cluster, .multicast::cluster::16b };
        .wide                 = { .multicast::cluster::32b };
    """,
    operands={
        "mbar": address({".shared::cluster": ".shared"}, access="both", type=".u64|.u32"),
        "ctaMask": reads(".u16")._replace(low=0, high=0xFFFF),
        "wideMask": reads(".u32")._replace(low=0, high=0xFFFFFFFF),
    },
    since=[
        _TENSOR_CORE,
        (".multicast::cluster::16b", "9.4", 100),
        (".multicast::cluster::32b|.sync_restrict::shared::read::mma::a", "9.4", "sm_107f"),
    ],
    notes=["ptxas takes .sync_restrict::shared::cta and .sync_restrict::shared::cluster, too."],
    example="tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%rd1];",
)
