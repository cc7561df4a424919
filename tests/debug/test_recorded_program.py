"""Recordings in the debugger: from the error backwards."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.debug.adapter.messages import Object
from ptx_lsp.executor import ExecutionError, RecordingFile, launch
from ptx_lsp.executor.recording.archive import read_recording, write_recording
from ptx_lsp.executor.recording.outcome import Outcome
from tests.debug import kernels
from tests.debug.client import Client, connected, objects


def _recorded(
    folder: Path, text: str, entry: str, *arrays: npt.NDArray[np.uint32], check: bool = False
) -> Path:
    path = folder / "failed.ptxrec"
    recorder = RecordingFile(path)
    recorder.path = "kernel.ptx"
    with suppress(ExecutionError):
        launch(text, entry=entry, grid=1, block=64, args=arrays, check=check, recorder=recorder)
    return path


def _opened(client: Client, path: Path, **arguments: bool) -> Object:
    client.body("initialize", adapterID="ptx")
    client.body("launch", recording=str(path), **arguments)
    client.event("initialized")
    client.body("configurationDone")
    return client.event("stopped", "terminated")


def test_backwards_from_a_race(tmp_path: Path) -> None:
    path = _recorded(tmp_path, kernels.RACE, "turned", np.zeros(64, np.uint32), check=True)
    with connected() as client:
        stop = _opened(client, path)
        problem = read_recording(path).outcome.problem
        assert problem is not None and problem.kind == "race"
        assert (stop["reason"], client.line(stop)) == ("exception", problem.line)
        lines = [client.line(client.go("stepBack", stop["threadId"])) for _ in range(3)]
        assert lines == [problem.line - 1, problem.line - 2, problem.line - 3]
        assert "differs" not in client.output


def test_backwards_from_a_fault(tmp_path: Path) -> None:
    path = _recorded(tmp_path, kernels.SHARED, "turned", np.zeros(16, np.uint32))
    with connected() as client:
        stop = _opened(client, path)
        assert stop["reason"] == "exception"
        assert client.frame(stop["threadId"])["line"] == kernels.RESULT
        stop = client.go("stepBack", stop["threadId"])
        assert client.line(stop) == kernels.RESULT - 1


def test_without_an_error_it_stops_at_the_first_instruction(tmp_path: Path) -> None:
    path = _recorded(tmp_path, kernels.SHARED, "turned", np.zeros(64, np.uint32))
    with connected() as client:
        stop = _opened(client, path)
        assert (stop["reason"], client.line(stop)) == ("entry", 10)
        assert client.go("continue")["event"] == "terminated"
        assert "differs" not in client.output


def test_a_replay_that_differs(tmp_path: Path) -> None:
    path = _recorded(tmp_path, kernels.SHARED, "turned", np.zeros(64, np.uint32))
    recorded = read_recording(path)
    write_recording(replace(recorded, outcome=Outcome("done", memory="0" * 32)), path)
    with connected() as client:
        _opened(client, path)
        client.go("continue")
        assert "The replay of this recording differs: memory is not as" in client.output
    race = read_recording(_recorded(tmp_path, kernels.RACE, "turned", np.zeros(64, np.uint32), check=True))
    write_recording(replace(recorded, outcome=race.outcome), path)
    with connected() as client:
        stop = _opened(client, path)
        assert stop["reason"] == "entry"
        assert "the recorded run found race at line" in client.output
        assert "this one ended without it" in client.output


def test_sources_go_with_a_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    (there / "kernel.cu").write_text("__global__ void turned(unsigned *out)\n{\n}\n")
    (tmp_path / "secret.cu").write_text("not in the folder of the PTX")
    monkeypatch.chdir(there)
    files = '.file 1 "kernel.cu"\n.file 2 "../secret.cu"\n'
    text = kernels.SHARED.replace("// ptx-run", files + "// ptx-run")
    text = text.replace("\tmov", "\t.loc 1 2 0\n\tmov", 1).replace("\tbar", "\t.loc 2 1 0\n\tbar")
    path = _recorded(there, text, "turned", np.zeros(16, np.uint32))
    assert list(read_recording(path).sources) == ["kernel.cu"]
    path = path.rename(here / path.name)
    monkeypatch.chdir(here)
    with connected() as client:
        _opened(client, path)
        shown = {str(one["name"]): one for one in objects(client.body("loadedSources")["sources"])}
        assert list(shown) == ["kernel.ptx", "kernel.cu", "secret.cu"]
        assert "sourceReference" not in shown["secret.cu"]
        number = shown["kernel.ptx"]["sourceReference"]
        found = client.body("source", source=shown["kernel.ptx"], sourceReference=number)
        assert found == {"content": text, "mimeType": "text/x-ptx"}
        number = shown["kernel.cu"]["sourceReference"]
        assert client.body("source", sourceReference=number)["content"] == (there / "kernel.cu").read_text()
        client.refused("source", sourceReference=3)
        made = client.body(
            "setBreakpoints", source=shown["kernel.ptx"], breakpoints=[{"line": kernels.STORE + 3}]
        )
        assert objects(made["breakpoints"])[0]["verified"]


def test_not_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "x.ptxrec"
    path.write_text("PTX")
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        assert "is not a recording, or damaged" in client.refused("launch", program=str(path))
        assert "cannot read" in client.refused("launch", recording=str(tmp_path / "absent"))
