"""Inputs of every kind: what can be read is linted, and what cannot gets one clear line."""

from __future__ import annotations

import io
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ptx_lsp.cli import inputs
from ptx_lsp.cli.collecting import collect
from ptx_lsp.cli.inputs import InputError, read
from tests.cli.conftest import BAD, GOOD, HEADER, Lint


def paths(*given: Path) -> list[str]:
    return [one.path for one in collect(map(str, given), "<stdin>")]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (GOOD.encode("utf-16"), "UTF-16 text"),
        (GOOD.encode("utf-16-le"), "UTF-16 text"),
        (GOOD.encode("utf-16-be"), "UTF-16 text"),
        (GOOD.encode("utf-32"), "UTF-32 text"),
        (b"\x7fELF\x02\x01", "its ELF headers cannot be read"),
        (GOOD.encode() + b"\0\x01", "NUL byte in line 8"),
        (b".version 8.0 \x00\x80\xff" * 9, "NUL byte in line 1"),
    ],
    ids=["utf-16", "utf-16-le", "utf-16-be", "utf-32", "elf", "nul", "binary"],
)
def test_not_text(lint: Lint, tmp_path: Path, good: Path, data: bytes, said: str) -> None:
    path = tmp_path / "odd.ptx"
    path.write_bytes(data)
    done = lint(path, good)
    assert done.status == 2
    assert done.out == "All checks passed: 1 file; 1 file could not be checked.\n"
    assert done.err.startswith(f"ptx-lint: error: {path}: ")
    assert said in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "data",
    [
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.replace("ret;", "ret; // \xe9 in Latin-1").encode("latin-1"),
        GOOD.replace("ret;", "ret; // Überlauf 溢出").encode(),
    ],
    ids=["crlf", "latin-1-comment", "utf-8-comment"],
)
def test_odd_but_legal(lint: Lint, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "odd.ptx"
    path.write_bytes(data)
    assert lint(path).status == 0


@pytest.mark.parametrize("padding", [b"\0", b"\0" * 512])
def test_padded_with_nuls(lint: Lint, tmp_path: Path, padding: bytes) -> None:
    """Text, of which ptxas says `Unexpected EOF encountered`; the fix makes it a file that it takes."""
    path = tmp_path / "padded.ptx"
    path.write_bytes(GOOD.encode() + padding)
    done = lint("--format", "concise", path)
    assert (done.status, done.err) == (1, "")
    line = GOOD.count("\n") + 1
    message = "NUL characters are not allowed anywhere; ptxas stops at the first one"
    assert done.out == f"{path}:{line}:1: error[not-ptx] {message}\n"
    assert lint("--fix", path).status == 0
    assert path.read_bytes() == GOOD.encode()


def test_nothing_but_nuls(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "empty.ptx"
    path.write_bytes(b"\0\0")
    done = lint("--format", "concise", path)
    assert done.status == 1
    assert "error[file-header] `.version` is missing" in done.out
    assert "error[not-ptx]" in done.out


@pytest.mark.parametrize("data", [b"", b"\n", b"// nothing"])
def test_empty_says_what_is_missing(lint: Lint, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "empty.ptx"
    path.write_bytes(data)
    done = lint("--format", "concise", path)
    assert done.status == 1
    assert "`.version` is missing" in done.out
    assert done.out.count("\n") == 1


def test_one_endless_line_is_cut(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "line.ptx"
    path.write_text(".version 8.0 .target sm_80 .entry k() { .reg .b32 %r<4>; "
                    + "mov.b32 %r1, %r2; " * 4_000 + "mov.b32 %r1, %r9; ret; }")
    done = lint(path)
    assert done.status == 1
    source = next(line for line in done.out.splitlines() if "%r9; ret;" in line)
    assert len(source) <= 120
    carets = next(line for line in done.out.splitlines() if "^" in line)
    assert source[carets.index("^") : carets.rindex("^") + 1] == "%r9"


def test_an_endless_name_is_cut(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "name.ptx"
    path.write_text("x" * 1_000_000)
    for form in ("full", "concise", "json"):
        done = lint("--format", form, path)
        assert done.status == 1
        assert len(done.out) < 20_000


def test_deep_nesting(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "deep.ptx"
    path.write_text(f"{HEADER}.entry k() {'{' * 10_000} ret; {'}' * 10_000}")
    done = lint("--format", "concise", path)
    assert done.status == 1
    assert "nested blocks" in done.out
    assert done.err == ""


def test_too_large(lint: Lint, tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.ptx"
    with path.open("wb") as file:
        file.truncate(inputs.MOST_BYTES + (8 << 20))  # takes no room on the disk
    done = lint(path, good)
    assert done.status == 2
    assert done.err == f"ptx-lint: error: {path}: too large: 72 MiB; the limit is 64 MiB\n"
    monkeypatch.setattr(inputs, "MOST_BYTES", 10)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert "too large" in lint("-").err


def test_missing(lint: Lint, tmp_path: Path, bad: Path) -> None:
    done = lint(tmp_path / "absent.ptx", bad)
    assert done.status == 2
    assert done.err == f"ptx-lint: error: {tmp_path}/absent.ptx: no such file or directory\n"
    assert "`%r9` is not declared" in done.out


def test_a_name_with_a_nul(lint: Lint) -> None:
    assert "embedded null" in lint("a\0b").err


def test_a_link_to_nothing(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "link.ptx").symlink_to("absent")
    assert "a link to a file that does not exist" in lint(tmp_path).err


def test_a_link_to_itself(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "link.ptx").symlink_to("link.ptx")
    done = lint(tmp_path)
    assert done.status == 2
    assert done.err.count("\n") == 1


def test_pipes_sockets_and_devices_are_refused(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.ptx")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the name of a socket must be short
        server.bind("socket.ptx")
        done = lint(tmp_path, "/dev/null")
    assert done.status == 2
    for kind in ("a pipe", "a socket", "a device"):
        assert f"is {kind}, not a regular file" in done.err


def test_no_permission(lint: Lint, good: Path) -> None:
    assert lint(good).status == 0
    good.chmod(0)
    with without_privilege():
        done = lint(good)
    assert done.status == 2
    assert done.err == f"ptx-lint: error: {good}: permission denied\n"


def test_no_permission_for_a_directory(lint: Lint, tmp_path: Path, good: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    if os.geteuid() != 0:  # nobody cannot even see into root's temporary directory
        done = lint(tmp_path)
        assert done.out == "All checks passed: 1 file; 1 file could not be checked.\n"
        assert done.err == f"ptx-lint: error: {tmp_path}/closed: permission denied\n"
    with without_privilege():
        assert lint(tmp_path / "closed").err.endswith("closed: permission denied\n")


@contextmanager
def without_privilege() -> Generator[None]:
    """As nobody, where this is run by root, who may read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_that_goes_after_it_was_listed(tmp_path: Path, good: Path) -> None:
    (one,) = collect([str(tmp_path)], "")
    good.unlink()
    with pytest.raises(InputError, match="no such file"):
        read(one)


def test_directories_are_sorted_and_entered_once(tmp_path: Path) -> None:
    for name in ("b/z.ptx", "b/a.ptx", "a.ptx", "c/d/e.ptx", "c/no.txt", "dir.ptx/in.ptx"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(GOOD)
    (tmp_path / "a-loop").symlink_to(".")
    (tmp_path / "c" / "d" / "up").symlink_to("../..")
    (tmp_path / "0-same.ptx").symlink_to("b/z.ptx")
    found = [str(Path(path).relative_to(tmp_path)) for path in paths(tmp_path)]
    assert found == ["0-same.ptx", "a.ptx", "b/a.ptx", "c/d/e.ptx", "dir.ptx/in.ptx"]
    assert paths(tmp_path, tmp_path / "b" / ".." / "a.ptx") == paths(tmp_path)


def test_a_directory_reached_by_a_link_only(lint: Lint, tmp_path: Path) -> None:
    """The link is followed where it is named, or stays in what is named."""
    real, links = tmp_path / "real", tmp_path / "links"
    real.mkdir()
    links.mkdir()
    (real / "k.ptx").write_text(GOOD)
    (links / "to").symlink_to(real)
    assert paths(links / "to") == [str(links / "to" / "k.ptx")]
    assert paths(links, real) == [str(links / "to" / "k.ptx")]
    assert paths(links) == []
    done = lint(links)
    assert done.status == 0
    link = links / "to"
    assert f"a link out of the given directories was not followed, such as `{link}`; name it" in done.err


def test_links_that_lead_out_are_told_of_once(
    lint: Lint, tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    monkeypatch.chdir(tree)
    links = {"z": "/", "a.ptx": good, "b.ptx": "../absent.ptx", "loop": "../tree", "notes": good}
    for name, to in links.items():
        Path(name).symlink_to(to)
    Path("k.ptx").write_text(GOOD)
    for words in (list[str](), ["--show-files"], ["--cfg", "good"]):
        done = lint(*words, ".")
        assert done.status == 0
        told = "3 links out of the given directories were not followed, such as `a.ptx`"
        assert done.err == f"ptx-lint: warning: {told}; name it on the command line to lint it\n"
    Path("ptx-lint.toml").write_text('exclude = ["z", "?.ptx"]\n')
    assert "links" not in lint(".").err


def test_a_directory_without_ptx(lint: Lint, tmp_path: Path) -> None:
    done = lint(tmp_path)
    assert done.status == 0
    assert "no *.ptx files and no inline PTX found" in done.err


def test_standard_input(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    done = lint("--format", "concise", "-")
    assert done.status == 1
    assert done.out.startswith("<stdin>:7:15: error[undeclared-name] `%r9` ")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert lint("--format", "concise", "--stdin-filename", "k.ptx", "-").out.startswith("k.ptx:7:15:")


def test_closed_standard_input(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert lint("-").err == "ptx-lint: error: <stdin>: standard input is closed\n"


def test_paths_below_here_are_short(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(good.parent)
    assert paths(Path()) == ["good.ptx"]
