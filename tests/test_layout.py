"""The folders and files of the project: how many, how long, and none that nobody expects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("ptx_lsp", "tests", "benchmarks", "docs")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
MOST_LINES = 450
MOST_FILES = 25
ONE_SUBJECT = {
    "ptx_lsp/lint/rules": "a rule", "ptx_lsp/isa/instructions": "a section of the manual",
}
"""Folders that may have more files, and what each file of them is."""
IN_ROOT = {
    "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in", "Makefile", "README.md",
    "SECURITY.md", "action.yml", "mkdocs.yml", "pyproject.toml", "setup.py",
}
"""What may lie in the root, besides folders and hidden files."""


def test_no_file_is_long() -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in SOURCES}
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


def test_no_folder_is_full() -> None:
    folders = Counter(path.parent.relative_to(ROOT).as_posix() for path in SOURCES)
    assert {name for name, count in folders.items() if count > MOST_FILES} == ONE_SUBJECT.keys()


def test_no_strays_in_the_root() -> None:
    files = {path.name for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".")}
    assert files == IN_ROOT
