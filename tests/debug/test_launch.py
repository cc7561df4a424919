"""What is launched: of launch comments, launch files and arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.debug.adapter.messages import Json
from tests.debug import kernels
from tests.debug.client import connected

TWICE = kernels.DIVERGENT.replace(
    "// ptx-run: grid=1 block=32 out=u32:zeros(32)\n",
    "// ptx-run: grid=1 block=32 out=u32:zeros(32)\n// ptx-run: grid=1 block=16 out=u32:full(16,9)\n",
)
FILE = """\
file = "kernel.ptx"
grid = 1
block = [8]
[arguments]
out = "u32:full(8,5)"
"""


@pytest.mark.parametrize(("given", "threads", "value"), [
    ({}, "32", "0"), ({"launchComment": 4}, "32", "0"), ({"launchComment": 5}, "16", "9"),
    ({"launchComment": 5, "block": 4}, "4", "9"),
    ({"launchComment": 5, "args": ["u32:full(16,7)"]}, "16", "7"),
])
def test_launch_comments(tmp_path: Path, given: dict[str, Json], threads: str, value: str) -> None:
    path = kernels.written(tmp_path, TWICE)
    with connected() as client:
        stop = client.start(path, None, stopOnEntry=True, **given)
        assert client.value("%ntid.x", stop) == threads
        assert client.value("[[out]:u64]:u32", stop) == value


@pytest.mark.parametrize(
    ("given", "threads"), [({}, "8"), ({"block": 4}, "4"), ({"entry": "divergent"}, "8")]
)
def test_a_launch_file(tmp_path: Path, given: dict[str, Json], threads: str) -> None:
    kernels.written(tmp_path, TWICE).rename(tmp_path / "kernel.ptx")
    (tmp_path / "launch.toml").write_text(FILE)
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", launchFile=str(tmp_path / "launch.toml"), stopOnEntry=True, **given)
        client.body("configurationDone")
        stop = client.event("stopped")
        assert client.value("%ntid.x", stop) == threads
        assert client.value("[[out]:u64]:u32", stop) == "5"


def test_files_of_a_launch_file_are_beside_it(tmp_path: Path) -> None:
    import numpy as np

    kernels.written(tmp_path, TWICE).rename(tmp_path / "kernel.ptx")
    (tmp_path / "inner").mkdir()
    np.save(tmp_path / "inner" / "x.npy", np.full(8, 6, np.uint32))
    text = FILE.replace('"kernel', '"../kernel').replace("u32:full(8,5)", "@x.npy")
    (tmp_path / "inner" / "launch.toml").write_text(text)
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        client.body("launch", launchFile=str(tmp_path / "inner" / "launch.toml"), stopOnEntry=True)
        client.body("configurationDone")
        assert client.value("[[out]:u64]:u32", client.event("stopped")) == "6"


@pytest.mark.parametrize(("given", "message"), [
    ({"launchComment": 7}, "line 7 of `kernel.ptx` has no launch comment"),
    ({"launchComment": 4, "entry": "other"}, "line 4 of `kernel.ptx` has no launch comment of `other`"),
    ({"launchFile": "absent.toml"}, "[Errno 2] No such file or directory: '{folder}/absent.toml'"),
    (
        {"launchFile": "wrong.toml"},
        "`{folder}/wrong.toml`: unknown key `gird` in a launch file; did you mean `grid`?",
    ),
])
def test_a_launch_that_is_not_there(tmp_path: Path, given: dict[str, Json], message: str) -> None:
    path = kernels.written(tmp_path, TWICE).rename(tmp_path / "kernel.ptx")
    (tmp_path / "wrong.toml").write_text("gird = 1\n")
    arguments = {key: str(tmp_path / str(one)) if key == "launchFile" else one for key, one in given.items()}
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        found = client.refused("launch", program=str(path), **arguments)
        assert found == message.replace("{folder}", str(tmp_path))


@pytest.mark.parametrize("entry", ["foo<float>", "foo<float>(unsigned int*)", "_Z3fooIfEvPj"])
def test_kernels_are_named_as_in_cuda(tmp_path: Path, entry: str) -> None:
    text = kernels.DIVERGENT.replace("divergent(", "_Z3fooIfEvPj(") + ".entry _Z3fooIdEvPj() { ret; }\n"
    path = kernels.written(tmp_path, text)
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        assert client.refused("launch", program=str(path), entry="foo", grid=1, block=32) == (
            "`foo` is ambiguous: `foo<float>(unsigned int*)` (`_Z3fooIfEvPj`), "
            "`foo<double>(unsigned int*)` (`_Z3fooIdEvPj`)"
        )
        client.body("launch", program=str(path), entry=entry, grid=1, block=32, args=["u32:zeros(32)"])
        client.body("setFunctionBreakpoints", breakpoints=[{"name": entry}])
        client.body("configurationDone")
        assert client.event("stopped")["reason"] == "breakpoint"
