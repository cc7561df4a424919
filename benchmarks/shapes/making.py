"""Shared building blocks of all shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.inputs import HEADER


class Shape(NamedTuple):
    """`text` makes a text of any size; `size` is one that takes about a second."""

    text: Callable[[int], str]
    size: int
    tested: int
    """The size in a test."""


SHAPES: dict[str, Shape] = {}


def shape(size: int, tested: int = 0) -> Callable[[Callable[[int], str]], Callable[[int], str]]:
    def add(text: Callable[[int], str]) -> Callable[[int], str]:
        SHAPES[text.__name__.replace("_", "-")] = Shape(text, size, tested or max(12, size // 200))
        return text

    return add


def kernel(body: str, parameters: str = "", name: str = "k") -> str:
    return f".visible .entry {name}({parameters})\n{{\n{body}\nret;\n}}\n"


def file(*parts: str) -> str:
    return HEADER + "".join(parts)


def body(*parts: str) -> str:
    return file(kernel("\n".join(parts)))


def each(template: str, n: int) -> str:
    """`template` with `#` for each number below n, and `$` for the number after it."""
    return "".join([template.replace("#", str(i)).replace("$", str(i + 1)) for i in range(n)])


REGISTERS = """\
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
"""
