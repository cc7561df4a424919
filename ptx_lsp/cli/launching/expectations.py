"""The results that `--expect` compares with those of a kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ptx_lsp.cli.launching.buffers import Array, Output, argument, outputs
from ptx_lsp.executor.launching.object_specs import Object, array_of
from ptx_lsp.executor.launching.specs import SpecError, Value
from ptx_lsp.executor.machine.texture import Opaque

_SPEC = re.compile(r"(?:[usbf]\d|bf\d|@)\w*(?:\[\])?:|@")


@dataclass(frozen=True, eq=False)
class Expectation:
    """A buffer and the values that it must have after the launch; `source` is the file or SPEC of those."""

    output: Output
    expected: Array
    source: str


@dataclass(frozen=True)
class Difference:
    """The elements that differ: their number, and the first of them. An element differs if it is further from
    the expected one than the tolerances allow; NaNs are equal.
    """

    name: str
    source: str
    count: int
    of: int
    first: int
    value: str
    expected: str
    largest: float
    """The largest absolute difference, infinite if only one of the two is finite."""

    @property
    def message(self) -> str:
        return (
            f"`{self.name}`: {self.count} of {self.of} elements differ from `{self.source}`; the first is "
            f"[{self.first}]: {self.value}, expected {self.expected} (largest difference {self.largest:g})"
        )


def expectations(
    words: Sequence[str], names: Sequence[str], arguments: Sequence[Value | Object],
    bind: Mapping[str, Opaque],
) -> list[Expectation]:
    """The expectations of `--expect INDEX=FILE` and `--expect NAME=SPEC`. Raises SpecError, and OSError if a
    file cannot be read.
    """
    return [_expectation(word, names, arguments, bind) for word in words]


def differences(found: Sequence[Expectation], rtol: float, atol: float) -> list[Difference]:
    """The buffers that do not have the expected values."""
    compared = (_difference(one, rtol, atol) for one in found)
    return [one for one in compared if one is not None]


def _expectation(
    word: str, names: Sequence[str], arguments: Sequence[Value | Object],
    bind: Mapping[str, Opaque],
) -> Expectation:
    index, equals, source = word.partition("=")
    if not equals or not source:
        raise SpecError(f"--expect {word}: INDEX=FILE or NAME=FILE is expected")
    try:
        output = outputs([index], names, arguments, bind)[0]
    except SpecError as error:
        raise SpecError(str(error).replace("--out", "--expect")) from error
    expected = array_of(argument(source if _SPEC.match(source) else f"@{source}"))
    if expected is None:
        raise SpecError(f"--expect {word}: a buffer is expected")
    if expected.size != output.array.size or expected.dtype != output.array.dtype:
        raise SpecError(
            f"--expect {word}: `{source}` has {expected.size} elements of type {expected.dtype}, the buffer "
            f"{output.array.size} of type {output.array.dtype}"
        )
    return Expectation(output, np.ravel(expected), source)


def _difference(one: Expectation, rtol: float, atol: float) -> Difference | None:
    value, expected = np.ravel(one.output.array), one.expected
    exact = value == expected
    if np.issubdtype(value.dtype, np.floating):
        exact |= np.isnan(value) & np.isnan(expected)
    unequal = np.flatnonzero(~exact)
    if not unequal.size:
        return None
    near = expected[unequal].astype(np.float64)
    distance = _distances(value[unequal], expected[unequal])
    limit = atol + rtol * np.abs(near)
    # no tolerance covers infinities, NaNs, and integers that differ by less than a double can tell
    is_far = ~(distance <= limit) | ~np.isfinite(near) | (limit == 0)
    unequal, distance = unequal[is_far], distance[is_far]
    if not unequal.size:
        return None
    first = int(unequal[0])
    name = one.output.name or str(one.output.number)
    largest = float(np.nan_to_num(distance, nan=np.inf, posinf=np.inf).max())
    return Difference(
        name, one.source, int(unequal.size), int(value.size), first, str(value[first]), str(expected[first]),
        largest,
    )


def _distances(value: Array, expected: Array) -> np.typing.NDArray[np.float64]:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.abs(value.astype(np.float64) - expected.astype(np.float64))
