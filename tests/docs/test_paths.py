"""Files that the documentation names exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "vscode-extension" / "README.md"])
_FOLDERS = "ptx_lsp|tests|benchmarks|docs|editors|examples|integrations"
_PATH = re.compile(rf"(?<![\w./-])((?:{_FOLDERS})/[\w./-]*\w)")
_CREATED = {"tests/conformance/gpu"}
"""Folders that a command creates."""
_OF_USERS = {"setup.py"}
_MODULE = re.compile(r"python -m ((?:tests|benchmarks)[\w.]+)")


def named(text: str) -> Iterator[str]:
    """The paths in a text, and those of the modules that it runs."""
    for found in _PATH.finditer(text):
        if "*" not in text[found.end() : found.end() + 2] and not re.search(r"NAME|SECTION", found[1]):
            yield found[1]
    for module in _MODULE.findall(text):
        path = module.replace(".", "/")
        yield f"{path}/__main__.py" if (ROOT / path).is_dir() else f"{path}.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    wrong = {path for path in named(page.read_text(encoding="utf-8")) if not (ROOT / path).exists()}
    assert not wrong - _CREATED


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_named_without_their_folder_exist(page: Path) -> None:
    names = set(re.findall(r"`(\w+\.py)`", page.read_text(encoding="utf-8")))
    folders = ("ptx_lsp", "tests", "benchmarks")
    existing = {path.name for folder in folders for path in (ROOT / folder).rglob("*.py")}
    assert names - existing - _OF_USERS == set()


def test_names_with_a_place_left_open_are_not_paths() -> None:
    text = "`ptx_lsp/analyses/NAME.py`, `tests/lint/*.md`, `tests/lint/values.md`"
    assert list(named(text)) == ["tests/lint/values.md"]
