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


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, where GitHub and the site agree on them."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading)).strip().lower()
        anchor = plain.replace(" ", "-")
        if anchor == re.sub(r"[-\s]+", "-", plain):
            found.add(anchor)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anchors_exist(page: Path) -> None:
    for path, anchor in re.findall(r"\]\(([\w./-]*\.md)?#([\w-]+)\)", page.read_text(encoding="utf-8")):
        target = page.parent / path if path else page
        assert anchor in anchors(target.read_text(encoding="utf-8")), f"{path}#{anchor}"


def test_headings_that_begin_with_dashes_have_no_common_anchor() -> None:
    assert anchors("## --check\n```\n# comment\n```\n## Launch files\n") == {"launch-files"}


def test_names_with_a_place_left_open_are_not_paths() -> None:
    text = "`ptx_lsp/analyses/NAME.py`, `tests/lint/*.md`, `tests/lint/values.md`"
    assert list(named(text)) == ["tests/lint/values.md"]
