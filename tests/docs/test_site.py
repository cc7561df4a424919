"""The site builds without a warning, and its generated pages have everything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx_lsp.isa.schema.table import all_entries
from ptx_lsp.lint.registry import all_rules

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr  # strict: a warning fails
    return folder


def test_every_rule_has_its_page(site: Path) -> None:
    for rule in all_rules():
        page = (site / "rules" / rule.name / "index.html").read_text(encoding="utf-8")
        assert rule.code in page
        assert "Why it matters" in page


def test_every_instruction_is_told_of(site: Path) -> None:
    pages = {
        path.parent.name: path.read_text(encoding="utf-8")
        for path in (site / "instructions").glob("*/index.html")
    }
    for row in all_entries():
        page = pages[row.module.rpartition(".")[2]]
        assert f">{row.name}<" in page, row.name
    assert sum(page.count("Syntax\n") for page in pages.values()) >= len(all_entries()) * 0.98


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    assert 'src="http' not in page
    assert 'stylesheet" href="http' not in page


def test_accuracy_and_coverage_are_pages(site: Path) -> None:
    for name in ("accuracy", "coverage", "tutorial", "ci", "reference"):
        assert (site / name / "index.html").is_file()
