"""The folders and files of the project: how many, how long, and none that nobody expects."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("ptx_lsp", "analyses", "tests", "benchmarks", "docs")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
MOST_LINES = 450
IN_ROOT = {
    "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in", "Makefile", "README.md",
    "SECURITY.md", "action.yml", "mkdocs.yml", "pyproject.toml", "setup.py",
}
"""What may lie in the root, besides folders and hidden files."""


def test_no_file_is_long() -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in SOURCES}
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


def test_no_strays_in_the_root() -> None:
    files = {path.name for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".")}
    assert files == IN_ROOT
