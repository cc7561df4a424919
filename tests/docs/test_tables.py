"""docs/tables.md is true: it lists the columns, and each of its queries finds what its table has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from ptx_lsp.lint.diagnostic import Origin
from ptx_lsp.lint.reporters.parquet import TableWriter
from ptx_lsp.lint.results.report import (
    Branches,
    Compilation,
    DynamicShared,
    Excerpt,
    FileReport,
    Kernel,
    Mark,
    Measured,
    Mending,
    Occupancy,
    Point,
    Registers,
    Reported,
)
from ptx_lsp.lint.results.table import COLUMNS

PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"(?:^([^\n|]+\?)[^\n?]*\n\n)?^```(sql|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

PLAIN = Kernel(
    "plain", 7, "sm_80", Registers(33, 30, 36, 28), shared_bytes=0, threads_source="best",
    occupancy=Occupancy(6, 48, 75.0, ("registers",), 256, 33, "estimate"), branches=Branches(1, 0, 0),
    instructions=(("mov.b32", 3), ("ret", 1)), fingerprint="1" * 16,
)  # fmt: skip
ON_90 = PLAIN._replace(target="sm_90")
TILED = Kernel(
    "tiled", 40, "sm_90a", Registers(90, 80, 100, 70, 128, 128), shared_bytes=4096, threads_per_block=256,
    threads_source="reqntid", occupancy=Occupancy(2, 16, 25.0, ("registers", "shared"), 256, 128, "measured"),
    branches=Branches(1, 2, 1), measured=Measured(4096, 16, 8, 12),
    instructions=(("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 4), ("ret", 1)),
    dynamic_shared=DynamicShared(1024, "metadata"), fingerprint="2" * 16,
    compilation=Compilation("Triton 3.6.0", (("num_warps", 8), ("num_stages", 3))),
)  # fmt: skip
_PLACE = Mark(Point(9, 2), Point(9, 5), Excerpt(1, "text", more=False))
FINDING = Reported(
    "undeclared-name", "E101", "error", "`%r9` is not declared", _PLACE, fix=Mending("Declare it", True, ()),
    function="plain", origin=Origin("k.cu", 12, 5), fingerprint="3" * 16,
)  # fmt: skip
NEW = [
    FileReport("a/k.ptx", "8.0", "sm_80", diagnostics=(FINDING,), kernels=(PLAIN,)),
    FileReport("b/k.ptx", "10.0", "sm_80", kernels=(PLAIN,)),
    FileReport("b/t.ptx", "8.0", "sm_90a", kernels=(TILED, TILED._replace(name="plain"))),
    FileReport("libk.so!1:sm_80", "8.0", "sm_80", (), (FINDING,), (PLAIN,), container="libk.so"),
    FileReport("libk.so!2:sm_90", "8.0", "sm_90", (), (), (ON_90,), container="libk.so"),
    FileReport("gone.ptx", error="no such file or directory"),
]
OLD = [
    FileReport("a/k.ptx", "8.0", "sm_80", kernels=(PLAIN._replace(registers=Registers(30, 28, 32, 20)),)),
    FileReport("b/k.ptx", "8.0", "sm_80", kernels=(PLAIN._replace(fingerprint="4" * 16),)),
    FileReport("libk.so!1:sm_80", "8.0", "sm_80", diagnostics=(FINDING,), container="libk.so"),
]
FOUND = {
    "Which versions and targets are there?": 5,
    "Which files could not be read or checked?": 1,
    "How much PTX is in each library?": 1,
    "Which kernels spill?": 2,
    "Which kernels would have a higher occupancy with a few registers fewer?": 4,
    "Which would lose a block with the next registers that they take?": 2,
    "What limits occupancy?": 4,
    "Which kernels have no launch bounds?": 4,
    "Which use the most shared memory?": 6,
    "How do the registers of a kernel differ between targets?": 2,
    "Which share of the branches diverges?": 6,
    "Which kernels are there several times?": 2,
    "Which instructions are used most?": 3,
    "Who still uses `wmma` or `mma.sync` where there is `wgmma` or `tcgen05` (sm_90 to sm_110)?": 2,
    "Which configuration of a Triton kernel has the highest occupancy?": 2,
    "How many findings has each rule in each folder?": 2,
    "Which lines of the CUDA source have the most findings?": 1,
    "Which kernels have become worse?": 1,
    "Which findings are new?": 1,
    "Which kernels have other code than before, although nothing else about them has changed?": 1,
    "many runs": 2,
}
"""The number of rows that each query finds in `NEW`, or in both."""


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tables that the page names, in the working directory."""
    monkeypatch.chdir(tmp_path)
    for name, files in (
        ("ptx.parquet", NEW),
        ("new.parquet", NEW),
        ("old.parquet", OLD),
        ("runs/date=2026-11-22/ptx.parquet", OLD),
        ("runs/date=2026-11-23/ptx.parquet", NEW),
    ):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        with Path(name).open("wb") as file:
            writer = TableWriter(file)
            for one in files:
                writer.add(one)
            writer.close()
    return tmp_path


def blocks(language: str) -> list[tuple[str, str]]:
    """The question before each block, if there is one, and its text."""
    return [(found[1], found[3]) for found in _BLOCK.finditer(PAGE) if found[2] == language]


def test_columns() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert rows == [
        (one.name, one.type, ", ".join(one.kinds) if len(one.kinds) < 3 else "all", one.summary)
        for one in COLUMNS
    ]


def test_names_need_no_quotes(tables: Path) -> None:
    names = ", ".join(one.name for one in COLUMNS)
    rows = duckdb.execute(f"SELECT {names} FROM 'ptx.parquet' ORDER BY {names}").fetchall()
    assert len(rows) == 14


def test_queries(tables: Path) -> None:
    found: dict[str, int] = {}
    connection = duckdb.connect()
    for question, query in blocks("sql"):
        answer = connection.execute(query).fetchall()
        if question or "GROUP BY date" in query:
            found[question or "many runs"] = len(answer)
    assert found == FOUND


def test_programs(tables: Path) -> None:
    """They are run in order, as one program."""
    program = "\n".join(text for _, text in blocks("python"))
    done = subprocess.run(
        [sys.executable, "-W", "error::FutureWarning", "-c", program], cwd=tables, capture_output=True,
        text=True, check=False, timeout=120,
    )
    assert done.returncode == 0, done.stderr
    lines = (
        r"sm_90a +2\.0 +128\.0", r"undeclared-name +error +2", r"tiled +4$",
        r"a/k\.ptx +plain +sm_80 +30 +33", "^b'1' ",
    )
    for expected in lines:
        assert re.search(expected, done.stdout, re.MULTILINE), f"{expected}\n{done.stdout}"
