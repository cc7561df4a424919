"""Findings at the source line, grouped by their cause, with readable names; hints and notes on request."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ptx_lsp.lint.diagnostic import Origin
from ptx_lsp.lint.reporters.places import source_mark
from tests.cli.conftest import Lint

CU = """\
#include "load.h"
__device__ int twice(int x) { return x + x; }

__global__ void kernel(int* out, int n) {
    int x = load(out, n);
    out[0] = twice(x);
}
"""
HEADER_FILE = "// a header\n__device__ inline int load(int* p, int n) {\n    return p[n];\n}\n"
PTX = """\
.version 8.5
.target sm_90
.address_size 64
.file 1 "k.cu"
.file 2 "load.h"
.visible .entry _Z6kernelPii(.param .u64 out)
{
	.reg .b32 %r<9>;
	.reg .b64 %d;
	.loc 1 4 0
	ld.param.u64 %d, [out];
	.loc 1 5 13
	.loc 2 3 12, function_name $L, inlined_at 1 5 13
	add.s32 %r1, %r2, 1;
	add.s32 %r3, %r4, 1;
	.loc 1 6 14
	.loc 1 2 38, function_name $L, inlined_at 1 6 14
	add.s32 %r5, %r6, %r1;
	add.s32 %r5, %r5, %r3;
	st.global.b32 [%d], %r5;
	ret;
}
.section .debug_str
{
$L:
.b8 0
}
"""
CALL, BODY = "k.cu:5:13", "k.cu:2:38"
"""The line of the user's file that calls code of the header, and a line of an inlined function there."""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("k.cu", CU), ("load.h", HEADER_FILE), ("k.ptx", PTX)):
        Path(name).write_text(text)


def test_full_has_the_source_line_first(lint: Lint) -> None:
    first, second, *_ = lint("k.ptx").out.split("\n\n")
    assert first == """\
warning[W230] uninitialised-read: `%r2` is read before it is written
  --> k.cu:5:13
   |
 5 |     int x = load(out, n);
   |             ^
  ::: k.ptx:14:15
   |
14 |     add.s32 %r1, %r2, 1;
   |                  ^^^
   = note: in code inlined from load.h:3:12
   = note: 1 more like this: line 15"""
    assert f"--> {BODY}\n" in second
    assert second.endswith("= note: inlined at k.cu:6:14")


def test_sources_that_cannot_be_read(lint: Lint) -> None:
    Path("k.cu").unlink()
    first = lint("k.ptx").out.split("\n\n")[0]
    assert first.splitlines()[1:3] == [f"  --> {CALL}", "  ::: k.ptx:14:15"]


def test_no_file_outside_of_the_folder_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "link.cu").symlink_to(tmp_path / "k.cu")
    monkeypatch.chdir(folder)
    for path in (str(tmp_path / "k.cu"), "../k.cu", "link.cu"):
        assert source_mark(Origin(path, 2, 1), "k.ptx") is None
    monkeypatch.chdir(tmp_path)
    assert source_mark(Origin("k.cu", 2, 1), "k.ptx") is not None
    assert source_mark(Origin("k.cu", 900, 1), "k.ptx") is None
    assert source_mark(Origin("k.cu", 2, 900), "k.ptx") is not None


def test_concise_ends_with_the_source_line(lint: Lint) -> None:
    lines = lint("--format", "concise", "k.ptx").out.splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == [f"({CALL})", f"({CALL})", f"({BODY})"]
    assert lines[0].startswith("k.ptx:14:15: warning[uninitialised-read] ")


def test_markdown_has_a_column_for_the_source(lint: Lint) -> None:
    out = lint("--format", "markdown", "k.ptx").out
    assert "| rule | source | place | what |" in out
    assert "| `k.cu:5` | `k.ptx:14` | `%r2` is read before it is written (1 more like this: line 15) |" in out


def test_html_has_the_source_first(lint: Lint) -> None:
    lint("--quiet", "--report", "k.html", "k.ptx")
    page = Path("k.html").read_text()
    texts = (CALL, "int x = <mark>l</mark>oad(out, n);", "add.s32 %r1, <mark>%r2</mark>")
    assert [page.index(text) for text in texts] == sorted(page.index(text) for text in texts)
    assert "in code inlined from load.h:3:12" in page
    assert '<a href="#rule-uninitialised-read">' in page
    assert '<details class="rule" id="rule-uninitialised-read">' in page


def test_github_annotates_the_users_line(lint: Lint) -> None:
    first, second = lint("--format", "github", "k.ptx").out.splitlines()
    assert first.startswith("::warning file=k.cu,line=5,")
    assert second.startswith("::warning file=k.cu,line=2,")


def test_github_annotates_the_header_if_only_that_is_in_the_tree(lint: Lint) -> None:
    Path("k.cu").unlink()
    first, *_ = lint("--format", "github", "k.ptx").out.splitlines()
    assert first.startswith("::warning file=load.h,line=3,")


def test_formats_for_programs(lint: Lint) -> None:
    found = json.loads(lint("--format", "json", "k.ptx").out)["files"][0]["diagnostics"]
    assert found[0]["origin"] == {"path": "load.h", "line": 3, "column": 12}
    assert found[0]["inlined_at"] == [{"path": "k.cu", "line": 5, "column": 13}]
    assert len(found) == 3  # not grouped
    result = json.loads(lint("--format", "sarif", "k.ptx").out)["runs"][0]["results"][0]
    assert _place(result["locations"][0]) == ("k.cu", 5)
    related = [(*_place(one), one["message"]["text"]) for one in result["relatedLocations"]]
    assert related == [("k.ptx", 14, "the PTX"), ("load.h", 3, "inlined code")]
    (first, *_) = json.loads(lint("--format", "gitlab", "k.ptx").out)
    assert first["description"].replace("\u200b", "").endswith(f"({CALL})")
    assert first["location"]["path"] == "k.ptx"


def _place(location: dict[str, dict[str, dict[str, object]]]) -> tuple[object, object]:
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


def test_inlining_within_itself_ends(lint: Lint) -> None:
    loop = ".loc 2 3 12, function_name $L, inlined_at 2 3 12\n" * 3
    Path("k.ptx").write_text(PTX.replace("\t.loc 1 5 13\n", loop))
    assert "k.cu:5:13" in lint("--format", "concise", "k.ptx").out
    text = PTX.replace("inlined_at 1 5 13", "inlined_at 2 3 12")
    Path("k.ptx").write_text(text.replace("\t.loc 1 5 13\n", loop))
    assert "(load.h:3:12)" in lint("--format", "concise", "k.ptx").out


UNROLLED = "\tadd.s32 %r1, %r{}, 1;\n"


def test_copies_of_an_unrolled_loop_are_one_finding(lint: Lint) -> None:
    copies = "".join(UNROLLED.format(number) for number in range(10, 42))
    text = PTX.replace("%r<9>", "%r<99>").replace("\tadd.s32 %r3, %r4, 1;\n", "\tmov.b32 %r3, 1;\n")
    text = text.replace(UNROLLED.format(2), copies)
    Path("k.ptx").write_text(text)
    out = lint("k.ptx").out
    assert out.count("uninitialised-read:") == 2  # one for each source line
    assert "= note: 31 more like this: lines 15, 16, 17, 18, 19, 20, ..." in out
    assert "Found 33 warnings" in out
    assert lint("--quiet", "k.ptx").out.count("31 more like this") == 1


def test_errors_with_different_causes_stay_apart(lint: Lint) -> None:
    body = "add.s32 %r1, %r70, 1;\n\tadd.s32 %r1, %r71, 1;\n\tadd.s32 %r2, %r70, 1;"
    Path("k.ptx").write_text(PTX.replace("add.s32 %r1, %r2, 1;", body))
    out = lint("k.ptx").out
    assert out.count("`%r70` is not declared") == out.count("`%r71` is not declared") == 1
    assert "1 more like this: line 16" in out


def test_names_of_kernels_are_demangled(lint: Lint) -> None:
    Path("k.ptx").write_text(PTX.replace("st.global", "call _Z5twicei;\n\tst.global"))
    assert "`twice(int)` is not declared" in lint("k.ptx").out
    found = json.loads(lint("--format", "json", "k.ptx").out)["files"][0]["diagnostics"]
    assert "_Z5twicei" in " ".join(one["message"] for one in found)


QUIET = """\
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 n, .param .u64 out)
{
	.reg .b64 %d<4>;
	ld.param.u64 %d0, [n];
	ld.param.u64 %d1, [out];
	div.u64 %d2, %d0, 8;
	cvta.to.global.u64 %d1, %d1;
	cvta.global.u64 %d3, %d1;
	st.b64 [%d3], %d2;
	st.b64 [%d3+8], %d2;
	ret;
}
"""


class TestSeverity:
    @pytest.fixture(autouse=True)
    def notes(self) -> None:
        Path("k.ptx").write_text(QUIET)

    def test_only_warnings_are_shown_by_default(self, lint: Lint) -> None:
        assert lint("k.ptx").out == "All checks passed: 1 file. Not shown: 3 infos (--min-severity info).\n"
        assert lint("--format", "concise", "k.ptx").out == ""
        assert "Not shown: 3 info" in lint("--format", "markdown", "k.ptx").out

    def test_lower_ones_on_request(self, lint: Lint) -> None:
        out = lint("--min-severity", "info", "k.ptx").out
        assert "slow-division" in out
        assert out.count("generic-access:") == 1
        assert "1 more like this: line 13" in out
        Path("ptx-lint.toml").write_text('min-severity = "info"\n')
        assert lint("k.ptx").out == out
        assert 'min-severity = "info"' in lint("config", "show").out
        assert "Not shown: 3 infos" in lint("--min-severity", "error", "k.ptx").out

    @pytest.mark.parametrize(
        "options", [["--select", "P"], ["--extend-select", "missing-uni"], ["--fail-on", "info"]]
    )
    def test_whoever_asks_for_rules_sees_them(self, lint: Lint, options: list[str]) -> None:
        assert "slow-division" in lint(*options, "k.ptx").out

    def test_programs_get_everything(self, lint: Lint) -> None:
        for form in ("json", "sarif", "gitlab", "rdjson", "junit", "json-lines", "statistics"):
            assert "slow-division" in lint("--format", form, "k.ptx").out

    def test_the_page_folds_them_away(self, lint: Lint) -> None:
        lint("--quiet", "--report", "k.html", "k.ptx")
        page = Path("k.html").read_text()
        folded = re.findall("<details><summary>2 infos</summary>(.*?)</details>", page, re.DOTALL)
        assert "slow-division" in "".join(folded)


CORPUS = Path(__file__).parents[2] / "oracle" / "corpus"


def test_compiler_output_is_silent_by_default(lint: Lint) -> None:
    """What nvcc, clang, CUB and Triton make of programs without mistakes, optimised or for debugging."""
    compilers = ("clang", "cub", "numba", "nvcc", "tinygrad", "triton")
    files = [path for path in sorted(CORPUS.glob("*.ptx")) if path.name.startswith(compilers)]
    assert len(files) > 20
    assert lint("--quiet", "--no-cache", *files).out.startswith(f"All checks passed: {len(files)} files.")
