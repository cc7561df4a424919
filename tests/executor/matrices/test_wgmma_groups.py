"""`wgmma` in groups: what a wait waits for, and the fields of descriptors in traces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, Lane, launch
from ptx_lsp.executor.instrumentation.trace import Trace
from tests.executor.pairs import PAIRS

SOURCE = Path(PAIRS / "wgmma" / "accumulator_too_early.ptx").read_text(encoding="utf-8")
WAIT = "\twgmma.wait_group.sync.aligned 0;\n"
FENCE = "\twgmma.fence.sync.aligned;\n"
A = np.arange(512, dtype=np.uint32) % 7 + 0x3C00  # halves of 1 and a little more, beside zeros


def edited(old: str, new: str) -> str:
    """The correct twin with a change."""
    head, kernel = SOURCE[: SOURCE.index(".entry")], SOURCE[SOURCE.index(".entry correct") :]
    assert old in kernel
    return head + kernel.replace(old, new)


def run(text: str, seed: int = 0, trace: Trace | None = None) -> list[float]:
    out = np.zeros(128, np.float32)
    launch(
        text, entry="correct", grid=1, block=128, args=[A, out], seed=seed, limit=20_000,
        observers=[] if trace is None else [trace],
    )
    return out.tolist()


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_warp_waits_for_the_products_of_the_others(seed: int) -> None:
    """What warp 0 writes after its wait, no warp multiplies with."""
    text = edited(WAIT, f"{WAIT}\tst.shared.b32 [%t3], 0;\n".replace("%t3", "right"))
    assert run(text, seed) == run(edited(WAIT, WAIT))


def test_a_warp_that_issues_nothing() -> None:
    text = edited(FENCE, f"\tshr.u32 %t4, %id, 5;\n\tsetp.eq.u32 %p, %t4, 3;\n\t@%p ret;\n{FENCE}")
    with pytest.raises(ExecutionError, match=r"the other warps of the warpgroup.*wgmma\.wait_group"):
        run(text)


def test_traces_decode_descriptors() -> None:
    trace = Trace(lanes=[Lane((0, 0, 0), (0, 0, 0))])
    run(edited(FENCE, FENCE), trace=trace)
    fields = [event.fields for event in trace.events if "wgmma.mma_async" in event.text]
    assert fields == [
        "A: start 0x0, leading dimension offset 1024, stride dimension offset 128 bytes, no swizzling;"
        " B: start 0x800, leading dimension offset 128, stride dimension offset 128 bytes, no swizzling"
    ]
