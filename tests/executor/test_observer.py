"""The events that observers receive."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor import launch
from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave

TEXT = """.version 8.0
.target sm_80
.address_size 64
.shared .u32 s[48];
.entry k(.param .u64 out) {
.reg .u64 %rd; .reg .u32 %r<4>; .reg .pred %p;
ld.param.u64 %rd, [out];
mov.u32 %r0, %tid.x;
setp.lt.u32 %p, %r0, 3;
mul.lo.u32 %r1, %r0, 4;
st.shared.u32 [%r1], %r0;
bar.sync 0;
@%p ld.shared.u32 %r2, [s+8];
@!%p atom.global.add.u32 %r2, [%rd+4], 1;
ret;
}
"""


class Recorder(Observer):
    def __init__(self) -> None:
        self.accesses: list[tuple[int, str, str, int, list[int], list[int]]] = []
        self.steps: list[tuple[int, int]] = []
        self.done: list[int] = []
        self.meetings: list[tuple[int, int]] = []

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        self.steps.append((step.line, wave.count if active is None else int(active.sum())))

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        self.accesses.append((
            step.line, access.use, access.space, access.size, access.lanes.tolist(), access.offsets.tolist()
        ))

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        self.done.append(step.line)

    def met(self, wave: Wave, step: Step, arrived: Bools, released: Bools, number: int | None) -> None:
        self.meetings.append((step.line, int(released.sum())))


def test_everything_is_told() -> None:
    recorder = Recorder()
    out = np.zeros(4, np.uint32)
    launch(TEXT, entry="k", grid=2, block=5, args=[out], observers=[recorder])
    assert out.tolist() == [0, 4, 0, 0]
    assert recorder.steps == [
        (7, 10), (8, 10), (9, 10), (10, 10), (11, 10), (12, 10), (13, 6), (14, 4), (15, 10)
    ]
    assert recorder.done == [7, 8, 9, 10, 11, 13, 14]
    assert recorder.meetings == [(12, 10)]
    lanes = [0, 1, 2, 3, 4, 32, 33, 34, 35, 36]
    assert recorder.accesses == [
        (7, "read", ".param", 8, lanes, [0] * 10),
        (11, "write", ".shared", 4, lanes, [0, 4, 8, 12, 16, 192, 196, 200, 204, 208]),
        (13, "read", ".shared", 4, [0, 1, 2, 32, 33, 34], [8, 8, 8, 200, 200, 200]),
        (14, "update", ".global", 4, [3, 4, 35, 36], [4] * 4),
    ]


def test_several_observers() -> None:
    recorders = [Recorder(), Recorder()]
    launch(TEXT, entry="k", grid=1, block=1, args=[np.zeros(4, np.uint32)], observers=recorders)
    assert recorders[0].steps == recorders[1].steps != []
    assert recorders[0].accesses == recorders[1].accesses
    assert recorders[0].done == recorders[1].done
    assert recorders[0].meetings == recorders[1].meetings == [(12, 1)]


class Stores(Recorder):
    def concerns(self, step: Step) -> bool:
        return step.text.startswith("st.")


@pytest.mark.parametrize("is_alone", [False, True])
def test_only_the_steps_that_concern_it(is_alone: bool) -> None:
    """An observer is told of these. It learns of all accesses and meetings."""
    stores, everything = Stores(), Recorder()
    for observers in ([stores], [everything]) if is_alone else ([stores, everything],):
        launch(TEXT, entry="k", grid=1, block=1, args=[np.zeros(4, np.uint32)], observers=observers)
    assert stores.steps == [(11, 1)]
    assert stores.done == [11]
    assert stores.accesses == everything.accesses
    assert stores.meetings == everything.meetings
    assert len(everything.steps) == 9


@pytest.mark.parametrize("wait", ["test_wait", "try_wait"])
def test_a_wait_at_an_mbarrier_is_one_access(wait: str) -> None:
    text = f"""
.version 8.0
.target sm_90
.shared .u64 bar;
.entry k() {{
.reg .u64 %state; .reg .pred %p;
mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.shared.b64 %state, [bar];
mbarrier.{wait}.shared.b64 %p, [bar], %state;
ret;
}}
"""
    recorder = Recorder()
    launch(text, entry="k", grid=1, block=1, observers=[recorder])
    assert [access[:3] for access in recorder.accesses if access[0] == 9] == [(9, "read", ".shared")]


def test_apart_in_generic_addresses() -> None:
    """Lanes that reach into several memories with one instruction are told of memory by memory."""
    text = TEXT.replace("@%p ld.shared.u32 %r2, [s+8];", """
.reg .u64 %s; cvta.shared.u64 %s, s; selp.b64 %s, %s, %rd, %p; st.u32 [%s], %r0;""")
    recorder = Recorder()
    launch(text, entry="k", grid=1, block=5, args=[np.zeros(4, np.uint32)], observers=[recorder])
    assert sorted(recorder.accesses[2:4]) == [
        (14, "write", ".global", 4, [3, 4], [0, 0]), (14, "write", ".shared", 4, [0, 1, 2], [0, 0, 0])
    ]
