"""The targets that a project is built for, according to its `compile_commands.json`."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.configuration.containment import is_file

_NAME: Final = "compile_commands.json"
_FOLDERS: Final = ("", "build", "out")
"""Where it is looked for in the folder of a file, and in each folder above."""
_MOST_BYTES: Final = 256 << 20
_OPTION = lazy_pattern(
    r"(?:^|[\s'\"])(?:-arch|--gpu-architecture|-gencode|--generate-code|--cuda-gpu-arch|--offload-arch)"
    r"(?:[= ]|['\"]\s*['\"])['\"]?(?P<value>[^\s'\"]+)"
)
_TARGET = lazy_pattern(r"(?:arch=)?(?:sm|compute)_(?P<name>\d+[af]?)")


def build_targets(path: str) -> tuple[str, ...]:
    """The targets of the PTX that a file is compiled to, such as `sm_90a`. For a file that is not compiled
    itself, such as a header, those of the whole project. Empty if unknown.
    """
    database = _find(Path(path).absolute().parent)
    if database is None:
        return ()
    try:
        status = database.stat()
        by_file = _read(database, status.st_mtime_ns, status.st_size)
        return by_file.get(Path(path).resolve()) or by_file.get(None, ())
    except (OSError, ValueError, RecursionError):
        return ()


@lru_cache(maxsize=1024)
def _find(folder: Path) -> Path | None:
    for inside in _FOLDERS:
        place = folder / inside / _NAME
        if is_file(place):
            return place
    return _find(folder.parent) if folder.parent != folder else None


@lru_cache(maxsize=8)
def _read(database: Path, changed_ns: int, size: int) -> dict[Path | None, tuple[str, ...]]:
    """The targets by file, and under None those of all. Raises OSError and ValueError."""
    if size > _MOST_BYTES:
        return {}
    entries: object = json.loads(database.read_bytes())
    found: dict[Path | None, tuple[str, ...]] = {}
    everything: dict[str, None] = {}
    for entry in cast("list[object]", entries) if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            continue
        fields = cast("dict[str, object]", entry)
        targets = _targets(fields)
        name, folder = fields.get("file"), fields.get("directory", "")
        if targets and isinstance(name, str) and isinstance(folder, str):
            found[(database.parent / folder / name).resolve()] = targets
            everything |= dict.fromkeys(targets)
    return {**found, None: tuple(everything)}


def _targets(entry: dict[str, object]) -> tuple[str, ...]:
    arguments = entry.get("arguments")
    if isinstance(arguments, list):
        text = " ".join(str(one) for one in cast("list[object]", arguments))
    else:
        text = str(entry.get("command", ""))
    found: dict[str, None] = {}
    for option in _OPTION.finditer(text):
        target = _TARGET.search(option["value"])  # of `arch=...,code=...` the first
        if target is not None:
            found[f"sm_{target['name']}"] = None
    return tuple(found)
