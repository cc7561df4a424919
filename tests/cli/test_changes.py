"""`--fix`, `--diff`, `--add-ignore`."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import HEADER, Lint

BROKEN = f"{HEADER}.entry k()\n{{\n\t.reg .b32 %r<4>;\n\tmov.b32\t%r1, 1\n\tmov.b32\t%r2, 2\n\tret\n}}\n"
"""Three semicolons are missing."""
MENDED = BROKEN.replace(" 1\n", " 1;\n").replace(" 2\n", " 2;\n").replace("ret\n", "ret;\n")


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("k.ptx")
    path.write_text(BROKEN)
    path.chmod(0o640)
    return path


def test_fix(lint: Lint, broken: Path) -> None:
    done = lint("--fix", "--ignore", "W", broken)
    assert done.status == 0
    assert done.out == "Fixed 3 findings in 1 file.\nAll checks passed: 1 file.\n"
    assert broken.read_text() == MENDED
    assert '"fixed": 0' in lint("--fix", "--format", "json", broken).out
    assert broken.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in Path().iterdir()] == ["k.ptx"]


def test_a_link_stays_a_link(lint: Lint, broken: Path) -> None:
    Path("link.ptx").symlink_to(broken)
    lint("--fix", "link.ptx")
    assert Path("link.ptx").is_symlink()
    assert broken.read_text() == MENDED


def test_diff(lint: Lint, broken: Path) -> None:
    done = lint("--diff", broken)
    assert done.status == 1
    assert broken.read_text() == BROKEN
    subprocess.run(["git", "apply", "-"], input=done.out, text=True, check=True)
    assert broken.read_text() == MENDED
    assert lint("--diff", broken) == (0, "", "")


ODD_NAMES = ['a"b.ptx', "a\tb.ptx"] if sys.platform != "win32" else []
NAMES = ["k.ptx", "sub folder/k.ptx", "caf\u00e9.ptx", *ODD_NAMES]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        BROKEN.replace("\n", "\r\n").encode(),
        BROKEN.replace("\tret\n}\n", "\tret }").encode(),
        BROKEN.replace("{\n", "{ // \x0c \x85 \u2028 \r x\n").encode(),
        BROKEN.encode().replace(b"{\n", b"{ // caf\xe9\n"),
        b"\xef\xbb\xbf" + BROKEN.encode(),
    ],
    ids=["crlf", "no newline", "separators", "latin-1", "mark"],
)
def test_git_applies_any_diff(lint: Lint, broken: Path, tmp_path: Path, name: str, text: bytes) -> None:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text)
    patch = tmp_path / "change.diff"
    assert lint("--diff", "--output", patch, path) == (1, "", "")
    subprocess.run(["git", "apply", patch], check=True)
    mended = path.read_bytes()
    assert mended != text
    path.write_bytes(text)
    lint("--fix", path)
    assert path.read_bytes() == mended


def test_a_diff_names_files_from_here(lint: Lint, broken: Path) -> None:
    inside = lint("--diff", broken.absolute()).out.splitlines()
    assert inside[:2] == ["--- a/k.ptx", "+++ b/k.ptx"]
    Path("sub").mkdir()
    shown = lint("--diff", Path("sub", "..", "k.ptx")).out.splitlines()
    assert shown[:2] == ["--- a/k.ptx", "+++ b/k.ptx"]


def test_a_diff_of_a_file_elsewhere_has_its_whole_path(
    lint: Lint, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = broken.absolute()
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    patch = lint("--diff", whole).out
    assert patch.startswith(f"--- a{whole.as_posix()}\n") or sys.platform == "win32"
    assert lint("--diff", Path("..", "k.ptx")).out.startswith("--- a/../k.ptx\n")


def test_unsafe_fixes(lint: Lint, broken: Path) -> None:
    """A name that is close to a declared one is a guess."""
    text = f"{HEADER}.entry k()\n{{\n\t.reg .b32 %first;\n\tmov.b32 %frist, 1;\n\tret;\n}}\n"
    broken.write_text(text)
    assert lint("--fix", "--ignore", "W", broken).status == 1
    assert broken.read_text() == text
    assert "+\tmov.b32 %first, 1;" in lint("--diff", "--unsafe-fixes", broken).out
    assert broken.read_text() == text
    assert lint("--unsafe-fixes", "--ignore", "W", broken).status == 0
    assert broken.read_text() == text.replace("%frist", "%first")


def test_what_is_silenced_is_not_fixed(lint: Lint, broken: Path) -> None:
    text = BROKEN.replace("\tret\n", "\tret\n// ptx-lint: ignore-file[E100]\n")
    broken.write_text(text)
    assert lint("--fix", "--select", "E", broken).status == 0
    assert broken.read_text() == text


def test_standard_input(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        buffer = io.BytesIO(BROKEN.encode())

    monkeypatch.setattr(sys, "stdin", Stream())
    done = lint("--fix", "--ignore", "W", "-")
    assert done.out == MENDED
    assert done.err == "Fixed 3 findings in 1 file.\nAll checks passed: 1 file.\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fix", "--targets", "sm_80,sm_90"], "fixes support one target"),
        (["--fix", "--diff"], "--fix and --diff cannot be combined"),
        (["--fix", "--add-ignore"], "cannot be combined with --add-ignore"),
    ],
)
def test_wrong_usage(lint: Lint, broken: Path, options: list[str], said: str) -> None:
    done = lint(*options, broken)
    assert done.status == 2
    assert said in done.err


def test_add_ignore(lint: Lint, broken: Path) -> None:
    text = f"{HEADER}.entry k()\n{{\n\tbra X; /* a\n\tb */ bra Y; // why\n\tbra Z;\n}}\n"
    broken.write_text(text)
    assert lint("--add-ignore", broken) == (0, "Added 3 comments.\n", "")
    assert broken.read_text() == (
        f"{HEADER}.entry k()\n{{\n\t/* ptx-lint: ignore[undeclared-name] */ bra X; /* a\n"
        "\tb */ bra Y; // why  // ptx-lint: ignore[undeclared-name]\n"
        "\tbra Z;  // ptx-lint: ignore[undeclared-name]\n}\n"
    )
    assert lint("--fail-on", "info", broken).status == 0
    assert lint("--add-ignore", broken).out == "Added 0 comments.\n"
