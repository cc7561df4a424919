"""Findings about registers, memory and arithmetic."""

from __future__ import annotations

from ptx_lsp.finding_kinds.finding_kind import FindingKind
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_TENSOR_MAP: Final = (
    "In a block of 64 threads: `%rd3` is the address of a tensor map of three dimensions with boxes of 64"
    " bytes, and `tile` an array in shared memory. `%p1` is true in thread 0, and the mbarrier `done` waits"
    " for a box."
)

MEMORY: Final = (
    FindingKind(
        "uninitialized-register",
        "The thread reads an operand or a guard that it has not written. A `mov` may pack such a register, as"
        " compilers do for padding, if nothing uses these bits.",
        """
setp.lt.u32 %p1, %r1, 16;
@%p1 mov.u32 %r3, 1;
add.u32 %r4, %r3, %r1; // threads 16 to 63 have not written %r3
""",
        """
setp.lt.u32 %p1, %r1, 16;
selp.u32 %r3, 1, 0, %p1;
add.u32 %r4, %r3, %r1;
""",
        "uninitialised",
    ),
    FindingKind(
        "uninitialized-memory",
        "A read of shared, local or Tensor Memory that has not been written. Global memory counts as"
        " initialised by the host. Bytes that `used_bytes_mask` leaves out of a load are not read.",
        """
ld.shared.u32 %r3, [%r2]; // nothing has written `tile`
""",
        """
st.shared.u32 [%r2], 0;
ld.shared.u32 %r3, [%r2];
""",
        "uninitialised",
    ),
    FindingKind(
        "out-of-bounds",
        "An access outside all memory, which stops the kernel; or outside the variable or buffer that the"
        " address was derived from.",
        """
st.shared.u32 [%r2+4], %r1; // thread 63 writes the word after `tile`
""",
        """
setp.lt.u32 %p1, %r1, 63;
@%p1 st.shared.u32 [%r2+4], %r1;
""",
        "out-of-bounds",
    ),
    FindingKind(
        "use-after-free",
        "An access to memory of the heap that `free` has given back. Memory of the heap that `malloc` has not"
        " returned is `out-of-bounds`.",
        """
.extern .func (.param .b64 memory) malloc(.param .b64 size);
.extern .func free(.param .b64 memory);

.param .b64 size;
.param .b64 memory;
st.param.b64 [size], 16;
call.uni (memory), malloc, (size);
ld.param.b64 %rd3, [memory];
call.uni free, (memory);
st.u32 [%rd3], %r1; // given back one line above
""",
        """
.extern .func (.param .b64 memory) malloc(.param .b64 size);
.extern .func free(.param .b64 memory);

.param .b64 size;
.param .b64 memory;
st.param.b64 [size], 16;
call.uni (memory), malloc, (size);
ld.param.b64 %rd3, [memory];
st.u32 [%rd3], %r1;
call.uni free, (memory);
""",
        "out-of-bounds",
    ),
    FindingKind(
        "misaligned",
        "An address that is not a multiple of the size of the access. It stops the kernel.",
        """
st.global.v2.u32 [%rd2], {%r1, %r1}; // 8 bytes at the address of every second word
""",
        """
mad.wide.u32 %rd3, %r1, 4, %rd2; // 8 bytes for each thread
st.global.v2.u32 [%rd3], {%r1, %r1};
""",
        stops=True,
    ),
    FindingKind(
        "read-only",
        "A write to memory that a kernel cannot write, such as constant memory. It stops the kernel.",
        """
.const .u32 table[4] = {1, 2, 3, 4};

cvta.const.u64 %rd3, table;
st.u32 [%rd3], %r1; // constants are only read
""",
        """
.const .u32 table[4] = {1, 2, 3, 4};

ld.const.u32 %r3, [table];
st.global.u32 [%rd2], %r3;
""",
        stops=True,
    ),
    FindingKind(
        "tensor-map",
        "A tensor map that is not allowed, or that a copy or reduction uses in another way than the map was"
        " made for: other dimensions, another load mode, a wrong coordinate or offset. It stops the kernel.",
        """
@%p1 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes // the map is for .3d
    [tile], [%rd3, {0, 0}], [done];
""",
        """
@%p1 cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes
    [tile], [%rd3, {0, 0, 0}], [done];
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;
@!%p4 bra wait;
""",
        stops=True, setting=_TENSOR_MAP,
    ),
    FindingKind(
        "division-by-zero",
        "A note: the divisor of an integer division is 0. PTX leaves the result open.",
        """
div.u32 %r3, 64, %r1; // thread 0 divides by 0
""",
        """
max.u32 %r3, %r1, 1;
div.u32 %r3, 64, %r3;
""",
        "other", "note",
    ),
    FindingKind(
        "incoherent-load",
        "`ld.global.nc` reads memory that the same launch has written. `.nc` loads bypass the memory model.",
        """
st.global.u32 [%rd2], %r1;
ld.global.nc.u32 %r3, [%rd2]; // written by this kernel
""",
        """
st.global.u32 [%rd2], %r1;
ld.global.u32 %r3, [%rd2];
""",
        "race",
    ),
)
