"""`ptx-lint compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptx_lsp.lint.results.comparison import compare, likeness
from ptx_lsp.lint.results.kernels import with_measured, without_measured
from ptx_lsp.lint.results.report import FileReport, Kernel, Occupancy, Registers
from ptx_lsp.ptxas import Resources
from tests.cli.conftest import HEADER, Lint

OLD = (
    f"{HEADER}.visible .entry _Z4axpyPfi(.param .u64 p)\n{{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<2>;\n"
    "\tld.param.u64 %rd1, [p];\n\tld.global.b32 %r1, [%rd1];\n\tadd.s32 %r2, %r1, 1;\n"
    "\tst.global.b32 [%rd1], %r2;\n\tret;\n}\n"
    ".visible .entry same() { ret; }\n"
    ".visible .entry gone() { .reg .b32 %r; mov.u32 %r, 1; st.shared.b32 [%r], %r; ret; }\n"
)
NEW = (
    OLD.replace("_Z4axpyPfi", "_Z4axpyPfii")
    .replace("%r1, 1;\n", "%r1, 1;\n\tmul.lo.s32 %r2, %r2, %r1;\n")
    .replace("gone() { .reg .b32 %r; mov.u32 %r, 1; st.shared.b32 [%r], %r;", "fresh() { bra X;")
)


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("old.ptx").write_text(OLD)
    Path("new.ptx").write_text(NEW)
    return tmp_path


def test_text(lint: Lint, both: Path) -> None:
    done = lint("compare", "old.ptx", "new.ptx")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("_Z4axpyPfii (new.ptx:4), was _Z4axpyPfi (old.ptx:4) (9")
    assert "  instructions: +1 mul.lo.s32" in lines
    assert lines[-3:] == [
        "gone: gone (old.ptx:15)", "new: fresh (new.ptx:16)",
        "2 kernels compared, 1 of them the same; 1 new, 1 gone.",
    ]
    assert "same (new.ptx" not in done.out
    assert "same (new.ptx:15)" in lint("compare", "--all", "old.ptx", "new.ptx").out


@pytest.mark.parametrize(("old", "output"), [("old.ptx", "new.ptx"), (".", "./old.ptx")])
def test_the_report_is_not_written_over_what_is_compared(
    lint: Lint, both: Path, old: str, output: str
) -> None:
    done = lint("compare", "-o", output, old, "new.ptx")
    assert "is already an input or an output; choose another file" in done.err
    assert (Path("old.ptx").read_text(), Path("new.ptx").read_text()) == (OLD, NEW)


def test_json(lint: Lint, both: Path) -> None:
    whole = json.loads(lint("compare", "--format", "json", "old.ptx", "new.ptx").out)
    axpy, same = whole["pairs"]
    assert axpy["figures"]["instructions"] == {
        "old": 5, "new": 6, "unit": "", "says": "exact", "worse": False, "better": False,
    }
    assert axpy["instructions"] == {"mul.lo.s32": 1}
    assert same["same"] and not same["worse"] and same["likeness"] == 1
    assert whole["new"] == [{"path": "new.ptx", "kernel": "fresh", "line": 16}]


def test_markdown(lint: Lint, both: Path) -> None:
    out = lint("compare", "--format", "markdown", "-o", "pr.md", "old.ptx", "new.ptx").out
    assert out == ""
    text = Path("pr.md").read_text(encoding="utf-8")
    assert text.startswith("### ptx-lint compare: 2 kernels, 1 changed,")
    assert "| `axpy` `_Z4axpyPfii` (was `axpy` `_Z4axpyPfi`) |" in text
    assert "5 \u2192 **6**<br>+1 mul.lo.s32" in text


def test_measured_and_findings(lint: Lint, both: Path, ptxas: Path) -> None:
    Path("new.ptx").write_text(OLD.replace("{ ret; }", "{ bra X; }"))
    arguments = ("compare", "--format", "json", f"--ptxas={ptxas}", "old.ptx", "new.ptx")
    pairs = json.loads(lint(*arguments).out)["pairs"]
    assert pairs[0]["figures"]["registers"]["says"] == "measured"
    assert pairs[0]["figures"]["spills"]["new"] == 16
    assert pairs[1]["findings"] == {"undeclared-name": 1}
    assert pairs[1]["worse"]
    assert lint("compare", "--fail-on-worse", "old.ptx", "new.ptx").status == 1
    assert lint("compare", "--fail-on-worse", "old.ptx", "old.ptx").status == 0


def test_folders(lint: Lint, both: Path) -> None:
    for state, text in (("a", OLD), ("b", OLD.replace("add.s32", "sub.s32"))):
        for name in ("x", "y"):
            (both / state).mkdir(exist_ok=True)
            (both / state / f"{name}.ptx").write_text(text if name == "x" else OLD)
    pairs = json.loads(lint("compare", "--format", "json", "a", "b").out)["pairs"]
    assert len(pairs) == 6
    assert all(Path(one["old"]["path"]).name == Path(one["new"]["path"]).name for one in pairs)
    assert [one["same"] for one in pairs] == [False, True, True, True, True, True]


@pytest.mark.parametrize("strict", ["old", "new"])
@pytest.mark.parametrize("named", ["", "sub", "sub/k.ptx"])
def test_both_sides_have_one_configuration(lint: Lint, both: Path, strict: str, named: str) -> None:
    """That of NEW, by the place in it that a file of OLD would have."""
    for side in ("old", "new"):
        Path(side, "sub").mkdir(parents=True)
        Path(side, "sub", "k.ptx").write_text(NEW)
    lax = '[files."k.*"]\nignore = ["ALL"]\n[budgets]\n"*" = ["registers <= 1"]\n'
    Path(strict, "ptx-lint.toml").write_text('target = "sm_50"\n[budgets]\n"*" = ["registers <= 1"]\n')
    Path("new" if strict == "old" else "old", "sub", "ptx-lint.toml").write_text(lax)
    for old, new in (("old", "new"), ("new", "old")):
        done = lint("compare", "--fail-on-worse", Path(old, named), Path(new, named))
        assert done.status == 0
        assert "3 kernels compared, 3 of them the same; 0 new, 0 gone." in done.out


def test_the_configuration_is_that_of_new(lint: Lint, both: Path) -> None:
    """Also of a file that is compared with a folder, and in place of it what --config names."""
    Path("tree").mkdir()
    Path("tree", "old.ptx").write_text(OLD)
    Path("tree", "ptx-lint.toml").write_text('exclude = ["*"]\n')
    Path("all.toml").write_text("")
    assert "\n0 kernels compared" in f"\n{lint('compare', 'tree', 'tree').out}"
    assert "3 kernels compared, 3 of them" in lint("compare", "tree", "old.ptx").out
    for words in (["--config", "all.toml"], ["--no-config"]):
        assert "3 kernels compared, 3 of them" in lint("compare", *words, "old.ptx", "tree").out


def test_estimated_registers_have_intervals(lint: Lint, both: Path) -> None:
    axpy, same = json.loads(lint("compare", "--format", "json", "old.ptx", "new.ptx").out)["pairs"]
    registers = axpy["figures"]["registers"]
    (old, new) = registers["intervals"]
    assert old[0] <= registers["old"] <= old[1]
    assert new[0] <= registers["new"] <= new[1]
    assert "intervals" not in axpy["figures"]["occupancy"]
    assert "intervals" not in same["figures"]["registers"]  # an empty kernel: there is no doubt
    shown = f"~{registers['new']} ({new[0]}-{new[1]})"
    assert f"{shown}, estimated\n" in lint("compare", "--all", "old.ptx", "new.ptx").out
    assert f"| {shown} |" in lint("compare", "--all", "--format", "markdown", "old.ptx", "new.ptx").out


def test_measured_registers_have_none(lint: Lint, both: Path, ptxas: Path) -> None:
    done = lint("compare", "--format", "json", f"--ptxas={ptxas}", "old.ptx", "new.ptx")
    for pair in json.loads(done.out)["pairs"]:
        assert "intervals" not in pair["figures"]["registers"]


def test_a_report_of_earlier(lint: Lint, both: Path, ptxas: Path) -> None:
    for options in ((), (f"--ptxas={ptxas}",)):
        lint("--format", "json=old.json", "--exit-zero", *options, "old.ptx")
        direct = json.loads(lint("compare", "--format", "json", *options, "old.ptx", "new.ptx").out)
        saved = json.loads(lint("compare", "--format", "json", *options, "old.json", "new.ptx").out)
        assert saved == direct
    assert "1 of them the same" in lint("compare", "old.json", "new.ptx").out


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"tool": {"name": "x"}}', '{"tool": 1, "files": []}', "[" * 100_000],
    ids=range(6),
)
def test_what_is_no_report(lint: Lint, both: Path, text: str) -> None:
    Path("bad.json").write_text(text)
    done = lint("compare", "bad.json", "new.ptx")
    assert (done.status, done.out) == (2, "")
    assert "`bad.json` is not a report of `ptx-lint --format json`" in done.err
    assert "cannot read" in lint("compare", "absent.json", "new.ptx").err


def test_figures_that_are_no_numbers(lint: Lint, both: Path) -> None:
    lint("--format", "json=r.json", "--exit-zero", "old.ptx")
    text = Path("r.json").read_text()
    Path("bad.json").write_text(text.replace('"divergent": 0', '"divergent": "many"'))
    assert Path("bad.json").read_text() != text
    done = lint("compare", "bad.json", "new.ptx")
    assert (done.status, done.out) == (2, "")
    assert "`bad.json` is not a report of `ptx-lint --format json`" in done.err


def test_wrong_usage(lint: Lint, both: Path) -> None:
    assert "no such file" in lint("compare", "old.ptx", "absent.ptx").err
    assert lint("compare", "old.ptx").status == 2
    Path("compare").write_text(OLD)  # a file of that name is one to lint
    assert lint("compare").out.endswith("1 file.\n")


def kernel(name: str, registers: int = 10, percent: float = 50.0, **counts: int) -> Kernel:
    return Kernel(
        name, 1, "sm_80", Registers(registers), occupancy=Occupancy(percent=percent),
        instructions=tuple(counts.items()),
    )


def test_likeness() -> None:
    one = kernel("gemm<float>", add=10, mul=5)
    assert likeness(one, one) == 1
    assert likeness(one, kernel("gemm<double>", add=11, mul=5)) > 0.9
    assert likeness(one, kernel("gemm<float>", ld=10, st=5)) == 0
    assert likeness(kernel("a"), kernel("a")) == 1


def test_the_most_alike_are_matched_first() -> None:
    old = [FileReport("a", kernels=(kernel("k_1", add=9, mul=3), kernel("k_2", add=9, mul=9)))]
    new = [FileReport("a", kernels=(kernel("k_3", add=9, mul=8), kernel("k_4", add=9, mul=4)))]
    found = compare(old, new)
    assert [(one.old.kernel.name, one.new.kernel.name) for one in found.pairs] == [
        ("k_2", "k_3"), ("k_1", "k_4"),
    ]
    assert found.gone == found.added == ()


@pytest.mark.parametrize(
    ("registers", "percent", "worse"),
    [(10, 50.0, False), (11, 50.0, True), (9, 50.0, False), (10, 25.0, True), (10, 75.0, False)],
)
def test_what_is_worse(registers: int, percent: float, worse: bool) -> None:
    old = [FileReport("a", kernels=(kernel("k"),))]
    new = [FileReport("a", kernels=(kernel("k", registers, percent),))]
    (pair,) = compare(old, new).pairs
    assert pair.is_worse == worse
    assert pair.is_same == (registers == 10 and percent == 50)


def test_one_measured_kernel_is_compared_by_its_estimate() -> None:
    row = Kernel("k", 1, "sm_80", Registers(estimate=40), 0, threads_per_block=256)
    row = with_measured(row, Resources(registers=64))
    estimated = without_measured(row)
    measured = row.occupancy.percent
    (pair,) = compare([FileReport("old", kernels=(row,))], [FileReport("new", kernels=(estimated,))]).pairs
    figures = {one.name: one for one in pair.figures}
    registers, one_sided, occupancy = (
        figures[name] for name in ("registers", "measured registers", "occupancy")
    )
    assert (registers.old, registers.new, registers.says) == (40, 40, "estimated")
    assert (one_sided.old, one_sided.new, one_sided.says) == (64, None, "measured")
    assert occupancy.old == occupancy.new != measured
    assert pair.is_same
    (pair,) = compare([FileReport("old", kernels=(row,))], [FileReport("new", kernels=(row,))]).pairs
    assert [one.says for one in pair.figures[:2]] == ["measured", "measured"]
