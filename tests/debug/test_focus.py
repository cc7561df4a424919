"""The thread in focus, and the warp around it."""

from __future__ import annotations

from pathlib import Path

from ptx_lsp.debug.adapter.messages import Json, Object
from tests.debug import kernels
from tests.debug.client import Client, connected, objects


def test_the_thread_in_focus_is_the_one_that_is_shown(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [kernels.BRANCH])
        assert client.value("%r0", stop) == "0"
        client.body("ptx/focus", thread=[20, 0, 0], announce=True)
        stop = client.event("stopped")
        assert (stop["reason"], stop["description"]) == ("focus", "Focus on lane 20")
        assert (client.value("%r0", stop), client.value("%r0 + 1", stop)) == ("20", "21")
        assert client.scope("Registers", stop)["%r0"] == "20"
        assert client.scope("Special registers", stop)["%tid.x"] == "20"
        stop = client.go("next", stop["threadId"])
        assert (client.line(stop), client.value("%r0", stop)) == (kernels.HIGH, "20")


def test_a_register_is_changed_in_the_lane_in_focus(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [kernels.JOIN])
        client.body("ptx/focus", thread=[20, 0, 0])
        frame = client.frame(stop["threadId"])["id"]
        lane = objects(client.body("scopes", frameId=frame)["scopes"])[0]["variablesReference"]
        answer = client.body("setVariable", variablesReference=lane, name="%r1", value="%r0 * 2")
        assert answer["value"] == "40"
        assert [client.value(f"%r1@{one}", stop) for one in (19, 20, 21)] == ["119", "40", "121"]


def test_the_warp_shows_the_groups_and_the_registers_of_the_instruction(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, stopOnEntry=True)
        stop = client.go("next", stop["threadId"])
        found = client.body("ptx/warpWatch", ofInstruction=True)
        assert [one["expression"] for one in objects(found["rows"])] == ["%r0", "%tid.x"]
        client.breakpoints(path, {"line": kernels.BRANCH})
        stop = client.go("continue", stop["threadId"])
        client.go("next", stop["threadId"])
        client.body("ptx/focus", thread=[20, 0, 0])
        watched: Object = {"expressions": ["%p", "%r0 * 256"], "ofInstruction": True, "format": {"hex": True}}
        found = client.body("ptx/warpWatch", **watched)
        rows = objects(found["rows"])
        assert [one["expression"] for one in rows] == ["%p", "%r0 * 256", "%r1", "%r0"]
        shown = [one["values"] for one in rows]
        assert shown[1:3] == [[f"{256 * lane:#x}" for lane in range(32)], ["<unset>"] * 32]
        low, high = objects(found["groups"])
        assert (low["lanes"], high["lanes"]) == (list(range(12)), list(range(12, 32)))
        assert (low["line"], high["line"]) == (kernels.LOW, kernels.HIGH)
        assert high["instruction"] == "add.u32 %r1, %r0, 100;"
        assert (found["lane"], found["warp"], found["block"]) == (20, 0, [0, 0, 0])
        assert found["active"] == [lane >= 12 for lane in range(32)]


def test_a_register_that_points_to_memory_refers_to_it(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [kernels.JOIN])
        frame = client.frame(stop["threadId"])["id"]
        out = client.body("evaluate", expression="%rd0", frameId=frame)
        assert "memoryReference" not in client.body("evaluate", expression="%rd1", frameId=frame)
        read = client.body("readMemory", memoryReference=out["memoryReference"], count=512)
        assert read["unreadableBytes"] == 512 - 4 * 32


def test_values_are_asked_for_again_after_a_change_of_memory(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        client.body("initialize", adapterID="ptx", supportsInvalidatedEvent=True)
        client.body("launch", program=str(path), stopOnEntry=True)
        client.body("configurationDone")
        client.event("stopped")
        place = objects(client.body("variables", variablesReference=_scope(client, "Global"))["variables"])[0]
        client.body("writeMemory", memoryReference=place["memoryReference"], data="/w==")
        assert client.event("invalidated")["areas"] == ["variables"]


def _scope(client: Client, name: str) -> Json:
    frame = client.frame(1)["id"]
    scopes = objects(client.body("scopes", frameId=frame)["scopes"])
    return next(one["variablesReference"] for one in scopes if one["name"] == name)


def test_a_group_whose_turn_it_is_not_executes_its_instruction(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [kernels.BRANCH])
        client.go("next", stop["threadId"])
        threads = [one["id"] for one in objects(client.body("threads")["threads"])]
        other = next(one for one in threads if client.frame(one)["line"] == kernels.HIGH)
        stop = client.go("next", other)
        assert (client.line(stop), client.value("%r1@12", stop)) == (kernels.HIGH + 1, "112")


def test_questions_about_an_earlier_stop_interrupt_nobody(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [kernels.BRANCH])
        client.go("next", stop["threadId"])
        for command, given in (("variables", {"variablesReference": 1}), ("scopes", {"frameId": 1})):
            body = client.ask(command, **given)["body"]
            assert isinstance(body, dict)
            assert isinstance(body["error"], dict)
            assert body["error"]["showUser"] is False
        body = client.ask("evaluate", expression="%nothing")["body"]
        assert isinstance(body, dict)
        assert isinstance(body["error"], dict)
        assert body["error"]["showUser"] is True
