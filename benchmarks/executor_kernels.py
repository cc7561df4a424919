"""Kernels that are slow where each step of few lanes costs as much as one of many."""

from __future__ import annotations

WAYS = 32
_HEAD = """.version 8.0
.target sm_80
.address_size 64
"""

LOOP = _HEAD + """
.visible .entry loop(.param .u64 out, .param .u32 count)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, 0;
    mov.u32 %r4, %r2;
next:
    mad.lo.u32 %r4, %r4, 1664525, 1013904223;
    xor.b32 %r4, %r4, %r3;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, %r1;
    @%p1 bra next;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
"""
"""A few threads in a long loop."""

_LABELS = ", ".join(f"way{at}" for at in range(WAYS))
_CASES = "\n".join(
    f"way{at}:\n    mad.lo.u32 %r5, %r5, {2 * at + 3}, {at};\n    xor.b32 %r5, %r5, {977 * at};\n"
    f"    add.u32 %r6, %r6, %r5;\n    bra join;"
    for at in range(WAYS)
)
SWITCH = _HEAD + f"""
.visible .entry switch(.param .u64 out, .param .u32 count)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mad.lo.u32 %r4, %r3, 256, %r2;
    mov.u32 %r5, %r4;
    mov.u32 %r6, 0;
    mov.u32 %r7, 0;
again:
    add.u32 %r8, %r2, %r7;
    and.b32 %r8, %r8, {WAYS - 1};
ways: .branchtargets {_LABELS};
    brx.idx %r8, ways;
{_CASES}
join:
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, %r1;
    @%p1 bra again;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}}
"""
"""Each lane of a warp goes another way."""

RECURSION = _HEAD + """
.func (.reg .u32 %result) fibonacci(.reg .u32 %n)
{
    .reg .pred %p;
    .reg .u32 %a, %b, %m;
    mov.u32 %result, %n;
    setp.lt.u32 %p, %n, 2;
    @%p bra done;
    sub.u32 %m, %n, 1;
    call (%a), fibonacci, (%m);
    sub.u32 %m, %n, 2;
    call (%b), fibonacci, (%m);
    add.u32 %result, %a, %b;
done:
    ret;
}
.visible .entry recursion(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    call (%r3), fibonacci, (%r1);
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}
"""
"""Each thread calls a function that calls itself twice."""
