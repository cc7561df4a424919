"""The commands in the debug console of a client, and the events that come of them."""

from __future__ import annotations

from pathlib import Path

from ptx_lsp.debug.adapter.messages import Json, Object
from tests.debug import kernels
from tests.debug.client import Client, connected, objects


def said(client: Client, line: str, **arguments: Json) -> str:
    """The output of a command."""
    return str(client.body("evaluate", expression=line, context="repl", **arguments)["result"])


def refused(client: Client, line: str) -> str:
    """Why a command is not carried out."""
    return client.refused("evaluate", expression=line, context="repl")


def moved(client: Client, line: str) -> Object:
    """The stop to which a command leads."""
    said(client, line)
    assert client.event("continued")["allThreadsContinued"]
    return client.event("stopped", "terminated")


def test_breakpoints_and_movement(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        client.start(path, stopOnEntry=True)
        answer = said(client, f"break {kernels.BRANCH}")
        assert answer == "Breakpoint 1 at divergent: file kernel.ptx, line 13."
        made = client.event("breakpoint")
        assert (made["reason"], made["breakpoint"]) == ("new", {
            "id": 1, "verified": True, "line": 13, "source": {"name": "kernel.ptx", "path": str(path)},
        })
        stop = moved(client, "continue")
        assert (stop["reason"], stop["hitBreakpointIds"], client.line(stop)) == ("breakpoint", [1], 13)
        assert "CUDA thread hit Breakpoint 1, divergent" in client.output
        stop = moved(client, "next")
        assert (stop["reason"], client.line(stop)) == ("step", kernels.LOW)
        stop = moved(client, "reverse-step")
        assert client.line(stop) == kernels.BRANCH
        said(client, "delete 1")
        assert client.event("breakpoint")["reason"] == "removed"
        stop = moved(client, "continue")
        assert stop["event"] == "terminated"


def test_focus_and_values(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [kernels.LOW])
        assert said(client, "cuda lane 20").startswith("[Switching focus to CUDA kernel 0, grid 1, ")
        client.event("continued")
        stop = client.event("stopped")
        assert (stop["reason"], client.line(stop)) == ("focus", kernels.HIGH)
        frame = client.frame(stop["threadId"])["id"]
        assert said(client, "print %r0", frameId=frame) == "$1 = 20"
        assert said(client, "%r0 + 1", frameId=frame) == "21"
        assert "[............####################]" in said(client, "info threads")
        assert said(client, "set var %r0@* = 5", frameId=frame) == ""
        assert said(client, "print/w %r0").endswith("5 in all lanes")


def test_a_name_of_the_program_is_no_command(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.CALLS)
    with connected() as client:
        stop = client.start(path, [kernels.IN_AGAIN])
        frame = client.frame(stop["threadId"])["id"]
        assert said(client, "p", frameId=frame) == said(client, "print p", frameId=frame).partition("= ")[2]
        assert "#1  calls" in said(client, "bt")
        assert refused(client, "frame 9") == "No frame at level 9."
        assert refused(client, "nonsense") != ""


def test_completions(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        client.start(path, stopOnEntry=True)
        for text, wanted in (
            ("info cuda wa", "warps"), ("tbr", "tbreak"), ("break div", "divergent"),
            ("print %ctaid.", "%ctaid.x"),
        ):
            found = objects(client.body("completions", text=text, column=len(text) + 1)["targets"])
            assert wanted in [one["label"] for one in found]


def test_a_client_takes_a_breakpoint_over(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        client.start(path, stopOnEntry=True)
        said(client, f"break {kernels.JOIN}")
        client.breakpoints(path, {"line": kernels.JOIN})
        assert said(client, "info breakpoints") == "No breakpoints or watchpoints."
        client.breakpoints(path)
        assert moved(client, "continue")["event"] == "terminated"


def test_a_step_over_a_watched_write(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with connected() as client:
        stop = client.start(path, [21])
        said(client, "watch [%rd2]:u32")
        stop = client.go("next", stop["threadId"])
        assert (stop["reason"], client.line(stop)) == ("data breakpoint", 22)
