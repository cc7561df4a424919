"""`--format parquet`: the table, read by pyarrow."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import pytest

from ptx_lsp import __version__
from ptx_lsp.lint.diagnostic import Origin
from ptx_lsp.lint.reporters import parquet
from ptx_lsp.lint.results.report import (
    Branches,
    Excerpt,
    FileReport,
    Kernel,
    Mark,
    Mending,
    Needed,
    Occupancy,
    Point,
    Registers,
    Reported,
)
from ptx_lsp.lint.results.table import COLUMNS
from tests.cli.conftest import BAD, GOOD, Lint

ROOT = Path(__file__).parents[3]
Rows = list[dict[str, object]]


class Field(Protocol):
    name: str
    type: object
    metadata: Mapping[bytes, bytes]


class Schema(Protocol):
    metadata: Mapping[bytes, bytes]

    def __iter__(self) -> Iterator[Field]: ...


class Table(Protocol):
    schema: Schema
    num_rows: int

    def to_pylist(self) -> Rows: ...


class Opened(Protocol):
    num_row_groups: int


read_table = cast("Callable[[object], Table]", import_module("pyarrow.parquet").read_table)
open_table = cast("Callable[[object], Opened]", import_module("pyarrow.parquet").ParquetFile)


def written(*files: FileReport) -> bytes:
    """The table of some reports."""
    file = io.BytesIO()
    stream = parquet.TableWriter(file)
    for one in files:
        stream.add(one)
    stream.close()
    return file.getvalue()


def rows(table: bytes | Path) -> Rows:
    """The rows of a table, each without its nulls."""
    found = read_table(io.BytesIO(table) if isinstance(table, bytes) else table).to_pylist()
    return [{name: cell for name, cell in row.items() if cell is not None} for row in found]


def of_kind(kind: str, found: Rows) -> Rows:
    return [row for row in found if row["kind"] == kind]


def mark(line: int = 3, column: int = 2) -> Mark:
    return Mark(Point(line, column), Point(line, column + 4), Excerpt(1, "text", more=False))


KERNEL = Kernel(
    "_Z4copyPf", 7, "sm_90a",
    Registers(40, 34, 46, 33, None, 128),
    shared_bytes=1024,
    threads_per_block=256,
    threads_source="reqntid",
    occupancy=Occupancy(6, 48, 75.0, ("registers",), 256, 40, "estimate"),
    branches=Branches(1, 2, 3),
    instructions=(("add.s32", 3), ("ret", 1)),
    fingerprint="0123456789abcdef",
)  # fmt: skip
FINDING = Reported(
    "undeclared-name", "E101", "error", "`%r9` is not declared", mark(),
    fix=Mending("Declare it", True, ()), targets=("sm_90a",), notes=("a note",), function="_Z4copyPf",
    origin=Origin("k.cu", 12, 5), fingerprint="fedcba9876543210",
)  # fmt: skip


def test_schema() -> None:
    schema = read_table(io.BytesIO(written())).schema
    found = [
        (one.name, str(one.type).replace(f" ('{one.name}')", ""), one.metadata[b"description"].decode())
        for one in schema
    ]
    types = {
        "category": "dictionary<values=string, indices=int32, ordered=0>",
        "list<string>": "list<element: string>",
        "map<string, int64>": "map<string, int64>",
    }
    assert found == [(one.name, types.get(one.type, one.type), one.summary) for one in COLUMNS]
    assert schema.metadata[b"ptx-lint.schema"] == b"1"
    assert schema.metadata[b"ptx-lint.version"] == __version__.encode()


def test_rows() -> None:
    file = FileReport("a/k.ptx", "8.5", "sm_90a", diagnostics=(FINDING,), kernels=(KERNEL,))
    common = {"path": "a/k.ptx", "ptx_version": "8.5", "target": "sm_90a", "sm": 90}
    both = {"function": "_Z4copyPf", "demangled": "copy(float*)"}
    assert rows(written(file)) == [
        {
            **common, "kind": "file", "kernels": 1, "findings": 1, "errors": 1, "warnings": 0, "notes": [],
        },
        {
            **common, "kind": "kernel", **both, "line": 7, "fingerprint": "0123456789abcdef",
            "registers": 40, "registers_source": "estimate", "registers_estimate": 40, "registers_low": 34,
            "registers_high": 46, "registers_peak_live": 33, "registers_limit": 128, "shared_bytes": 1024,
            "threads_per_block": 256, "threads_source": "reqntid", "cluster_size": 1,
            "occupancy_percent": 75.0, "occupancy_threads": 256, "blocks_per_sm": 6, "warps_per_sm": 48,
            "limiters": ["registers"], "next_blocks_per_sm": 8, "next_fewer_registers": 8,
            "next_fewer_shared_bytes": 0, "headroom_registers": 0, "headroom_shared_bytes": 36864,
            "branches_uniform": 1, "branches_divergent": 2, "branches_unknown": 3, "instruction_count": 4,
            "instructions": [("add.s32", 3), ("ret", 1)],
        },
        {
            **common, "kind": "finding", **both, "line": 3, "fingerprint": "fedcba9876543210",
            "notes": ["a note"], "rule": "undeclared-name", "code": "E101", "severity": "error",
            "message": "`%r9` is not declared", "start_column": 2, "end_line": 3, "end_column": 6,
            "source": "ptx-lint", "targets": ["sm_90a"], "fixable": True, "fix_is_safe": True,
            "origin_path": "k.cu", "origin_line": 12, "origin_column": 5,
        },
    ]  # fmt: skip


def test_file_rows_keep_what_went_wrong() -> None:
    files = [
        FileReport("gone.ptx", error="no such file or directory"),
        FileReport("k.ptx", failures=("rule x failed",), complaints=("ptxas timed out",)),
        FileReport("k.cu", language="cuda", blocks=3),
        FileReport("n.ptx", needed=Needed("sm_80", "7.0", (), ())),
    ]
    gone, failed, host, needed = rows(written(*files))
    assert gone["error"] == "no such file or directory"
    assert failed["notes"] == ["rule x failed", "ptxas timed out"]
    assert (host["language"], host["blocks"]) == ("cuda", 3)
    assert "blocks" not in gone
    assert (needed["requires_target"], needed["requires_ptx_version"]) == ("sm_80", "7.0")


def test_nothing() -> None:
    assert read_table(io.BytesIO(written())).num_rows == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("k\0l", "k\0l"),
        ("k\udcff", "k\\udcff"),
        ("\u00e9\u6ea2\U0001f600", "\u00e9\u6ea2\U0001f600"),
        ("x" * 70_000, "x" * 32_768 + "..." + "x" * 32_768),
        ("", ""),
        ("'; DROP TABLE k; --", "'; DROP TABLE k; --"),
        ("_Z" + "x" * 9_000, "_Z" + "x" * 9_000),
    ],
    ids=["nul", "surrogate", "unicode", "long", "empty", "sql", "mangled"],
)
def test_hostile_names(name: str, expected: str) -> None:
    kernel = KERNEL._replace(name=name, instructions=((name, 2),))
    finding = FINDING._replace(function=name, message=name, notes=(name,), origin=Origin(name, 1, 1))
    file, *found = rows(written(FileReport(name, kernels=(kernel,), diagnostics=(finding,))))
    assert file["path"] == expected
    assert found[0]["function"] == expected
    assert found[0]["instructions"] == [(expected, 2)]
    assert [found[1][key] for key in ("message", "origin_path")] == [expected, expected]
    assert found[1]["notes"] == [expected]


def test_numbers_beyond_64_bits_are_null() -> None:
    kernel = KERNEL._replace(cluster_size=1 << 90, local_bytes=(1 << 63) - 1)
    _, row = rows(written(FileReport("k.ptx", kernels=(kernel,))))
    assert "cluster_size" not in row
    assert row["local_bytes"] == (1 << 63) - 1


def test_long_names_that_findings_have_in_common_are_not_kept_for_all() -> None:
    """A batch ends early, and each file of the table is small."""
    name = "x" * (1 << 20)
    found = tuple(FINDING._replace(function=name) for _ in range(40))
    assert len(of_kind("finding", rows(written(FileReport("k.ptx", diagnostics=found))))) == 40


def test_memory_does_not_depend_on_the_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more rows are held than those of a group."""
    monkeypatch.setattr(parquet, "_BATCH_ROWS", 8)
    monkeypatch.setattr(parquet, "_GROUP_ROWS", 32)
    file = io.BytesIO()
    stream, sizes = parquet.TableWriter(file), set[int]()
    for number in range(400):
        stream.add(FileReport(f"{number}.ptx", kernels=(KERNEL,)))
        sizes.add(len(file.getvalue()))
    stream.close()
    assert len(sizes) > 400 * 2 // 32
    assert open_table(io.BytesIO(file.getvalue())).num_row_groups == 400 * 2 // 32
    paths = [row["path"] for row in of_kind("kernel", rows(file.getvalue()))]
    assert paths == [f"{number}.ptx" for number in range(400)]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files, in the working directory."""
    monkeypatch.chdir(tmp_path)
    folder = Path("tree")
    folder.mkdir()
    (folder / "good.ptx").write_text(GOOD)
    (folder / "bad.ptx").write_text(BAD)
    (folder / "broken.ptx").write_bytes(b"\xff\xfe\0PTX")
    return folder


def test_command(lint: Lint, tree: Path) -> None:
    done = lint("--format", "concise", "--format", "parquet=t.parquet", tree)
    assert done.status == 2
    assert done.out == lint("--format", "concise", tree).out
    found = rows(Path("t.parquet"))
    errors = {row["path"]: row.get("error") for row in of_kind("file", found)}
    broken = str(tree / "broken.ptx")
    assert errors == {str(tree / "bad.ptx"): None, broken: errors[broken], str(tree / "good.ptx"): None}
    assert f"{broken}: {errors[broken]}\n" in done.err
    assert [row["function"] for row in of_kind("kernel", found)] == ["bad", "good"]
    assert not list(Path().glob(".ptx-lint.*"))


def test_the_same_bytes(lint: Lint, tree: Path) -> None:
    two, more = ["--jobs", "2"], ["--format", "json=r.json", "--kernels"]
    for name, options in (("1", list[str]()), ("2", two), ("3", more)):
        lint("--format", f"parquet={name}", *options, tree)
    lint("--format", "parquet", "-o", "4", tree)
    assert len({Path(name).read_bytes() for name in "1234"}) == 1


def test_standard_output(tree: Path) -> None:
    command = [sys.executable, "-m", "ptx_lsp", "--format", "parquet", str(tree / "good.ptx")]
    done = subprocess.run(
        command, capture_output=True, check=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )  # fmt: skip
    assert len(rows(done.stdout)) == 2


def test_a_terminal_is_refused(lint: Lint, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    done = lint("--format", "parquet", tree)
    assert (done.status, done.out) == (2, "")
    assert "--format parquet is not text; use --format parquet=FILE" in done.err
    assert lint("--format", "parquet", "--output", "t.parquet", tree / "good.ptx").status == 0


def test_without_pyarrow(lint: Lint, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(name: str) -> None:
        del name

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr("ptx_lsp.cli.binary_output.find_spec", find_nothing)
    done = lint("--format", "parquet=t.parquet", tree)
    assert done.status == 2
    assert "requires the package pyarrow: pip install 'ptx-lsp[parquet]'" in done.err
    assert not Path("t.parquet").exists()


def test_a_failure_leaves_the_old_file(lint: Lint, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("t.parquet").write_text("old")
    calls: list[FileReport] = []

    def add(self: parquet.TableWriter, file: FileReport) -> None:
        calls.append(file)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet.TableWriter, "add", add)
    done = lint("--format", "parquet=new.parquet", "--format", "parquet=t.parquet", tree)
    assert done.status == 2
    assert "cannot write `t.parquet`: No space left on device" in done.err
    assert Path("t.parquet").read_text() == "old"
    assert {path.name for path in Path().iterdir()} == {"t.parquet", "tree"}


def test_a_folder_that_does_not_exist(lint: Lint, tree: Path) -> None:
    done = lint("--format", "parquet=absent/t.parquet", tree)
    assert done.status == 2
    assert "cannot write `absent/t.parquet`: No such file or directory" in done.err


def test_a_place_that_cannot_be_written(lint: Lint, tree: Path) -> None:
    done = lint("--format", f"parquet={tree}", tree)
    assert (done.status, done.err) == (2, f"ptx-lint: error: cannot write `{tree}`: Is a directory\n")
    if Path("/dev/full").exists():
        done = lint("--format", "parquet=/dev/full", tree)
        assert done.status == 2
        assert done.err.endswith("error: cannot write `/dev/full`: No space left on device\n")


def test_baseline(lint: Lint, tree: Path) -> None:
    """The table has the findings that are reported."""
    lint("--baseline", "known.json", "--update-baseline", tree / "bad.ptx")
    lint("--baseline", "known.json", "--format", "parquet=t.parquet", tree / "bad.ptx")
    assert [row["kind"] for row in rows(Path("t.parquet"))] == ["file", "kernel"]


def test_every_figure_is_that_of_json(lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.ptx").write_text(GOOD)
    triton = {"name": "good", "num_warps": 4, "num_stages": 3, "shared": 64, "num_ctas": 2}
    Path("good.json").write_text(json.dumps(triton))
    tests = ROOT / "tests"
    samples = [
        *sorted((tests / "oracle" / "corpus").rglob("*.ptx"))[::6], ROOT / "examples", "good.ptx",
        tests / "containers" / "data" / "default.fatbin",
    ]
    lint("--format", "json=r.json", "--format", "parquet=t.parquet", "--extend-select", "ALL", *samples)
    files = json.loads(Path("r.json").read_text())["files"]
    found = rows(Path("t.parquet"))
    assert len(files) > 10
    assert len(of_kind("finding", found)) > 50
    assert {row.get("compiler") for row in found} == {None, "Triton"}
    assert sum("container" in row for row in of_kind("file", found)) > 1
    left = iter(found)
    for file in files:
        head = next(left)
        keys = ("path", "container", "member", "ptx_version", "target", "error")
        assert has(head, {key: file.get(key) for key in keys})
        assert (head["kernels"], head["findings"]) == (len(file["kernels"]), len(file["diagnostics"]))
        for kernel in file["kernels"]:
            assert is_row_of(next(left), kernel)
        for finding in file["diagnostics"]:
            assert is_row_of(next(left), finding)
    assert next(left, None) is None


def has(row: Mapping[str, object], cells: Mapping[str, object]) -> bool:
    """Whether a row has these cells; None is null."""
    return {name: row.get(name) for name in cells} == cells


RENAMED = {
    "name": "function",
    "occupancy_blocks_per_sm": "blocks_per_sm",
    "occupancy_warps_per_sm": "warps_per_sm",
    "occupancy_limiters": "limiters",
    "occupancy_threads_per_block": "occupancy_threads",
    "measured_stack_bytes": "stack_bytes",
    "measured_spill_store_bytes": "spill_store_bytes",
    "measured_spill_load_bytes": "spill_load_bytes",
    "metadata_compiler": "compiler",
    "metadata_options": "compiler_options",
    "start_line": "line",
    "fix_safe": "fix_is_safe",
}
"""The columns that are not called as the key in JSON, with those of the objects around it."""
ONLY_IN_JSON = {"related", "alternatives", "inlined_at", "fix_message", "fix_edits"}
PAIRS = {"instructions", "metadata_options"}


def flat(value: Mapping[str, object], before: str = "") -> dict[str, object]:
    """The cells of an object in JSON: every key that has no column is one too."""
    found: dict[str, object] = {}
    for key, cell in value.items():
        name = f"{before}{key}"
        if name in ONLY_IN_JSON:
            continue
        if not isinstance(cell, dict):
            found[RENAMED.get(name, name)] = cell
        elif name in PAIRS:
            found[RENAMED.get(name, name)] = list(cast("dict[str, int]", cell).items())
        else:
            found |= flat(cast("dict[str, object]", cell), f"{name}_")
    return found


def is_row_of(row: Mapping[str, object], value: Mapping[str, object]) -> bool:
    """Whether a row has all that an object in JSON has."""
    cells = flat(value)
    if cells.pop("occupancy_registers", None) is not None:
        known = cast("dict[str, object]", value["occupancy"])
        cells |= {name: known[name] for name in ("registers", "registers_source")}
    cells.pop("occupancy_registers_source", None)
    assert not {name for name in cells if name not in NAMES and cells[name] is not None}
    return has(row, cells)


NAMES = {one.name for one in COLUMNS}


def test_measured_figures(lint: Lint, good: Path, tmp_path: Path, ptxas: Path) -> None:
    table = tmp_path / "t.parquet"
    lint("--format", f"parquet={table}", f"--ptxas={ptxas}", good)
    _, kernel = rows(table)
    expected = {"registers": 24, "registers_source": "measured", "registers_measured": 24}
    assert has(kernel, expected)
    assert [kernel[name] for name in ("stack_bytes", "spill_store_bytes", "spill_load_bytes")] == [8, 4, 12]
    assert kernel["measured_shared_bytes"] == 512


def test_pyarrow_is_imported_only_for_tables(good: Path) -> None:
    script = (
        "import sys; from ptx_lsp.cli.lint import main; main(sys.argv[1:]);"
        "print([name for name in ('pyarrow', 'ptx_lsp.lint.results.table') if name in sys.modules])"
    )
    for options in (["--quiet"], ["--quiet", "--format", "concise"]):
        command = [sys.executable, "-c", script, *options, str(good)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        assert done.stdout.splitlines()[-1] == "[]"
