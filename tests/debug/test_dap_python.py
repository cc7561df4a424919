"""Whole sessions by a client of another project, and which requests of the protocol there are."""

from __future__ import annotations

import base64
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import cast, get_args

import pytest

from ptx_lsp.debug.adapter.messages import Json, Object
from ptx_lsp.debug.adapter.requests import HANDLERS
from tests.debug import kernels
from tests.debug.client import connected, objects

pytest.importorskip("dap", reason="dap-python is not installed: make setup")
from tests.debug.dap_python import Peer, listening, on_stdio, on_tcp

_CAPABILITIES = {
    "breakpointLocations": "supportsBreakpointLocationsRequest", "cancel": "supportsCancelRequest",
    "completions": "supportsCompletionsRequest", "configurationDone": "supportsConfigurationDoneRequest",
    "dataBreakpointInfo": "supportsDataBreakpoints", "disassemble": "supportsDisassembleRequest",
    "exceptionInfo": "supportsExceptionInfoRequest", "goto": "supportsGotoTargetsRequest",
    "gotoTargets": "supportsGotoTargetsRequest", "loadedSources": "supportsLoadedSourcesRequest",
    "modules": "supportsModulesRequest", "readMemory": "supportsReadMemoryRequest",
    "restart": "supportsRestartRequest", "restartFrame": "supportsRestartFrame",
    "reverseContinue": "supportsStepBack", "setDataBreakpoints": "supportsDataBreakpoints",
    "setExpression": "supportsSetExpression", "setFunctionBreakpoints": "supportsFunctionBreakpoints",
    "setInstructionBreakpoints": "supportsInstructionBreakpoints", "setVariable": "supportsSetVariable",
    "stepBack": "supportsStepBack", "stepInTargets": "supportsStepInTargetsRequest",
    "terminate": "supportsTerminateRequest", "terminateThreads": "supportsTerminateThreadsRequest",
    "writeMemory": "supportsWriteMemoryRequest",
}
"""The requests that an adapter need not answer, and the capabilities that say whether it does."""
_LEFT_OUT = frozenset(("attach", "locations", "runInTerminal", "startDebugging"))
"""Kernels are launched. `locations` asks about references that the adapter does not give, and the last two
are requests of adapters to clients.
"""


def test_capabilities_are_the_requests_that_work() -> None:
    types = import_module("dap_types")
    requests = {
        cast(str, get_args(model.model_fields["command"].annotation)[0])
        for name in dir(types) if name.endswith("Request") and name not in ("Request", "DiscriminatedRequest")
        for model in [getattr(types, name)]
    }
    assert len(requests) == 45
    with connected() as client:
        claimed = client.body("initialize", adapterID="ptx")
        for request in sorted(requests - {"initialize", "disconnect"}):
            is_known = client.ask(request).get("message") != f"`{request}` is not supported"
            optional = _CAPABILITIES.get(request)
            expected = claimed.get(optional) is True if optional else request not in _LEFT_OUT
            assert is_known == expected, request


@contextmanager
def _peer(transport: str) -> Generator[Peer]:
    if transport == "stdio":
        with on_stdio() as peer:
            yield peer
    else:
        with listening() as (_, port), on_tcp(port) as peer:
            yield peer


def _launched(peer: Peer, path: Path, **arguments: Json) -> None:
    launch: Object = {"program": str(path), **arguments}
    assert peer.custom("launch", launch)["success"]
    peer.succeeded.add("launch")
    peer.event("initialized")


@pytest.mark.parametrize("transport", ["stdio", "tcp"])
def test_a_whole_session(tmp_path: Path, transport: str) -> None:
    """Every request that the adapter answers."""
    path = kernels.written(tmp_path, kernels.RACE)
    source: Json = {"name": path.name, "path": str(path)}
    with _peer(transport) as peer:
        _launched(peer, path, check=True)
        lines: Json = [{"line": kernels.STORE}]
        found = peer.ask("set_breakpoints", source=source, breakpoints=lines)
        assert objects(found["breakpoints"])[0]["verified"]
        assert peer.ask("breakpoint_locations", source=source, line=1, end_line=12)["breakpoints"] == [
            {"line": line} for line in (10, 11, 12)
        ]
        peer.ask("set_function_breakpoints", breakpoints=[{"name": "turned"}])
        peer.ask("set_exception_breakpoints", filters=["race"], filter_options=None, exception_options=None)
        peer.ask("configuration_done")

        stop = peer.event("stopped")  # at the function
        thread = stop["threadId"]
        assert [one["id"] for one in objects(peer.ask("threads")["threads"])] == [1, 33]
        (frame,) = objects(peer.ask("stack_trace", thread_id=thread)["stackFrames"])
        assert (frame["line"], frame["name"]) == (10, "turned")
        scopes = {one["name"]: one for one in objects(peer.ask("scopes", frame_id=frame["id"])["scopes"])}
        registers = scopes["Registers"]["variablesReference"]
        found = peer.ask("variables", variables_reference=registers)
        assert {str(one["name"]) for one in objects(found["variables"])} >= {"%r0", "%rd2"}
        assert peer.ask("loaded_sources")["sources"] == [source]
        assert peer.ask("source", source_reference=0, source=source)["content"] == kernels.RACE + "\n"
        targets = peer.ask("completions", text="%rd", column=4, line=1, frame_id=frame["id"])["targets"]
        assert [one["label"] for one in objects(targets)] == ["%rd0", "%rd1", "%rd2"]

        peer.ask("next", thread_id=thread)
        assert peer.event("stopped")["reason"] == "step"
        peer.ask("step_in", thread_id=thread, granularity="instruction")
        peer.event("stopped")
        peer.ask("step_back", thread_id=thread)
        peer.event("stopped")
        (frame,) = objects(peer.ask("stack_trace", thread_id=thread)["stackFrames"])
        assert frame["line"] == 11

        found = peer.ask("data_breakpoint_info", name="buffer", frameId=frame["id"])
        peer.ask("set_data_breakpoints", breakpoints=[{"dataId": found["dataId"], "accessType": "write"}])
        peer.ask("continue_", thread_id=thread)  # to the breakpoint before the store
        stop = peer.event("stopped")
        (frame,) = objects(peer.ask("stack_trace", thread_id=stop["threadId"])["stackFrames"])
        assert (frame["line"], stop["reason"]) == (kernels.STORE, "breakpoint")
        assert peer.ask("evaluate", expression="%r0 + 1", frame_id=frame["id"])["result"] == "1"
        scopes = {one["name"]: one for one in objects(peer.ask("scopes", frame_id=frame["id"])["scopes"])}
        number = scopes["Registers"]["variablesReference"]
        assert peer.ask("set_variable", variables_reference=number, name="%r0", value="7")["value"] == "7"
        found = peer.ask("set_expression", expression="%r0@5", value="0x10", frame_id=frame["id"])
        assert found["value"] == "16"
        peer.ask("set_breakpoints", source=source, breakpoints=[])
        peer.ask("continue_", thread_id=stop["threadId"])
        stop = peer.event("stopped")
        assert stop["reason"] == "data breakpoint"
        memory = peer.ask("read_memory", memory_reference="shared:0:0x0", count=24, offset=0)
        assert base64.b64decode(str(memory["data"])) == bytes((7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0,
                                                               4, 0, 0, 0, 16, 0, 0, 0))
        data = base64.b64encode(b"\1\2").decode()
        assert peer.ask("write_memory", memory_reference="shared:0:0x8", data=data)["bytesWritten"] == 2

        found = peer.ask("disassemble", memory_reference=str(frame["line"]), instruction_count=2)
        assert [one["address"] for one in objects(found["instructions"])] == ["0xf", "0x10"]
        peer.ask("set_data_breakpoints", breakpoints=[])
        peer.ask("set_instruction_breakpoints", breakpoints=[{"instructionReference": "0xf"}])
        peer.ask("reverse_continue", thread_id=stop["threadId"])
        assert peer.event("stopped")["reason"] == "breakpoint"

        peer.ask("set_instruction_breakpoints", breakpoints=[])
        peer.ask("continue_", thread_id=stop["threadId"])
        stop = peer.event("stopped")
        assert stop["reason"] == "exception"
        details = peer.ask("exception_info", thread_id=stop["threadId"])["details"]
        assert isinstance(details, dict)
        assert f"line {kernels.STORE}: block 0,0,0 thread" in str(details["stackTrace"])

        peer.ask("restart")
        assert peer.event("stopped")["reason"] == "breakpoint"
        peer.ask("pause", thread_id=1)
        peer.ask("set_function_breakpoints", breakpoints=[])
        peer.ask("set_exception_breakpoints", filters=[], filter_options=None, exception_options=None)
        peer.ask("step_out", thread_id=1)
        assert peer.event("stopped")["reason"] == "step"  # the other warp is still there
        peer.ask("continue_", thread_id=1)
        assert peer.event("exited")["exitCode"] == 1  # the race was found
        peer.event("terminated")
        peer.ask("terminate")
        peer.event("terminated")
        peer.ask("disconnect")
        assert peer.succeeded == {name for name in HANDLERS if not name.startswith("ptx/")}


def test_clients_at_the_same_time(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT)
    with listening() as (_, port), on_tcp(port) as one, on_tcp(port) as other:
        for peer in (one, other):
            _launched(peer, path, stopOnEntry=True)
            peer.ask("configuration_done")
        for peer in (other, one):
            assert peer.event("stopped")["reason"] == "entry"
            peer.ask("continue_", thread_id=1)
            assert peer.event("exited")["exitCode"] == 0
