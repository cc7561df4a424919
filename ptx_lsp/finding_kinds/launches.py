"""Findings about calls, and errors of whole launches."""

from __future__ import annotations

from ptx_lsp.finding_kinds.finding_kind import FindingKind
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

LAUNCHES: Final = (
    FindingKind(
        "noreturn",
        "A `.noreturn` function returns to this call.",
        """
.func stop() .noreturn
{
    ret;
}

call stop; // returns
""",
        """
.func stop() .noreturn
{
    exit;
}

call stop;
""",
        "other",
    ),
    FindingKind(
        "undescribed-callee",
        "An indirect call reaches a function that its `.calltargets` does not list or its `.callprototype`"
        " does not describe.",
        """
.func first() { ret; }
.func second() { ret; }

targets: .calltargets first;
mov.u64 %rd3, second;
call %rd3, targets; // `second` is not in the list
""",
        """
.func first() { ret; }
.func second() { ret; }

targets: .calltargets first, second;
mov.u64 %rd3, second;
call %rd3, targets;
""",
        "other",
    ),
    FindingKind(
        "trap",
        "The kernel executed `trap`, or an assertion failed. It stops the kernel.",
        """
setp.ge.u32 %p1, %r1, 32;
@%p1 trap; // threads 32 to 63
""",
        """
setp.ge.u32 %p1, %r1, 32;
@%p1 ret;
""",
        stops=True,
    ),
    FindingKind(
        "limit",
        "The launch takes more instructions, time, stack or memory than allowed (`--limit`, `--seconds`). It"
        " stops the kernel.",
        """
mov.u32 %r3, 0;
again:
add.u32 %r3, %r3, 1;
setp.ne.u32 %p1, %r3, 0;
@%p1 bra again; // 4 294 967 296 iterations
""",
        """
mov.u32 %r3, 0;
again:
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, 10;
@%p1 bra again;
""",
        stops=True,
    ),
    FindingKind(
        "heap",
        "`free` of a pointer that `malloc` has not returned, or that has been freed. It stops the kernel.",
        """
.extern .func free(.param .b64 memory);

.param .b64 memory;
st.param.b64 [memory], %rd1;
call.uni free, (memory); // a buffer of the host
""",
        """
.extern .func (.param .b64 memory) malloc(.param .b64 size);
.extern .func free(.param .b64 memory);

.param .b64 size;
.param .b64 memory;
st.param.b64 [size], 16;
call.uni (memory), malloc, (size);
call.uni free, (memory);
""",
        stops=True,
    ),
    FindingKind(
        "unsupported",
        "The executor cannot run this: a function without a body in this file, or an instruction that is not"
        " supported (docs/executor.md). It stops the kernel.",
        """
.extern .func other();

call other; // defined in another file
""",
        """
.func other() { ret; }

call other;
""",
        stops=True,
    ),
    FindingKind(
        "launch",
        "A launch that does not fit the kernel or the device: sizes, arguments, shared memory, clusters. The"
        " kernel does not start, and the exit status is 2.",
        "$ ptx-run saxpy.ptx --grid 1 --block 4096 ...   # a block has at most 1024 threads",
        "$ ptx-run saxpy.ptx --grid 4 --block 1024 ...",
        stops=True,
    ),
    FindingKind(
        "expect",
        "A buffer differs from the one that `--expect` names.",
        "$ ptx-run saxpy.ptx ... --expect 3=gpu.npy      # the last bits of floats differ",
        "$ ptx-run saxpy.ptx ... --expect 3=gpu.npy --rtol 1e-6",
    ),
)
