"""Messages of `ptx-run` and about options: grouped races, files that are not PTX, names that are meant."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from ptx_lsp.cli.lint import main as lint_main
from ptx_lsp.cli.run import main as run_main
from ptx_lsp.executor.launching.finding_text import grouped
from ptx_lsp.executor.machine.errors import Finding

KERNEL = """\
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 out)
{{
	.shared .align 4 .b8 _ZZ1kvE4tile[128];
	.reg .b32 %r<9>;
	.reg .b64 %d;
	ld.param.u64 %d, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, _ZZ1kvE4tile;
	shl.b32 %r3, %r1, 2;
	add.s32 %r3, %r3, %r2;
	st.shared.u32 [%r3], %r1;
{}
	st.global.u32 [%d], %r4;
	ret;
}}
"""
RACY = KERNEL.format("\n".join(f"\tld.shared.u32 %r4, [_ZZ1kvE4tile+{4 * at}];" for at in range(32)))
LAUNCH = ("--grid", "1", "--block", "32", "--arg", "u32:1", "--arg", "u32[]:zeros:1", "--check")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(RACY)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = run_main([*words])
    return status, capsys.readouterr().err


def test_races_of_one_missing_barrier_are_one_finding(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = run(capsys, "k.ptx", *LAUNCH)
    assert err.count("error[race]") == 1
    assert "31 more like this: lines 16, 17, 18, 19, 20, 21, ...\n" in err
    assert "`k()::tile`" in err
    run_main(["k.ptx", *LAUNCH, "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert len(findings) == 32
    assert {one["written_line"] for one in findings} == {14}


def test_races_of_other_lines_and_variables_stay_apart() -> None:
    race = Finding("race", "", 7, variable="a", written_line=3)
    found = [
        race,
        Finding("race", "", 8, variable="b", written_line=3),
        Finding("race", "", 9, variable="a", written_line=4),
        Finding("race", "", 10, variable="a", written_line=3),
    ]
    assert [(first.line, len(others)) for first, others in grouped(found)] == [(7, 1), (8, 0), (9, 0)]
    alone = [Finding("out-of-bounds", "", 5), Finding("out-of-bounds", "", 6)]
    assert [len(others) for _, others in grouped(alone)] == [0, 0]
    unrolled = [Finding("out-of-bounds", "", line, source="k.cu:5") for line in (5, 6)]
    assert [len(others) for _, others in grouped(unrolled)] == [1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nofile.ptx",), "`nofile.ptx`: no such file or directory"),
        (("k.ptx", "--launch", "nofile.toml"), "`nofile.toml`: no such file or directory"),
        ((".",), "`.`: is a directory"),
        (("k.cu",), "`k.cu` is not PTX: compile it with `nvcc -ptx`"),
        (("k.py",), "`k.py` is not PTX"),
        (("junk.ptx",), "`junk.ptx` is not PTX: it has no `.version`"),
        (("empty.ptx",), "`empty.ptx` has no kernel: no `.entry` with a body"),
        (("k.ptx", "--entry", "kk", *LAUNCH), "`k.ptx`: no kernel `kk`; did you mean `k`?"),
        (("k.ptx", "--grid", "1", "--block", "1", "--arg", "n=u32:1"),
         "`k` takes 2 arguments, but 1 were given: `n`, `out`"),
        (("k.ptx", "--grid", "1", "--block", "1"),
         "`k` takes 2 arguments, not 0: `.param .u32 n`, `.param .u64 out`"),
        (("k.ptx", "--grid", "1", "--block", "1", "--arg", "u32:1", "--arg", "u32:1"),
         "argument 1 has 4 bytes, but `out` has 8: `.param .u64 out`"),
    ],
)  # fmt: skip
def test_messages_say_what_is_meant(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("k.cu").write_text("__global__ void k() {}\n")
    Path("k.py").write_text("print()\n")
    Path("junk.ptx").write_text("hello\n")
    Path("empty.ptx").write_text(".version 8.5\n.target sm_90\n")
    status, err = run(capsys, *words)
    assert status != 0
    assert message in err
    assert "Errno" not in err


@pytest.mark.parametrize(
    ("command", "words", "near"),
    [
        ("cli.lint", ["--selct", "E1", "k.ptx"], "--select"),
        ("cli.lint", ["compare", "--formt", "json", "a", "b"], "--format"),
        ("cli.lint", ["extract", "--lst", "a"], "--list"),
        ("cli.lint", ["blame", "--passthrogh"], "--passthrough"),
        ("cli.lint", ["completion", "--hlp"], "--help"),
        ("cli.lint", ["man", "--hlp"], "--help"),
        ("cli.lint", ["config", "--hlp"], "--help"),
        ("cli.run", ["k.ptx", "--gird=1"], "--grid"),
        ("cli.reducing.reduction", ["--crsh", "k.ptx"], "--crash"),
        ("server.command", ["--tcpp"], "--tcp"),
        ("debug.command", ["--prot", "3"], "--port"),
    ],
)
def test_misspelt_options_get_a_suggestion(
    command: str, words: list[str], near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main: Callable[[list[str]], int] = import_module(f"ptx_lsp.{command}").main
    try:
        status = main(words)
    except SystemExit as done:
        status = done.code
    assert status == 2
    assert f"did you mean `{near}`?" in capsys.readouterr().err


def test_what_follows_python_is_no_option_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.py").write_text("import sys; print(sys.argv[1:])\n")
    assert run_main(["--python", "p.py", "--gird"]) == 0
    assert "['--gird']" in capsys.readouterr().out


def test_a_budget_without_ptxas_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("ptx-lint.toml").write_text('[budgets]\n"*" = ["spills == 0"]\n')
    for name in ("a.ptx", "b.ptx"):
        Path(name).write_text(RACY + RACY[RACY.index(".visible"):].replace("entry k", "entry k2"))
    lint_main(["a.ptx", "b.ptx"])
    err = capsys.readouterr().err
    assert err.count("the budget `spills == 0` was not checked: --ptxas measures it") == 1


def test_the_same_reason_is_given_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.ptx").write_text(RACY.replace("shl.b32 %r3, %r1, 2;", "add.s32 %d, %d, %d;"))
    lint_main(["k.ptx"])
    out = capsys.readouterr().out
    assert out.count("expected `.s32`, found a register of type `.b64`") == 1
    assert out.count("likewise") == 2
