"""A member is one entry of every report."""

from __future__ import annotations

import io
import json
from pathlib import Path

import jsonschema
import pytest

from ptx_lsp.cli.run import main as run
from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.lint.reporters.github import github
from ptx_lsp.lint.reporters.sarif import sarif
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.lint.results.reporter import Reporter, Run, find, reporters
from ptx_lsp.pytest_plugin import Load
from tests.cli.conftest import GOOD, Lint
from tests.cli.containers.conftest import fat_binary, kernel
from tests.cli.test_formats import SCHEMA

_MEMBER = "lib.fatbin!1:sm_80"


def test_annotations_of_github_have_no_control_characters(lint: Lint, library: Path) -> None:
    """They are commands to the terminal that shows the log."""
    Path("lib.fatbin").rename("a\x1b[31m\n.fatbin")
    out = lint("--format", "github", ".").out
    assert out.count("::error") == 1
    assert "\x1b" not in out


def test_json(lint: Lint, library: Path) -> None:
    whole = json.loads(lint("--format", "json", "lib.fatbin").out)
    jsonschema.validate(whole, SCHEMA)
    first, second = whole["files"]
    assert (first["path"], first["container"], first["member"]) == (_MEMBER, "lib.fatbin", "1:sm_80")
    assert (second["target"], len(second["kernels"])) == ("sm_90", 1)
    Path("good.ptx").write_text(GOOD)
    (plain,) = json.loads(lint("--format", "json", "good.ptx").out)["files"]
    assert not {"container", "member"} & plain.keys()


@pytest.mark.parametrize("form", [
    name for name in reporters()
    if isinstance(find(name), Reporter) and name not in {"statistics", "sarif", "github"}
])  # fmt: skip
def test_every_format_names_the_member(lint: Lint, library: Path, form: str) -> None:
    done = lint("--format", form, "lib.fatbin")
    assert done.status == 1
    assert _MEMBER in done.out


def test_sarif_has_valid_uris(lint: Lint, library: Path) -> None:
    whole = json.loads(lint("--format", "sarif", "lib.fatbin").out)
    (result,) = whole["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "lib.fatbin%211%3Asm_80", "uriBaseId": "%SRCROOT%"}
    failed = FileReport("/x/lib.so!2:sm_90", error="is damaged", container="/x/lib.so")
    (invocation,) = json.loads("".join(sarif.write(Run([failed]))))["runs"][0]["invocations"]
    (row,) = invocation["toolExecutionNotifications"]
    location = row["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "file:///x/lib.so%212%3Asm_90"}


def test_annotations_are_on_files(lint: Lint, library: Path) -> None:
    """GitHub shows annotations on files: the line in a member means nothing there."""
    line = lint("--format", "github", "lib.fatbin").out
    assert line.startswith("::error file=lib.fatbin,title=ptx-lint%3A undeclared-name::`%25r9` is not ")
    assert line.endswith(f" ({_MEMBER}:7:15)\n")
    failed = FileReport("lib.so!2:sm_90", error="is damaged", container="lib.so")
    whole = failed._replace(path="lib.so")
    assert list(github.write(Run([failed, whole]))) == [
        "::error file=lib.so,title=ptx-lint::is damaged (lib.so!2:sm_90)",
        "::error file=lib.so,title=ptx-lint::is damaged",
    ]


def test_kernels_requires_and_page(lint: Lint, library: Path) -> None:
    assert f"{_MEMBER}:4" in lint("--kernels", "lib.fatbin").out
    assert "lib.fatbin!2:sm_90: PTX ISA" in lint("--requires", "lib.fatbin").out
    lint("--report", "page.html", "lib.fatbin")
    assert "<h2>lib.fatbin!1:sm_80</h2>" in Path("page.html").read_text()


def test_graphs(lint: Lint, library: Path) -> None:
    assert lint("--cfg", "good", "lib.fatbin").out.startswith('digraph "good"')
    assert "did you mean `good`" in lint("--cfg", "goud", "lib.fatbin").err
    both = fat_binary((80, kernel("k")), (90, kernel("k", 90)))
    Path("both.so").write_bytes(both)
    done = lint("--cfg", "k", "both.so")
    assert "`k` is defined in both.so!1:sm_80 and both.so!2:sm_90" in done.err
    assert lint("--cfg", "k", "both.so!sm_90").status == 0
    Path("both.so").write_bytes(both[:-40])
    assert lint("--cfg", "k", "both.so").status == 0
    assert "truncated" in lint("--cfg", "absent", "both.so").err


_ADD = "\tadd.s32 %r1, %r2, 1;\n"
_MUL = "\tmul.lo.s32 %r1, %r2, %r2;\n"


def test_comparison_is_by_kernel_and_target(lint: Lint, library: Path) -> None:
    """Not by number: members move when one is added, and a new target takes no partner away."""
    added, same, changed = kernel("k", 75, _ADD), kernel("k", 90, _ADD), kernel("k", 80, _MUL)
    other = kernel("x")
    Path("old.so").write_bytes(fat_binary((80, kernel("k", 80, _ADD)), (90, same), (80, other)))
    Path("new.so").write_bytes(fat_binary((75, added), (80, other), (90, same), (80, changed)))
    whole = json.loads(lint("compare", "--format", "json", "old.so", "new.so").out)
    assert [(pair["old"]["path"], pair["new"]["path"], pair["same"]) for pair in whole["pairs"]] == [
        ("old.so!3:sm_80", "new.so!2:sm_80", True),
        ("old.so!2:sm_90", "new.so!3:sm_90", True),
        ("old.so!1:sm_80", "new.so!4:sm_80", False),
    ]
    assert [one["path"] for one in whole["new"]] == ["new.so!1:sm_75"]


def test_the_same_kernel_in_several_members(lint: Lint, library: Path) -> None:
    """As of a template: that with the same instructions is the same kernel."""
    Path("old.so").write_bytes(fat_binary((80, kernel("k", 80, _ADD)), (80, kernel("k", 80, _MUL))))
    Path("new.so").write_bytes(fat_binary((80, kernel("k", 80, _MUL)), (80, kernel("k", 80, _ADD))))
    for old in ("old.so", "old.json"):
        pairs = json.loads(lint("compare", "--format", "json", old, "new.so").out)["pairs"]
        assert [pair["old"]["path"] for pair in pairs] == ["old.so!2:sm_80", "old.so!1:sm_80"]
        lint("--format", "json=old.json", "old.so")


def test_comparison_of_damaged_containers(lint: Lint, library: Path) -> None:
    Path("cut.so").write_bytes(Path("lib.fatbin").read_bytes()[:-50])
    done = lint("compare", "lib.fatbin", "cut.so")
    assert done.status == 0
    assert done.err.startswith("ptx-lint: warning: cut.so: is truncated")
    assert "gone: good (lib.fatbin!2:sm_90:4)" in done.out
    Path("cut.so").write_bytes(Path("lib.fatbin").read_bytes()[:50])
    assert lint("compare", "lib.fatbin", "cut.so").status == 2


_RUN = ["--grid", "1", "--block", "1"]


def test_kernels_of_containers_run(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lib.fatbin", "--entry", "good", *_RUN]) == 0
    assert run(["lib.fatbin!2", *_RUN]) == 0
    Path("one.so").write_bytes(fat_binary((80, GOOD)))
    assert run(["one.so", *_RUN]) == 0
    Path("launch.toml").write_text('file = "lib.fatbin!2:sm_90"\ngrid = [1]\nblock = [1]\n')
    assert run(["--launch", "launch.toml"]) == 0
    assert run(["lib.fatbin!2", "--format", "json", *_RUN]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == "lib.fatbin!2:sm_90"


def test_launch_takes_members(library: Path, ptx_kernel: Load) -> None:
    launch("lib.fatbin!2", entry="good", grid=1, block=1)
    with pytest.raises(ExecutionError, match=r"lib\.fatbin!3: has no member `3`"):
        launch("lib.fatbin!3", entry="good", grid=1, block=1)
    assert ptx_kernel(library / "lib.fatbin!2:sm_90").name == "good"


def test_run_takes_standard_input(
    library: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for data, status in ((Path("lib.fatbin").read_bytes(), 0), (GOOD.encode(), 0), (b"\xed\xed", 2)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert run(["-", "--entry", "good", *_RUN]) == status
    assert capsys.readouterr().err.startswith("ptx-run: error: `<stdin>` is not PTX: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lib.fatbin"], "`lib.fatbin` has 2 PTX files: use --entry, or name one: `lib.fatbin!1:sm_80`, "),
        (["lib.fatbin", "--entry", "none"], "`lib.fatbin`: no kernel `none`"),
        (["two.so", "--entry", "k"], "`k` is in 2 PTX files of `two.so`; name one: `two.so!1:sm_80`, "),
        (["lib.fatbin!5"], "`lib.fatbin!5`: has no member `5`"),
        (["cut.so"], "`cut.so`: is truncated"),
    ],
)
def test_what_does_not_run(
    library: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    Path("two.so").write_bytes(fat_binary((80, kernel("k")), (90, kernel("k", 90))))
    Path("cut.so").write_bytes(Path("lib.fatbin").read_bytes()[:50])
    assert run([*words, *_RUN]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"ptx-run: error: {said}")
    assert error.count("\n") == 1
