"""Every launch ends: what waits in vain is a deadlock that says for what, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, launch

_BIG = (1 << 31) - 1
_HEAD = """.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 out)
{
.reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p<8>;
.shared .align 8 .b64 bar; .shared .align 4 .u32 word; .shared .align 4 .u32 reply;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0;
"""


def _run(body: str, grid: int, block: int = 64, cluster: int = 1, seed: int = 0) -> int:
    """What the kernel has written."""
    out = np.zeros(4, np.uint32)
    text = _HEAD + body + "\nret;\n}\n"
    launch(text, entry="k", grid=grid, block=block, args=[out], cluster=cluster, seed=seed)
    return int(out[0])


def _deadlock(body: str, grid: int = 2, block: int = 64, cluster: int = 1) -> ExecutionError:
    with pytest.raises(ExecutionError) as caught:
        _run(body, grid, block, cluster)
    assert caught.value.kind == "deadlock"
    return caught.value


@pytest.mark.parametrize("loop", [
    "again: bra again;",
    "again: add.u32 %r1, %r1, 1; bra again;",
    "again: mov.u32 %r3, %clock; bra again;",
    "@%p1 ret; again: xor.b32 %r1, %r1, 1; setp.eq.u32 %p3, %r1, 1; @%p3 bra other; bra again;"
    " other: nanosleep.u32 9; bra again;",
])
def test_a_loop_that_nothing_leaves(loop: str) -> None:
    assert "in an endless loop (line 11" in str(_deadlock(loop, grid=_BIG))


def test_a_loop_that_is_never_left() -> None:
    loop = "again: and.b32 %r3, %r1, 63; setp.gt.u32 %p3, %r3, 63; @!%p3 bra again;"
    assert "64 in an endless loop (line 11" in str(_deadlock(loop, grid=_BIG))


_INIT = "@%p1 mbarrier.init.shared.b64 [bar], 65;\nbar.sync 0;\nmbarrier.arrive.shared.b64 %rd2, [bar];\n"


@pytest.mark.parametrize("wait", ["test_wait", "try_wait"])
def test_a_phase_that_is_never_complete(wait: str) -> None:
    loop = f"again: mbarrier.{wait}.shared.b64 %p3, [bar], %rd2;\n@!%p3 bra again;"
    error = _deadlock(_INIT + loop)
    lacks = "whose phase (parity 0) lacks 1 of 65 arrivals and 0 bytes"
    assert f"at the mbarrier at 0x0, {lacks} (line 14" in str(error)
    assert (error.line, len(error.lanes)) == (14, 32)


def test_bytes_that_never_come() -> None:
    body = """@%p1 mbarrier.init.shared.b64 [bar], 1;
bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd2, [bar], 16;
again: mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0;
@%p3 bra done;
nanosleep.u32 20;
bra again;
done:"""
    assert "lacks 0 of 1 arrivals and 16 bytes (line 14: `mbarrier.test_wait" in str(_deadlock(body))


@pytest.mark.parametrize("look", [
    "ld.volatile.global.u32 %r3, [%rd1];", "ld.acquire.gpu.global.u32 %r3, [%rd1];",
    "ld.global.u32 %r3, [%rd1];", "atom.global.add.u32 %r3, [%rd1], 0;",
    "atom.global.exch.b32 %r3, [%rd1], 0;",
])
def test_memory_that_nobody_writes(look: str) -> None:
    error = _deadlock(f"again: {look}\nsetp.eq.u32 %p3, %r3, 0;\n@%p3 bra again;", grid=3)
    what = "memory that no thread writes any more, `out` with the value 0"
    assert f"64 at {what} (line 11: `{look}`); in other blocks, 128 more at line 11" in str(error)


def test_a_lock_that_is_never_given_back() -> None:
    body = "again: atom.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.u32 %p3, %r3, 0; @%p3 bra again;"
    error = _deadlock(body)
    assert "of 63 running threads, 63 at memory" in str(error)


def test_blocks_for_which_there_is_no_room() -> None:
    body = f"""setp.eq.u32 %p3, %r2, {_BIG - 1};
@%p3 st.volatile.global.u32 [%rd1], 1;
again: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p3, %r3, 0; @%p3 bra again;"""
    assert str(_deadlock(body, grid=_BIG, block=1024)).endswith(
        f"; {_BIG - 2 * 160} blocks have not started: at most {2 * 160} are resident at once"
    )


def test_barriers_and_what_they_count() -> None:
    error = _deadlock("@%p1 bra other;\nbar.sync 1, 128;\nother: bar.sync 2;", grid=1)
    reached = "63 at barrier 1, which 63 of 128 threads have reached (line 12: `bar.sync 1, 128;`)"
    assert f"{reached}, 1 at barrier 2, which 1 of 64 threads have reached (line 13" in str(error)


def test_clusters_of_which_a_block_stays_away() -> None:
    body = "@%p2 bar.sync 1, 96;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;"
    error = _deadlock(body, cluster=2)
    assert "64 running threads, 64 at barrier 1, which 64 of 96 threads have reached" in str(error)
    assert "; in other blocks, 64 at the cluster barrier, which 64 threads have not" in str(error)


@pytest.mark.parametrize("seed", [0, 1])
def test_what_takes_long_and_ends(seed: int) -> None:
    late = """setp.ne.u32 %p3, %r2, 1500;
@%p3 bra again;
st.global.u32 [%rd1], 5;
again: ld.global.u32 %r3, [%rd1]; setp.eq.u32 %p3, %r3, 0; @%p3 bra again;"""
    assert _run(late, 1501, seed=seed) == 5  # of several waves the last is waited for
    slow = """mov.u32 %r4, 0;
@%p1 bra count;
again: ld.volatile.shared.u32 %r3, [word]; setp.eq.u32 %p3, %r3, 0; @%p3 bra again;
ret;
count: add.u32 %r4, %r4, 1; setp.lt.u32 %p4, %r4, 3000; @%p4 bra count;
st.volatile.shared.u32 [word], 1; st.global.u32 [%rd1], %r4;"""
    assert _run(slow, 1, seed=seed) == 3000


def test_memory_that_changes_meanwhile() -> None:
    """The registers of all are the same again and again, until a count in memory is there."""
    body = """@%p1 st.shared.u32 [word], 0; @%p1 st.shared.u32 [reply], 0;
bar.sync 0;
@%p1 bra give;
again: ld.volatile.shared.u32 %r3, [word]; setp.lt.u32 %p3, %r3, 2000; mov.u32 %r3, 0; @%p3 bra again;
st.volatile.shared.u32 [reply], 1;
ret;
give: red.shared.add.u32 [word], 1;
ld.volatile.shared.u32 %r4, [reply]; setp.eq.u32 %p4, %r4, 0; @%p4 bra give;
st.global.u32 [%rd1], 9;"""
    assert _run(body, 1, 33) == 9


def test_memory_that_is_put_back_meanwhile() -> None:
    """Whenever all registers are the same, memory is so too; in between it is not, and somebody sees it."""
    body = """@%p1 st.shared.u32 [word], 0; @%p1 st.shared.u32 [reply], 0;
bar.sync 0;
@%p1 bra give;
again: ld.volatile.shared.u32 %r3, [word]; setp.eq.u32 %p3, %r3, 0; mov.u32 %r3, 0; @%p3 bra again;
st.volatile.shared.u32 [reply], 1;
ret;
give: st.volatile.shared.u32 [word], 1;
bra back;
back: st.volatile.shared.u32 [word], 0;
ld.volatile.shared.u32 %r4, [reply]; setp.eq.u32 %p4, %r4, 0; @%p4 bra give;
st.global.u32 [%rd1], 8;"""
    assert _run(body, 1, 33) == 8


def test_copies_that_nobody_waits_for() -> None:
    body = """@!%p1 bra done;
st.shared.v2.u32 [bar], {7, 7};
fence.proxy.async;
mov.u32 %r4, bar;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r4], 16;
cp.async.bulk.commit_group;
again: ld.volatile.global.u32 %r5, [%rd1]; setp.eq.u32 %p3, %r5, 0; @%p3 bra again;
done:"""
    assert _run(body, 1) == 7


def test_the_limit() -> None:
    body = "again: add.u32 %r1, %r1, 1; setp.ne.u32 %p3, %r1, 99999999; @%p3 bra again;"
    with pytest.raises(ExecutionError, match="within 3000 instructions; raise `limit`") as caught:
        launch(
            _HEAD + body + "\nret;\n}\n", entry="k", grid=_BIG, block=64, args=[np.zeros(4, np.uint32)],
            limit=3000,
        )
    assert caught.value.kind == "limit"


@pytest.mark.parametrize("grid", [3, 2000])
def test_blocks_of_a_cooperative_launch_meet(grid: int) -> None:
    """As `grid.sync()` of cooperative groups does; of 2000 blocks not all begin at once."""
    body = """red.global.add.u32 [%rd1+4], 1;
mov.b32 %r3, %envreg2; mov.b32 %r4, %envreg1; mov.b64 %rd2, {%r3, %r4};
bar.sync 0;
@!%p1 bra meet;
mov.u32 %r5, %nctaid.x; sub.u32 %r5, 0x80000001, %r5;
selp.b32 %r5, %r5, 1, %p2;
atom.add.release.gpu.u32 %r6, [%rd2+4], %r5;
wait: ld.acquire.gpu.u32 %r5, [%rd2+4];
xor.b32 %r5, %r5, %r6; setp.gt.s32 %p3, %r5, -1; @%p3 bra wait;
meet: bar.sync 0;
@!%p2 ret;
ld.global.u32 %r5, [%rd1+4];
st.global.u32 [%rd1], %r5;"""
    assert _run(body, grid, 32) == grid * 32


def test_a_block_that_stays_away_from_the_others() -> None:
    body = """mov.b32 %r3, %envreg2; mov.b32 %r4, %envreg1; mov.b64 %rd2, {%r3, %r4};
@%p2 ret;
@!%p1 bra meet;
wait: ld.acquire.gpu.u32 %r5, [%rd2+4]; setp.gt.s32 %p3, %r5, -1; @%p3 bra wait;
meet: bar.sync 0;"""
    message = str(_deadlock(body))
    assert "in block (1, 0, 0): of 64 running threads, 63 at barrier 0, which 63 of 64 threads" in message
    assert "(line 14: `ld.acquire.gpu.u32 %r5, [%rd2+4];`)" in message


def test_locks_in_opposite_orders() -> None:
    """Each block holds what the other one waits for."""
    body = """@!%p1 bra done;
add.u64 %rd2, %rd1, 4; selp.b64 %rd3, %rd1, %rd2, %p2; selp.b64 %rd2, %rd2, %rd1, %p2;
first: atom.global.acquire.gpu.cas.b32 %r3, [%rd3], 0, 1; setp.ne.u32 %p3, %r3, 0; @%p3 bra first;
mov.u32 %r4, 0;
work: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 100; @%p3 bra work;
second: atom.global.acquire.gpu.cas.b32 %r3, [%rd2], 0, 1; setp.ne.u32 %p3, %r3, 0; @%p3 bra second;
done:"""
    message = str(_deadlock(body, block=32))
    assert "1 at memory that no thread writes any more, `out` + 4 with the value 1 (line 16: `atom" in message
    assert message.endswith("; in other blocks, 1 more at line 16")


def test_threads_that_wait_for_different_mbarriers() -> None:
    body = """@%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 mbarrier.init.shared.b64 [other], 1;
bar.sync 0;
setp.lt.u32 %p4, %r1, 32; @%p4 bra produce;
consume: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra consume;
mbarrier.arrive.shared.b64 _, [other]; ret;
produce: mbarrier.try_wait.parity.shared.b64 %p3, [other], 0; @!%p3 bra produce;
mbarrier.arrive.shared.b64 _, [bar];"""
    message = str(_deadlock(f".shared .align 8 .b64 other; {body}", grid=1))
    lacks = "whose phase (parity 0) lacks 1 of 1 arrivals and 0 bytes"
    assert f"32 at the mbarrier at 0x0, {lacks} (line 14: " in message
    assert f"32 at the mbarrier at 0x10, {lacks} (line 16: " in message


def test_a_barrier_with_different_counts() -> None:
    body = """setp.lt.u32 %p3, %r1, 32; @%p3 bra few;
bar.sync 1, 96; ret;
few: bar.sync 1, 64; bar.sync 1, 64;"""
    message = str(_deadlock(body, grid=1))
    assert "32 at barrier 1, which 64 of 96 threads have reached (line 13: `bar.sync 1, 64;`)" in message
    assert "32 at barrier 1, which 64 of 96 threads have reached (line 12: `bar.sync 1, 96;`)" in message
