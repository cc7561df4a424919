"""Kernel arguments on the command line: SPECs and files; and where buffers go after."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.specs import Array, SpecError, Value, array_of, value


@dataclass(frozen=True, eq=False)
class Output:
    """A buffer that is printed, or saved to `path`."""

    number: int
    name: str
    array: Array
    path: str

    def text(self) -> str:
        shown = np.array2string(self.array, separator=", ", threshold=1000, max_line_width=100)
        return f"{self.number}: {shown}"


def argument(spec: str, seed: int = 0) -> Value:
    """The value of a SPEC or of `@file`; raises SpecError, and OSError where a file cannot be read."""
    return value(spec, seed, read=_file)


def outputs(
    words: Sequence[str], names: Sequence[str], arguments: Sequence[Value]
) -> list[Output]:
    """What `--out` names, `names` being those of the parameters; raises SpecError where that is no buffer."""
    return [_output(word, names, arguments) for word in words]


def save(found: Sequence[Output]) -> None:
    """Saves those that have a path; raises OSError where a file cannot be written."""
    archives: dict[str, dict[str, Array]] = {}
    for one in found:
        if one.path.endswith(".npz"):
            archives.setdefault(one.path, {})[one.name or f"argument_{one.number}"] = one.array
        elif one.path:
            np.save(one.path, one.array)
    for path, arrays in archives.items():
        np.savez(path, allow_pickle=False, **arrays)


def _output(word: str, names: Sequence[str], arguments: Sequence[Value]) -> Output:
    index, _, path = word.partition("=")
    number = names.index(index) if index in names else int(index) if index.isdecimal() else -1
    if not 0 <= number < len(arguments):
        raise SpecError(f"--out {word}: arguments have the numbers 0 to {len(arguments) - 1}")
    array = array_of(arguments[number])
    if array is None:
        raise SpecError(f"--out {word}: argument {number} is a value, not a buffer")
    return Output(number, names[number] if number < len(names) else "", array, path)


def _file(path: str) -> Array:
    name, _, key = path.rpartition(":") if ".npz:" in path else (path, "", "")
    loaded = _loaded(name)
    if not isinstance(loaded, np.lib.npyio.NpzFile):
        return np.ascontiguousarray(loaded)
    with loaded:
        if key in loaded.files:
            array: Array = loaded[key]
            return np.ascontiguousarray(array)
        listed = ", ".join(f"`{one}`" for one in loaded.files)
        missing = f"has no array `{key}`" if key else "holds several arrays"
        raise SpecError(f"`{name}` {missing}: `@{name}:NAME` with NAME of {listed} is expected")


def _loaded(name: str) -> Array | np.lib.npyio.NpzFile:
    try:
        found: Array | np.lib.npyio.NpzFile = np.load(name, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise SpecError(f"`{name}` is no .npy or .npz file of numbers") from error
    return found
