"""Kernels for tests of the debugger."""

from __future__ import annotations

from pathlib import Path

_HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

DIVERGENT = _HEAD + """\
// ptx-run: grid=1 block=32 out=u32:zeros(32)
.visible .entry divergent(.param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	setp.lt.u32 %p, %r0, 12;
	@%p bra low;
	add.u32 %r1, %r0, 100;
	bra join;
low:
	mul.lo.u32 %r1, %r0, 3;
join:
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r1;
	ret;
}
"""
BRANCH, HIGH, LOW, JOIN = 13, 14, 17, 19
"""Lines of `DIVERGENT`: the branch, both sides, and where they meet."""

SHARED = _HEAD + """\
.shared .b32 buffer[64];
// ptx-run: grid=1 block=64 out=u32:zeros(64)
.visible .entry turned(.param .u64 out)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	shl.b32 %r1, %r0, 2;
	mov.u32 %r2, buffer;
	add.u32 %r3, %r2, %r1;
	st.shared.u32 [%r3], %r0;
	bar.sync 0;
	xor.b32 %r4, %r1, 252;
	add.u32 %r4, %r4, %r2;
	ld.shared.u32 %r5, [%r4];
	cvt.u64.u32 %rd1, %r1;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r5;
	ret;
}
"""
STORE, BARRIER, LOAD, RESULT = 15, 16, 19, 22
"""Lines of `SHARED`."""

RACE = SHARED.replace("\tbar.sync 0;\n", "\tmov.u32 %r5, 0;\n")
"""As `SHARED`, without its barrier."""

CALLS = _HEAD + """\
.func (.reg .b32 d) twice(.reg .b32 a)
{
	add.u32 d, a, a;
	ret;
}
.func (.reg .b32 d) again(.reg .b32 a)
{
	.reg .pred p;
	.reg .b32 n;
	setp.eq.u32 p, a, 0;
	mov.b32 d, 0;
	@p ret;
	sub.u32 n, a, 1;
	call (n), again, (n);
	add.u32 d, n, 2;
	ret;
}
// ptx-run: grid=1 block=1 out=u32:zeros(2)
.visible .entry calls(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd;
	ld.param.u64 %rd, [out];
	mov.u32 %r0, 21;
	call (%r1), twice, (%r0);
	st.global.u32 [%rd], %r1;
	mov.u32 %r2, 3;
	call (%r3), again, (%r2);
	st.global.u32 [%rd+4], %r3;
	ret;
}
"""
CALL, AFTER_CALL, IN_TWICE, IN_AGAIN, DEEPEST = 28, 29, 6, 13, 15
"""Lines of `CALLS`."""

LOOP = _HEAD + """\
.file 1 "loop.cu"
// ptx-run: grid=1 block=32 out=u32:zeros(32)
.visible .entry loop(.param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	.loc 1 3 1
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, 0;
	.loc 1 4 1
again:
	add.u32 %r1, %r1, 1;
	.loc 1 5 1
	setp.lt.u32 %p, %r1, 100;
	@%p bra again;
	.loc 1 6 1
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r1;
	ret;
}
"""
COUNT = 17
"""The line of `LOOP` that counts to 100."""


def written(folder: Path, text: str) -> Path:
    """A file with a kernel."""
    path = folder / "kernel.ptx"
    path.write_text(text)
    return path
