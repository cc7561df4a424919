"""Input that no honest client sends: each is refused in words, and neither reads other files nor ends the
session.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.debug.adapter.messages import Channel, Json, ProtocolError
from ptx_lsp.executor import RecordingFile, launch
from ptx_lsp.executor.recording.archive import read_recording, write_recording
from tests.debug import kernels
from tests.debug.client import connected

_BLOCKS = kernels.SHARED.replace("grid=1 block=64 out=u32:zeros(64)", "grid=2 block=64 out=u32:zeros(64)")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
@pytest.mark.parametrize("named", ["path", "source"])
def test_a_recording_names_what_is_no_file(tmp_path: Path, named: str) -> None:
    """To open a pipe would wait for ever, and a device such as /dev/zero has no end."""
    path, pipe = tmp_path / "x.ptxrec", tmp_path / "pipe"
    os.mkfifo(pipe)
    launch(
        kernels.SHARED, entry="turned", grid=1, block=64, args=[np.zeros(64, np.uint32)],
        recorder=RecordingFile(path),
    )
    kept = read_recording(path)
    kept = replace(kept, path=str(pipe)) if named == "path" else replace(kept, sources={str(pipe): "text\n"})
    write_recording(kept, path)
    program = (
        "import sys; from pathlib import Path; "
        "from ptx_lsp.debug.recorded_program import recorded_program; "
        "print(list(recorded_program(Path(sys.argv[1])).held))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert str(pipe) in done.stdout


@pytest.mark.parametrize("data", ["shared:0:0x100:256", "shared:0:0x100:1", "shared:0:0xfd:100"])
def test_a_range_beyond_a_block_is_not_that_of_the_next(tmp_path: Path, data: str) -> None:
    path = kernels.written(tmp_path, _BLOCKS)
    with connected() as client:
        client.start(path, stopOnEntry=True)
        given: Json = [{"dataId": data, "accessType": "write"}]
        client.body("setDataBreakpoints", breakpoints=given)
        texts: list[Json] = []
        while (stop := client.go("continue"))["event"] == "stopped":
            texts.append(stop["text"])
        assert all("by block 0,0,0" in str(one) for one in texts)
        assert bool(texts) == ("0xfd" in data)


@pytest.mark.parametrize(("given", "message"), [
    ({"recording": "a\0b"}, "embedded null byte"), ({"launchFile": "a\0b"}, "embedded null byte"),
    ({"program": "\ud800"}, "surrogates not allowed"), ({"recording": "\ud800"}, "surrogates not allowed"),
    ({"program": "~nobody-has-this-name/x"}, "home directory"),
    ({"block": [1, 1, 1, 1]}, "list of up to three"), ({"shared": -5}, "must not be negative"),
    ({"args": ["@kernel.ptx"]}, "is not a .npy"),
])
def test_arguments_of_a_launch(tmp_path: Path, given: dict[str, Json], message: str) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        found = client.refused("launch", **{"program": str(path), **given})
        assert message in found
        assert "internal error" not in found


def test_a_hit_count_without_end(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        client.start(path, stopOnEntry=True)
        (found,) = client.breakpoints(path, {"line": kernels.STORE, "hitCondition": "9" * 5000})
        assert not found["verified"]
        assert client.go("continue")["event"] == "terminated"


@pytest.mark.parametrize("command", ["setExpression", "dataBreakpointInfo"])
def test_a_long_address(tmp_path: Path, command: str) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        stop = client.start(path, stopOnEntry=True)
        text = "[1" + "+1" * 3000 + "]"
        found = client.ask(
            command, name=text, expression=text, value="1", frameId=client.frame(stop["threadId"])["id"]
        )
        assert "the expression is too long" in str(found)


@pytest.mark.parametrize("header", [
    b"Content-Length: " + b"9" * 5000,
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2",
], ids=["digits", "http"])  # fmt: skip
def test_headers_that_are_refused(header: bytes) -> None:
    parts = [header + b"\r\n\r\n{}"]
    channel = Channel(lambda most: parts.pop() if parts else b"", lambda data: None)
    with pytest.raises(ProtocolError):
        channel.receive()


def test_a_port_that_is_none() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ptx_lsp.debug.command", "--tcp", "--port", "99999"],
        capture_output=True, text=True, check=False, timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("ptx-dap: error: cannot listen on 127.0.0.1:99999: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
@pytest.mark.parametrize("command", ["setBreakpoints", "breakpointLocations", "source"])
def test_paths_that_are_none(tmp_path: Path, command: str, path: str) -> None:
    written = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        client.start(written, stopOnEntry=True)
        found = client.refused(command, source={"path": path}, breakpoints=[{"line": 1}], line=1)
        assert found.startswith(f"cannot read `{path}`: ")


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_paths_that_are_none_in_the_console(tmp_path: Path, path: str) -> None:
    written = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        client.start(written, stopOnEntry=True)
        found = client.refused("evaluate", expression=f"break {path}:3", context="repl")
        assert found.startswith(f"cannot read `{path}`: ")


def test_a_source_whose_path_is_too_long(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.LOOP.replace("loop.cu", "x" * 5000))
    with connected() as client:
        stop = client.start(path, [kernels.COUNT], show="source")
        assert client.line(stop) == 4
        (found,) = client.breakpoints(tmp_path / "loop.cu", {"line": 4})
        assert not found["verified"]


def test_a_large_message() -> None:
    body = b'{"text": "' + b"x" * (1 << 24) + b'"}'
    sent = b"Content-Length: %d\r\n\r\n" % len(body) + body + b"Content-Length: 2\r\n\r\n{}"
    reads: list[int] = []

    def read(most: int) -> bytes:
        reads.append(most)
        at = sum(reads[:-1])
        return sent[at : at + most]

    channel = Channel(read, lambda data: None)
    found = channel.receive()
    assert found is not None and len(str(found["text"])) == 1 << 24
    assert channel.receive() == {}


def test_a_header_without_end() -> None:
    reads: list[int] = []
    channel = Channel(lambda most: (reads.append(most), b"x" * most)[1], lambda data: None)
    with pytest.raises(ProtocolError):
        channel.receive()
    assert sum(reads) <= 1 << 18
