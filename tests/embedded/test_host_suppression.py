"""Comments that suppress findings in languages with other comments than `//`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.cli.lint import main
from tests.embedded.reading import read

LINES = {
    ".py": 'x = tl.inline_asm_elementwise("fence.sc.gl; mov.b32 $0, 0;", "=r", [], T, False, 1)',
    ".jl": '@asmcall("fence.sc.gl;", "~{memory}", true)',
    ".ll": 'call void asm sideeffect "fence.sc.gl;", "~{memory}"()',
    ".mojo": 'inlined_assembly["fence.sc.gl;", T, constraints="~{memory}"]()',
    ".mlir": 'llvm.inline_asm has_side_effects "fence.sc.gl;", "~{memory}" : () -> ()',
    ".rs": 'unsafe { asm!("fence.sc.gl;") }',
}
MARKS = {".py": "#", ".jl": "#", ".ll": ";", ".mojo": "#", ".mlir": "//", ".rs": "//"}


def _lint(path: Path, *options: str) -> int:
    return main([*options, str(path)])


@pytest.mark.parametrize("suffix", LINES)
def test_comments_of_the_language_suppress(suffix: str, tmp_path: Path) -> None:
    path, mark = tmp_path / f"a{suffix}", MARKS[suffix]
    path.write_text(f"{LINES[suffix]}\n", "utf-8")
    assert _lint(path) == 1
    for text in (
        f"{LINES[suffix]} {mark} ptx-lint: ignore[wrong-modifier]\n",
        f"{mark} ptx-lint: ignore[wrong-modifier]\n{mark} why\n{LINES[suffix]}\n",
        f"{mark} ptx-lint: ignore-file[wrong-modifier]\n\n{LINES[suffix]}\n",
    ):
        path.write_text(text, "utf-8")
        assert _lint(path) == 0, text


@pytest.mark.parametrize("suffix", LINES)
def test_the_command_writes_comments_of_the_language(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text(f"{LINES[suffix]}\n", "utf-8")
    _lint(path, "--add-ignore")
    assert (
        path.read_text("utf-8")
        == f"{LINES[suffix]}  {MARKS[suffix]} ptx-lint: ignore[wrong-modifier]\n"
    )
    assert _lint(path) == 0


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".cu", '__device__ void f() {\n  asm(R"(\n    add.s33 %0, 1, 2\n  )" : "=r"(x));\n}\n'),
        (".cu", '#define F \\\n  asm("add.s33 %0, 1, 2;" \\\n  "add.s33 %0, 1, 2;" : "=r"(x))\n'),
        (".cu", 'void f() {\n  asm("add.s33 %0, 1, 2;\\n\\\n    add.s33 %0, 1, 2;" : "=r"(x));\n}\n'),
        (".cu", '\ufeff// \u00e4\r\nvoid f() {\r\n  asm("add.s33 %0, 1, 2;" \r\n : "=r"(x));\r\n}\r\n'),
        (".py", 'x = tl.inline_asm_elementwise("""\nadd.s33 $0, 1, 2\n  """, "=r", [x], T, False, 1)\n'),
    ],
)
def test_the_command_silences_all(suffix: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(text.encode())
    assert _lint(path) == 1
    _lint(path, "--add-ignore")
    assert _lint(path, "--select", "ALL") == 0, path.read_text("utf-8")


def test_no_comment_where_a_line_continues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'x = tl.inline_asm_elementwise("add.s33 $0, 1, 2;" \\\n  , "=r", [x], T, False, 1)\n'
    path = tmp_path / "a.py"
    path.write_text(text, "utf-8")
    _lint(path, "--add-ignore")
    assert path.read_text("utf-8") == text
    assert "a.py:1: no comment can be here" in capsys.readouterr().out


def test_in_a_literal_of_several_lines_comments_are_those_of_ptx() -> None:
    document = read('@asmcall("""\n  fence.sc.gl;\n  ret;\n  """, "")\n', ".jl")
    assert [document.comment_mark(line) for line in range(4)] == [b"#", b"//", b"//", b"#"]
