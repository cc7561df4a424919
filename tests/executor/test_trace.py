"""Traces and profiles of small kernels whose figures can be counted by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, Lane, launch
from ptx_lsp.executor.instrumentation.profile import LineProfile, Profile
from ptx_lsp.executor.instrumentation.trace import Trace

HEAD = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out) {
.reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p<3>;
.shared .align 16 .u32 s[2048];
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
"""
TRACED = HEAD + """setp.lt.u32 %p1, %r1, 2;
@%p1 add.s32 %r2, %r1, -5;
@!%p1 bra done;
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd2, %rd1, %rd2;
st.global.u32 [%rd2+4], %r2;
done: ret;
}
"""


def thread(x: int, block: int = 0) -> Lane:
    return Lane((block, 0, 0), (x, 0, 0))


def traced(trace: Trace) -> Trace:
    launch(TRACED, entry="k", grid=2, block=40, args=[np.zeros(64, np.uint32)], observers=[trace])
    return trace


def test_events() -> None:
    trace = traced(Trace(lanes=[thread(1), thread(2, block=1)]))
    rows = [(e.line, e.lane.thread[0], dict(e.reads), dict(e.writes)) for e in trace.events]
    assert rows == [
        (7, 1, {}, {"%rd1": 0x7_0000_0000}), (7, 2, {}, {"%rd1": 0x7_0000_0000}),
        (8, 1, {}, {"%r1": 1}), (8, 2, {}, {"%r1": 2}),
        (9, 1, {"%r1": 1}, {"%p1": 1}), (9, 2, {"%r1": 2}, {"%p1": 0}),
        (10, 1, {"%p1": 1, "%r1": 1}, {"%r2": 0xFFFFFFFC}),
        (11, 2, {"%p1": 0}, {}),
        (12, 1, {"%r1": 1}, {"%rd2": 4}),
        (13, 1, {"%rd1": 0x7_0000_0000, "%rd2": 4}, {"%rd2": 0x7_0000_0004}),
        (14, 1, {"%rd2": 0x7_0000_0004, "%r2": 0xFFFFFFFC}, {}),
        (15, 1, {}, {}), (15, 2, {}, {}),
    ]
    store = trace.events[-3]
    assert (store.text, store.space, store.use) == ("st.global.u32 [%rd2+4], %r2;", ".global", "write")
    assert store.address == 0x7_0000_0008
    assert trace.dropped == 0


def test_a_trace_is_limited() -> None:
    trace = traced(Trace(limit=5, each=3))
    assert len(trace.events) == 5
    assert [one.lane for one in trace.events[:3]] == [thread(0), thread(1), thread(2)]
    assert trace.dropped > 0
    chosen = traced(Trace(lines=[12]))
    assert [one.lane for one in chosen.events] == [thread(0), thread(1), thread(0, 1), thread(1, 1)]
    assert {one.line for one in chosen.events} == {12}


def test_a_trace_ends_with_what_went_wrong() -> None:
    trace = Trace()
    with pytest.raises(ExecutionError):
        launch(
            TRACED, entry="k", grid=1, block=1, args=[np.zeros(1, np.uint32)], observers=[trace]
        )
    assert (trace.events[-1].line, trace.events[-1].use) == (14, None)


def profiled(body: str, *, block: int = 32, grid: int = 1, shared: int = 0) -> Profile:
    profile = Profile()
    launch(
        HEAD + body + "\nret;\n}\n", entry="k", grid=grid, block=block, shared_bytes=shared,
        args=[np.zeros(1 << 14, np.uint32)], observers=[profile],
    )
    return profile


def line(body: str, *, block: int = 32, grid: int = 1) -> LineProfile:
    """That of line 10, the second of the body."""
    return profiled(body, block=block, grid=grid).lines[10]


def test_divergence() -> None:
    body = "setp.lt.u32 %p1, %r1, 36;\n@%p1 add.u32 %r2, %r1, 1;"
    one = line(body, block=80, grid=3)
    assert (one.issues, one.lanes, one.possible_lanes) == (6, 108, 192)
    assert one.active_percent == pytest.approx(56.25)
    profile = profiled(body, block=80, grid=3)
    assert profile.opcodes == {
        "ld.param.u64": 240, "mov.u32": 240, "setp.lt.u32": 240, "add.u32": 108, "ret": 240
    }
    assert profile.instructions == 4 * 240 + 108


@pytest.mark.parametrize(
    ("stride", "operation", "sectors"),
    [
        (4, "ld.global.u32 %r2, [%rd2];", 4),
        (8, "ld.global.u32 %r2, [%rd2];", 8),
        (32, "ld.global.u32 %r2, [%rd2];", 32),
        (0, "ld.global.u32 %r2, [%rd2];", 1),
        (16, "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd2];", 16),
        (4, "ld.global.u32 %r2, [%rd2+16];", 5),
        (1, "st.global.u8 [%rd2], %r1;", 1),
        (4, "red.global.add.u32 [%rd2], 1;", 4),
    ],
)
def test_sectors(stride: int, operation: str, sectors: int) -> None:
    one = line(f"mul.wide.u32 %rd2, %r1, {stride}; add.u64 %rd2, %rd1, %rd2;\n{operation}", block=64)
    assert (one.issues, one.sectors) == (2, 2 * sectors)


@pytest.mark.parametrize(
    ("stride", "operation", "passes", "conflicts"),
    [
        (4, "ld.shared.u32 %r2, [%r3];", 1, 0),
        (8, "ld.shared.u32 %r2, [%r3];", 2, 1),
        (128, "ld.shared.u32 %r2, [%r3];", 32, 31),
        (132, "ld.shared.u32 %r2, [%r3];", 1, 0),
        (0, "ld.shared.u32 %r2, [%r3];", 1, 0),
        (8, "ld.shared.u64 %rd3, [%r3];", 2, 0),
        (16, "ld.shared.v4.u32 {%r2, %r5, %r6, %r7}, [%r3];", 4, 0),
        (32, "ld.shared.v4.u32 {%r2, %r5, %r6, %r7}, [%r3];", 8, 4),
    ],
)
def test_bank_conflicts(stride: int, operation: str, passes: int, conflicts: int) -> None:
    one = line(f"mov.u32 %r4, s; mad.lo.u32 %r3, %r1, {stride}, %r4;\n{operation}")
    assert (one.passes, one.conflicts) == (passes, conflicts)


def test_the_source_line() -> None:
    source = Path(__file__).parents[1] / "oracle" / "corpus" / "nvcc130_reduce.sm80.lineinfo.ptx"
    profile = Profile()
    launch(
        source, entry="_Z9block_sumIfLi256EEvPKT_PS0_i", grid=1, block=256, observers=[profile],
        args=[np.zeros(256, np.float32), np.zeros(1, np.float32), np.int32(256)],
    )
    assert all(one.source.rpartition(":")[2].isdigit() for one in profile.lines.values())
    assert any(one.source.startswith("/src/gen/cuda/reduce.cu:") for one in profile.lines.values())
