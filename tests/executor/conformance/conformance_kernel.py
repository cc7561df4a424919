"""The kernels of tests/conformance/kernels: what needs memory, a warp or several instructions.

    // ptx-run: grid=1 block=32 out=u32:zeros(32)
    // expect: out=0..15,7*16  (manual)

A launch comment (`ptx_lsp.executor.launching.launch_comment`) and below it, for each buffer that the kernel
writes, all its elements: numbers, `FIRST..LAST`, or `VALUE*COUNT`; in a buffer of floats hexadecimal numbers
are bits.
So with surfaces that are parameters or variables.
The first word in parentheses is the source, as in the lines of tests/conformance. `// expect: trap  (manual)`
has the kind of the error that stops the kernel; `// not recorded: why` keeps a kernel from GPUs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.launching.launch import launch
from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.executor.launching.object_specs import Object, argument, array_of, bindings
from ptx_lsp.executor.launching.specs import Value, is_object
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.texture import Opaque
from ptx_lsp.executor.native.hot import NativeMode
from ptx_lsp.model.module import Module
from tests.executor.conformance.lines import FOLDER, SOURCES

KERNELS = FOLDER / "kernels"
Array = npt.NDArray[np.generic]
_EXPECT = re.compile(r"//[ \t]*expect:[ \t]*(\w+)=(\S+)[ \t]+\((\w+)[^)]*\)[ \t]*$")
_STOPS = re.compile(r"//[ \t]*expect:[ \t]*(\w+)[ \t]+\((\w+)[^)]*\)[ \t]*$")
_NOT_RECORDED = re.compile(r"//[ \t]*not recorded:[ \t]*(.*)")


@dataclass(frozen=True, eq=False)
class Expectation:
    """What a buffer or a surface is to hold, as bits; `position` is that of the parameter, then of what is
    bound to variables.
    """

    name: str
    position: int
    bits: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Launch:
    """One launch of a kernel in `text`, and what it must give."""

    place: str
    text: str
    comment: LaunchComment
    expected: tuple[Expectation, ...]
    stops: str = ""
    """The kind of the error that stops it; "" for none."""
    unrecorded: str = ""
    """Why no GPU is asked; "" where one is."""

    def arguments(self) -> list[Value | Object]:
        """New buffers, scalars and objects, as the launch comment says."""
        return [argument(spec, self.comment.seed) for spec in self.comment.specs]

    def bind(self) -> dict[str, Opaque]:
        """New textures, samplers and surfaces for the variables that have such."""
        return bindings(self.comment.bound, self.comment.seed)

    def run(self, *, native: NativeMode = "auto") -> list[tuple[int, ...]]:
        """What the expected buffers hold after a run by the executor; ExecutionError where another error
        stops it than is expected.
        """
        return self.checked(check=False, native=native)[0]

    def checked(
        self, seed: int = 0, *, check: bool = True, native: NativeMode = "auto"
    ) -> tuple[list[tuple[int, ...]], list[Finding]]:
        """The same in the order of a seed, and what checks find wrong."""
        arguments, bind, kind = self.arguments(), self.bind(), ""
        found: tuple[Finding, ...] = ()
        try:
            found = launch(
                self.text, entry=self.comment.entry, grid=self.comment.grid, block=self.comment.block,
                args=arguments, shared_bytes=self.comment.shared_bytes, cluster=self.comment.cluster or None,
                bind=bind, seed=seed, check=check, native=native,
            )
        except ExecutionError as error:
            kind = error.kind
            if kind != self.stops:
                raise
        assert kind == self.stops, f"{self.place}: nothing stops it"
        wrong = [one for one in found if one.severity == "error"]
        return self.results([*arguments, *bind.values()]), wrong

    def results(self, given: Sequence[Value | Object]) -> list[tuple[int, ...]]:
        """The bits in the expected buffers among what was given to a launch."""
        return [_bits(np.asarray(array_of(given[one.position]))) for one in self.expected]


def launches(path: Path) -> Iterator[Launch]:
    """The launches of a file; ValueError for one that is not understood or expects nothing."""
    text = path.read_text(encoding="utf-8")
    module = Module.parse(text)
    comments = launch_comments(module)
    lines = text.splitlines()
    ends = [*(one.line for one in comments[1:]), len(lines) + 1]
    for comment, end in zip(comments, ends, strict=True):
        place = f"{path.name}:{comment.line}"
        if comment.problem:
            raise ValueError(f"{place}: {comment.problem}")
        names = [one.name for one in module.definitions[comment.entry].launched]
        names += [name for name, _ in comment.bound]
        below = lines[comment.line : end - 1]
        stops = next((one for one in map(_stop, below) if one), "")
        found = tuple(
            _expectation(f"{path.name}:{number}", line, names, comment)
            for number, line in enumerate(below, comment.line + 1) if "expect:" in line and not _stop(line)
        )
        if not found and not stops:
            raise ValueError(f"{place}: nothing is expected of `{comment.entry}`")
        yield Launch(place, text, comment, found, stops, _unrecorded(comment, stops, below))


def _unrecorded(comment: LaunchComment, stops: str, below: Sequence[str]) -> str:
    """Why no GPU is asked for a launch; "" where one is."""
    for line in below:
        match = _NOT_RECORDED.search(line)
        if match is not None:
            return match[1]
    if any(map(is_object, comment.specs)):
        return "textures and surfaces that are arguments are not replayed"
    return f"`{stops}` stops it" if stops else ""


def _stop(line: str) -> str:
    """The kind of the error that a line expects; "" for another line."""
    match = _STOPS.search(line)
    return match[1] if match is not None and match[2] in SOURCES else ""


def _expectation(place: str, text: str, names: Sequence[str], comment: LaunchComment) -> Expectation:
    match = _EXPECT.search(text)
    if match is None:
        raise ValueError(f"{place}: `// expect: NAME=VALUES  (SOURCE)` is expected")
    name, values, source = match.groups()
    if source not in SOURCES:
        raise ValueError(f"{place}: no source")
    if name not in names:
        raise ValueError(f"{place}: `{name}` is no parameter of `{comment.entry}`")
    position = names.index(name)
    specs = [*comment.specs, *(spec for _, spec in comment.bound)]
    buffer = np.asarray(array_of(argument(specs[position], comment.seed)))
    bits = tuple(one for part in values.split(",") for one in _read(part, buffer.dtype))
    if len(bits) != buffer.size:
        raise ValueError(f"{place}: {len(bits)} values, and `{name}` has {buffer.size}")
    return Expectation(name, position, bits)


def _read(part: str, dtype: np.dtype[np.generic]) -> list[int]:
    """The bits of `VALUE`, `VALUE*COUNT` or `FIRST..LAST`."""
    first, dots, last = part.partition("..")
    if dots:
        return [_one(str(one), dtype) for one in range(int(first, 0), int(last, 0) + 1)]
    text, _, count = part.partition("*")
    return [_one(text, dtype)] * int(count or "1")


def _one(text: str, dtype: np.dtype[np.generic]) -> int:
    if dtype.kind == "f" and not text.startswith("0x"):
        return _bits(np.array([float(text)], dtype))[0]
    return int(text, 0) & (1 << 8 * dtype.itemsize) - 1


def _bits(array: Array) -> tuple[int, ...]:
    return tuple(map(int, array.reshape(-1).view(f"u{array.dtype.itemsize}")))
