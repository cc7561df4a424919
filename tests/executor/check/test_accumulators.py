"""The accumulator of `wgmma` is read where `scale-d` is true, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor import launch

KERNEL = """
.version 8.0
.target sm_90a
.address_size 64

.entry k(.param .u32 adds)
{
	.shared .align 128 .b8 tiles[4096];
	.reg .f32 %f<4>;
	.reg .b32 %r<2>;
	.reg .b64 %rd;
	.reg .pred %p;
	ld.param.u32 %r0, [adds];
	setp.ne.u32 %p, %r0, 0;
	mov.u32 %r1, tiles;
	bfe.u32 %r1, %r1, 4, 14;
	cvt.u64.u32 %rd, %r1;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd, %rd, SCALE, 1, 1, 0, 0;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd, %rd, 1, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	ret;
}
"""


@pytest.mark.parametrize(
    ("scale", "adds", "expected"),
    [("0", 0, []), ("%p", 0, []), ("%p", 1, [19] * 4), ("1", 0, [19] * 4)],
)
def test_an_accumulator_counts_where_it_is_added_to(scale: str, adds: int, expected: list[int]) -> None:
    text = KERNEL.replace("SCALE", scale)
    findings = launch(text, entry="k", grid=1, block=128, args=[np.uint32(adds)], check=True)
    lines = [one.line for one in findings if one.kind == "uninitialized-register"]
    assert lines == expected
