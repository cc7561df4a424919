"""A debug session, from the launch to the end: stopping, moving, looking, changing."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from ptx_lsp.debug.adapter.messages import Json, Object
from tests.debug import kernels
from tests.debug.client import connected, objects


def test_both_groups_of_a_divergent_branch(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [kernels.BRANCH])
        assert (stop["reason"], client.line(stop)) == ("breakpoint", kernels.BRANCH)
        stop = client.go("next", stop["threadId"])
        assert [one for one in client.passed if one["event"] == "thread"][-1] == {
            "event": "thread", "body": {"reason": "started", "threadId": 13},
        }
        threads = {str(one["name"]): one["id"] for one in objects(client.body("threads")["threads"])}
        low, high = "#" * 12 + "." * 20, "." * 12 + "#" * 20
        assert set(threads) == {f"block 0,0,0 warp 0 [{high}]", f"block 0,0,0 warp 0 [{low}]"}
        lines = {name[-33:-1]: client.frame(number)["line"] for name, number in threads.items()}
        assert lines == {low: kernels.LOW, high: kernels.HIGH}


def test_register_of_all_lanes(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [kernels.JOIN])
        frame = client.frame(stop["threadId"])["id"]
        watched: list[Json] = ["%r1", "%r1 > 100", "[%rd0]:u32", "%x"]
        found = client.body("ptx/warpWatch", frameId=frame, expressions=watched)
        wanted = [3 * lane if lane < 12 else lane + 100 for lane in range(32)]
        rows = objects(found["rows"])
        assert rows[0]["values"] == [str(one) for one in wanted]
        assert rows[1]["values"] == ["true" if one > 100 else "false" for one in wanted]
        assert rows[2]["values"] == ["0"] * 32
        assert rows[3]["error"] == "`%x` is neither a register nor a variable here"
        assert found["active"] == [True] * 32
        assert client.scope("Warp", stop)["%r0"] == "[0, 1, 2, 3, ...]"
        assert client.scope("Predicates", stop)["%p"] == "0x00000fff"


def test_step_back_over_a_barrier(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        stop = client.start(path, [kernels.LOAD])
        for line in (kernels.LOAD - 1, kernels.LOAD - 2, kernels.BARRIER, kernels.STORE):
            stop = client.go("stepBack", stop["threadId"])
            assert client.line(stop) == line
        assert client.value("shared[4]:u32", stop) == "0"
        stop = client.go("next", stop["threadId"])
        assert (client.line(stop), client.value("shared[4]:u32", stop)) == (kernels.BARRIER, "1")


def test_who_wrote_a_byte(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        stop = client.start(path, [kernels.RESULT])
        info = client.body("dataBreakpointInfo", name="buffer")
        client.breakpoints(path)
        watched: list[Json] = [{"dataId": info["dataId"], "accessType": "write"}]
        answer = client.body("setDataBreakpoints", breakpoints=watched)
        assert objects(answer["breakpoints"])[0]["verified"]
        stop = client.go("reverseContinue", stop["threadId"])
        assert stop["reason"] == "data breakpoint"
        assert str(stop["text"]).startswith(f"line {kernels.STORE}:")
        assert client.line(stop) == kernels.BARRIER
        stop = client.go("reverseContinue", stop["threadId"])
        assert (stop["reason"], client.line(stop)) == ("entry", 10)


@pytest.mark.parametrize("text", ["buffer", "%r5"])
def test_who_wrote_it_just_before(tmp_path: Path, text: str) -> None:
    line = kernels.STORE if text == "buffer" else kernels.LOAD
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        stop = client.start(path, [line])
        client.breakpoints(path)
        stop = client.go("next", stop["threadId"])
        watched: list[Json] = [{"dataId": client.body("dataBreakpointInfo", name=text)["dataId"]}]
        client.body("setDataBreakpoints", breakpoints=watched)
        stop = client.go("reverseContinue", stop["threadId"])
        assert (stop["reason"], client.line(stop)) == ("data breakpoint", line + 1)
        stop = client.go("reverseContinue", stop["threadId"])
        assert stop["reason"] == "entry"


def test_register_that_changes(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.LOOP)
    with connected() as client:
        stop = client.start(path, stopOnEntry=True)
        info = client.body("dataBreakpointInfo", name="%r1")
        client.body("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "condition": "%r1 == 7"}])
        stop = client.go("continue", stop["threadId"])
        assert (stop["reason"], client.value("%r1", stop)) == ("data breakpoint", "7")


def test_a_race_stops_with_both_lines(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.RACE)
    with connected() as client:
        stop = client.start(path, check=True)
        assert (stop["reason"], client.line(stop)) == ("exception", kernels.LOAD)
        info = client.body("exceptionInfo", threadId=stop["threadId"])
        details = info["details"]
        assert info["exceptionId"] == "race"
        assert isinstance(details, dict)
        witness = str(details["stackTrace"])
        assert f"line {kernels.LOAD}: block 0,0,0 thread 0,0,0" in witness
        assert f"\nline {kernels.STORE}: block 0,0,0 thread 63,0,0" in witness
        assert list(client.scope("Findings", stop)) == [f"line {kernels.LOAD}"]


def test_a_race_can_be_ignored(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.RACE)
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", program=str(path), check=True)
        client.body("setExceptionBreakpoints", filters=["divergence"])
        client.body("configurationDone")
        assert client.event("stopped", "terminated")["event"] == "terminated"


def test_a_kernel_that_fails_stands_at_its_fault(tmp_path: Path) -> None:
    text = kernels.DIVERGENT.replace("mul.wide.u32 %rd1, %r0, 4", "mul.wide.u32 %rd1, %r0, 4000")
    path = kernels.written(tmp_path, text)
    with connected() as client:
        stop = client.start(path)
        assert (stop["reason"], client.line(stop)) == ("exception", 21)
        assert client.value("%rd1@1", stop) == "4000"
        assert client.body("exceptionInfo", threadId=1)["exceptionId"] == "out-of-bounds"
        stop = client.go("stepBack", stop["threadId"])
        assert client.line(stop) == 20
        stop = client.go("continue", stop["threadId"])
        assert (stop["reason"], client.line(stop)) == ("exception", 21)
        assert client.go("continue", stop["threadId"])["event"] == "terminated"


def test_change_a_register_and_go_on(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [kernels.JOIN])
        frame = client.frame(stop["threadId"])["id"]
        scopes = {str(one["name"]): one for one in objects(client.body("scopes", frameId=frame)["scopes"])}
        lane, warp = (scopes[name]["variablesReference"] for name in ("Registers", "Warp"))
        answer = client.body("setVariable", variablesReference=warp, name="%r1", value="%r0 + 7")
        assert answer["value"] == "7"
        answer = client.body("setVariable", variablesReference=lane, name="%r1", value="0x10")
        assert answer["value"] == "16"
        stop = client.go("stepBack", stop["threadId"])
        assert client.value("%r1@5", stop) != "7"
        stop = client.go("next", stop["threadId"])
        assert (client.value("%r1", stop), client.value("%r1@5", stop)) == ("16", "7")
        client.breakpoints(path, {"line": 22})
        stop = client.go("continue", stop["threadId"])
        assert client.value("[%rd0]:u32x3", stop) == "{16, 7, 7}"
        assert client.refused("setVariable", variablesReference=lane, name="%r1", value="1")


def test_memory_is_read_and_written(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        stop = client.start(path, [kernels.LOAD])
        place: Json = "shared:0:0x0"
        found = client.body("readMemory", memoryReference=place, offset=4, count=8)
        assert base64.b64decode(str(found["data"])) == b"\1\0\0\0\2\0\0\0"
        assert found["unreadableBytes"] == 0
        beyond = client.body("readMemory", memoryReference=place, offset=252, count=8)
        assert beyond["unreadableBytes"] == 4
        data = base64.b64encode(b"\xff\0\0\0").decode()
        client.body("writeMemory", memoryReference=place, offset=252, data=data)
        client.breakpoints(path, {"line": kernels.RESULT})
        stop = client.go("continue", stop["threadId"])
        assert client.value("%r5", stop) == "255"
        assert "not a memory reference" in client.refused("readMemory", memoryReference="x:y", count=1)


def test_breakpoints_with_conditions_counts_and_messages(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.LOOP)
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", program=str(path))
        given: list[Object] = [
            {"line": kernels.COUNT, "condition": "%r1 == 40"},
            {"line": kernels.COUNT, "hitCondition": ">= 90"},
            {
                "line": kernels.COUNT + 2, "condition": "%r1 < 3",
                "logMessage": "count {%r1} of {%tid.x + 1}, {%q}",
            },
            {"line": kernels.COUNT, "condition": "%r1 =="},
            {"line": 9000},
        ]
        answers = client.breakpoints(path, *given)
        assert [one["verified"] for one in answers] == [True, True, True, False, False]
        assert answers[3]["message"] == "expected an operand at the end in `%r1 ==`"
        client.body("configurationDone")
        stop = client.event("stopped")
        assert (client.value("%r1", stop), stop["hitBreakpointIds"]) == ("40", [1])
        stop = client.go("continue", stop["threadId"])
        assert (client.value("%r1", stop), stop["hitBreakpointIds"]) == ("89", [2])
        stop = client.go("reverseContinue", stop["threadId"])
        assert (client.value("%r1", stop), stop["hitBreakpointIds"]) == ("40", [1])
        unknown = "<`%q` is neither a register nor a variable here>"
        assert client.output == f"count 1 of 1, {unknown}\ncount 2 of 1, {unknown}\n"


def test_calls_have_frames(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.CALLS)

    def stack(stop: Object) -> list[tuple[Json, Json]]:
        found = client.body("stackTrace", threadId=stop["threadId"])["stackFrames"]
        return [(one["name"], one["line"]) for one in objects(found)]

    with connected() as client:
        stop = client.start(path, [kernels.CALL])
        stop = client.go("next", stop["threadId"])
        assert stack(stop) == [("calls", kernels.AFTER_CALL)]
        stop = client.go("stepBack", stop["threadId"])
        stop = client.go("stepOut", stop["threadId"]) if len(stack(stop)) > 1 else stop
        client.breakpoints(path, {"line": kernels.IN_TWICE}, {"line": kernels.DEEPEST, "condition": "p"})
        stop = client.go("reverseContinue", stop["threadId"])
        assert stack(stop) == [("twice", kernels.IN_TWICE), ("calls", kernels.CALL)]
        stop = client.go("stepOut", stop["threadId"])
        assert stack(stop)[-1:] == [("calls", kernels.AFTER_CALL)]
        stop = client.go("continue", stop["threadId"])
        assert stack(stop)[0] == ("again", kernels.DEEPEST)
        assert [name for name, _ in stack(stop)] == ["again"] * 4 + ["calls"]


@pytest.mark.parametrize("name", ["loop.cu", "loop.py", "loop.rs", "loop.jl"])
def test_breakpoints_in_the_source(tmp_path: Path, name: str) -> None:
    path = kernels.written(tmp_path, kernels.LOOP.replace("loop.cu", name))
    (tmp_path / name).write_text('asm volatile("add.u32 %0, %0, 1;" : "+r"(x));\n' * 9)
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", program=str(path), show="source")
        (answer,) = client.breakpoints(tmp_path / name, {"line": 6})
        assert (answer["verified"], answer["line"]) == (True, 6)
        client.body("configurationDone")
        stop = client.event("stopped")
        frame = client.frame(stop["threadId"])
        assert (frame["line"], frame["source"]) == (6, {"name": name, "path": str(tmp_path / name)})
        stop = client.go("stepBack", stop["threadId"])
        assert client.line(stop) == 5


def test_disassembly_and_completions(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.LOOP)
    with connected() as client:
        stop = client.start(path, [kernels.COUNT])
        found = client.body(
            "disassemble", memoryReference=str(kernels.COUNT), instructionOffset=-4, instructionCount=6
        )
        lines = [one["instruction"] for one in objects(found["instructions"])]
        assert lines == [
            "", "ld.param.u64 %rd0, [out];", "mov.u32 %r0, %tid.x;", "mov.u32 %r1, 0;",
            "add.u32 %r1, %r1, 1;", "setp.lt.u32 %p, %r1, 100;",
        ]
        located = [(one.get("location"), one.get("line")) for one in objects(found["instructions"])]
        source: Json = {"name": "loop.cu", "path": str(tmp_path / "loop.cu")}
        assert located == [(None, None), *[(source, 3)] * 3, (source, 4), (source, 5)]
        targets = objects(client.body("completions", text="1 + %rd", column=8)["targets"])
        assert [one["label"] for one in targets] == ["%rd0", "%rd1", "%rd2"]
        assert client.frame(stop["threadId"])["instructionPointerReference"] == str(kernels.COUNT)


def test_focus_on_another_thread(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        client.start(path, [kernels.LOAD])
        found = client.body("ptx/focus", thread=[40, 0, 0])
        assert (found["warp"], found["lane"], found["block"]) == (1, 8, [0, 0, 0])
        assert client.body("evaluate", expression="%warpid")["result"] == "1"
        assert client.refused("ptx/focus", thread=[64, 0, 0]) == "there is no thread 64,0,0"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "`program` is missing: the path of a PTX file"),
        ({"program": "nowhere.ptx"}, "cannot read `nowhere.ptx`: No such file or directory"),
        ({"program": "", "entry": "x"}, "`program` is missing: the path of a PTX file"),
    ],
)
def test_a_launch_that_is_impossible(given: dict[str, Json], message: str) -> None:
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        assert client.refused("launch", **given) == message
        assert client.refused("continue", threadId=1) == "no kernel was launched"
        assert client.refused("nonsense") == "`nonsense` is not supported"


def test_restart_begins_again(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.LOOP)
    with connected() as client:
        client.start(path, [kernels.COUNT + 8])
        client.body("restart")
        stop = client.event("stopped")
        assert (client.line(stop), client.value("%r1", stop)) == (kernels.COUNT + 8, "100")
        assert client.value("[[out]:u64]:u32x2", stop) == "{100, 100}"
