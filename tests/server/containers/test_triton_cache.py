"""The cache of Triton: what is in it, and the figures of files that are not open."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import eventually, is_running
from tests.server.background.test_measuring import TEXT, Tool
from tests.server.connection import Connection, Json, ResponseError, at, of_file
from tests.server.test_panels import SHOWN, differences

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for ptxas is a script")

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry matmul(.param .u64 out)
.reqntid 256
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
METADATA: dict[str, Json] = {
    "name": "matmul", "num_warps": 8, "num_stages": 3, "num_ctas": 1, "shared": 32768,
    "target": {"backend": "cuda", "arch": 80, "warp_size": 32},
}  # fmt: skip


def write(cache: Path, number: int, target: str = "sm_80", **metadata: Json) -> Path:
    """One more kernel, newer than those before."""
    folder = cache / f"{number:04}HASH"
    folder.mkdir(parents=True)
    path = folder / "matmul.ptx"
    path.write_text(KERNEL.replace("sm_80", target), encoding="utf-8")
    path.with_suffix(".json").write_text(json.dumps({**METADATA, **metadata}), encoding="utf-8")
    (folder / "__grp__matmul.json").write_text("{}", encoding="utf-8")
    for stage in ("ttir", "ttgir", "llir"):
        path.with_suffix(f".{stage}").write_text("", encoding="utf-8")
    os.utime(path, (number, number))
    return path


@pytest.fixture(scope="module")
def client() -> Iterator[Connection]:
    with Connection() as started:
        yield started


def listed(client: Connection, folder: Path) -> list[Json]:
    found = at(client.request("ptx/tritonCache", of_file(folder.as_uri())), "kernels")
    assert isinstance(found, list)
    return found


def test_the_kernels_of_a_cache_newest_first(client: Connection, tmp_path: Path) -> None:
    paths = [write(tmp_path, 1), write(tmp_path, 2, "sm_90a", num_warps=4)]
    found = client.request("ptx/tritonCache", of_file(tmp_path.as_uri()))
    assert not list(differences(SHOWN["ptx/tritonCache"], found))
    assert at(found, "omitted") == 0
    rows = listed(client, tmp_path)
    assert [at(one, "uri") for one in rows] == [paths[1].as_uri(), paths[0].as_uri()]
    keys = ("name", "target", "warps", "stages", "clusterSize", "sharedBytes", "modified")
    assert [at(rows[0], key) for key in keys] == ["matmul", "sm_90a", 4, 3, 1, 32768, 2000]
    stages = [paths[1].with_suffix(f".{one}").as_uri() for one in ("ttir", "ttgir", "llir")]
    assert at(rows[0], "files") == stages


def test_the_folders_of_inductor(client: Connection, tmp_path: Path) -> None:
    path = write(tmp_path / "triton" / "0", 1)
    assert [at(one, "uri") for one in listed(client, tmp_path)] == [path.as_uri()]


def test_what_is_not_triton_s_is_left_out(client: Connection, tmp_path: Path) -> None:
    write(tmp_path, 1)
    alone = tmp_path / "alone.ptx"
    alone.write_text(KERNEL, encoding="utf-8")
    for number, text in enumerate(("", "[]", "{", '{"num_warps": true}', '{"name": "k"}', "[" * 100_000)):
        write(tmp_path, 2 + number).with_suffix(".json").write_text(text, encoding="utf-8")
    (write(tmp_path, 20)).unlink()
    assert len(listed(client, tmp_path)) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_a_fifo_is_not_waited_for(client: Connection, tmp_path: Path) -> None:
    path = write(tmp_path, 1)
    path.unlink()
    os.mkfifo(path)
    assert listed(client, tmp_path) == []


def test_no_folder_is_an_error_in_one_line(client: Connection, tmp_path: Path) -> None:
    with pytest.raises(ResponseError, match="cannot be read: No such file or directory"):
        client.request("ptx/tritonCache", of_file((tmp_path / "none").as_uri()))


def test_the_answer_can_be_cancelled(client: Connection, tmp_path: Path) -> None:
    for number in range(300):
        write(tmp_path, number)
    identity = client.send("ptx/tritonCache", of_file(tmp_path.as_uri()))
    client.notify("$/cancelRequest", {"id": identity})
    with pytest.raises(ResponseError) as error:
        client.answer(identity)
    assert error.value.code == -32800
    assert len(listed(client, tmp_path)) == 300


# -- figures of files that are not open -------------------------------------------------------------


def test_a_report_is_that_of_the_open_file(client: Connection, tmp_path: Path) -> None:
    path = write(tmp_path, 1)
    closed = client.request("ptx/fileReport", of_file(path.as_uri()))
    assert not list(differences(SHOWN["ptx/kernelReport"], closed))
    assert at(closed, "kernels", 0, "findings", "warning") == 1  # %r2 is never written
    client.open(path.as_uri(), KERNEL)
    assert client.request("ptx/kernelReport", of_file(path.as_uri())) == closed
    client.change(path.as_uri(), 2, [{"text": KERNEL.replace("%r2;", "%r1;")}])
    edited = client.request("ptx/fileReport", of_file(path.as_uri()))
    assert at(edited, "kernels", 0, "findings", "warning") == 0  # open files are as the client has them
    client.close(path.as_uri())


def test_several_targets(client: Connection, tmp_path: Path) -> None:
    path = write(tmp_path, 1)
    (tmp_path / "ptx-lint.toml").write_text('targets = ["sm_90", "sm_50"]\n', encoding="utf-8")
    found = client.request("ptx/fileReport", of_file(path.as_uri()))
    assert at(found, "target") == "sm_90"
    assert at(found, "kernels", 0, "findings", "warning") == 1


def test_what_cannot_be_read_is_an_error(client: Connection, tmp_path: Path) -> None:
    large = tmp_path / "large.ptx"
    large.write_bytes(b"\n" * ((2 << 20) + 1))
    for uri, said in (
        ((tmp_path / "none.ptx").as_uri(), "cannot be read"),
        (large.as_uri(), "larger than 2 MiB"),
        ("ptx-member:/lib.so!1:sm_80", "is not a file"),
        ("untitled:one", "is not a file"),
    ):
        with pytest.raises(ResponseError, match=said) as error:
            client.request("ptx/fileReport", of_file(uri))
        assert error.value.code == -32803


# -- ptxas ------------------------------------------------------------------------------------------


@pytest.fixture
def ptx(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.ptx"
    path.write_text(TEXT.replace("first(", "first( // odd"), encoding="utf-8")
    return path


@on_posix
def test_a_report_has_what_ptxas_measures_and_says(tmp_path: Path, ptx: Path) -> None:
    tool = Tool(tmp_path)
    with tool.client() as client:
        for _ in range(2):
            found = client.request("ptx/fileReport", of_file(ptx.as_uri()))
            assert at(found, "ptxas", "state") == "measured"
            assert at(found, "kernels", 0, "measured", "registers") == 30
            assert at(found, "kernels", 0, "findings", "warning") == 1
        assert len(tool.runs) == 1  # results are kept by content
        client.open(ptx.as_uri(), ptx.read_text(encoding="utf-8"))
        assert at(client.request("ptx/kernelReport", of_file(ptx.as_uri())), "ptxas", "state") == "measured"
        assert len(tool.runs) == 1


@on_posix
def test_a_cancelled_report_ends_ptxas(tmp_path: Path, ptx: Path) -> None:
    tool = Tool(tmp_path)
    tool.behaves("time.sleep(600)")
    with tool.client() as client:
        identity = client.send("ptx/fileReport", of_file(ptx.as_uri()))
        assert eventually(lambda: len(tool.runs) == 1)
        client.notify("$/cancelRequest", {"id": identity})
        with pytest.raises(ResponseError):
            client.answer(identity)
        assert eventually(lambda: not is_running(tool.runs[0][0]))
        tool.behaves("pass")
        found = client.request("ptx/fileReport", of_file(ptx.as_uri()))
        assert at(found, "kernels", 0, "measured", "registers") == 30
