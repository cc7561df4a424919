"""`ptx-lint extract`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import BAD, GOOD, Lint
from tests.cli.containers.conftest import fat_binary, kernel, machine_code

_FILES = ["lib.1.sm_80.ptx", "lib.2.sm_90.ptx"]


def test_writes_files(lint: Lint, library: Path) -> None:
    done = lint("extract", "lib.fatbin", "-o", "new/out")
    assert done == (0, "".join(f"new/out/{name}\n" for name in _FILES), "")
    assert Path("new/out", _FILES[0]).read_text() == BAD
    assert Path("new/out", _FILES[1]).read_text() == GOOD.replace("sm_80", "sm_90")
    assert sorted(path.name for path in Path("new/out").iterdir()) == _FILES


def test_one_member_into_the_current_folder(lint: Lint, library: Path) -> None:
    assert lint("extract", "lib.fatbin!sm_90").out == f"{_FILES[1]}\n"
    assert {path.name for path in library.iterdir()} == {"lib.fatbin", _FILES[1]}


def test_existing_files(lint: Lint, library: Path) -> None:
    first, second = (library / "out" / name for name in _FILES)
    first.parent.mkdir()
    first.write_text("mine")
    second.symlink_to(library / "elsewhere")
    (library / "elsewhere").write_text(GOOD.replace("sm_80", "sm_90"))
    done = lint("extract", "lib.fatbin", "-o", "out")
    assert (done.status, done.out) == (1, "")
    assert done.err.count("exists with other contents; --force overwrites it\n") == 2
    assert first.read_text() == "mine"
    assert lint("extract", "--force", "lib.fatbin", "-o", "out").status == 0
    assert first.read_text() == BAD
    assert not second.is_symlink()
    assert (library / "elsewhere").is_file()
    state = first.stat()
    assert lint("extract", "lib.fatbin", "-o", "out").status == 0
    assert first.stat() == state, "it is not written again"


def test_the_same_name_twice(lint: Lint, library: Path) -> None:
    Path("other").mkdir()
    Path("other/lib.so").write_bytes(fat_binary((80, GOOD)))
    done = lint("extract", "--force", "lib.fatbin", "other/lib.so", "-o", "out")
    assert done.status == 1
    assert done.err == (
        "ptx-lint: error: other/lib.so!1:sm_80: `out/lib.1.sm_80.ptx` already has the PTX of "
        "lib.fatbin!1:sm_80\n"
    )
    assert Path("out/lib.1.sm_80.ptx").read_text() == BAD


def test_the_rest_of_a_damaged_container(lint: Lint, library: Path, good: Path) -> None:
    Path("lib.fatbin").write_bytes(Path("lib.fatbin").read_bytes()[:-50])
    Path("code.fatbin").write_bytes(machine_code(90))
    done = lint("extract", "lib.fatbin", "code.fatbin", "absent.so", good, "-o", "out")
    assert (done.status, done.out) == (1, f"out/{_FILES[0]}\n")
    first, second, third, fourth = done.err.splitlines()
    assert "lib.fatbin: is truncated" in first
    assert "code.fatbin: holds no PTX, only machine code for sm_90" in second
    assert "absent.so: no such file or directory" in third
    assert fourth.endswith("good.ptx: is not a container")


def test_a_folder(lint: Lint, library: Path, good: Path) -> None:
    Path("program").write_bytes(fat_binary((90, GOOD)))
    done = lint("extract", ".", "-o", "out")
    assert done == (0, "".join(f"out/{name}\n" for name in [*_FILES, "program.1.sm_90.ptx"]), "")


def test_standard_input(lint: Lint, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("lib.fatbin").read_bytes())))
    assert lint("extract", "-").out == "stdin.1.sm_80.ptx\nstdin.2.sm_90.ptx\n"


def test_a_folder_that_is_a_file(lint: Lint, library: Path, good: Path) -> None:
    done = lint("extract", "lib.fatbin", "-o", good)
    assert (done.status, done.out) == (2, "")
    assert "cannot write" in done.err
    assert good.read_text() == GOOD


def test_what_cannot_be_written_does_not_keep_the_rest(lint: Lint, library: Path) -> None:
    (Path("out") / _FILES[0]).mkdir(parents=True)
    done = lint("extract", "--force", "lib.fatbin", "-o", "out")
    assert (done.status, done.out) == (1, f"out/{_FILES[1]}\n")
    assert f"cannot write `out/{_FILES[0]}`: is a directory" in done.err


def test_list(lint: Lint, library: Path) -> None:
    many = "".join(f".entry k{n}() {{ ret; }} // .entry no{n}()\n" for n in range(5))
    Path("x.so").write_bytes(fat_binary((90, kernel("first", 90) + many)))
    done = lint("extract", "--list", "lib.fatbin", "x.so")
    assert done.status == 0
    assert done.out == """\
lib.fatbin
  member   PTX  bytes  kernels
  1:sm_80  8.0    113        1  bad
  2:sm_90  8.0     77        1  good
x.so
  member   PTX  bytes  kernels
  1:sm_90  8.0    281        6  first, k0, k1 and 3 more
"""
    assert {path.name for path in library.iterdir()} == {"lib.fatbin", "x.so"}
    (row,) = json.loads(lint("extract", "--list", "--format", "json", "x.so").out)["members"]
    assert row == {
        "path": "x.so!1:sm_90", "container": "x.so", "member": "1:sm_90", "target": "sm_90",
        "ptx_version": "8.0", "size": 281, "kernels": ["first", "k0", "k1", "k2", "k3", "k4"],
    }
