"""Warps of which all lanes take part, as native code."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.native.hot import NativeMode
from tests.executor.test_native import RANDOM, both, kernel


@pytest.mark.parametrize("access", [
    "ld.global.u32 %r7, [%rd5+4];", "st.global.u32 [%rd5+4], %r7;", "atom.global.add.u32 %r7, [%rd5+4], 1;",
    "ld.shared.u32 %r7, [%r6];", "@%p1 ld.global.u32 %r7, [%rd5+4096];",
])
@pytest.mark.parametrize("between", [
    "", "@%p1 bra on; add.u32 %r5, %r5, 1; on:", "@%p2 exit;", "bra on; on:",
])
def test_full_warps_stop_after_they_have_written(access: str, between: str) -> None:
    """The same line and threads, and each thing done once."""
    body = f"""
    mov.u32 %r7, 3;
    add.u32 %r5, %r1, %r7;
    mul.lo.u32 %r6, %r1, 16;
    setp.gt.u32 %p1, %r1, 20;
    setp.gt.u32 %p2, %r1, 31;
    atom.global.add.u32 %r8, [%rd4], %r5;
    {between}
    red.global.add.u32 [%rd4], %r5;
    {access}
    st.global.u32 [%rd4], %r7;"""
    text = kernel(body, ".shared .align 4 .b8 tile[256];")
    found: list[tuple[str, object, bytes]] = []
    modes: tuple[NativeMode, ...] = ("off", "always")
    for mode in modes:
        out = np.full(32, 9, np.uint32)
        with pytest.raises(ExecutionError) as caught:
            launch(text, entry="k", grid=1, block=32, args=[out, np.zeros(32, np.uint32)], native=mode)
        found.append((str(caught.value), caught.value.lanes, out.tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("most", [20, 21, 22, 70])
def test_threads_exit_one_after_the_other(most: int) -> None:
    """Full warps that exit, jump or part, before and after they have written."""
    body = f"""
    ld.global.u32 %r5, [%rd5];
    setp.gt.u32 %p1, %r4, {most};
    @%p1 bra done;
    st.global.u32 [%rd4], %r5;
    setp.gt.u32 %p2, %r5, 50;
    @%p2 exit;
    mad.lo.u32 %r5, %r5, 3, %r4;
    st.global.u32 [%rd4], %r5;
done:
    st.global.u32 [%rd4+800], %r4;"""
    numbers = RANDOM.integers(0, 100, 200).astype(np.uint32)
    numbers[32:64], numbers[64:96] = 3, 70
    _, left = both(kernel(body), "k", 2, 100, [np.zeros(400, np.uint32), numbers])
    assert left == 0


def test_generic_addresses_of_the_shared_memory_of_each_block() -> None:
    body = """
    mul.lo.u32 %r5, %r1, 4;
    st.shared.u32 [%r5], %r4;
    cvt.u64.u32 %rd6, %r5;
    cvta.shared.u64 %rd6, %rd6;
    ld.u32 %r6, [%rd6];
    st.global.u32 [%rd4], %r6;"""
    text = kernel(body, ".shared .align 4 .b8 tile[256];")
    (out, _), left = both(text, "k", 3, 64, [np.zeros(192, np.uint32), np.zeros(1, np.uint32)])
    assert isinstance(out, np.ndarray)
    assert (out == np.arange(192)).all()
    assert left == 0
