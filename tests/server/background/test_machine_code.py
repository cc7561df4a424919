"""`ptx/machineCode`: the columns of source, PTX and machine code, with and without the programs."""

from __future__ import annotations

import shutil
import stat
import sys
from pathlib import Path

import pytest

from ptx_lsp import nvdisasm, ptxas
from tests.server.connection import Connection, Json, at, of_file
from tests.test_nvdisasm import TEXTS

URI = "file:///folder/kernel.ptx"
needs_tools = pytest.mark.skipif(
    ptxas.find() is None or nvdisasm.find(ptxas.find()) is None, reason="there is no ptxas or nvdisasm here"
)


def items(found: Json, *path: str) -> list[Json]:
    listed = at(found, *path)
    assert isinstance(listed, list)
    return listed


def stand_in(folder: Path, case: str) -> Path:
    """A script that answers as ptxas does about itself; `case` is what else it does, as a shell has it."""
    tool = folder / "ptxas"
    tool.write_text(
        "#!/bin/sh\ncase \"$*\" in --version) echo release 13.5;; --help) echo \"'sm_80'\";; "
        f"{case};; esac\n"
    )
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return tool


def test_without_ptxas_there_are_two_columns_and_the_reason() -> None:
    with Connection() as client:
        client.open(URI, TEXTS["cuda"].read_text())
        found = client.request("ptx/machineCode", of_file(URI, kernel="redux"))
        assert at(found, "instructions") is None
        assert at(found, "problem") == "ptxas is turned off (setting `ptxas`)"
        assert at(found, "sources", 0, "uri") == "file:///src/gen/cuda/reduce.cu"
        lines = {at(one, "line"): at(one, "source") for one in items(found, "lines")}
        assert all(at(chain, -1) == [0, 18] for chain in lines.values())  # the kernel is in line 19
        assert max(len(chain) for chain in lines.values() if isinstance(chain, list)) > 1  # inlined_at


@needs_tools
@pytest.mark.parametrize(("name", "kernel"), [("cuda", "redux"), ("triton", "matmul_k")])
def test_three_columns(name: str, kernel: str) -> None:
    text = TEXTS[name].read_text()
    with Connection(options={"ptxas": "auto"}) as client:
        client.open(URI, text)
        found = client.request("ptx/machineCode", of_file(URI, kernel=kernel))
        assert at(found, "problem") is None
        assert isinstance(at(found, "measured", "registers"), int)
        instructions = items(found, "instructions")
        addresses = [at(one, "address") for one in instructions]
        assert addresses == sorted(addresses, key=lambda one: one if isinstance(one, int) else 0)
        stores = [one for one in instructions if "STG" in str(at(one, "text"))]
        assert stores
        lines = text.splitlines()
        for one in stores:
            line = at(one, "line")
            assert isinstance(line, int)
            assert "st." in lines[line]
        again = client.request("ptx/machineCode", of_file(URI, kernel=kernel))
        assert again == found


@needs_tools
def test_a_text_that_ptxas_rejects() -> None:
    with Connection(options={"ptxas": "auto"}) as client:
        client.open(URI, TEXTS["cuda"].read_text().replace("ret;", "ret 1;"))
        found = client.request("ptx/machineCode", of_file(URI, kernel="redux"))
        assert "ptxas rejects the text: line " in str(at(found, "problem"))
        assert items(found, "lines")


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for ptxas is a script")
def test_settings_that_come_late_do_not_end_the_run(tmp_path: Path) -> None:
    waits = f"*output.cubin*) touch {tmp_path}/started; until [ -e {tmp_path}/go ]; do sleep 1; done"
    tool = stand_in(tmp_path, waits)
    shutil.copy(tool, tmp_path / "nvdisasm")
    with Connection(options={"ptxas": "auto", "ptxasPath": str(tool)}) as client:
        client.open(URI, TEXTS["cuda"].read_text())
        waiting = client.send("ptx/machineCode", of_file(URI, kernel="redux"))
        client.wait_until((tmp_path / "started").exists)
        changed = {"ptxas": "auto", "codeLens": {"enabled": False}}
        client.notify("workspace/didChangeConfiguration", {"settings": {"ptx": changed}})
        client.request("ptx/pressureProfile", of_file(URI, kernel="redux"))
        (tmp_path / "go").touch()
        assert "has changed" not in str(at(client.answer(waiting), "problem"))


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for ptxas is a script")
def test_an_edit_ends_the_run_and_answers_the_request(tmp_path: Path) -> None:
    tool = stand_in(tmp_path, "*) sleep 1000")
    with Connection(options={"ptxas": "auto", "ptxasPath": str(tool)}) as client:
        text = TEXTS["cuda"].read_text()
        client.open(URI, text)
        waiting = client.send("ptx/machineCode", of_file(URI, kernel="redux"))
        client.request("ptx/pressureProfile", of_file(URI, kernel="redux"))  # others are answered
        client.change(URI, 2, [{"text": text + "\n"}])
        assert at(client.answer(waiting), "problem") == "the text has changed"
