"""`wmma` for matrix.py: matrices in memory by rows and by columns, with strides, in every shape.

Where the elements of a fragment are, the manual leaves open; so these kernels look at memory alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.oracle.exact.kernel import Field, Kernel, split, vector
from tests.oracle.exact.mma import FIELDS, NEAR_THE_ENDS
from tests.oracle.exact.mma_doubles import fused
from tests.oracle.exact.products import bits_of, multiplied, of_bits, units

_DOUBLES = {"sums": (Field("f64", 0), Field("f64", 0x801C0000, 0x3FE00000)),
            "rounded": (Field("f64"), Field("f64", 0x801FFFFF, 0x3FE00000))}
"""The lower and the upper words of doubles: few bits, or all."""


class Stored(NamedTuple):
    """How a matrix lies in memory: by `row` or `col`, in which space, with how many elements too many between
    two rows or columns (0: no stride is written).
    """

    layout: str
    space: str = ".shared"
    gap: int = 0


class Case(NamedTuple):
    """A product: the instruction from its shape on (`operation` stands before), and how A, B, C and D lie."""

    shape: str
    tail: str
    stored: tuple[Stored, Stored, Stored, Stored]
    operation: str = ""

    @property
    def sides(self) -> tuple[int, int, int]:
        m, n, k = map(int, re.findall(r"\d+", self.shape))
        return m, n, k

    @property
    def types(self) -> tuple[str, str, str, str]:
        """Of D, A, B and C."""
        found = [one for one in self.tail.split(".") if one != "satfinite"]
        if len(found) == 2:
            return found[0], "f16", "f16", found[1]
        d, a, b, c = found
        return d, a, b, c


def _by(
    *layouts: str, gaps: tuple[int, int, int, int] = (0, 0, 0, 0)
) -> tuple[Stored, Stored, Stored, Stored]:
    spaces = (".shared", ".shared::cta", "", ".global")
    a, b, c, d = (Stored(*one) for one in zip(layouts, spaces, gaps, strict=True))
    return a, b, c, d


def halves() -> Iterator[Kernel]:
    yield _kernel("f16", [
        Case("m16n16k16", "f32.f32", _by("row", "col", "row", "row")),
        Case("m8n32k16", "f16.f16", _by("col", "row", "col", "row", gaps=(8, 16, 8, 0))),
        Case("m32n8k16", "f32.f16", _by("row", "row", "row", "col", gaps=(16, 0, 8, 8))),
        Case("m16n16k16", "f16.f32", _by("col", "col", "col", "col", gaps=(0, 16, 0, 16))),
    ])
    yield _kernel("bf16", [
        Case("m16n16k16", "f32.bf16.bf16.f32", _by("col", "row", "row", "col", gaps=(16, 0, 8, 0))),
        Case("m8n32k16", "f32.bf16.bf16.f32", _by("row", "col", "col", "row", gaps=(0, 16, 0, 8))),
        Case("m32n8k16", "f32.bf16.bf16.f32", _by("col", "col", "row", "row")),
    ])


def floats() -> Iterator[Kernel]:
    yield _kernel("tf32", [
        Case("m16n16k8", "f32.tf32.tf32.f32", _by("row", "col", "col", "row", gaps=(8, 0, 0, 8))),
        Case("m16n16k8", "f32.tf32.tf32.f32", _by("col", "row", "row", "col")),
    ])
    yield _kernel("f64", [
        Case("m8n8k4", "f64.f64.f64.f64", _by(a, b, a, b, gaps=(2, 0, 4, 2)))
        for a in ("row", "col") for b in ("row", "col")
    ])
    yield _rounded()


def whole_bytes() -> Iterator[Kernel]:
    for type in ("u8", "s8"):
        tail = f"s32.{type}.{type}.s32"
        yield _kernel(type, [
            Case("m16n16k16", tail, _by("row", "col", "row", "row", gaps=(16, 0, 0, 8))),
            Case("m8n32k16", f"{tail}.satfinite", _by("col", "row", "col", "row", gaps=(0, 16, 8, 0))),
            Case("m32n8k16", tail, _by("row", "row", "row", "col")),
            Case("m32n8k16", f"{tail}.satfinite", _by("col", "col", "col", "row")),
        ])


def parts_of_bytes() -> Iterator[Kernel]:
    for type in ("u4", "s4"):
        tail = f"s32.{type}.{type}.s32"
        yield _kernel(type, [
            Case("m8n8k32", tail, _by("row", "col", "row", "col", gaps=(32, 0, 8, 0))),
            Case("m8n8k32", f"{tail}.satfinite", _by("row", "col", "col", "row", gaps=(0, 32, 0, 8))),
        ])
    yield _kernel("b1", [
        Case("m8n8k128", "s32.b1.b1.s32", _by("row", "col", "row", "col", gaps=(128, 0, 0, 8)), "xor.popc."),
        Case("m8n8k128", "s32.b1.b1.s32", _by("row", "col", "col", "row", gaps=(0, 128, 8, 0)), "and.popc."),
    ])


def _kernel(name: str, cases: Sequence[Case]) -> Kernel:
    kernel = Kernel(name, 48, sum(map(ord, name)))
    regions: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        _, a, b, c = case.types
        of_a, of_b, of_c, _ = case.stored
        held: list[list[list[int]]] = []
        for operand, type, stored, first in (("a", a, of_a, 0), ("b", b, of_b, 16), ("c", c, of_c, 32)):
            region = f"{operand}_{type}_at"
            if region not in regions:
                regions[region] = kernel.region(region, _fields(type, a), 16, first)
            rows, columns = _sides(case, operand)
            elements = split(regions[region], bits_of(type)) if type != "f64" else [
                low | high << 32 for low, high in zip(*[iter(regions[region])] * 2, strict=True)
            ]
            held.append(_matrix(elements, rows, columns, stored))
        kernel.line("bar.sync 0;")
        found = _product(case, held)
        _write(kernel, case, f"{case.shape}_{number}", found)
    return kernel


def _fields(type: str, factor: str) -> tuple[Field, ...]:
    if type == "f64":
        return _DOUBLES["sums"]
    return (NEAR_THE_ENDS[bits_of(factor)],) if type == "s32" else (FIELDS[type],)


def _sides(case: Case, operand: str) -> tuple[int, int]:
    m, n, k = case.sides
    return {"a": (m, k), "b": (k, n)}.get(operand, (m, n))


def _matrix(elements: Sequence[int], rows: int, columns: int, stored: Stored) -> list[list[int]]:
    """The elements of a matrix in memory ("Matrix Storage for WMMA")."""
    stride = (columns if stored.layout == "row" else rows) + stored.gap
    if stored.layout == "row":
        return [[elements[row * stride + column] for column in range(columns)] for row in range(rows)]
    return [[elements[column * stride + row] for column in range(columns)] for row in range(rows)]


def _product(case: Case, held: Sequence[Sequence[Sequence[int]]]) -> list[list[str]]:
    d, a, b, c = case.types
    if a == "b1":
        return of_bits(held[0], held[1], held[2], case.operation.partition(".")[0])
    x, y, z = (
        [[units(one, type) for one in row] for row in matrix]
        for type, matrix in zip((a, b, c), held, strict=True)
    )
    return multiplied(x, y, z, d, limited="satfinite" in case.tail)


def _write(kernel: Kernel, case: Case, label: str, found: Sequence[Sequence[str]], mode: str = "") -> None:
    """The instructions, and what the buffer holds: D with gaps between its rows or columns."""
    names: list[str] = []
    m, n, _ = case.sides
    for operand, type, stored in zip("abc", case.types[1:], case.stored[:3], strict=True):
        names.append(_load(kernel, case, operand, type, stored))
    d, stored = case.types[0], case.stored[3]
    kernel.declare(f"d_{d}_", {"f16": ".b32"}.get(d, f".{d}"), 8)
    result = vector(f"d_{d}_", _count(case, "d", d))
    layouts = f"{case.stored[0].layout}.{case.stored[1].layout}"
    kernel.line(
        f"wmma.mma.{case.operation}sync.aligned.{layouts}.{case.shape}{mode}.{case.tail} {result},"
        f" {', '.join(names)};"
    )
    lines = found if stored.layout == "row" else list(zip(*found, strict=True))
    length = n if stored.layout == "row" else m
    kernel.buffer(label, d, [one for line in lines for one in [*line, *["0"] * stored.gap]])
    stride = f", {length + stored.gap}" if stored.gap else ""
    kernel.line(
        f"wmma.store.d.sync.aligned.{stored.layout}.{case.shape}{stored.space}.{d} [%out], {result}{stride};"
    )


def _load(kernel: Kernel, case: Case, operand: str, type: str, stored: Stored) -> str:
    """Writes a load; the registers."""
    name, region = f"{operand}_{type}_", f"{operand}_{type}_at0"
    kernel.declare(name, {"f64": ".f64", "f32": ".f32", "s32": ".s32"}.get(type, ".b32"), 8)
    registers = vector(name, _count(case, operand, type))
    rows, columns = _sides(case, operand)
    length = columns if stored.layout == "row" else rows
    stride = f", {length + stored.gap}" if stored.gap else ""
    address = f"%{region}"
    if not stored.space:
        kernel.declare("wide", ".b64", 1)
        kernel.line(f"cvt.u64.u32 %wide0, {address};  cvta.shared.u64 %wide0, %wide0;")
        address = "%wide0"
    kernel.line(
        f"wmma.load.{operand}.sync.aligned.{stored.layout}.{case.shape}{stored.space}.{type} {registers},"
        f" [{address}]{stride};"
    )
    return registers


def _count(case: Case, operand: str, type: str) -> int:
    """The registers of a fragment ("Matrix Fragments for WMMA")."""
    if type == "f16" and operand in "ab":
        return 8
    rows, columns = _sides(case, operand)
    return rows * columns * bits_of(type) // 32 // (64 if type == "f64" else 32)


def _rounded() -> Kernel:
    """B by rows, where only the first has elements that are not 0, so that each sum is rounded once."""
    kernel = Kernel("f64_rounded", 48, 66)
    held: list[list[list[int]]] = []
    stored = _by("row", "row", "row", "row")
    for operand, first, one in (("a", 0, stored[0]), ("b", 16, stored[1]), ("c", 32, stored[2])):
        words = kernel.region(f"{operand}_f64_at", _DOUBLES["rounded"], 16, first)
        if operand == "b":
            kernel.line("setp.gt.u32 %p, %id, 0;  mov.b32 %h, 0;")
            kernel.line("".join(f"@%p st.shared.b32 [%n+{4 * at}], %h;  " for at in range(16)).rstrip())
            words = [word if at < 16 else 0 for at, word in enumerate(words)]
        elements = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
        held.append(_matrix(elements, *_sides(Case("m8n8k4", "f64.f64", stored), operand), one))
    kernel.line("bar.sync 0;")
    a, b, c = held
    for mode in ("", ".rn", ".rz", ".rm", ".rp"):
        found = [
            [fused(a[row][0], b[0][column], c[row][column], mode) for column in range(8)]
            for row in range(8)
        ]
        _write(kernel, Case("m8n8k4", "f64.f64.f64.f64", stored), mode[1:] or "nearest", found, mode)
    return kernel
