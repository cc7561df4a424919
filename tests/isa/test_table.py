"""The index of the table: what it holds, and when it is made anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import ptx_lsp
from ptx_lsp.isa import instructions
from ptx_lsp.isa.schema import notation, table

ROWS = Path(instructions.__path__[0])


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A copy of the sections."""
    return Path(copytree(ROWS, tmp_path / "instructions", ignore=ignore_patterns("__pycache__")))


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, bytes]]:
    """The indices that were computed."""
    found: list[dict[str, bytes]] = []
    compute = table.compute_index

    def counted() -> dict[str, bytes]:
        found.append(compute())
        return found[-1]

    monkeypatch.setattr(table, "compute_index", counted)
    return found


def test_it_has_what_parsing_gives() -> None:
    every = table.all_entries()
    assert set(table.opcodes()) == {row.opcode for row in every}
    for opcode in table.opcodes():
        rows = table.entries(opcode)
        assert rows == tuple(row for row in every if row.opcode == opcode)
        for row in rows:
            assert notation.forms(row.syntax) == notation.read(row.syntax)


def test_a_form_survives_the_file() -> None:
    for row in table.all_entries():
        read = notation.read(row.syntax)
        notation.set_known_forms({"a text": tuple(map(notation.plain, read))})
        assert notation.forms("a text") == read


def test_it_is_kept_until_a_row_changes(rows: Path, computed: list[dict[str, bytes]]) -> None:
    first = table.read_index(str(rows), write=True)
    assert table.read_index(str(rows), write=True) == first
    assert len(computed) == 1
    section = rows / "integer.py"
    status = section.stat()
    section.write_text(section.read_text(encoding="utf-8").replace(".u16", ".u17"), encoding="utf-8")
    os.utime(section, ns=(status.st_atime_ns, status.st_mtime_ns))
    table.read_index(str(rows), write=True)
    assert len(computed) == 2
    (rows / "new.py").write_text("", encoding="utf-8")
    table.read_index(str(rows), write=True)
    assert len(computed) == 3


def test_a_damaged_file_is_made_anew(rows: Path, computed: list[dict[str, bytes]]) -> None:
    first = table.read_index(str(rows), write=True)
    (kept,) = rows.rglob("table.prepared")
    kept.write_bytes(kept.read_bytes()[:100])
    assert table.read_index(str(rows), write=True) == first
    assert len(computed) == 2


def test_nothing_has_to_be_written(
    rows: Path, computed: list[dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert table.read_index(str(rows), write=False) is None
    assert not list(rows.rglob("table.prepared"))
    (rows / "__pycache__").write_text("in the way of a folder", encoding="utf-8")
    assert table.read_index(str(rows), write=True) is None
    assert not computed
    before = table.opcodes(), table.entries("mul")
    table.entries.cache_clear()
    monkeypatch.setattr(table, "_index", lambda: None)
    assert (table.opcodes(), table.entries("mul"), table.entries("mul2")) == (*before, ())
    table.entries.cache_clear()


def test_only_the_sections_of_an_opcode_are_loaded() -> None:
    code = (
        "import sys; from ptx_lsp.isa.schema import table; table.opcodes();"
        "before = set(sys.modules); table.entries('bra');"
        "print(*(set(sys.modules) - before))"
    )

    def run() -> str:
        project = Path(ptx_lsp.__path__[0]).parent
        command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=project).stdout

    run()  # the index may have to be computed
    sections = [name for name in run().split() if name.startswith("ptx_lsp.isa.instructions.")]
    assert sections == ["ptx_lsp.isa.instructions.control"] or (
        sections == [] and sys.dont_write_bytecode  # all were loaded to compute the index
    )
