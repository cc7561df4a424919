"""Launch files: a launch in TOML (docs/ptx-run.md)."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from ptx_lsp.executor.launching.specs import SpecError
from ptx_lsp.lint.configuration import containment
from ptx_lsp.model.function import Function

_KEYS = (
    "file", "entry", "grid", "block", "cluster", "shared", "device", "cooperative", "seed", "limit",
    "seconds", "arguments", "out",
)


@dataclass(frozen=True)
class LaunchFile:
    """The contents of a launch file; None and () for missing keys. Paths are relative to its folder.

    `arguments` are pairs of a name ("": the next in order) and a SPEC, `out` the words of `--out`.
    """

    folder: Path
    file: Path | None = None
    entry: str | None = None
    grid: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None
    shared: int | None = None
    seed: int | None = None
    limit: int | None = None
    seconds: float | None = None
    arguments: tuple[tuple[str, str], ...] = ()
    out: tuple[str, ...] = ()
    cluster: tuple[int, ...] | None = None
    device: str | None = None
    cooperative: bool | None = None


def read_launch_file(path: Path) -> LaunchFile:
    """Raises OSError if the file cannot be read, SpecError if its contents are invalid."""
    try:
        table: dict[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"`{path}` is not valid TOML: {error}") from error
    for key in table:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            hint = f"; did you mean `{near[0]}`?" if near else f"; valid keys are {', '.join(_KEYS)}"
            raise SpecError(f"`{path}`: unknown key `{key}` in a launch file{hint}")
    reader = _Reader(path, table)
    file = reader.text("file")
    return LaunchFile(
        path.parent, path.parent / file if file else None, reader.text("entry"), reader.sizes("grid"),
        reader.sizes("block"), reader.count("shared"), reader.count("seed"), reader.count("limit"),
        reader.seconds(), reader.arguments(), reader.out(), reader.sizes("cluster"),
        reader.text("device"), reader.truth("cooperative"),
    )


def kernel_arguments(
    kernel: Function, pairs: Iterable[tuple[str, str]]
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The SPECs of a kernel's parameters in their order, of pairs of a name ("": the next in order) and a
    SPEC; and the pairs of variables that are textures, samplers and surfaces. Raises SpecError.
    """
    names = [one.name for one in kernel.launched]
    objects = {one.name for one in kernel.opaque} - set(names)
    given = list(pairs)
    bound = tuple(one for one in given if one[0] in objects)
    return _ordered([one for one in given if one[0] not in objects], names, kernel.name), bound


def _ordered(
    pairs: Sequence[tuple[str, str]], names: Sequence[str], kernel: str
) -> tuple[str, ...]:
    """The SPECs in parameter order; unnamed ones fill the remaining positions."""
    specs: dict[int, str] = {}
    for name, spec in pairs:
        if name and name not in names:
            listed = ", ".join(f"`{one}`" for one in names) or "none"
            raise SpecError(f"`{kernel}` has no parameter `{name}`; its parameters are {listed}")
        if name and names.index(name) in specs:
            raise SpecError(f"`{name}` is specified twice")
        if name:
            specs[names.index(name)] = spec
    unnamed = [spec for name, spec in pairs if not name]
    if not specs:
        return tuple(unnamed)  # `launch` counts them
    given = len(unnamed) + len(specs)
    if given != len(names):
        listed = ", ".join(f"`{one}`" for one in names)
        raise SpecError(f"`{kernel}` takes {len(names)} arguments, but {given} were given: {listed}")
    free = iter(unnamed)
    return tuple(specs[at] if at in specs else next(free) for at in range(len(names)))


class _Reader:
    def __init__(self, path: Path, table: dict[str, object]) -> None:
        self.path = path
        self.table = table

    def wrong(self, key: str, expected: str) -> SpecError:
        return SpecError(f"`{self.path}`: `{key}` must be {expected}, not `{self.table[key]}`")

    def text(self, key: str) -> str | None:
        value = self.table.get(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong(key, "a string")
        return value

    def truth(self, key: str) -> bool | None:
        value = self.table.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def count(self, key: str) -> int | None:
        value = self.table.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong(key, "a non-negative integer")
        return value

    def seconds(self) -> float | None:
        value = self.table.get("seconds")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise self.wrong("seconds", "a positive number of seconds")
        return float(value)

    def sizes(self, key: str) -> tuple[int, ...] | None:
        value = self.table.get(key)
        if value is None:
            return None
        listed = _list(value)
        sizes = [value] if listed is None else listed
        found = [one for one in sizes if isinstance(one, int) and not isinstance(one, bool) and one > 0]
        if len(found) != len(sizes) or not 1 <= len(found) <= 3:
            raise self.wrong(key, "one to three positive integers")
        return tuple(found)

    def arguments(self) -> tuple[tuple[str, str], ...]:
        """A list in order, or a table by name."""
        value = self.table.get("arguments", [])
        expected = "a list of SPECs, or a table of names and SPECs"
        pairs = _pairs(value)
        if pairs is None and (listed := _list(value)) is not None:
            pairs = [("", spec) for spec in listed]
        if pairs is None:
            raise self.wrong("arguments", expected)
        found = [(name, self.spec(spec)) for name, spec in pairs if isinstance(spec, str)]
        if len(found) != len(pairs):
            raise self.wrong("arguments", expected + ", which are strings")
        return tuple(found)

    def spec(self, text: str) -> str:
        """A SPEC, with files relative to the folder of the launch file."""
        return re.sub(r"(^|[(,])@", lambda found: f"{found[1]}@{self.path.parent}{os.sep}", text)

    def out(self) -> tuple[str, ...]:
        """A list as for --out, or a table of names and files ("": printed)."""
        value = self.table.get("out", [])
        pairs, listed = _pairs(value), _list(value)
        if pairs is not None and all(isinstance(file, str) for _, file in pairs):
            words = [f"{name}={file}" if file else name for name, file in pairs]
        elif listed is not None:
            words = [str(one) for one in listed]
        else:
            raise self.wrong("out", "a list as for --out, or a table of names and files")
        return tuple(self.placed(word) for word in words)

    def placed(self, word: str) -> str:
        """The path of an output, which must stay inside the launch file's folder. Raises SpecError."""
        name, equals, file = word.partition("=")
        if not equals:
            return name
        written = file if file.endswith((".npy", ".npz")) else f"{file}.npy"
        reason = containment.violation(written, self.path.parent)
        if reason is not None:
            raise SpecError(
                f"`{self.path}`: `out` cannot write to `{file}`: "
                f"{reason}; --out accepts any path"
            )
        return f"{name}={self.path.parent / file}"


def _list(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None


def _pairs(value: object) -> list[tuple[str, object]] | None:
    return list(cast("dict[str, object]", value).items()) if isinstance(value, dict) else None
