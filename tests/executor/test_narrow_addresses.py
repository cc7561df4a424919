"""Addresses of 32 bits: in constant, shared and local memory they wrap around, whatever the register has
above; and kernels whose pointers have 32 bits.
"""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp import ptxas
from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.machine.errors import Finding

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"
KERNEL = HEADER + """
.const .align 16 .b32 c[4] = {11, 22, 33, 44};
.const .align 16 .b32 more[4] = {55, 66, 77, 88};
.global .u64 generics[2] = {generic(more), generic(more+4)};
.visible .entry k(.param .u64 in, .param .u64 out)
{
.shared .align 128 .b8 s[256];
.local .align 16 .b8 l[64];
.reg .b64 %in, %out, %x, %y, %state; .reg .b32 %b, %t, %r<8>; .reg .f32 %f<8>; .reg .pred %p;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %t, %tid.x; mad.wide.u32 %out, %t, 4, %out;
mov.u32 %r0, 0; mov.u32 %r1, 0;
mul.lo.u32 %b, %t, 4; mov.u32 %r7, s; add.u32 %b, %b, %r7;
add.u32 %r6, %t, 5; st.shared.u32 [%b], %r6; st.local.u32 [l], %r6;
bar.warp.sync -1;
sub.u32 %b, %r7, 1020;  // addresses below count down from 2 ** 32
cvt.u64.u32 %x, %b;
BODY
st.global.u32 [%out], %r0;
ret;
}
"""
CASES = {
    "ld.shared.u32 %r0, [AT+1024];": [6] * 32,
    "ld.shared::cta.u32 %r0, [AT+1024];": [6] * 32,
    "ld.volatile.shared.u32 %r0, [AT+1024];": [6] * 32,
    "ld.shared.v4.u32 {%r1, %r2, %r3, %r0}, [AT+1036];": [12] * 32,
    "ldu.global.u32 %r0, [%in+4];": [101] * 32,
    "st.shared.u32 [AT+1024], 9; ld.shared.u32 %r0, [s+4];": [9] * 32,
    "st.shared.v2.u32 [AT+1028], {8, 9}; ld.shared.u32 %r0, [s+12];": [9] * 32,
    "atom.shared.max.u32 %r0, [AT+1024], 9;": [6] + [9] * 31,
    "atom.shared::cluster.exch.b32 %r0, [AT+1024], 9;": [6] + [9] * 31,
    "red.shared.add.u32 [AT+1024], 1; bar.warp.sync -1; ld.shared.u32 %r0, [s+4];": [38] * 32,
    "cp.async.ca.shared.global [AT+1024], [%in], 4; cp.async.wait_all; ld.shared.u32 %r0, [s+4];": [100] * 32,
    "cp.async.cg.shared.global [AT+1036], [%in], 16; cp.async.wait_all; ld.shared.u32 %r0, [s+20];":
        [101] * 32,
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [AT+1020];": [5, 6, 7, 8] * 8,
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [AT+1020], {%t}; ld.shared.u32 %r0, [s+4];": [29] * 32,
    "wmma.load.c.sync.aligned.m16n16k16.row.shared.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [AT+1020], 0;"
    "mov.b32 %r0, %f0;": [5, 13] * 16,
    # mbarriers: one of each thread
    "mul.lo.u32 %r1, %t, 8; cvt.u64.u32 %y, %r1; add.u32 %b, %b, %r1; add.u64 %x, %x, %y;"
    "mbarrier.init.shared.b64 [AT+1020], 2; mbarrier.arrive.shared.b64 %state, [AT+1020];"
    "mbarrier.arrive.expect_tx.shared.b64 %y, [AT+1020], 8; mbarrier.complete_tx.shared.b64 [AT+1020], 8;"
    "mbarrier.test_wait.shared.b64 %p, [AT+1020], %state; selp.u32 %r0, 1, 0, %p;"
    "mbarrier.try_wait.shared.b64 %p, [AT+1020], %state; selp.u32 %r1, 1, 0, %p; add.u32 %r0, %r0, %r1;"
    "mbarrier.inval.shared.b64 [AT+1020];": [2] * 32,
    "setp.eq.u32 %p, %t, 0; @!%p bra away;"
    "mbarrier.init.shared.b64 [AT+1020], 1; mbarrier.arrive.expect_tx.shared.b64 %state, [AT+1020], 16;"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [AT+1036], [%in], 16, [AT+1020];"
    "wait: mbarrier.try_wait.shared.b64 %p, [AT+1020], %state; @!%p bra wait;"
    "ld.shared.u32 %r0, [s+20];"
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [AT+1052], %r0, [AT+1020];"
    "add.u64 %y, %in, 64; cp.async.bulk.global.shared::cta.bulk_group [%y], [AT+1036], 16;"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ld.global.u32 %r1, [%in+68];"
    "add.u32 %r0, %r0, %r1; away:": [202] + [0] * 31,
    "mapa.shared::cluster.u32 %r1, %r7, 0; sub.u32 %r1, %r1, 1020; ld.shared::cluster.u32 %r0, [%r1+1024];":
        [6] * 32,
    "mov.u32 %r1, l; sub.u32 %r1, %r1, 16; cvt.u64.u32 %y, %r1; ld.local.u32 %r0, [%y+16];":
        [5 + t for t in range(32)],
    "mov.u32 %r1, l; sub.u32 %r1, %r1, 16; st.local.u32 [%r1+20], 3; ld.local.u32 %r0, [l+4];": [3] * 32,
    "mov.u32 %r1, c; ld.const.u32 %r0, [%r1];": [11] * 32,
    "mov.u32 %r1, more; sub.u32 %r1, %r1, 16; ld.const.u32 %r0, [%r1+20];": [66] * 32,
    "mov.u64 %y, more; add.u64 %y, %y, -16; ld.const.u32 %r0, [%y+20];": [66] * 32,
    "mov.u32 %r1, more; cvt.u64.u32 %y, %r1; cvta.const.u64 %y, %y; ld.u32 %r0, [%y+4];": [66] * 32,
    "cvta.const.u64 %y, more; cvta.to.const.u64 %y, %y; ld.const.u32 %r0, [%y+4];": [66] * 32,
    "cvta.const.u64 %y, c; isspacep.const %p, %y; selp.u32 %r0, 1, 0, %p;": [1] * 32,
    "isspacep.const %p, %in; selp.u32 %r0, 1, 0, %p;": [0] * 32,
    "ld.global.u64 %y, [generics+8]; ld.u32 %r0, [%y];": [66] * 32,
    "and.b32 %r1, %t, 3; mov.u32 %r2, c; mad.lo.u32 %r1, %r1, 4, %r2; ld.const.u32 %r0, [%r1];":
        [11, 22, 33, 44] * 8,
}


@pytest.mark.parametrize("register", ["%b", "%x"])
@pytest.mark.parametrize("body", CASES, ids=lambda body: body[:40])
def test_addresses_wrap(body: str, register: str) -> None:
    found, _ = run(body.replace("AT", register))
    assert found == CASES[body]


def test_checks_know_the_memory() -> None:
    """What is out of bounds stays so."""
    for body in ("ld.shared.u32 %r0, [%b+1276];", "mov.u32 %r1, c; ld.const.u32 %r0, [%r1+16];"):
        with pytest.raises(ExecutionError) as caught:
            run(body)
        assert caught.value.kind == "out-of-bounds"
    assert run("ld.shared.u32 %r0, [%b+1024]; mov.u32 %r1, c; ld.const.u32 %r1, [%r1+12];")[1] == ()


def run(body: str) -> tuple[list[int], tuple[Finding, ...]]:
    given, found = np.arange(100, 132, dtype=np.uint32), np.zeros(32, np.uint32)
    text = KERNEL.replace("BODY", body)
    findings = launch(text, entry="k", grid=1, block=32, args=[given, found], check=True)
    return found.tolist(), findings


OLD = """.version 1.4
.target sm_11
.global .u32 table[8] = {10, 11, 12, 13, 14, 15, 16, 17};
.global .v4 .u32 vectors[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
.global .u32 rows[2][2] = {{1, 2}, {3, 4}};
.const .u16 halves[4] = {1, 2, 3, 4};
.entry k(.param .u32 o)
{
.shared .f64 s[64];
.reg .u32 %r<9>; .reg .s32 %i; .reg .u64 %rd<9>; .reg .u16 %h<4>; .reg .s16 %s; .reg .f64 %d<3>;
ld.param.u32 %r1, [o];
mov.u16 %h1, %tid.x; cvt.u32.u16 %r2, %h1; cvt.u64.u32 %rd2, %r2; cvt.s16.u16 %s, %h1;
shl.b32 %r3, %r2, 2; add.u32 %r1, %r1, %r3;
BODY
st.global.u32 [%r1], %r3;
exit;
}
"""
INDEXED = {
    "ld.global.u32 %r3, table[%r2];": [10, 11, 12, 13],
    "ld.global.u32 %r3, table[%rd2];": [10, 11, 12, 13],
    "ld.global.u32 %r3, table[%h1];": [10, 11, 12, 13],
    "ld.global.u32 %r3, table[%r2+4];": [14, 15, 16, 17],
    "mov.u64 %rd3, 0x100000000; add.u64 %rd3, %rd3, %rd2; ld.global.u32 %r3, table[%rd3];": [10, 11, 12, 13],
    "ld.global.u32 %r3, table[3];": [13] * 4,
    "ld.global.v2.u32 {%r4, %r3}, table[2];": [13] * 4,
    "ld.global.u32 %r3, vectors[%r2];": [1, 2, 3, 4],
    "ld.global.u32 %r3, vectors[5];": [6] * 4,
    "ld.global.u32 %r3, rows[%r2];": [1, 2, 3, 4],
    "ld.const.u16 %h2, halves[%h1]; cvt.u32.u16 %r3, %h2;": [1, 2, 3, 4],
    "cvt.rn.f64.u32 %d1, %r2; st.shared.f64 s[%r2], %d1; ld.shared.f64 %d2, s[%s]; cvt.rni.u32.f64 %r3, %d2;":
        [0, 1, 2, 3],
    "cvt.rn.f64.u32 %d1, %r2; st.shared.f64 s[%r2], %d1; sub.u32 %r4, %r2, 1; cvt.s32.u32 %i, %r4;"
    "add.u32 %r5, %r2, 8; ld.shared.f64 %d2, s[%r5+-8]; cvt.rni.u32.f64 %r3, %d2;": [0, 1, 2, 3],
    "mov.u64 %rd3, table[%r2]; mov.u64 %rd4, table; sub.u64 %rd3, %rd3, %rd4; cvt.u32.u64 %r3, %rd3;":
        [0, 4, 8, 12],
    "mov.u64 %rd3, table[2]; ld.global.u32 %r3, [%rd3];": [12] * 4,
}


@pytest.mark.parametrize("body", INDEXED)
def test_arrays_with_an_index(body: str) -> None:
    """The index counts scalars; of a register that holds it the lower 32 bits. The pointer has 32 bits."""
    found = np.zeros(4, np.uint32)
    assert not launch(OLD.replace("BODY", body), entry="k", grid=1, block=4, args=[found], check=True)
    assert found.tolist() == INDEXED[body]


def test_ptxas_takes_indices() -> None:
    judge = ptxas.find()
    if judge is None:
        pytest.skip("no ptxas")
    start = OLD.index(".entry")
    kernels = [
        OLD[start:].replace("BODY", body).replace(" k(", f" k{at}(") for at, body in enumerate(INDEXED)
    ]
    report = ptxas.judge((OLD[:start] + "".join(kernels)).encode(), ptxas=judge, arch="compute_90")
    assert report.accepted, report.messages[:3]


def test_a_pointer_of_32_bits_among_those_of_64() -> None:
    text = HEADER + """
.visible .entry k(.param .u32 narrow, .param .u64 .ptr .const .align 4 constants, .param .u64 wide)
{ .reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u32 %r0, [narrow]; ld.param.u64 %rd0, [constants]; ld.param.u64 %rd1, [wide];
cvt.u64.u32 %rd2, %r0; ld.global.u32 %r1, [%rd2+4]; ld.const.u32 %r2, [%rd0+4]; add.u32 %r1, %r1, %r2;
st.global.u32 [%rd1], %r1; shr.u64 %rd3, %rd1, 32; cvt.u32.u64 %r3, %rd3; st.global.u32 [%rd1+4], %r3; ret; }
"""
    wide = np.zeros(2, np.uint32)
    given = np.array([1, 2], np.uint32), np.array([10, 20], np.uint32)
    launch(text, entry="k", grid=1, block=1, args=[*given, wide])
    assert wide[0] == 22
    assert wide[1] != 0
