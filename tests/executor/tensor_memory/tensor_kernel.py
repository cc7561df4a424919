"""Kernels around `tcgen05` instructions, for tests."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor import launch

HEADER = ".version 9.1\n.target sm_100a\n.address_size 64\n"
ALLOC = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"
DEALLOC = "tcgen05.dealloc.cta_group::1.sync.aligned.b32"
DECLARED = """
	.shared .align 1024 .b8 tile[16384];
	.shared .align 8 .b64 done;
	.shared .b32 slot;
	.reg .pred %p, %q, %first, %lead;
	.reg .b32 %t<8>, %id, %warp, %lane, %r<300>;
	.reg .b64 %rd<8>, %out;
	mov.u32 %id, %tid.x;
	shr.u32 %warp, %id, 5;
	and.b32 %lane, %id, 31;
	setp.eq.u32 %first, %warp, 0;
	setp.eq.u32 %lead, %id, 0;
	ld.param.u64 %out, [out];
"""


def run(
    body: str, count: int = 1, *, block: int = 128, grid: int = 1, cluster: int | None = None, seed: int = 0
) -> npt.NDArray[np.uint32]:
    """Runs statements; the words at %out afterwards."""
    found = np.zeros(count, np.uint32)
    text = f"{HEADER}.visible .entry k(.param .u64 out)\n{{{DECLARED}{body}\n\tret;\n}}\n"
    launch(
        text, entry="k", grid=grid, block=block, args=[found], cluster=cluster, seed=seed, limit=100_000
    )
    return found


def allocated(body: str, columns: int = 32) -> str:
    """Statements between the allocation of columns, from %t0 on, and their return."""
    return f"""
	@%first {ALLOC} [slot], {columns};
	bar.sync 0;
	ld.shared.b32 %t0, [slot];
	shl.b32 %t1, %warp, 21;
	add.u32 %t1, %t1, %t0;
{body}
	bar.sync 0;
	@%first {DEALLOC} %t0, {columns};
"""


def registers(count: int, first: int = 0) -> str:
    """A vector of registers."""
    return "{" + ", ".join(f"%r{first + at}" for at in range(count)) + "}"
