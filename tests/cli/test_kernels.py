"""The figures of kernels: in JSON, and in the table of `--kernels`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import run
from typing import TypeAlias

import jsonschema
import pytest

from ptx_lsp import ptxas as real
from tests.cli.conftest import HEADER, Lint
from tests.cli.test_formats import SCHEMA

Figures: TypeAlias = "dict[str, object]"

SPLIT = """\
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	.shared .align 4 .b8 tile[512];
	.local .align 8 .b8 own[24];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra $out;
	setp.eq.u32 %p2, %r2, 0;
	@%p2 bra $out;
	st.shared.u32 [tile], %r2;
	st.local.u32 [own], %r2;
$out:
	ret;
"""
"""One uniform branch, one that splits warps."""


def written(path: Path, directives: str = "", body: str = SPLIT, before: str = "") -> Path:
    path.write_text(f"{HEADER}{before}.visible .entry k(.param .u32 n)\n{directives}\n{{\n{body}}}\n")
    return path


def figures(lint: Lint, *arguments: str | Path) -> dict[str, dict[str, object]]:
    """The one kernel, as JSON has it."""
    report = json.loads(lint("--format", "json", *arguments).out)
    jsonschema.validate(report, SCHEMA)
    (kernel,) = report["files"][0]["kernels"]
    return kernel


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "k.ptx"


def test_all_figures(lint: Lint, file: Path) -> None:
    kernel = figures(lint, written(file, ".maxntid 128, 2\n.minnctapersm 4"))
    assert kernel["shared_bytes"] == 512
    assert kernel["local_bytes"] == 24
    assert kernel["parameter_bytes"] == 4
    assert kernel["branches"] == {"uniform": 1, "divergent": 1, "unknown": 0}
    assert (kernel["threads_per_block"], kernel["threads_source"]) == (256, "maxntid")
    registers = kernel["registers"]
    assert registers["limit"] == 64
    assert registers["measured"] is None
    low, used, high = (registers[name] for name in ("low", "estimate", "high"))
    assert isinstance(low, int) and isinstance(used, int) and isinstance(high, int)
    assert 0 < low <= used <= high
    assert kernel["occupancy"] == {
        "blocks_per_sm": 8, "warps_per_sm": 64, "percent": 100.0, "limiters": ["warps"],
        "threads_per_block": 256, "registers": used, "registers_source": "estimate",
    }


def test_the_last_of_a_repeated_directive_counts(lint: Lint, file: Path) -> None:
    kernel = figures(lint, written(file, ".reqntid 64\n.reqntid 96\n.maxnreg 32\n.maxnreg 48"))
    assert (kernel["threads_per_block"], kernel["threads_source"]) == (96, "reqntid")
    assert kernel["registers"]["limit"] == 48


@pytest.mark.parametrize(
    ("directives", "option", "threads", "source", "blocks"),
    [
        ("", None, None, "best", 2),
        ("", 192, 192, "option", 10),
        ("", "32x2x3", 192, "option", 10),
        ("", "96,2", 192, "option", 10),
        (".reqntid 64", 192, 64, "reqntid", 32),
        (".maxntid 256", 192, 192, "option", 10),
        (".maxntid 128", 192, 128, "maxntid", 16),
        (".reqntid 2048", None, 2048, "reqntid", 0),
    ],
)
def test_the_size_of_a_block(
    lint: Lint, file: Path, directives: str, option: int | str | None, threads: int | None, source: str,
    blocks: int,
) -> None:
    given = () if option is None else ("--threads", str(option))
    kernel = figures(lint, *given, written(file, directives))
    assert (kernel["threads_per_block"], kernel["threads_source"]) == (threads, source)
    assert kernel["occupancy"]["threads_per_block"] == (threads or 1024)
    assert kernel["occupancy"]["blocks_per_sm"] == blocks


COLUMNS = """.version 8.5
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 .ptr .global .align 4 matrix)
HEAD{
    .reg .b32 %r<5>;
    .reg .b64 %d<4>;
    .shared .align 4 .b8 tile[4096];
    ld.param.u64 %d0, [matrix];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    mad.lo.u32 %r2, %r0, 32, %r1;
    mul.wide.u32 %d1, %r2, 4;
    add.s64 %d2, %d0, %d1;
    mov.u32 %r3, tile;
    mad.lo.u32 %r4, %r2, 4, %r3;
    ld.shared.b32 %r0, [%r4];
    st.global.b32 [%d2], %r0;
    ret;
}
"""
"""Each row of a block accesses a column of a matrix."""
SLOW = ["bank-conflict", "uncoalesced-access"]


@pytest.mark.parametrize(
    ("head", "options", "comment", "rules"),
    [
        ("", [], "", []),  # rows may be shorter than warps
        ("", ["--threads", "32x32"], "", SLOW),
        ("", ["--threads", "64,8"], "", SLOW),
        ("", ["--threads", "256"], "", SLOW),
        ("", ["--threads", "1x32"], "", []),
        ("", [], "block=32,32", SLOW),
        ("", [], "block=1,32", []),
        ("", ["--threads", "1x32"], "block=32,32", SLOW),
        ("", ["--threads", "32x32"], "entry=kernel block=1,32", []),
        ("", ["--threads", "32x32"], "entry=another block=1,32", SLOW),
        ("", [], "block=32,32 entry=another", []),
        (".reqntid 1, 32", ["--threads", "32x32"], "block=32,32", []),
        (".maxntid 32, 8", ["--threads", "1x64"], "", []),
        (".maxntid 32, 8", ["--threads", "1x512"], "", SLOW),  # cannot be launched
    ],
)
def test_memory_accesses_of_blocks_whose_size_is_given(
    lint: Lint, tmp_path: Path, head: str, options: list[str], comment: str, rules: list[str]
) -> None:
    file = tmp_path / "columns.ptx"
    launch = f"// ptx-run: grid=1 {comment} matrix=f32:zeros(1024)\n" if comment else ""
    file.write_text(launch + COLUMNS.replace("HEAD", f"{head}\n" if head else ""))
    report = lint("--format", "json", "--select", "P311,P312", *options, file).out
    found = json.loads(report)["files"][0]["diagnostics"]
    assert sorted(one["rule"] for one in found) == rules


@pytest.mark.parametrize("wrong", ["0", "-1", "1025", "many", "32x33", "8x", "1x1x1x1"])
def test_no_such_block(lint: Lint, good: Path, wrong: str) -> None:
    assert lint(f"--threads={wrong}", good).status == 2


def test_what_is_called_counts(lint: Lint, file: Path) -> None:
    callee = ".func f() { .local .b8 own[100]; ret; }\n"
    kernel = figures(lint, written(file, body=f"call f;\n{SPLIT}", before=callee))
    assert (kernel["local_bytes"], kernel["shared_bytes"]) == (124, 512)
    shared = ".func f() { .shared .b8 both[100]; st.shared.u8 [both], 0; ret; }\n"
    kernel = figures(lint, written(file, body=f"call f;\n{SPLIT}", before=shared))
    assert kernel["shared_bytes"] is None
    kernel = figures(lint, written(file, body=f"call f;\n{SPLIT}", before=".extern .func f;\n"))
    assert (kernel["local_bytes"], kernel["shared_bytes"]) == (None, None)
    assert kernel["occupancy"]["percent"] is None
    system = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    called = "{ .param .b32 r; .param .b64 a, b; call (r), vprintf, (a, b); }\n"
    kernel = figures(lint, written(file, body=f"{called}{SPLIT}", before=system))
    assert (kernel["local_bytes"], kernel["shared_bytes"]) == (24, 512)


def test_clusters_that_no_device_takes(lint: Lint, file: Path) -> None:
    written(file, ".reqnctapercluster 32\n.reqntid 64")
    kernel = figures(lint, "--target", "sm_90", file)
    assert kernel["occupancy"]["blocks_per_sm"] == 0
    assert kernel["occupancy"]["limiters"] == ["clusters"]


def test_figures_for_each_target(lint: Lint, file: Path) -> None:
    written(file, ".reqntid 1024")
    report = json.loads(lint("--format", "json", "--targets", "sm_75,sm_86,sm_90", file).out)
    found = {k["target"]: k["occupancy"]["blocks_per_sm"] for k in report["files"][0]["kernels"]}
    assert found == {"sm_75": 1, "sm_86": 1, "sm_90": 2}


def test_a_target_without_known_limits(lint: Lint, file: Path) -> None:
    kernel = figures(lint, "--target", "sm_35", written(file))
    assert kernel["shared_bytes"] == 512
    assert set(kernel["occupancy"].values()) == {None}
    assert kernel["registers"]["estimate"] is None


def test_a_broken_kernel_has_figures(lint: Lint, file: Path) -> None:
    kernel = figures(lint, written(file, body=f"foo.bar %r1, %nothing; bra $nowhere; {SPLIT}"))
    assert kernel["parameter_bytes"] == 4


def test_a_failure_costs_one_kernel_its_figures(
    lint: Lint, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("ptx_lsp.lint.results.kernels.estimated_registers", fail)
    done = lint("--kernels", "--exit-zero", written(file))
    assert done.status == 2
    assert "the figures of kernel `k`: RuntimeError: boom" in done.err
    assert "sm_80  k  " in done.out


def test_the_table(lint: Lint, file: Path) -> None:
    kernel = figures(lint, written(file, ".reqntid 64, 2"))
    registers, occupancy = kernel["registers"], kernel["occupancy"]
    percent = occupancy["percent"]
    assert isinstance(percent, float)
    out = lint("--kernels", "--ignore", "W,P", file).out.splitlines()
    head = next(n for n, line in enumerate(out) if line.startswith("target"))
    cells = out[head + 2].split()
    assert cells == [
        "sm_80", str(registers["estimate"]), f"({registers['low']}-{registers['high']})",
        str(registers["limit"]), str(registers["peak_live"]), "512", "24", "4", "128",
        f"~{occupancy['warps_per_sm']}", f"~{percent:g}", "warps", "1/1/0",
        "k", f"{file}:4",
    ]
    legend = "\n".join(out[head + 3 :])
    assert "estimated without ptxas" in legend
    assert "~: " in legend
    assert "measured" not in legend.replace("measures", "")
    assert "best: " not in legend
    assert "best: 1024" in lint("--kernels", written(file)).out


def test_ptxas_measures(lint: Lint, file: Path) -> None:
    program = real.find()
    if program is None:
        pytest.skip("there is no ptxas")
    kernel = figures(lint, f"--ptxas={program}", written(file, ".reqntid 128"))
    assert kernel["registers"]["measured"] == kernel["occupancy"]["registers"]
    assert kernel["occupancy"]["registers_source"] == "measured"
    assert isinstance(kernel["measured"], dict)


def test_maxrregcount(lint: Lint, file: Path, ptxas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the command line or the configuration: in the estimate and the occupancy, and for ptxas."""
    monkeypatch.chdir(file.parent)
    many = "".join(f"\tld.global.f32 %f{n}, [%rd1+{4 * n}];\n" for n in range(90))
    uses = "".join(f"\tst.global.f32 [%rd1], %f{n};\n" for n in range(90))
    body = f"\t.reg .f32 %f<90>;\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [p];\n{many}\tbar.sync 0;\n{uses}"

    def of(directive: str, *options: str) -> tuple[object, ...]:
        file.write_text(f"{HEADER}.visible .entry k(.param .u64 p) {directive}\n{{\n{body}\tret;\n}}\n")
        registers = figures(lint, *options, file)["registers"]
        assert isinstance(registers, dict)
        return tuple(registers[name] for name in ("estimate", "high", "limit", "measured"))

    free = of("")
    assert isinstance(free[0], int)
    assert free[0] > 60
    assert free[2] is None
    assert of("", "--maxrregcount", "40") == (40, 40, 40, None)
    assert of("", "--maxrregcount", "40", f"--ptxas={ptxas}") == (40, 40, 40, 40)
    assert of("", "--maxrregcount", "255") == free
    Path("ptx-lint.toml").write_text("maxrregcount = 32\n")
    assert of("") == (32, 32, 32, None)
    assert of("", "--maxrregcount", "48") == (48, 48, 48, None)
    assert of(".maxnreg 56") == (56, 56, 56, None)
    assert of(".maxntid 128")[2] == 255
    assert of(".maxntid 1024") == (64, 64, 64, None)
    found = lint("--maxrregcount", "40", f"--ptxas={ptxas}", "--extend-select", "ptxas", file)
    assert "Overriding" not in found.out + found.err
    for wrong in ("0", "256", "-1", "x", ""):
        assert lint(f"--maxrregcount={wrong}", file).status == 2
    for wrong in ("0", "256", "true", "'40'", "4.5"):
        Path("ptx-lint.toml").write_text(f"maxrregcount = {wrong}\n")
        assert "`maxrregcount` must be a number from 1 to 255, not" in lint(file).err


def test_analyses_are_imported_where_they_are_needed(good: Path) -> None:
    script = (
        "import sys; start = set(sys.modules); from ptx_lsp.cli.lint import main; main(sys.argv[1:]);"
        "print([m for m in sys.modules if m not in start and m in "
        "('ptx_lsp.lint.results.kernels', 'ptx_lsp.lint.results.flow', 'subprocess', 'pathlib', 'numpy')])"
    )

    def imported(*arguments: str) -> str:
        command = [sys.executable, "-c", script, *arguments, str(good)]
        return run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]

    assert imported("--quiet") == "[]"
    for options in (("--quiet", "--kernels"), ("--format", "json")):
        assert imported(*options) == "['ptx_lsp.lint.results.kernels']"
    assert "'ptx_lsp.lint.results.flow'" in imported("--quiet", "--report", str(good.with_suffix(".html")))


def test_dynamic_shared_memory(lint: Lint, tmp_path: Path) -> None:
    """The launch comment, else the option, else Triton's metadata; without any of them it is unknown."""
    before = ".extern .shared .align 16 .b8 smem[];\n"
    body = "\t.reg .b32 %r;\n\tld.shared.u32 %r, [smem];\n\tret;\n"
    path = written(tmp_path / "k.ptx", ".reqntid 256", body, before)

    def figures(*options: str) -> tuple[object, object]:
        kernel = json.loads(lint(path, "--format", "json", *options)[1])["files"][0]["kernels"][0]
        return kernel["dynamic_shared_bytes"], kernel["dynamic_shared_source"]

    assert figures() == (None, "unknown")
    assert "dynamic ?: the launch gives it" in lint(path, "--kernels")[1]
    assert figures("--dynamic-shared", "49152") == (49152, "setting")
    path.with_suffix(".json").write_text('{"name": "k", "shared": 98304, "num_warps": 8}')
    assert figures() == (98304, "metadata")
    launch = "// ptx-run: grid=1 block=256 shared=512 n=u32:1\n"
    written(path, ".reqntid 256", body, before + launch)
    assert figures("--dynamic-shared", "49152") == (512, "launch comment")


def test_the_table_shows_mangled_names_demangled_and_as_written(lint: Lint, file: Path) -> None:
    name = "_ZN3foo4axpyIfEEvPT_S2_"
    file.write_text(f"{HEADER}.visible .entry {name}() {{ ret; }}\n.visible .entry plain() {{ ret; }}\n")
    mangled, plain = [
        line for line in lint("--kernels", file).out.splitlines() if f"{file}:" in line
    ]
    assert mangled.endswith(f"  foo::axpy<...>  {file}:4  {name}")
    assert plain.endswith(f"  plain  {file}:5")
    report = json.loads(lint("--format", "json", file).out)
    assert [one["name"] for one in report["files"][0]["kernels"]] == [name, "plain"]


def test_mangled_names_are_shown_demangled(lint: Lint, tmp_path: Path) -> None:
    """With the mangled name, which tells instances of a template apart, and which options take."""
    file = tmp_path / "scan.ptx"
    names = ("_Z4scanILi8EEvPf", "_Z4scanILi9EEvPf")
    kernels = "\n".join(f".entry {name}() {{ ret; }}" for name in names)
    file.write_text(f".version 8.0\n.target sm_80\n.address_size 64\n{kernels}\n")
    markdown = lint("--format", "markdown", "--kernels", file).out
    page = tmp_path / "page.html"
    lint("--report", page, file)
    html = page.read_text(encoding="utf-8")
    for name in names:
        assert f"| `scan<...>` `{name}` |" in markdown
        assert html.count(f'scan&lt;...&gt; <span class="soft">{name}</span>') == 2
