"""A step moves the warp in focus; the others stay, but for what it waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.debug.adapter.messages import Json, Object
from tests.debug import kernels
from tests.debug.client import Client, connected, objects

_HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
_WAIT = """\
.func wait(.reg .b64 place)
{
	.reg .pred p;
	.reg .b32 seen;
look:
	ld.volatile.global.u32 seen, [place];
	setp.eq.u32 p, seen, 0;
	@p bra look;
	ret;
}
"""
SPIN = _HEAD + _WAIT + """\
// ptx-run: grid=1 block=64 flag=u32:zeros(1) out=u32:zeros(64)
.visible .entry spin(.param .u64 flag, .param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd0, [flag];
	ld.param.u64 %rd1, [out];
	mov.u32 %r0, %tid.x;
	setp.lt.u32 %p, %r0, 32;
	@%p bra producer;
	call wait, (%rd0);
	bra both;
producer:
	mov.u32 %r1, 1;
	st.volatile.global.u32 [%rd0], %r1;
both:
	mul.wide.u32 %rd2, %r0, 4;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r0;
	ret;
}
"""
BRANCH, CALL, AFTER_CALL = 24, 25, 26
"""Lines of `SPIN`."""

DEADLOCK = (
    kernels.SHARED.replace("\tbar.sync 0;", "\tsetp.lt.u32 %p, %r0, 32;\n\t@%p bar.sync 0, 64;")
    .replace("\t.reg .b32 %r<6>;", "\t.reg .b32 %r<6>; .reg .pred %p;")
)


def lines(client: Client) -> dict[str, Json]:
    """The line of each group by its name."""
    return {
        str(one["name"]).split(",")[2].split("[")[0].strip(): client.frame(one["id"])["line"]
        for one in objects(client.body("threads")["threads"])
    }


def thread(client: Client, warp: int) -> Json:
    """The number of the group of a warp."""
    (found,) = [
        one["id"] for one in objects(client.body("threads")["threads"]) if f"warp {warp} " in str(one["name"])
    ]
    return found


def shared(client: Client, address: int) -> Json:
    return client.body("evaluate", expression=f"shared[{address}]:u32")["result"]


def test_others_stay_until_the_barrier(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        client.start(path, [kernels.STORE])
        client.breakpoints(path)
        client.go("next", thread(client, 0))
        assert lines(client) == {"0 warp 0": kernels.BARRIER, "0 warp 1": kernels.STORE}
        assert (shared(client, 4), shared(client, 4 * 33)) == ("1", "0")
        client.go("next", thread(client, 0))
        assert lines(client) == {"0 warp 0": kernels.BARRIER + 1, "0 warp 1": kernels.BARRIER + 1}
        client.go("next", thread(client, 1))
        client.go("next", thread(client, 1))
        assert lines(client) == {"0 warp 0": kernels.BARRIER + 1, "0 warp 1": kernels.LOAD}
        client.go("next", thread(client, 0))
        assert lines(client) == {"0 warp 0": kernels.BARRIER + 2, "0 warp 1": kernels.LOAD}
        assert client.go("continue")["event"] == "terminated"


def test_the_same_interleaving_back_and_forth(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        client.start(path, [kernels.STORE])
        client.breakpoints(path)
        seen: list[tuple[dict[str, Json], Json, Json]] = []
        for warp in (1, 0, 0, 1, 1, 0):
            seen.append((lines(client), shared(client, 4), shared(client, 4 * 33)))
            client.go("next", thread(client, warp))
        last = lines(client)
        client.go("stepBack", thread(client, 0))
        client.go("stepBack", thread(client, 0))
        client.go("reverseContinue", thread(client, 0))
        client.breakpoints(path, {"line": kernels.STORE})
        assert client.go("continue")["reason"] == "breakpoint"
        assert (lines(client), shared(client, 4), shared(client, 4 * 33)) == seen[0]
        client.breakpoints(path)
        client.go("next", thread(client, 1))
        assert (lines(client), shared(client, 4), shared(client, 4 * 33)) == seen[1]
        assert last != seen[1][0]


def test_a_step_over_a_wait_lets_the_producer_go_on(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, SPIN)
    with connected() as client:
        client.start(path, [BRANCH])
        client.breakpoints(path)
        for line in (CALL, AFTER_CALL):
            assert client.line(client.go("next", thread(client, 1))) == line
        assert client.go("continue")["event"] == "terminated"


def test_a_frozen_producer_stays_where_it_is(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, SPIN)
    with connected() as client:
        client.start(path, [BRANCH])
        client.breakpoints(path)
        for _ in range(3):
            stop = client.go("stepIn", thread(client, 1))
            assert lines(client)["0 warp 0"] == BRANCH
            assert client.frame(stop["threadId"])["name"] in ("spin", "wait")


def test_a_step_into_a_deadlock_says_who_waits(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, DEADLOCK)
    with connected() as client:
        client.start(path, [kernels.STORE])
        client.breakpoints(path)
        stop: Object = {}
        for _ in range(3):
            stop = client.go("next", thread(client, 0))
        assert stop["reason"] == "exception"
        assert "deadlock" in str(client.body("exceptionInfo", threadId=stop["threadId"])["description"])


@pytest.mark.parametrize("off", [False, True])
def test_brkpt_stops_and_the_kernel_goes_on(tmp_path: Path, off: bool) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT.replace("low:\n", "low:\n\tbrkpt;\n"))
    with connected() as client:
        stop = client.start(path, noDebug=off)
        if not off:
            assert (stop["reason"], client.line(stop)) == ("breakpoint", kernels.LOW)
            stop = client.go("next", stop["threadId"])
            assert client.line(stop) == kernels.LOW + 1
            stop = client.go("reverseContinue", stop["threadId"])
            assert (stop["reason"], client.line(stop)) == ("breakpoint", kernels.LOW)
            stop = client.go("continue", stop["threadId"])
        assert stop["event"] == "terminated"
