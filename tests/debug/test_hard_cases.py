"""What users do that nobody expects: going on after a finding, pausing backwards, values as in C."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from ptx_lsp.debug import debuggee
from ptx_lsp.debug.adapter.messages import Json
from ptx_lsp.debug.breakpoints import Breakpoints, Lanes, LineBreakpoint
from ptx_lsp.debug.goals import Moment
from ptx_lsp.debug.view import View, holds
from tests.debug import kernels
from tests.debug.client import SECONDS, connected, objects

_WIDE = kernels.LOOP.replace(
    ".reg .b32 %r<3>;", ".reg .b32 %r<3>; .reg .f32 %f; .reg .b64 %u; .reg .s32 %s;"
).replace("mov.u32 %r1, 0;", "mov.u32 %r1, 0; mov.b64 %u, -16; mov.b32 %s, -7; mov.f32 %f, 0f3F800000;")


def test_a_kernel_goes_on_after_a_finding(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.RACE)
    with connected() as client:
        stop = client.start(path, check=True)
        assert (stop["reason"], client.line(stop)) == ("exception", kernels.LOAD)
        assert client.go("continue", stop["threadId"])["event"] == "terminated"


@pytest.mark.parametrize(("text", "value"), [
    ("%s / 2", "-3"), ("%s % 2", "-1"), ("%u > 5", "true"), ("%u >> 60", "15"),
    ("%u == 0xFFFFFFFFFFFFFFF0", "true"), ("-(%r0 == 0)", "-1"), ("1e3", "1000.0"),
])
def test_expressions_are_those_of_c(tmp_path: Path, text: str, value: str) -> None:
    path = kernels.written(tmp_path, _WIDE)
    with connected() as client:
        assert client.value(text, client.start(path, [kernels.COUNT])) == value


def test_a_hopeless_expression_is_refused(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, _WIDE)
    with connected() as client:
        client.start(path, [kernels.COUNT])
        assert client.refused("evaluate", expression="(" * 3000 + "1") == "the expression is too long"
        assert "64 bits" in client.refused("evaluate", expression="99999999999999999999")


def test_a_whole_number_for_a_float(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, _WIDE)
    with connected() as client:
        stop = client.start(path, [kernels.COUNT])
        frame = client.frame(stop["threadId"])["id"]
        number = objects(client.body("scopes", frameId=frame)["scopes"])[0]["variablesReference"]
        for text, value in (("2", "2.0"), ("0x3F000000", "0.5"), ("-1.5", "-1.5")):
            answer = client.body("setVariable", variablesReference=number, name="%f", value=text)
            assert answer["value"] == value


def test_memory_before_the_start_is_not_changed(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", program=str(path))
        client.event("initialized")
        refused = client.refused("writeMemory", memoryReference="param:0", data="AAAA")
        assert refused == "the kernel has not begun"


def test_pause_while_it_goes_back(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.LOOP.replace("%r1, 100;", "%r1, 0x7fffffff;"))
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", program=str(path))
        client.event("initialized")
        client.body("configurationDone")
        time.sleep(1)
        client.body("pause", threadId=1)
        stop = client.event("stopped")
        client.body("reverseContinue", threadId=stop["threadId"])
        client.body("pause", threadId=stop["threadId"])
        assert client.event("stopped")["reason"] in ("pause", "entry")  # it may have been there already
        client.body("continue", threadId=1)
        client.body("restart")
        client.body("terminate")
        assert client.event("terminated", "stopped")["event"] == "terminated"


def test_a_run_that_fails_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = kernels.written(tmp_path, kernels.LOOP)
    begun, is_late = Event(), Event()

    def fails_once(view: View, text: str, moment: Moment) -> Lanes:
        if is_late.is_set():
            return holds(view, text, moment)
        begun.set()
        assert is_late.wait(SECONDS)
        raise RuntimeError("of the run before")

    monkeypatch.setattr(debuggee, "holds", fails_once)
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", program=str(path))
        client.breakpoints(path, {"line": kernels.COUNT, "condition": "%r1 == 3"})
        client.body("configurationDone")
        assert begun.wait(SECONDS)
        client.body("restart")
        is_late.set()
        stop = client.event("stopped", "terminated")
        assert (stop["event"], client.value("%r1", stop)) == ("stopped", "3")
        assert "internal error" not in client.output


@pytest.mark.parametrize(("key", "value", "message"), [
    ("grid", "4", "`grid` must be a number, or a list of up to three"),
    ("args", [1], "`args` must be a list of texts such as `u32:7`"),
])
def test_arguments_of_the_wrong_type(tmp_path: Path, key: str, value: Json, message: str) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        assert client.refused("launch", program=str(path), **{key: value}) == message


def test_hits_are_counted_again_after_a_change() -> None:
    counted = LineBreakpoint(1, count="== 3", lines=frozenset({7}))
    breakpoints = Breakpoints(lambda text, moment: np.zeros(0, np.int64), lambda text, moment: "", print)
    breakpoints.replace_lines("a file", [counted])
    assert [counted.counted(event) for event in (10, 20, 30, 40)] == [False, False, True, False]
    assert [counted.counted(event) for event in (30, 20, 40, 25)] == [True, False, False, True]
    breakpoints.forget_after(10)
    assert [counted.counted(event) for event in (11, 12, 13)] == [False, True, False]


def test_unset_registers(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [kernels.BRANCH, kernels.LOW, kernels.HIGH])
        found = client.scope("Registers", stop)
        assert (found["%r0"], found["%r1"], found["%rd1"]) == ("0", "<unset>", "<unset>")
        for line in (kernels.LOW, kernels.HIGH):
            stop = client.go("continue", stop["threadId"])
            assert client.line(stop) == line
        frame = client.frame(stop["threadId"])["id"]
        (row,) = objects(client.body("ptx/warpWatch", frameId=frame, expressions=["%r1"])["rows"])
        assert row["values"] == [str(3 * lane) if lane < 12 else "<unset>" for lane in range(32)]
        client.body("evaluate", expression="%r1", frameId=frame)
        number = objects(client.body("scopes", frameId=frame)["scopes"])[1]["variablesReference"]
        client.body("setVariable", variablesReference=number, name="%rd1", value="7")
        assert client.scope("Registers", stop)["%rd1"] == "7"


@pytest.mark.parametrize("check", [False, True])
def test_unset_registers_in_messages(tmp_path: Path, check: bool) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, stopOnEntry=True, check=check)
        client.breakpoints(path, {"line": kernels.JOIN, "logMessage": "{%r1} {%rd2} {%rd2 + 1}"})
        client.go("continue", stop["threadId"])
        assert "0 <unset> 1\n" in client.output
