"""Kernels that are hard to stop, to step and to go back in: with many threads, the heap, printing, barriers
of a grid, much memory, endless loops, and asynchronous matrix products.
"""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from ptx_lsp.debug.adapter.messages import Json, Object
from tests.debug import kernels
from tests.debug.client import Client, connected, objects
from tests.debug.time_travel import KERNELS


def _line(text: str, instruction: str) -> int:
    return text[: text.index(instruction)].count("\n") + 1


_HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"
_MANY = kernels.DIVERGENT.replace(
    "grid=1 block=32 out=u32:zeros(32)", "grid=40 block=1000 out=u32:zeros(1000)"
)


def test_forty_thousand_threads(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, _MANY)
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", program=str(path))
        given: Object = {"line": kernels.BRANCH, "condition": "%ctaid.x == 31 && %tid.x == 999"}
        client.breakpoints(path, given)
        client.body("configurationDone")
        stop = client.event("stopped")
        found = client.body("ptx/focus")
        assert (found["block"], found["thread"], found["lane"]) == ([31, 0, 0], [999, 0, 0], 7)
        assert client.value("%r0", stop) == "999"
        listed = objects(client.body("threads")["threads"])
        assert len(listed) == 1024
        assert stop["threadId"] in [one["id"] for one in listed]
        stop = client.go("next", stop["threadId"])
        assert client.line(stop) == kernels.HIGH
        stop = client.go("stepBack", stop["threadId"])
        assert client.line(stop) == kernels.BRANCH
        client.breakpoints(path)
        assert client.go("continue")["event"] == "terminated"


_HEAP = _HEAD + """\
.extern .func (.param .b64 found) malloc(.param .b64 size);
.extern .func free(.param .b64 place);
.extern .func (.param .b32 count) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 format[4] = {37, 117, 10, 0};
// ptx-run: grid=1 block=4 out=u32:zeros(4)
.visible .entry heap(.param .u64 out)
{
	.local .align 8 .b32 values[2];
	.reg .b32 %r<4>;
	.reg .b64 %rd<8>;
	mov.u32 %r0, %tid.x;
	mov.u64 %rd0, 64;
	{
	.param .b64 size;
	.param .b64 found;
	st.param.b64 [size], %rd0;
	call.uni (found), malloc, (size);
	ld.param.b64 %rd1, [found];
	}
	st.global.u32 [%rd1], %r0;
	ld.global.u32 %r1, [%rd1];
	st.local.u32 [values], %r1;
	mov.u64 %rd2, format;
	cvta.global.u64 %rd2, %rd2;
	mov.u64 %rd3, values;
	cvta.local.u64 %rd3, %rd3;
	{
	.param .b64 text;
	.param .b64 of;
	.param .b32 count;
	st.param.b64 [text], %rd2;
	st.param.b64 [of], %rd3;
	call.uni (count), vprintf, (text, of);
	}
	{
	.param .b64 place;
	st.param.b64 [place], %rd1;
	call.uni free, (place);
	}
	ret;
}
"""
_MALLOC, _LOAD_HEAP, _PRINT, _FREE, _END = (
    _line(_HEAP, one)
    for one in ("call.uni (found)", "ld.global", "call.uni (count)", "call.uni free", "ret;")
)


def test_the_heap_and_printing_go_back(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, _HEAP)
    with connected() as client:
        stop = client.start(path, [_LOAD_HEAP])
        place = client.value("%rd1@3", stop)
        assert client.value("[%rd1@3]:u32", stop) == "3"
        client.breakpoints(path, {"line": _MALLOC})
        stop = client.go("reverseContinue", stop["threadId"])
        assert client.line(stop) == _MALLOC
        assert client.value(f"[{place}]:u32", stop) == "0"
        client.breakpoints(path, {"line": _END})
        stop = client.go("continue", stop["threadId"])
        assert client.value("%rd1@3", stop) == place
        client.breakpoints(path, {"line": _FREE})
        stop = client.go("reverseContinue", stop["threadId"])
        assert client.value("[%rd1@3]:u32", stop) == "3"
        client.breakpoints(path, {"line": _PRINT})
        assert client.line(client.go("reverseContinue", stop["threadId"])) == _PRINT
        client.breakpoints(path)
        assert client.go("continue")["event"] == "terminated"
        assert client.output == "0\n1\n2\n3\n"


_GRID = _HEAD + """\
.func together(.reg .b64 place, .reg .b32 wanted)
{
	.reg .pred p;
	.reg .b32 seen;
	atom.add.acq_rel.gpu.global.u32 seen, [place], 1;
look:
	ld.acquire.gpu.global.u32 seen, [place];
	setp.lt.u32 p, seen, wanted;
	@p bra look;
	ret;
}
.visible .entry grid(.param .u64 arrived, .param .u64 out)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	mov.u32 %r0, %ctaid.x;
	ld.param.u64 %rd0, [arrived];
	ld.param.u64 %rd1, [out];
	mul.wide.u32 %rd2, %r0, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r0;
	mov.u32 %r1, %nctaid.x;
	call together, (%rd0, %r1);
	ld.global.u32 %r2, [%rd1+12];
	st.global.u32 [%rd3], %r2;
	ret;
}
"""
_GRID_CALL = _line(_GRID, "call together")


def test_a_step_over_a_barrier_of_a_cooperative_grid(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, _GRID)
    (tmp_path / "launch.toml").write_text(
        f'file = "{path.name}"\ngrid = 4\nblock = 1\ncooperative = true\n'
        '[arguments]\narrived = "u32:zeros(1)"\nout = "u32:zeros(4)"\n'
    )
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", launchFile=str(tmp_path / "launch.toml"))
        client.event("initialized")
        client.breakpoints(path, {"line": _GRID_CALL})
        client.body("configurationDone")
        stop = client.event("stopped")
        client.breakpoints(path)
        assert client.value("[%rd0]:u32", stop) == "0"
        stop = client.go("next", stop["threadId"])
        assert (client.line(stop), client.value("[%rd0]:u32", stop)) == (_GRID_CALL + 1, "4")
        stop = client.go("next", stop["threadId"])
        assert client.value("%r2", stop) == "3"
        client.breakpoints(path, {"line": _GRID_CALL})
        stop = client.go("reverseContinue", stop["threadId"])
        assert client.value("[%rd0]:u32", stop) == "0"
        client.breakpoints(path)
        assert client.go("continue")["event"] == "terminated"


_LARGE = _HEAD + """\
.extern .shared .b32 dynamic[];
// ptx-run: grid=1 block=32 shared=229376 out=u32:zeros(32)
.visible .entry large(.param .u64 out)
{
	.reg .b32 %r<4>;
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, dynamic;
	mad.lo.u32 %r2, %r0, 7168, %r1;
	st.shared.u32 [%r2+7164], %r0;
	bar.warp.sync -1;
	ret;
}
"""


def test_much_dynamic_shared_memory(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, _LARGE)
    last: Json = "shared:0:0x37ffc"
    with connected() as client:
        stop = client.start(path, [13])

        def word() -> int:
            data = client.body("readMemory", memoryReference=last, count=8)
            assert data["unreadableBytes"] == 4
            return int.from_bytes(base64.b64decode(str(data["data"])), "little")

        assert word() == 31
        stop = client.go("stepBack", stop["threadId"])
        assert word() == 0
        info = client.body("dataBreakpointInfo", name=last, asAddress=True)
        watched: list[Json] = [{"dataId": info["dataId"]}]
        client.body("setDataBreakpoints", breakpoints=watched)
        stop = client.go("continue", stop["threadId"])
        assert "thread 31,0,0" in str(stop["text"])
        assert word() == 31


_ENDLESS = kernels.LOOP.replace("add.u32 %r1, %r1, 1;", "and.b32 %r1, %r1, 7;")
_UNHEARD = kernels.LOOP.replace("add.u32 %r1, %r1, 1;", "ld.volatile.global.u32 %r1, [%rd0];")
_SLOW = kernels.LOOP.replace("%r1, 100;", "%r1, 0x7fffffff;")


@pytest.mark.parametrize("has_breakpoint", [False, True])
@pytest.mark.parametrize(("text", "kind"), [(_ENDLESS, "deadlock"), (_UNHEARD, "deadlock"), (_SLOW, "limit")])
def test_kernels_without_end(tmp_path: Path, text: str, kind: str, has_breakpoint: bool) -> None:
    path = kernels.written(tmp_path, text)
    (tmp_path / "launch.toml").write_text(
        f'file = "{path.name}"\ngrid = 1\nblock = 32\nlimit = 3000\n[arguments]\nout = "u32:zeros(32)"\n'
    )
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", launchFile=str(tmp_path / "launch.toml"))
        client.event("initialized")
        if has_breakpoint:
            client.breakpoints(path, {"line": kernels.COUNT + 8})
        client.body("configurationDone")
        stop = client.event("stopped", "terminated")
        assert stop["reason"] == "exception"
        assert client.body("exceptionInfo", threadId=1)["exceptionId"] == kind
        stop = client.go("stepBack", stop["threadId"])
        assert stop["reason"] == "step"
        assert kernels.COUNT <= int(str(client.line(stop))) <= kernels.COUNT + 3
        stop = client.go("continue", stop["threadId"])
        assert client.body("exceptionInfo", threadId=1)["exceptionId"] == kind


_RECURSIVE = kernels.CALLS.replace("\t@p ret;\n", "").replace(
    "\t.reg .b32 n;\n", "\t.reg .b32 n;\n\t.local .b8 own[4096];\n"
)


@pytest.mark.parametrize("text", [kernels.DIVERGENT, _RECURSIVE])
def test_back_from_the_end(tmp_path: Path, text: str) -> None:
    """Of the kernel, or of its stack."""
    path = kernels.written(tmp_path, text)
    with connected() as client:
        end = client.start(path)
        last = client.go("stepBack")
        assert last["reason"] == "step"
        assert objects(client.body("stackTrace", threadId=last["threadId"], levels=5)["stackFrames"])
        stop = client.go("next", last["threadId"])
        assert (stop["event"], stop.get("text")) == (end["event"], end.get("text"))
        if end["event"] == "stopped":
            assert "stack overflow" in str(end["text"])
            assert client.go("next")["event"] == "terminated"


def test_back_from_the_end_of_a_smaller_launch(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        client.start(path, stopOnEntry=True)
        client.body("ptx/focus", thread=[40, 0, 0])
        path.write_text(kernels.DIVERGENT)
        client.body("restart", arguments={"program": str(path)})
        assert client.event("terminated")
        assert client.go("stepBack")["reason"] == "step"


def _stepped(client: Client, stop: Object, count: int, names: tuple[str, ...]) -> None:
    """Steps so often, and back: both ways the values are the same."""
    seen: list[tuple[Json, ...]] = []

    def state(stop: Object) -> tuple[Json, ...]:
        return client.line(stop), *(client.value(name, stop) for name in names)

    for _ in range(count):
        seen.append(state(stop))
        stop = client.go("next", stop["threadId"])
    last = state(stop)
    assert len({one[1:] for one in [*seen, last]}) > 1
    for one in reversed(seen):
        stop = client.go("stepBack", stop["threadId"])
        assert state(stop) == one
    for _ in range(count):
        stop = client.go("next", stop["threadId"])
    assert state(stop) == last


@pytest.mark.parametrize(("name", "entry", "word", "count", "watched"), [
    ("exact_tensor_commit", "commit", "tcgen05.shift", 9, ("%d0", "%d3", "%q2")),
    ("exact_wgmma_integers", "s8_s8", "wgmma.fence", 8, ("%d0", "%d3")),
])
def test_asynchronous_products(
    tmp_path: Path, name: str, entry: str, word: str, count: int, watched: tuple[str, ...]
) -> None:
    text = (KERNELS / f"{name}.ptx").read_text()
    path = kernels.written(tmp_path, text)
    with connected() as client:
        stop = client.start(path, [_line(text, word)], entry=entry)
        client.breakpoints(path)
        _stepped(client, stop, count, watched)
        assert client.go("continue")["event"] == "terminated"
