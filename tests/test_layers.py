"""The layers of ARCHITECTURE.md: a module imports only what lies below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = {
    "ptx_lsp.text": 0,
    "ptx_lsp.ptxas": 0,
    "ptx_lsp.syntax": 1,
    "ptx_lsp.isa": 1,
    "ptx_lsp.model": 2,
    "ptx_lsp.facts": 2,
    "analyses": 3,
    "ptx_lsp.executor": 3,
    "ptx_lsp.lint": 4,
    "ptx_lsp.ide": 5,
    "ptx_lsp.server": 6,
    "ptx_lsp.cli": 6,
    "ptx_lsp.__main__": 7,
    "ptx_lsp.pytest_plugin": 7,
}
APART = [{"ptx_lsp.syntax", "ptx_lsp.isa"}, {"analyses", "ptx_lsp.executor"}]
ONLY_IN = {
    "pygls": "ptx_lsp.server",
    "lsprotocol": "ptx_lsp.server",
    "tree_sitter": "ptx_lsp.syntax",
    "tree_sitter_ptx": "ptx_lsp.syntax",
}


def part_of(module: str) -> str | None:
    """The part of the project that a module belongs to: `ptx_lsp.model` for `ptx_lsp.model.scope`."""
    names = module.split(".")
    return next((p for n in (1, 2) if (p := ".".join(names[:n])) in LAYERS), None)


def imports(source: str) -> Iterator[str]:
    """The modules that a text imports, those inside functions included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def violations(module: str, source: str) -> list[str]:
    """What a module imports and must not."""
    here = part_of(module)
    if here is None:
        return []
    found: list[str] = []
    for imported in sorted(set(imports(source))):
        owner = ONLY_IN.get(imported.partition(".")[0])
        there = part_of(imported)
        if owner is not None and here != owner:
            found.append(f"{module} imports {imported}, which is for {owner} alone")
        elif there is not None and there != here and (
            LAYERS[there] > LAYERS[here] or {here, there} in APART
        ):
            found.append(f"{module} imports {imported}, which is not below it")
    return found


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the project."""
    for package in ("ptx_lsp", "analyses"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=lambda value: str(value)[-40:])
def test_imports_go_downward(module: str, path: Path) -> None:
    assert violations(module, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("ptx_lsp.model.scope", "from ptx_lsp.lint import engine"),
        ("ptx_lsp.syntax.lower", "import ptx_lsp.isa.types"),
        ("ptx_lsp.isa.types", "def f():\n    from ptx_lsp.syntax import nodes"),
        ("ptx_lsp.lint.engine", "import tree_sitter"),
        ("ptx_lsp.ide.hover", "from lsprotocol.types import Hover"),
        ("analyses.cfg", "from ptx_lsp.executor import launch"),
    ],
)
def test_a_violation_is_seen(module: str, source: str) -> None:
    assert len(violations(module, source)) >= 1


def test_every_part_has_a_layer() -> None:
    parts = {
        ".".join(module.split(".")[:2]) for module, _ in modules() if module.startswith("ptx_lsp.")
    }
    assert parts <= LAYERS.keys()
