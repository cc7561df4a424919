"""The committed parser is what grammar.js gives."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

GRAMMAR = Path(__file__).parents[2] / "tree-sitter-ptx"


@pytest.mark.skipif(shutil.which("tree-sitter") is None, reason="the tree-sitter command is not here")
def test_parser_is_current(tmp_path: Path) -> None:
    shutil.copy(GRAMMAR / "grammar.js", tmp_path)
    shutil.copy(GRAMMAR / "tree-sitter.json", tmp_path)
    subprocess.run(["tree-sitter", "generate"], cwd=tmp_path, check=True)
    for name in ("parser.c", "grammar.json", "node-types.json"):
        assert (tmp_path / "src" / name).read_bytes() == (GRAMMAR / "src" / name).read_bytes(), name
