"""What is printed: full, concise, JSON, colours, tables."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import cast

import jsonschema
import pytest

from ptx_lsp import __version__
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.lint.reporters.excerpt import draw
from ptx_lsp.lint.reporters.json import Value, dumps
from ptx_lsp.lint.results.report import Excerpt, Mark, Point
from ptx_lsp.lint.results.style import printable, width
from tests.cli.conftest import HEADER, Lint

SCHEMA = json.loads((Path(__file__).parent / "report.schema.json").read_text())


def test_full(lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(
        f"{HEADER}.entry k()\n{{\n\t.reg .b32 %r<4>;\n\n\tmov.b32\t%r1, %r9;\n"
        "\tadd.s32 %r1, %r1, 1\n\tret;\n}\n"
    )
    assert lint("k.ptx").out == """\
error[E101] undeclared-name: `%r9` is not declared: `%r<4>` ends with `%r3`
 --> k.ptx:8:15
  |
6 |     .reg .b32 %r<4>;
  |               -- the declared range
...
8 |     mov.b32 %r1, %r9;
  |                  ^^^
  = help: Declare `%r<10>` (unsafe)

error[E100] syntax-error: expected `;` before `ret`
  --> k.ptx:10:2
   |
 9 |     add.s32 %r1, %r1, 1
   |                        - `;` is missing from an instruction
10 |     ret;
   |     ^^^
   = help: Insert `;`

To read about a rule: ptx-lint --explain undeclared-name
Found 2 errors in 1 file.
"""


def test_quiet(lint: Lint, bad: Path, good: Path) -> None:
    assert lint("--quiet", bad, good).out == (
        "error[E101] undeclared-name: `%r9` is not declared: `%r<4>` ends with `%r3`\n"
        f" --> {bad}:7:15\n"
        "Found 1 error in 1 of 2 files.\n"
    )


def test_columns_count_code_points(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(f"{HEADER}.entry k() {{ /* \u00e9\u6ea2\U0001f600e\u0301 */ bra nowhere; }}\n")
    assert lint("--format", "concise", path).out.startswith(f"{path}:4:30: ")
    lines = lint(path).out.splitlines()
    source, carets = lines[3], lines[4]
    before = source[: source.index("nowhere")]
    assert width(before) == carets.index("^")
    assert carets.count("^") == len("nowhere")


@pytest.mark.parametrize(
    ("text", "start", "end", "drawn"),
    [
        ("\tx", 2, 3, ("    x", 4, 5)),
        ("a\tx\ty", 3, 6, ("a   x   y", 4, 9)),
        ("\u6ea2x", 2, 3, ("\u6ea2x", 2, 3)),
        ("e\u0301x", 3, 4, ("e\u0301x", 1, 2)),
        ("a\x1b[31mx", 7, 8, ("a\u241b[31mx", 6, 7)),
        ("abc", 4, 4, ("abc", 3, 3)),
        ("0123456789" * 4, 1, 4, ("01234567890123...", 0, 3)),
        ("0123456789" * 4, 38, 41, ("...67890123456789", 14, 17)),
        ("0123456789" * 4, 21, 24, ("...67890123456789...", 7, 10)),
        ("0123456789" * 4, 5, 35, ("01234567890123...", 4, 14)),
    ],
)
def test_drawing(text: str, start: int, end: int, drawn: tuple[str, int, int]) -> None:
    mark = Mark(Point(1, start), Point(1, end), Excerpt(1, text, more=False))
    assert draw(mark, 20) == drawn


def test_text_for_a_terminal() -> None:
    assert printable("a\nb\x1b]0;\x07\u202e\x9b") == "a\u240ab\u241b]0;\u2407\ufffd\ufffd"


def test_json(lint: Lint, bad: Path, good: Path) -> None:
    done = lint("--format", "json", bad, good, bad.parent / "absent.ptx")
    report = cast(dict[str, object], json.loads(done.out))
    jsonschema.validate(report, SCHEMA)
    assert report["tool"] == {"name": "ptx-lint", "version": __version__}
    files = cast(list[dict[str, object]], report["files"])
    assert [file["path"] for file in files] == [str(bad), str(good), str(bad.parent / "absent.ptx")]
    assert files[0]["ptx_version"] == "8.0"
    assert files[0]["target"] == "sm_80"
    (found,) = cast(list[dict[str, object]], files[0]["diagnostics"])
    assert found["rule"] == "undeclared-name"
    assert found["code"] == "E101"
    assert found["start"] == {"line": 7, "column": 15}
    assert found["end"] == {"line": 7, "column": 18}
    assert found["related"] == [
        {
            "message": "the declared range",
            "start": {"line": 6, "column": 12},
            "end": {"line": 6, "column": 14},
        }
    ]
    assert files[2]["error"] == "no such file or directory"
    summary = cast(dict[str, int], report["summary"])
    assert (summary["errors"], summary["warnings"], summary["infos"]) == (1, 0, 0)


@pytest.mark.parametrize("indent", [None, 1, 2])
def test_json_is_that_of_the_standard_library(indent: int | None) -> None:
    texts = ["", "plain", 'a "quoted" \\ back', "line\nend\ttab", "\x00\x1f\x7f", "café 😀", "\ud800"]
    numbers = [0, -1, 2**70, UniformityLevel.WARP, 0.1, 100.0, -1e-7, 1e22, math.inf, True, False, None]
    value: Value = {"texts": texts, "": numbers, 'a"b': {}, "é": [], "more": [{"a": ()}, ({"b": [[1]]},)]}
    assert dumps(value, indent) == json.dumps(value, indent=indent)
    assert dumps("a ## b ###", indent) == r'"a #\u0023 b #\u0023#"'


def test_json_of_a_fix_and_a_kernel(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(f"{HEADER}\n.entry k() .maxntid 32, 0x8 .maxnreg 40 {{ ret }}\n")
    report = json.loads(lint("--format", "json", path).out)
    jsonschema.validate(report, SCHEMA)
    (found,) = report["files"][0]["diagnostics"]
    place = {"line": 5, "column": 46}
    assert found["fix"] == {
        "message": "Insert `;`", "safe": True, "edits": [{"start": place, "end": place, "text": ";"}],
    }
    (kernel,) = report["files"][0]["kernels"]
    assert (kernel["name"], kernel["line"]) == ("k", 5)
    assert (kernel["threads_per_block"], kernel["threads_source"]) == (256, "maxntid")
    assert kernel["registers"]["limit"] == 40
    assert kernel["registers"]["measured"] is None


def test_output_to_a_file(lint: Lint, bad: Path, tmp_path: Path) -> None:
    done = lint("--format", "concise", "--output", tmp_path / "report", bad)
    assert (done.status, done.out) == (1, "")
    assert (tmp_path / "report").read_text().startswith(f"{bad}:7:15: error")
    assert "cannot write" in lint("--output", tmp_path, bad).err


def test_colour(lint: Lint, bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    plain = lint(bad).out
    assert "\x1b" not in plain
    assert "\x1b" not in lint("--color", "never", bad).out
    coloured = lint("--color", "always", bad).out
    assert "\x1b[1;31merror[E101]\x1b[0m" in coloured
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\x1b" in lint(bad).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in lint(bad).out
    assert "\x1b" in lint("--color", "always", bad).out


def test_kernels_where_there_are_none(lint: Lint, good: Path) -> None:
    good.write_text(HEADER)
    assert lint("--kernels", good).out.endswith("\nNo kernels.\n")
