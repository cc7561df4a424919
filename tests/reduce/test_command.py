"""The command `ptx-reduce`, with commands of the shell as conditions."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ptx_lsp.reduce.legality import errors
from ptx_lsp.reduce.program import Program
from tests.cli.containers.conftest import fat_binary
from tests.reduce.reductions import HEADER

pytestmark = pytest.mark.skipif(os.name != "posix", reason="commands for a POSIX shell")

EXAMPLE = Path(__file__).parents[2] / "examples" / "saxpy.ptx"
CONDITION = "grep -q fma {}"
FAKE_PTXAS = """\
#!/bin/sh
for path; do :; done
case "$*" in
  *--version*) echo "release 13.5, V13.5.0"; exit 0;;
  *--help*) echo "'sm_75','sm_80','sm_90'"; exit 0;;
  *compute_*) grep -q mul.wide "$path" && exit 0
     echo "ptxas $path, line 7; error   : no"; exit 255;;
esac
grep -q fma "$path" && kill -SEGV $$
echo "ptxas info    : some words"
exit 0
"""
"""A ptxas that crashes for `fma`, and rejects files without `mul.wide`."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the file, in which temporary files have a folder of their own."""
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "temporary").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(EXAMPLE, work / "a.ptx")
    ptxas = tmp_path / "bin" / "ptxas"
    ptxas.write_text(FAKE_PTXAS)
    ptxas.chmod(0o755)
    monkeypatch.chdir(work)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return work


def reduce(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command, with the fake ptxas; the input stays as it is, and nothing temporary remains."""
    before = (folder / "a.ptx").read_bytes()
    code = "import sys; from ptx_lsp.cli.reducing.reduction import main; sys.exit(main())"
    fake = str(folder.parent / "bin" / "ptxas")
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "--ptxas", fake],
        capture_output=True,
        text=True,
        check=False,
    )
    if "--in-place" not in words:
        assert (folder / "a.ptx").read_bytes() == before
    assert list((folder.parent / "temporary").iterdir()) == []
    assert "Traceback" not in done.stderr
    return done


def test_result_beside_the_file(folder: Path) -> None:
    done = reduce(folder, "a.ptx", "--if", CONDITION)
    assert (done.returncode, done.stderr) == (0, "")
    result = (folder / "a.reduced.ptx").read_text()
    assert "fma" in result
    assert "mul.wide" in result, "ptxas is asked, too"
    assert done.stdout.startswith(
        f"a.reduced.ptx: {len(result)} bytes (of {EXAMPLE.stat().st_size}), 2 instructions"
    )
    assert sorted(one.name for one in folder.iterdir()) == ["a.ptx", "a.reduced.ptx"]


def test_output_and_jobs(folder: Path) -> None:
    assert (
        reduce(folder, "a.ptx", "--if", CONDITION, "-o", "one.ptx", "--jobs", "1").returncode == 0
    )
    assert (
        reduce(folder, "a.ptx", "--if", CONDITION, "-o", "four.ptx", "--jobs", "4").returncode == 0
    )
    assert (folder / "one.ptx").read_bytes() == (folder / "four.ptx").read_bytes()


def test_in_place(folder: Path) -> None:
    assert reduce(folder, "a.ptx", "--if", CONDITION, "--in-place").returncode == 0
    assert (folder / "a.ptx").stat().st_size < 200
    assert [one.name for one in folder.iterdir()] == ["a.ptx"]


def test_crash(folder: Path) -> None:
    done = reduce(folder, "a.ptx", "--crash")
    assert done.returncode == 0, done.stderr
    assert "fma" in (folder / "a.reduced.ptx").read_text()
    (folder / "b.ptx").write_text((folder / "a.reduced.ptx").read_text().replace("fma", "mad"))
    done = reduce(folder, "b.ptx", "--crash")
    assert (done.returncode, done.stderr) == (
        1,
        "ptx-reduce: error: `b.ptx`: ptxas does not crash\n",
    )


def test_message(folder: Path) -> None:
    (folder / "b.ptx").write_text(
        HEADER + ".entry k() { .reg .b64 %r; .reg .b32 %s; mul.wide.s32 %r, %s, 4; }"
    )
    assert reduce(folder, "b.ptx", "--message", "some words").returncode == 0
    assert "mul.wide" in (folder / "b.reduced.ptx").read_text()


def test_finding(folder: Path) -> None:
    """A rejected file is reduced, because the finding is about that; other errors do not appear."""
    done = reduce(folder, "a.ptx", "--finding", "E199")
    assert (done.returncode, done.stderr[:40]) == (2, "ptx-reduce: error: --finding E199: no su")
    assert reduce(folder, "a.ptx", "--finding", "undeclared-name").returncode == 1
    (folder / "b.ptx").write_text(EXAMPLE.read_text().replace("%f4, %f1", "%f4, %missing"))
    done = reduce(folder, "b.ptx", "--finding", "undeclared-name")
    assert done.returncode == 0, done.stderr
    result = Program((folder / "b.reduced.ptx").read_bytes())
    assert errors(result).keys() == {"undeclared-name"}
    assert len(list(result.instructions())) == 1


def test_a_member_of_a_container(folder: Path) -> None:
    text = EXAMPLE.read_text()
    (folder / "lib.fatbin").write_bytes(
        fat_binary((80, text), (90, text.replace("sm_80", "sm_90")))
    )
    assert reduce(folder, "lib.fatbin!2", "--if", CONDITION).returncode == 0
    assert "fma" in (folder / "lib.fatbin.2.reduced.ptx").read_text()
    done = reduce(folder, "lib.fatbin", "--if", CONDITION)
    assert (done.returncode, done.stderr) == (
        2,
        "ptx-reduce: error: `lib.fatbin` is a container, name one member: `lib.fatbin!1:sm_80`, "
        "`lib.fatbin!2:sm_90`\n",
    )
    assert reduce(folder, "lib.fatbin!7", "--if", CONDITION).returncode == 2


def test_the_condition_must_hold_for_the_file(folder: Path) -> None:
    done = reduce(folder, "a.ptx", "--if", "false")
    assert done.returncode == 1
    assert (
        done.stderr
        == "ptx-reduce: error: `a.ptx`: the condition does not hold for the file itself\n"
    )
    assert [one.name for one in folder.iterdir()] == ["a.ptx"]


def test_a_rejected_file(folder: Path) -> None:
    (folder / "b.ptx").write_text(HEADER + ".entry k() { ret; }")
    done = reduce(folder, "b.ptx", "--if", "grep -q ret")
    assert done.returncode == 2
    assert done.stderr == (
        "ptx-reduce: error: `b.ptx`: ptxas rejects the file itself (line 7: no); "
        "--invalid reduces it nevertheless\n"
    )
    assert reduce(folder, "b.ptx", "--if", "grep -q ret", "--invalid").returncode == 0
    assert (folder / "b.reduced.ptx").read_text().split() == ["ret"]


@pytest.mark.parametrize(
    "data", [b"ret", b"\x00\xff ret }{", b"ret " * 50_000], ids=["short", "junk", "long line"]
)
def test_hostile_files(folder: Path, data: bytes) -> None:
    (folder / "b.ptx").write_bytes(data)
    assert (
        reduce(folder, "b.ptx", "--if", "grep -aq ret", "--invalid", "--jobs", "1").returncode == 0
    )
    assert (folder / "b.reduced.ptx").read_bytes().split() == [b"ret"]


def test_an_unreliable_command(folder: Path) -> None:
    """The result is tested again at the end."""
    command = "grep -q fma {} && test ! -e stop && (grep -q tid {} || touch stop)"
    done = reduce(folder, "a.ptx", "--if", command, "--jobs", "1")
    assert done.returncode == 1
    assert done.stderr.startswith("ptx-reduce: warning: the condition does not hold for the result")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.ptx",), "one of the arguments --if --crash --message --finding is required"),
        (("none.ptx", "--if", "true"), "none.ptx: No such file or directory"),
        (
            ("a.ptx", "--if", "true", "-o", "a.ptx"),
            "--output is the file itself: --in-place replaces it",
        ),
        (
            ("a.ptx", "--if", "true", "--in-place", "-o", "b"),
            "--in-place requires a file, and no --output",
        ),
        (("a.ptx", "--crash", "--ptxas-options", "'"), "--ptxas-options: No closing quotation"),
        (("a.ptx", "--if", "true", "--timeout", "0"), "argument --timeout: `0` is not a duration"),
        (("a.ptx", "--if", "true", "-o", "no/such/b.ptx"), "no/such"),
    ],
)
def test_usage_errors(folder: Path, words: tuple[str, ...], message: str) -> None:
    done = reduce(folder, *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_interrupted_and_continued(folder: Path) -> None:
    """The best so far is there, and the same command goes on; the result is that of one run."""
    assert (
        reduce(folder, "a.ptx", "--if", CONDITION, "-o", "whole.ptx", "--jobs", "1").returncode == 0
    )
    at_twelfth = (
        f'echo >> count; test "$(wc -l < count)" -ne 12 || kill -{signal.SIGINT.value} $PPID'
    )
    interrupting = f"{at_twelfth}; {CONDITION}"
    words = ("a.ptx", "--if", interrupting, "--jobs", "1")
    done = reduce(folder, *words)
    assert done.returncode == 1
    assert "interrupted; `a.reduced.ptx` has" in done.stderr
    assert "fma" in (folder / "a.reduced.ptx").read_text()
    assert any((folder / "a.reduced.ptx.state").iterdir())
    done = reduce(folder, *words)
    assert done.returncode == 0
    assert "going on with" in done.stderr
    assert (folder / "a.reduced.ptx").read_bytes() == (folder / "whole.ptx").read_bytes()
    assert not (folder / "a.reduced.ptx.state").exists()


def test_an_output_that_is_a_link(folder: Path) -> None:
    """What it names is replaced, with its permissions; the link stays."""
    (folder / "real.ptx").write_text("old")
    (folder / "real.ptx").chmod(0o755)
    (folder / "link.ptx").symlink_to("real.ptx")
    assert reduce(folder, "a.ptx", "--if", CONDITION, "-o", "link.ptx").returncode == 0
    assert (folder / "link.ptx").is_symlink()
    assert "fma" in (folder / "real.ptx").read_text()
    assert (folder / "real.ptx").stat().st_mode & 0o777 == 0o755


def test_an_output_that_cannot_be_replaced(folder: Path) -> None:
    """Neither a device, nor a folder, nor what the missing folder would hold."""
    os.mkfifo(folder / "pipe")
    (folder / "sub").mkdir()
    (folder / "link").symlink_to("pipe")
    for name in ("pipe", "link", "sub", "missing/a.ptx"):
        before = sorted(folder.rglob("*"))
        done = reduce(folder, "a.ptx", "--if", CONDITION, "-o", name)
        assert done.returncode == 2
        assert f"`{name}`" in done.stderr
        assert sorted(folder.rglob("*")) == before
    assert (folder / "pipe").is_fifo()
