"""Names that begin with `_`: no module uses those of another one, and each module uses its own. The type
checker reports private attributes that other classes use.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for name in ("ptx_lsp", "tests", "benchmarks") for path in (ROOT / name).rglob("*.py"))
_IMPORT = re.compile(
    r"^ *from ((?:ptx_lsp|analyses|tests|benchmarks)[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE
)
_IMPORTED = re.compile(r"(\w+)(?: as (\w+))?")
_PRIVATE = re.compile(r"\n\n(?:async def|def|class) (_[A-Za-z]\w*)")
"""A function or class without decorators, which may use it themselves."""
_WORD = re.compile(r"\w+")


def test_private_names_are_used_in_their_modules_only() -> None:
    found = {path: names for path in SOURCES if (names := [*_foreign(path.read_text(encoding="utf-8"))])}
    assert found == {}


def test_private_functions_and_classes_are_used() -> None:
    found: dict[Path, list[str]] = {}
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        words = Counter(_WORD.findall(text))
        unused = [name for name in _PRIVATE.findall(text) if words[name] == 1]
        if unused:
            found[path] = unused
    assert found == {}


def _foreign(text: str) -> Iterator[str]:
    """The private names of other modules that a text imports, or uses as `module._name`."""
    for module, names in _IMPORT.findall(text):
        for name, alias in _IMPORTED.findall(names):
            if _is_module(f"{module}.{name}"):
                yield from re.findall(rf"\b{alias or name}\._[a-z]\w*", text)
            elif name.startswith("_") and not name.startswith("__"):
                yield f"{module}.{name}"


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file() or path.with_suffix(".pyi").is_file()
