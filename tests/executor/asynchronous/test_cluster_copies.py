"""Asynchronous operations between the blocks of a cluster."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor import launch, tensor_map

_HEAD = """.version 8.8
.target sm_100a
.address_size 64
.entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128]) {
.reg .u64 %in, %out, %map, %s<4>, %step; .reg .u32 %t, %rank, %r<9>; .reg .u16 %h; .reg .pred %p<4>;
.shared .align 128 .b8 memory[1024];
.shared .align 8 .b64 bar[2];
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.b64 %map, map; cvta.param.u64 %map, %map;
mov.u32 %t, %tid.x; mov.u32 %rank, %cluster_ctarank; setp.ne.u32 %p3, %t, 0;
mov.u32 %r0, memory; mov.u32 %r1, bar;
@%p3 bra started;
mbarrier.init.shared::cta.b64 [bar], 1;
mbarrier.init.shared::cta.b64 [bar+8], 2;
started: barrier.cluster.arrive; barrier.cluster.wait;
"""
_WAIT = """
wait: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0;
@!%p0 bra wait;
"""
_STORE = """
mad.lo.u32 %r2, %t, 4, %r0; ld.shared.u32 %r2, [%r2];
mov.u32 %r3, %ctaid.x; shl.b32 %r3, %r3, 5; add.u32 %r3, %r3, %t;
mul.wide.u32 %step, %r3, 4; add.u64 %out, %out, %step; st.global.u32 [%out], %r2;
"""


def run(body: str, blocks: int = 4, cluster: int = 2, seed: int = 0) -> list[list[int]]:
    """What each block of 32 threads stores; `in` and the tensor are 0, 1, 2 and so on."""
    source = np.arange(64, dtype=np.uint32)
    out = np.zeros(blocks * 32, np.uint32)
    map = tensor_map(source.reshape(2, 32), box=(1, 32))
    launch(
        _HEAD + body + "\nret;\n}\n", entry="k", grid=blocks, block=32, cluster=cluster, seed=seed,
        args=[source, out, map], limit=1 << 20,
    )
    return out.reshape(blocks, 32).tolist()


@pytest.mark.parametrize("seed", [0, 1])
def test_copies_to_several_blocks(seed: int) -> None:
    """The first block of each cluster copies to all that a mask names, and tells their mbarriers."""
    body = """@%p3 bra both;
mbarrier.arrive.expect_tx.shared::cta.b64 %s0, [bar], 128;
setp.ne.u32 %p1, %rank, 1; @%p1 bra both;
mov.u16 %h, 7;
COPY
both:""" + _WAIT + _STORE
    bulk = (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%r0], [%in], 128, [%r1], %h;"
    )
    tensor = (
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%r0], [%map, {0, 1}], [%r1], %h;"
    )
    assert run(body.replace("COPY", bulk), 6, 3, seed) == [list(range(32))] * 6
    assert run(body.replace("COPY", tensor), 6, 3, seed) == [list(range(32, 64))] * 6


def test_copies_between_shared_memories() -> None:
    """Each block sends its thread numbers plus 100 times its rank to the other one."""
    body = """mad.lo.u32 %r2, %rank, 100, %t; mad.lo.u32 %r3, %t, 4, %r0; st.shared.u32 [%r3+512], %r2;
bar.sync 0; @%p3 bra both;
mbarrier.arrive.expect_tx.shared::cta.b64 %s0, [bar], 128;
xor.b32 %r4, %rank, 1;
mapa.shared::cluster.u32 %r5, %r0, %r4; mapa.shared::cluster.u32 %r6, %r1, %r4;
add.u32 %r7, %r0, 512;
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r7], 128, [%r6];
both:""" + _WAIT + _STORE
    assert run(body) == [[100 * (1 - block % 2) + t for t in range(32)] for block in range(4)]


def test_stores_and_arrivals_at_another_block() -> None:
    body = """xor.b32 %r4, %rank, 1; mapa.shared::cluster.u32 %r5, %r0, %r4;
mapa.shared::cluster.u32 %r6, %r1, %r4;
@%p3 bra told;
mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r6], 128;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6+8];
mbarrier.arrive.shared::cta.b64 %s0, [bar+8];
told: mad.lo.u32 %r2, %rank, 10, %t; mad.lo.u32 %r5, %t, 4, %r5;
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r2, [%r6];
again: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar+8], 0;
@!%p0 bra again;""" + _WAIT + _STORE
    assert run(body) == [[10 * (1 - block % 2) + t for t in range(32)] for block in range(4)]
