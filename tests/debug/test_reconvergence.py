"""Frames of a warp that has diverged: its calls, and the points where its groups meet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from ptx_lsp.debug.adapter.messages import Json
from ptx_lsp.debug.goals import Goal, Hit, Moment
from ptx_lsp.debug.groups import call_at
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.view import View
from ptx_lsp.executor.launching.launch_comment import launch_comments
from ptx_lsp.executor.machine.control import Block
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.model.module import Module
from tests.debug import kernels
from tests.debug.client import Client, connected, objects
from tests.debug.time_travel import recording

_HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
_NESTED = _HEAD + """\
// ptx-run: grid=1 block=16 out=u32:zeros(16)
.visible .entry nested(.param .u64 out)
{
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	mov.u32 %r0, %tid.x;
	setp.ge.u32 %p0, %r0, 12;
	@%p0 ret;
	setp.ge.u32 %p1, %r0, 8;
	mov.u32 %r1, 0;
	@%p1 bra outer;
	setp.ge.u32 %p2, %r0, 4;
	@%p2 bra inner;
	add.u32 %r1, %r1, 1;
inner:
	add.u32 %r1, %r1, 10;
	add.u32 %r1, %r1, 20;
outer:
	ld.param.u64 %rd0, [out];
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r1;
	ret;
}
"""
_INNERMOST, _INNER, _OUTER = 18, 20, 23
"""Lines of `_NESTED`."""

INDIRECT = _HEAD + """\
.func (.reg .b32 d) one(.reg .b32 a)
{
	add.u32 d, a, 1;
	ret;
}
.func (.reg .b32 d) other(.reg .b32 a)
{
	.reg .pred p;
	setp.eq.u32 p, a, 3;
	@p bra odd;
	mul.lo.u32 d, a, 10;
	bra both;
odd:
	mul.lo.u32 d, a, 100;
both:
	add.u32 d, d, 1;
	ret;
}
// ptx-run: grid=1 block=8 out=u32:zeros(8)
.visible .entry indirect(.param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<4>;
	.reg .b64 %rd<6>;
shape: .callprototype (.reg .b32 d) _ (.reg .b32 a);
ways: .branchtargets zero, first, rest, rest;
	mov.u32 %r0, %tid.x;
	mov.u64 %rd0, one;
	mov.u64 %rd1, other;
	and.b32 %r1, %r0, 1;
	setp.eq.u32 %p, %r1, 0;
	selp.b64 %rd2, %rd0, %rd1, %p;
	call (%r2), %rd2, (%r0), shape;
	and.b32 %r1, %r0, 3;
	brx.idx %r1, ways;
zero:
	add.u32 %r2, %r2, 1000;
	bra done;
first:
	add.u32 %r2, %r2, 2000;
	bra done;
rest:
	add.u32 %r2, %r2, 3000;
done:
	ld.param.u64 %rd3, [out];
	mul.wide.u32 %rd4, %r0, 4;
	add.u64 %rd5, %rd3, %rd4;
	st.global.u32 [%rd5], %r2;
	ret;
}
"""
_IN_ONE, _TEN, _HUNDRED, _BOTH, _AFTER, _ZERO, _FIRST, _REST, _DONE = 6, 14, 17, 19, 36, 40, 43, 46, 48
"""Lines of `INDIRECT`."""
_TARGETS = INDIRECT.replace(
    "shape: .callprototype (.reg .b32 d) _ (.reg .b32 a);", "shape: .calltargets one, other;"
)


_RECURSIVE = kernels.CALLS.replace("mov.u32 %r2, 3;", "mov.u32 %r2, %tid.x;").replace("block=1", "block=8")
_CONTINUE = _HEAD + """\
// ptx-run: grid=1 block=8 out=u32:zeros(8)
.visible .entry skips(.param .u64 out)
{
	.reg .pred %p<3>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, 0;
	mov.u32 %r2, 0;
again:
	add.u32 %r1, %r1, 1;
	setp.gt.u32 %p0, %r1, %r0;
	@%p0 bra done;
	add.u32 %r3, %r1, %r0;
	and.b32 %r4, %r3, 1;
	setp.eq.u32 %p1, %r4, 0;
	@%p1 bra again;
	add.u32 %r2, %r2, %r1;
	bra again;
done:
	ld.param.u64 %rd0, [out];
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r2;
	ret;
}
"""


def _stacks(client: Client) -> dict[str, list[str]]:
    """The frames of each group by its mask: the function and the line, or the mask and the line of a
    reconvergence point.
    """
    found: dict[str, list[str]] = {}
    for one in objects(client.body("threads")["threads"]):
        frames = objects(client.body("stackTrace", threadId=one["id"])["stackFrames"])
        for frame in frames:
            assert ("presentationHint" in frame) == str(frame["name"]).startswith("reconvergence with ")
        names = [str(frame["name"]).removeprefix("reconvergence with ") for frame in frames]
        mask = str(one["name"]).split()[-1]
        found[mask] = [f"{name}:{frame['line']}" for name, frame in zip(names, frames, strict=True)]
    return found


def test_nested_branches(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, _NESTED)
    with connected() as client:
        stop = client.start(path, [_INNERMOST, _INNER, _OUTER])
        assert _stacks(client) == {
            "[####............]": [
                f"nested:{_INNERMOST}", f"[....####........]:{_INNER}", f"[........####....]:{_OUTER}"
            ],
            "[....####........]": [
                f"nested:{_INNER}", f"[####............]:{_INNER}", f"[........####....]:{_OUTER}"
            ],
            "[........####....]": [f"nested:{_OUTER}", f"[########........]:{_OUTER}"],
        }
        stop = client.go("continue", stop["threadId"])
        assert _stacks(client) == {
            "[########........]": [f"nested:{_INNER}", f"[........####....]:{_OUTER}"],
            "[........####....]": [f"nested:{_OUTER}", f"[########........]:{_OUTER}"],
        }
        client.go("continue", stop["threadId"])
        assert _stacks(client) == {"[############....]": [f"nested:{_OUTER}"]}


@pytest.mark.parametrize("text", [INDIRECT, _TARGETS], ids=["callprototype", "calltargets"])
def test_indirect_calls_and_brx_idx(tmp_path: Path, text: str) -> None:
    path = kernels.written(tmp_path, text)
    with connected() as client:
        stop = client.start(path, [_IN_ONE, _TEN, _HUNDRED, _BOTH, _ZERO, _FIRST, _REST, _DONE])
        seen: dict[Json, dict[str, list[str]]] = {}
        while stop["event"] == "stopped":
            seen[client.line(stop)] = _stacks(client)
            stop = client.go("continue", stop["threadId"])
    caller = [f"indirect:{_AFTER}", f"[#.#.#.#.]:{_AFTER}"]
    odd = seen[_HUNDRED]["[...#....]"]
    assert odd == [f"other:{_HUNDRED}", f"[.#...#.#]:{_BOTH}", *caller]
    assert seen[_TEN]["[.#...#.#]"] == [f"other:{_TEN}", f"[...#....]:{_BOTH}", *caller]
    assert seen[_BOTH]["[.#.#.#.#]"] == [f"other:{_BOTH}", *caller]
    assert seen[_IN_ONE]["[#.#.#.#.]"] == [
        f"one:{_IN_ONE}", f"indirect:{_AFTER}", f"[.#.#.#.#]:{_AFTER}"
    ]
    assert seen[_FIRST]["[.#...#..]"][1:] == [f"[#.###.##]:{_DONE}"]
    assert seen[_DONE] == {"[########]": [f"indirect:{_DONE}"]}


def test_steps_and_values_in_an_indirect_call(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, INDIRECT)
    with connected() as client:
        stop = client.start(path, [_HUNDRED])
        assert client.value("a", stop) == "3"
        frames = objects(client.body("stackTrace", threadId=stop["threadId"])["stackFrames"])
        assert [
            client.ask("evaluate", expression=name, frameId=frame["id"])["success"]
            for frame, name in zip(frames, ("a", "a", "%rd2", "%rd2"), strict=True)
        ] == [True] * 4
        stop = client.go("stepOut", stop["threadId"])
        assert client.line(stop) == _AFTER + 1
        assert client.value("%r2@3", stop) == "301"
        stop = client.go("stepBack", stop["threadId"])
        assert client.frame(stop["threadId"])["name"] == "other"
        client.breakpoints(path, {"line": _DONE})
        stop = client.go("continue", 1)
        assert [client.value(f"%r2@{lane}", stop) for lane in range(8)] == [
            "1001", "2011", "3003", "3301", "1005", "2051", "3007", "3071"
        ]


def test_in_the_console(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, _NESTED)
    with connected() as client:
        stop = client.start(path, [_INNERMOST])

        def said(line: str, **given: Json) -> str:
            return str(client.body("evaluate", expression=line, context="repl", **given)["result"])

        assert said("info cuda divergence").splitlines() == [
            "Block (0,0,0) Wp 0",
            "  Lanes              Line Reconvergence With Lanes",
            f"* [####............]   {_INNERMOST} line {_INNER}       [....####........]",
            f"                          line {_OUTER}       [........####....]",
            f"  [....####........]   {_INNER} line {_INNER}       [####............]",
            f"                          line {_OUTER}       [........####....]",
            f"  [........####....]   {_OUTER} line {_OUTER}       [########........]",
        ]
        point = objects(client.body("stackTrace", threadId=stop["threadId"])["stackFrames"])[1]
        assert said("info frame", frameId=point["id"]).splitlines()[-1].startswith(f"{_INNERMOST}\t")
        answer = client.body("ptx/warpWatch", expressions=["%r0"])
        first = objects(answer["groups"])[0]
        assert first["reconvergence"] == [
            {"line": _INNER, "lanes": [4, 5, 6, 7]}, {"line": _OUTER, "lanes": [8, 9, 10, 11]}
        ]


@dataclass
class _Comes(Goal):
    """Stops when a thread comes to the first instruction of a block, at a line."""

    lane: Lane
    line: int
    blocks: tuple[Block, ...]

    def reached(self, moment: Moment) -> Hit | None:
        is_first = any(block.steps and block.steps[0] is moment.step for block in self.blocks)
        if not is_first or moment.step.line != self.line:
            return None
        return None if call_at(moment, self.lane) is None else Hit("step")


@pytest.mark.parametrize("text", [
    _NESTED, INDIRECT, kernels.DIVERGENT, _RECURSIVE, _CONTINUE,
], ids=["nested", "indirect", "divergent", "recursive", "continue"])  # fmt: skip
def test_groups_meet_where_their_frames_say(text: str) -> None:
    module = Module.parse(text)
    checked = 0
    for comment in (one for one in launch_comments(module) if not one.problem):
        run = recording(module, comment)
        try:
            checked += sum(_check_points(run, event) for event in range(1, _MOMENTS))
        finally:
            run.close()
    assert checked > 3


def _check_points(run: Recording, event: int) -> int:
    """Goes from a moment on to the nearest reconvergence points; how many there are."""
    stop = run.go_to(event)
    view = View(run.launch, run.machine, stop)
    found = [
        (group, point) for group in view.groups.values() for point in view.reconvergence(group)[:1]
    ] if stop.event == event else []
    for group, point in found:
        there = run.go_on(_Comes(group.first, point.frame.line, run.launch.blocks)).moment
        assert there is not None, (group.name, point)
        arrived = there.wave.full_mask(there.arrived)[group.row]
        first = group.warp * WARP_SIZE
        assert all(arrived[first + lane] for lane in (*group.lanes, *point.lanes)), (group.name, point)
        run.go_to(event)
    return len(found)


_MOMENTS = 60
