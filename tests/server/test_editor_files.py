"""The files of `editors/` as far as they can be tried without the editors: they are well formed, and name
settings, queries and commands that there are.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import cast

import pytest
import tree_sitter_ptx
from tree_sitter import Language, Query

from ptx_lsp.server.settings import Settings
from tests.server.connection import Json, at

EDITORS = Path(__file__).parents[2] / "editors"
HELIX_SCOPES = frozenset(
    {
        "attribute", "comment", "constant", "error", "function", "keyword", "label", "namespace",
        "operator", "punctuation", "string", "type", "variable",
    }
)  # fmt: skip
"""The first parts of the names that its themes have, as its manual lists them, of those used here."""


def _toml(*path: str) -> Json:
    return cast(Json, tomllib.loads(EDITORS.joinpath(*path).read_text(encoding="utf-8")))


def _names_only_settings(given: Json) -> bool:
    """Whether each setting that is turned round makes a difference."""
    hints = at(given, "inlayHints")
    assert isinstance(hints, dict)
    same = Settings.read(given)
    return all(
        Settings.read({"inlayHints": {**hints, name: not value}}) != same for name, value in hints.items()
    )


def test_helix() -> None:
    whole = _toml("helix", "languages.toml")
    assert at(whole, "language-server", "ptx-lsp", "command") == "ptx-lsp"
    assert at(whole, "language", 0, "language-servers") == ["ptx-lsp"]
    given = at(whole, "language-server", "ptx-lsp", "config")
    assert Settings.read(given) == Settings()
    assert _names_only_settings(given)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_what_helix_gets(tmp_path: Path) -> None:
    """A parser, and queries that fit it and mark nothing that Helix has no name for."""
    install = EDITORS / "helix" / "install.sh"
    subprocess.run(["sh", str(install), str(tmp_path)], check=True, capture_output=True, timeout=240)
    assert (tmp_path / "runtime" / "grammars" / "ptx.so").stat().st_size > 10_000
    language = Language(tree_sitter_ptx.language())
    queries = tmp_path / "runtime" / "queries" / "ptx"
    captures = {
        path.stem: set(re.findall(r"@(?!_)([\w.]+)", path.read_text()))
        for path in queries.iterdir()
        if Query(language, path.read_text()).pattern_count
    }
    assert captures.keys() == {"highlights", "indents", "injections", "tags"}
    assert captures["indents"] == {"indent", "outdent"}
    assert {name.partition(".")[0] for name in captures["highlights"]} <= HELIX_SCOPES
    assert {"constant.numeric.float", "keyword.storage.modifier"} <= captures["highlights"]


def test_sublime() -> None:
    text = (EDITORS / "sublime" / "LSP.sublime-settings").read_text(encoding="utf-8")
    whole: Json = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    client = at(whole, "clients", "ptx-lsp")
    assert at(client, "command") == ["ptx-lsp"]
    assert at(client, "selector") == "source.ptx"
    dotted = at(client, "settings")
    assert isinstance(dotted, dict)
    given: dict[str, Json] = {}
    for name, value in dotted.items():  # the package LSP makes objects of the dots
        section, group, setting = name.split(".")
        assert (section, group) == ("ptx", "inlayHints")
        given[setting] = value
    assert Settings.read({"inlayHints": given}) == Settings()
    assert _names_only_settings({"inlayHints": given})


def test_zed() -> None:
    extension, language = _toml("zed", "extension.toml"), _toml("zed", "languages", "ptx", "config.toml")
    assert at(extension, "language_servers", "ptx-lsp", "languages") == [at(language, "name")]
    assert at(extension, "grammars", str(at(language, "grammar")), "path") == "tree-sitter-ptx"
    assert at(language, "path_suffixes") == ["ptx"]
    assert at(_toml("zed", "Cargo.toml"), "lib", "path") == "lib.rs"
