"""`ptx-lint blame` as a filter, and on logs in any condition."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx_lsp.cli.blame.log import Log, stem
from tests.cli.blame.conftest import LOGS, Recorded
from tests.cli.conftest import Lint

MESSAGE = b"ptxas macro.ptx, line 28; error   : Unknown modifier '.s33'\n"


def messages(*lines: bytes) -> list[tuple[str, int | None, str]]:
    log = Log()
    return [(one.path, one.line, one.text) for line in lines for one in log.feed(line).messages]


@pytest.mark.parametrize(
    "line",
    [
        MESSAGE,
        MESSAGE.replace(b"\n", b"\r\n"),
        b"\x1b[31m\x1b[1m" + MESSAGE.replace(b"error", b"\x1b[0merror"),
        b"2025-02-08T12:00:00.1234567Z " + MESSAGE,
        b"#12 345.6 " + MESSAGE,
        b"[ 10%] Building\r" + MESSAGE,
        b"W external/xla/asm_compiler.cc:111] output: " + MESSAGE,
        MESSAGE.replace(b"error   :", b"error :"),
        MESSAGE.replace(b"ptxas ", b"ptxas-blackwell "),
        MESSAGE.replace(b"ptxas ", b"ptxas.exe "),
    ],
)
def test_messages_in_all_kinds_of_logs(line: bytes) -> None:
    assert messages(line) == [("macro.ptx", 28, "Unknown modifier '.s33'")]


def test_messages_that_share_a_line() -> None:
    first = b"ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored."
    assert len(messages(first + MESSAGE)) == 2
    printed = b"RuntimeError: ptxas a.ptx, line 1; error   : first\\nptxas a.ptx, line 2; error   : second"
    assert messages(printed) == [("a.ptx", 1, "first"), ("a.ptx", 2, "second")]


@pytest.mark.parametrize(
    "line",
    [
        b"", b"ptxas", b"ptxas error", b"ptxas fatal   : Ptx assembly aborted due to errors",
        b"nvcc warning : The -std=c++17 flag is not supported", b"error: expected a `;`",
        b"ptxas info    : Used 30 registers, used 0 barriers",
        b"    0 bytes stack frame, 0 bytes spill stores",
        b"\xff\xfe\x00" * 100, b"x" * 300_000, b"ptxas " * 50_000,
        b"ptxas" + b" " * 99_000, b"+" * 9_900, b"make: Entering directory `" * 3_800,
    ],
)
def test_lines_without_messages(line: bytes) -> None:
    assert messages(line) == []


def test_other_programs_of_the_toolkit() -> None:
    assert messages(b"nvlink error   : Undefined reference to '_Z3foov' in 'a.o'") != []
    assert messages(b"error   : Undefined reference to 'foo' in 'bar'") != []
    assert messages(b"nvcc error   : 'ptxas' died due to signal 11 (Invalid memory reference)") != []
    assert messages(b"ptxas application ptx input, line 9; fatal   : Unsupported .version 8.4") == [
        ("application ptx input", 9, "Unsupported .version 8.4")
    ]
    assert messages(b"ptxas <macro util>, line 2; error   : x") == [("", None, "x")]
    assert messages(b"ptxas a.ptx, line 0; error   : x") == [("a.ptx", None, "x")]
    inside = b"ptxas info    : (C7511) Potential Performance Loss: wgmma in the function 'gemm' in line 42"
    assert messages(inside)[0][1] == 42


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/tmp/tmpxft_000039bc_00000000-6_row.ptx", "row"),
        ("/tmp/tmpxft_00005bee_00000001-7_row.compute_80.ptx", "row"),
        (r"C:\Temp\tmpxft_000039bc_00000000-6_row.compute_90a.ptx", "row"),
        ("src/row.cu", "row"), ("row", "row"),
    ],
)
def test_names_of_temporary_files(path: str, name: str) -> None:
    assert stem(path) == name


def test_other_lines_pass_unchanged(recorded: Recorded) -> None:
    recorded("macro")
    before, behind = b"[ 1/2] caf\xe9 \x1b[1mbold\x1b[0m\r\n::group::x\n", b"make: *** [all] Error 255"
    given = before + Path("log").read_bytes() + behind
    done = subprocess.run(
        [sys.executable, "-m", "ptx_lsp.cli.lint", "blame", "--passthrough"],
        input=given, stdout=subprocess.PIPE, check=False,
    )
    assert done.returncode == 1
    assert done.stdout.startswith(before + b"error[ptxas]: Unknown modifier '.s33'\n --> inc/ops.cuh:3:")
    assert behind in done.stdout
    assert b"ptxas fatal   : Ptx assembly aborted due to errors\n" in done.stdout


def test_messages_come_at_once(recorded: Recorded) -> None:
    recorded("macro")
    program = subprocess.Popen(
        [sys.executable, "-m", "ptx_lsp.cli.lint", "blame", "--passthrough"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )
    assert program.stdin is not None
    assert program.stdout is not None
    with program:
        program.stdin.write(b"building\n" + Path("log").read_bytes().splitlines(keepends=True)[0])
        program.stdin.flush()
        assert program.stdout.readline() == b"building\n"
        assert program.stdout.readline() == b"error[ptxas]: Unknown modifier '.s33'\n"
        program.stdin.close()
        program.stdout.read()
    assert program.returncode == 1


def test_output_of_parallel_builds(lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs whose lines are mixed, in folders of their own that `make` enters."""
    monkeypatch.chdir(tmp_path)
    lines: list[list[str]] = []
    for name in ("macro", "raw_string"):
        folder = tmp_path / name
        folder.mkdir()
        for path in (LOGS / name).rglob("*"):
            if path.is_file():
                copy = folder / path.relative_to(LOGS / name)
                copy.parent.mkdir(exist_ok=True)
                data = path.read_bytes()
                copy.write_bytes(data.replace(b'.file\t1 "', b'.file\t1 "' + f"{folder}/".encode()))
        lines.append([f"make[1]: Entering directory '{folder}'", *(folder / "log").read_text().splitlines()])
    short, long = lines
    mixed = [line for pair in zip(short, long, strict=False) for line in pair] + long[len(short) :]
    Path("log").write_text("\n".join(mixed))
    report = json.loads(lint("blame", "log", "--format", "json").out)
    assert {Path(one["path"]).name for one in report["messages"]} == {"ops.cuh", "raw_string.cu"}


def test_empty_and_unreadable_logs(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"")
    done = lint("blame", tmp_path / "log")
    assert (done.status, done.out) == (0, "The log has no messages of ptxas.\n")
    done = lint("blame", tmp_path / "none")
    assert done.status == 2
    assert "No such file" in done.err
    done = lint("blame", tmp_path / "log", "--ptx", tmp_path / "none.ptx")
    assert done.status == 2
    assert lint("blame", tmp_path / "log", "--passthrough", "--format", "json").status == 2


def test_warnings_and_advice_do_not_fail(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("ptxas warning : Registers are spilled to local memory in function 'k'\n")
    assert lint("blame", tmp_path / "log").status == 0


def test_escapes_of_a_log_do_not_reach_the_terminal(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"ptxas a.ptx, line 1; error   : bad \x07\x9b31m ##[error]x\n")
    out = lint("blame", tmp_path / "log").out
    assert "\x07" not in out
    assert "\x9b" not in out
    assert "##[error]" not in out


def test_standard_input(
    lint: Lint, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded("triton")
    data = Path("log").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    streamed = lint("blame").out
    assert streamed == lint("blame", "log").out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b".b8 95,", b".b8 1 12 3,"), (b".b8 95,", b".b8 " + b"9" * 9_000 + b","),
        (b".loc\t1 5", b".loc\t" + b"1" * 9_000),
        (b".loc\t2", b".loc\t9"), (b"inlined_at", b"inlined_at 1 1 1,"), (b"// end inline asm", b""),
        (b"// begin inline asm", b""), (b".file", b"//"), (b"{", b"}"), (b"\n", b"\r"),
    ],
)
def test_damaged_ptx(lint: Lint, recorded: Recorded, old: bytes, new: bytes) -> None:
    recorded("inlined")
    Path("inlined.ptx").write_bytes(Path("inlined.ptx").read_bytes().replace(old, new))
    done = lint("blame", "log")
    assert (done.status, done.err) == (1, "")
    assert "error[ptxas]: Arguments mismatch for instruction 'shfl'\n" in done.out


def test_numbers_of_any_length() -> None:
    assert messages(b"ptxas a.ptx, line " + b"9" * 9_000 + b"; error   : x") == []


def test_equal_messages_about_other_files_are_not_repeated(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("tmpxft_1_1-1_a.ptx", "tmpxft_1_1-2_a.compute_90.ptx", "tmpxft_2_1-1_b.ptx")
    Path("log").write_text("".join(f"ptxas /tmp/{name}, line 7; error   : x\n" for name in names))
    done = lint("blame", "log")
    assert done.out.count("error[ptxas]: x") == 2
    assert "2 errors; 1 repeated" in done.out


def test_the_ptx_is_not_read_from_a_pipe(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither one that is named nor one that the log names."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.ptx")
    Path("log").write_bytes(MESSAGE.replace(b"macro", b"pipe"))
    assert "`pipe.ptx` is missing" in lint("blame", "log").out
    done = lint("blame", "log", "--ptx", "pipe.ptx")
    assert (done.status, done.err) == (2, "ptx-lint: error: `pipe.ptx`: is not a regular file\n")


def test_the_report_is_not_written_over_the_log(lint: Lint, recorded: Recorded) -> None:
    recorded("macro")
    log = Path("log").read_bytes()
    Path("link").symlink_to("log")
    for words in (["log", "-o", "link"], ["--ptx", "log", "-o", "./log"]):
        assert "is already an input or an output; choose another file" in lint("blame", *words).err
    assert Path("log").read_bytes() == log
