"""Kernel arguments on the command line: SPECs and files, and the destinations of buffers."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.launching import object_specs
from ptx_lsp.executor.launching.object_specs import Object, array_of
from ptx_lsp.executor.launching.specs import SpecError, Value
from ptx_lsp.executor.machine.texture import Opaque

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class Output:
    """A buffer or surface that is printed, or saved to `path`. A variable has no number."""

    number: int | None
    name: str
    array: Array
    path: str

    def text(self) -> str:
        shown = np.array2string(self.array, separator=", ", threshold=1000, max_line_width=100)
        return f"{self.name if self.number is None else self.number}: {shown}"


def argument(spec: str, seed: int = 0) -> Value | Object:
    """The value of a SPEC or of `@file`. Raises SpecError, and OSError if a file cannot be read."""
    return object_specs.argument(spec, seed, file=_file)


def bindings(pairs: Sequence[tuple[str, str]], seed: int = 0) -> dict[str, Opaque]:
    """The objects bound to the names of variables. Raises as `argument` does."""
    return object_specs.bindings(pairs, seed, file=_file)


def outputs(
    words: Sequence[str], names: Sequence[str], arguments: Sequence[Value | Object],
    bind: Mapping[str, Opaque],
) -> list[Output]:
    """The outputs that `--out` names; `names` are the parameter names. Raises SpecError if one is not a
    buffer.
    """
    return [_output(word, names, arguments, bind) for word in words]


def save(found: Sequence[Output]) -> None:
    """Saves the outputs that have a path. Raises OSError if a file cannot be written."""
    archives: dict[str, dict[str, Array]] = {}
    for one in found:
        if one.path.endswith(".npz"):
            archives.setdefault(one.path, {})[one.name or f"argument_{one.number}"] = one.array
        elif one.path:
            np.save(one.path, one.array)
    for path, arrays in archives.items():
        np.savez(path, allow_pickle=False, **arrays)


def _output(
    word: str, names: Sequence[str], arguments: Sequence[Value | Object], bind: Mapping[str, Opaque]
) -> Output:
    index, _, path = word.partition("=")
    if index in bind and index not in names:
        array = array_of(bind[index])
        if array is None:
            raise SpecError(f"--out {word}: only surfaces can be written by a kernel")
        return Output(None, index, array, path)
    number = names.index(index) if index in names else int(index) if index.isdecimal() else -1
    if not 0 <= number < len(arguments):
        raise SpecError(f"--out {word}: argument numbers are 0 to {len(arguments) - 1}")
    array = array_of(arguments[number])
    if array is None:
        raise SpecError(f"--out {word}: argument {number} is not a buffer or a surface")
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
        raise SpecError(f"`{name}` {missing}: `@{name}:NAME`, where NAME is one of {listed}, is expected")


def _loaded(name: str) -> Array | np.lib.npyio.NpzFile:
    try:
        found: Array | np.lib.npyio.NpzFile = np.load(name, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise SpecError(f"`{name}` is not a .npy or .npz file of numbers") from error
    return found
