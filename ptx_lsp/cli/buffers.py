"""Kernel arguments on the command line: `u32:5`, `f32[]:arange:32`, `@file.npy`; and where they go after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.generic]
Value: TypeAlias = Array | np.generic

_TYPES = {
    **{f"{kind}{bits}": f"{'i' if kind == 's' else 'u'}{bits // 8}"
       for kind in "usb" for bits in (8, 16, 32, 64)},
    "f16": "f2", "f32": "f4", "f64": "f8",
}


class SpecError(ValueError):
    """An argument or an output that cannot be understood."""


@dataclass(frozen=True, eq=False)
class Output:
    """A buffer that is printed, or saved to `path`."""

    number: int
    array: Array
    path: str

    def deliver(self) -> None:
        """Raises OSError where the file cannot be written."""
        if self.path:
            np.save(self.path, self.array)
        else:
            text = np.array2string(self.array, separator=", ", threshold=1000, max_line_width=100)
            print(f"{self.number}: {text}")


def argument(spec: str) -> Value:
    """The value of `--arg`; raises SpecError, and OSError where a file cannot be read."""
    if spec.startswith("@"):
        return _file(spec[1:])
    type, colon, text = spec.partition(":")
    dtype = _TYPES.get(type.removesuffix("[]"))
    if dtype is None or not colon:
        names = ", ".join(_TYPES)
        raise SpecError(f"`{spec}`: TYPE:VALUE or TYPE[]:VALUES is expected; types are {names}")
    try:
        if type.endswith("[]"):
            return _buffer(text, np.dtype(dtype))
        return _numbers([text], np.dtype(dtype))[0]
    except (ValueError, OverflowError) as error:
        raise SpecError(f"`{spec}`: {error}") from error


def delivered(spec: str, arguments: Sequence[Value]) -> Output:
    """What `--out` names; raises SpecError where that is no buffer."""
    index, _, path = spec.partition("=")
    number = int(index) if index.isdigit() else -1
    if not 0 <= number < len(arguments):
        raise SpecError(f"--out {spec}: arguments have the numbers 0 to {len(arguments) - 1}")
    array = arguments[number]
    if not isinstance(array, np.ndarray):
        raise SpecError(f"--out {spec}: argument {number} is a value, not a buffer")
    return Output(number, array, path)


def _file(path: str) -> Array:
    try:
        loaded = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise SpecError(f"`{path}` is no .npy file: {error}") from error
    if isinstance(loaded, np.lib.npyio.NpzFile):
        raise SpecError(f"`{path}` holds several arrays; a .npy file is expected")
    array: Array = np.ascontiguousarray(loaded)
    return array


def _buffer(text: str, dtype: np.dtype[np.generic]) -> Array:
    kind, colon, count = text.partition(":")
    if not colon:
        return _numbers(text.split(","), dtype)
    makers = {"zeros": np.zeros, "ones": np.ones, "arange": np.arange}
    if kind not in makers:
        raise ValueError(f"`{kind}` is none of {', '.join(makers)}")
    return makers[kind](int(count)).astype(dtype)


def _numbers(texts: Sequence[str], dtype: np.dtype[np.generic]) -> Array:
    if dtype.kind == "f":
        return np.array([float(text) for text in texts]).astype(dtype)
    mask = (1 << 8 * dtype.itemsize) - 1
    numbers = [int(text, 0) for text in texts]
    for number in numbers:
        if not -(mask + 1) // 2 <= number <= mask:
            raise ValueError(f"{number} does not fit")
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return np.array([number & mask for number in numbers], unsigned).view(dtype)
