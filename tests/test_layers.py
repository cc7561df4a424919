"""The layers of ARCHITECTURE.md: modules import only from layers below, and no modules import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS: dict[str, tuple[str, ...]] = {
    "": (
        "ptx_lsp.static_typing",
        (
            "ptx_lsp.code_cache ptx_lsp.lazy_pattern ptx_lsp.named_tuple ptx_lsp.packages ptx_lsp.parallel "
            "ptx_lsp.prepared ptx_lsp.process_group ptx_lsp.process_tables ptx_lsp.unbuilt "
            "ptx_lsp.command_parser"
        ),
        "ptx_lsp.text ptx_lsp.ptxas ptx_lsp.demangler ptx_lsp.finding_kinds",
        "ptx_lsp.nvdisasm ptx_lsp.symbol_lookup",
        "ptx_lsp.syntax ptx_lsp.isa ptx_lsp.embedded ptx_lsp.containers",
        "ptx_lsp.model",
        "ptx_lsp.facts",
        "ptx_lsp.model.instructions",
        "ptx_lsp.model.function_wakes",
        "ptx_lsp.model.module_wakes",
        "ptx_lsp.model.directives",
        "ptx_lsp.model.calls",
        "ptx_lsp.analyses.occupancy",
        "ptx_lsp.analyses ptx_lsp.executor",
        "ptx_lsp.lint",
        "ptx_lsp.ide ptx_lsp.launch_file",
        "ptx_lsp.reduce ptx_lsp.cuda ptx_lsp.debug",
        "ptx_lsp.server ptx_lsp.cli",
        "ptx_lsp.__main__ ptx_lsp.linting ptx_lsp.pytest_plugin",
    ),
    "ptx_lsp.isa": (
        ".",
        "schema",
        "matching modifiers instructions",
        "description",
    ),
    "ptx_lsp.analyses": (
        "bitset instructions occupancy",
        "control_flow",
        "dataflow",
        "divergence registers",
        "well_formed asynchronous",
    ),
    "ptx_lsp.executor": (
        "arithmetic descriptors",
        "machine",
        "instructions",
        "asynchronous matrices instrumentation",
        "textures scheduling tensor_memory",
        "decoding",
        "native",
        "check",
        "launching",
        "recording",
    ),
    "ptx_lsp.lint": (
        "anchoring diagnostic failures opcode",
        "divergence fixes results unmet_requirements",
        "checked_block",
        "block_accesses block_references",
        "block_effects",
        "rule",
        "rules",
        "registry",
        "configuration engine",
        "inline ptxas_messages reporters",
    ),
    "ptx_lsp.embedded": (
        "mapped_text",
        "block c_tokens languages",
        "c_types",
        "c_asm guards llvm_constraints python_literals python_names scopes virtual_module",
        "host llvm_asm python_strings",
        "julia_syntax mlir_syntax mlir_values mojo_syntax python_blocks rust_syntax",
        "hosts",
        "registry",
        "document",
    ),
    "ptx_lsp.containers": (
        "error kernel_metadata",
        "byte_range metadata",
        "coff payload metadata_beside",
        "container entry",
        "fat_binaries",
        "formats",
        "registry",
    ),
    "ptx_lsp.ide": (
        "cursor",
        "editing highlighting hover navigation panels",
        "annotations completion",
        "inline",
    ),
    "ptx_lsp.cuda": (
        "device_runtime driver_function host_memory results shared_library",
        "device_memory",
        "modules",
        "launches",
        "driver report",
        "api",
        "installation",
    ),
    "ptx_lsp.reduce": (
        "program processes size step verdicts",
        "conditions legality reduction_pass",
        "examination passes",
        "examiner",
        "reducer",
    ),
    "ptx_lsp.cli": (
        "arguments ending inputs kernel_names settings",
        "members",
        "collecting",
        "launching reducing explanations output",
        "option_parser files graphs run saved_report selection",
        "binary_output command_line checking completion configure extract manual page",
        "plan",
        "tally",
        "blame compare lint",
        "entry",
    ),
}
"""The packages and modules of each layer, the lowest layer first. Those of one layer do not import each
other. "" has the parts of the project, the name of a part what is in that part; `.` stands for its modules
that have no entry of their own. A module belongs to the longest name that it begins with.
"""
ONLY_IN = {
    "pygls": "ptx_lsp.server",
    "lsprotocol": "ptx_lsp.server",
    "tree_sitter": "ptx_lsp.syntax ptx_lsp.embedded",
    "tree_sitter_ptx": "ptx_lsp.syntax",
    "elftools": "ptx_lsp.containers",
    "lz4": "ptx_lsp.containers",
    "zstandard": "ptx_lsp.containers",
}


def modules(*folders: str) -> dict[str, Path]:
    """The modules in some folders."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


PROJECT = modules("ptx_lsp")
EVERY = PROJECT | modules("tests", "benchmarks")


def _source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def imports(source: str) -> frozenset[str]:
    """The modules that a text imports, those inside functions and those for types included."""
    return frozenset(_imports(source))


def _imports(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in EVERY else node.module


def layer(module: str, area: str) -> tuple[str, int] | None:
    """What a module belongs to among the parts of an area, and the number of its layer."""
    found: dict[str, int] = {}
    for number, row in enumerate(LAYERS[area]):
        for name in row.split():
            part = area if name == "." else f"{area}.{name}".lstrip(".")
            if module == part != area or module.startswith(f"{part}."):
                found[part] = number
    return max(found.items(), key=lambda one: len(one[0]), default=None)


def violations(module: str, source: str) -> list[str]:
    """What a module imports and must not."""
    found: list[str] = []
    for imported in sorted(imports(source)):
        owners = ONLY_IN.get(imported.partition(".")[0], "").split()
        if owners and not module.startswith(tuple(f"{owner}." for owner in owners)):
            found.append(f"{module} imports {imported}, which is for {' and '.join(owners)} alone")
        for area in LAYERS:
            here, there = layer(module, area), layer(imported, area)
            if here and there and here[0] != there[0] and there[1] >= here[1]:
                found.append(f"{module} imports {imported}, which is not in a layer below it")
    return found


def cycle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Modules of which each imports the next, and the last is the first; empty if there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_go_downward() -> None:
    found = [wrong for module, path in PROJECT.items() for wrong in violations(module, _source(path))]
    assert not found, "\n".join(found)


def test_no_modules_import_each_other() -> None:
    graph = {
        module: [one for one in imports(_source(path)) if one in EVERY and one != module]
        for module, path in EVERY.items()
    }
    assert cycle(graph) == []


def test_every_module_has_a_layer() -> None:
    for area in LAYERS:
        inside = [one for one in PROJECT if one.startswith(f"{area}." if area else "") and one != "ptx_lsp"]
        assert [one for one in inside if layer(one, area) is None] == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("ptx_lsp.model.scope", "from ptx_lsp.lint import engine"),
        ("ptx_lsp.syntax.lower", "import ptx_lsp.isa.types"),
        ("ptx_lsp.isa.types", "def f():\n    from ptx_lsp.syntax import nodes"),
        ("ptx_lsp.isa.types", "if TYPE_CHECKING:\n    from ptx_lsp.model.module import Module"),
        ("ptx_lsp.lint.engine", "import tree_sitter"),
        ("ptx_lsp.ide.hover.hover", "from lsprotocol.types import Hover"),
        ("ptx_lsp.analyses.control_flow.cfg", "from ptx_lsp.executor import launch"),
    ],
)
def test_a_violation_is_seen(module: str, source: str) -> None:
    assert len(violations(module, source)) >= 1


def test_a_cycle_is_seen() -> None:
    assert sorted(cycle({"a": ["b"], "b": ["c", "d"], "c": ["a"], "d": []})) == ["a", "a", "b", "c"]
