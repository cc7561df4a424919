"""Missing waits of `tcgen05`, found by checks; with all of them nothing is found."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor import launch
from tests.executor.tensor_memory.tensor_kernel import DECLARED, HEADER, allocated

STORE_WAIT = "tcgen05.wait::st.sync.aligned;"
LOAD_WAIT = "tcgen05.wait::ld.sync.aligned;"
TEST = "wait_done: mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;\n\t@!%p bra wait_done;"
BODY = allocated(f"""
	@%lead mbarrier.init.shared::cta.b64 [done], 1;
	mov.u32 %r1, 5;
	tcgen05.st.sync.aligned.32x32b.x1.b32 [%t1], {{%r1}};
	{STORE_WAIT}
	tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r0}}, [%t1];
	{LOAD_WAIT}
	mov.u32 %t2, tile;
	mad.lo.u32 %t3, %id, 16, %t2;
	st.shared.v4.b32 [%t3], {{%id, %id, %id, %id}};
	fence.proxy.async.shared::cta;
	tcgen05.fence::before_thread_sync;
	bar.sync 0;
	tcgen05.fence::after_thread_sync;
	bfe.u32 %t2, %t2, 4, 14;
	cvt.u64.u32 %rd0, %t2;
	or.b64 %rd0, %rd0, 0x400800400000;
	@%lead tcgen05.cp.cta_group::1.128x128b [%t0], %rd0;
	@%lead tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
	{TEST}
	tcgen05.fence::after_thread_sync;
	tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r2}}, [%t1];
	{LOAD_WAIT}
	@%lead st.global.v2.b32 [%out], {{%r0, %r2}};""")


def kinds(body: str) -> list[tuple[str, str]]:
    text = f"{HEADER}.visible .entry k(.param .u64 out)\n{{{DECLARED}{body}\n\tret;\n}}\n"
    found = launch(text, entry="k", grid=1, block=128, args=[np.zeros(2, np.uint32)], check=True)
    lines = text.split("\n")
    return [(one.kind, lines[one.line - 1].split(".sync")[0].split(".cta")[0].split()[-1]) for one in found]


def test_all_waits() -> None:
    assert kinds(BODY) == []


@pytest.mark.parametrize(
    ("missing", "place"),
    [(STORE_WAIT, "tcgen05.ld"), (LOAD_WAIT, "tcgen05.cp")],
    ids=["wait::st", "wait::ld"],
)
def test_a_missing_wait(missing: str, place: str) -> None:
    body = BODY.replace(missing, "", 1)
    assert ("tcgen05-not-waited", place) in kinds(body)


def test_a_copy_that_nobody_waits_for() -> None:
    end = "\tbar.sync 0;\n\t@%first tcgen05.dealloc"
    body = BODY.replace(TEST, "").replace(end, f"\t{TEST}\n{end}")
    assert kinds(body) == [("tcgen05-not-waited", "tcgen05.ld")]
