"""`mma` and `mma.sp` with `.kind` for matrix.py: floats of 8 bits and less, and scales of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.oracle.exact import mma_sparse as exact_mma_sparse
from tests.oracle.exact.fragments import LEFT, RIGHT, SUM, collected
from tests.oracle.exact.kernel import Field, Kernel, split
from tests.oracle.exact.mma import FIELDS, Opcode, counts, elements, group, issue, spread
from tests.oracle.exact.products import Matrix, bits_of, multiplied, scaled, units

SCALES = {"ue8m0": Field("ue8m0", 0x03030303, 0x7C7C7C7C), "ue4m3": Field("ue4m3", 0x0F0F0F0F, 0x30303030)}
SCALE_A, SCALE_B = 13, 14
"""The words of a thread that are the scales."""


class Selectors(NamedTuple):
    """Which bytes of which threads are the scales."""

    byte_a: int
    thread_a: int
    byte_b: int
    thread_b: int


def kinds() -> Iterator[Kernel]:
    """Without scales."""
    for a, b, sum in (
        ("e3m2", "e2m3", "f32"), ("e2m1", "e3m2", "f16"), ("e2m3", "e2m1", "f32"), ("e4m3", "e3m2", "f16")
    ):
        yield group(f"{a}_{b}_{sum}", a, b, sum, [f"m16n8k32.row.col.kind::f8f6f4.{sum}.{a}.{b}.{sum}"])
    for a, b, sum in (("e5m2", "e4m3", "f32"), ("e4m3", "e5m2", "f16")):
        yield group(f"{a}_{b}_{sum}", a, b, sum, [
            f"m16n8k{k}.row.col.kind::f8f6f4.{sum}.{a}.{b}.{sum}" for k in (16, 32)
        ])


def dense() -> Iterator[Kernel]:
    """With scales."""
    return _blocks(sparse=False)


def sparse() -> Iterator[Kernel]:
    """With scales and metadata."""
    return _blocks(sparse=True)


def _blocks(*, sparse: bool) -> Iterator[Kernel]:
    k = 128 if sparse else 64
    four = "f32.e2m1.e2m1.f32"
    yield _group("mxf4", sparse, [
        (f"m16n8k{k}.row.col.kind::mxf4.block_scale.{four}.ue8m0", Selectors(0, 1, 2, 3)),
        (f"m16n8k{k}.row.col.kind::mxf4.block_scale.scale_vec::2X.{four}.ue8m0", Selectors(2, 0, 0, 1)),
        (f"m16n8k{k}.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.{four}.ue8m0", Selectors(2, 1, 2, 0)),
        (f"m16n8k{k}.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.{four}.ue8m0", Selectors(0, 0, 0, 2)),
    ])
    yield _group("nvf4", sparse, [
        (f"m16n8k{k}.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.{four}.ue4m3", Selectors(0, 1, 0, 3)),
    ])
    for number, (a, b) in enumerate((("e4m3", "e2m1"), ("e2m3", "e5m2"), ("e3m2", "e4m3"))):
        shown = ".scale_vec::1X" if number else ""
        yield _group(f"{a}_{b}", sparse, [
            (f"m16n8k{k // 2}.row.col.kind::mxf8f6f4.block_scale{shown}.f32.{a}.{b}.f32.ue8m0", selectors)
            for selectors in (Selectors(1 + number, 1, 3 - number, 2), Selectors(0, 0, number, 1 + number))
        ])


def _group(name: str, sparse: bool, spellings: Sequence[tuple[str, Selectors]]) -> Kernel:
    """A kernel whose products have the same operands, and selectors of their own."""
    kernel = Kernel(f"{name}_sparse" if sparse else name, 16, sum(map(ord, name)))
    head = "mma.sp::ordered_metadata" if sparse else "mma"
    opcodes = [(Opcode.of(f"{head}.sync.aligned.{one}"), selectors) for one, selectors in spellings]
    first = opcodes[0][0]
    held = [
        kernel.operand(operand, FIELDS[type], count, 4 * at)
        for at, (operand, type, count) in enumerate(
            zip("abc", first.types[1:], counts(first, sparse=sparse)[1:], strict=True)
        )
    ]
    words = exact_mma_sparse.places(kernel, "ordered") if sparse else []
    type = first.text.rpartition(".")[2]
    scales = [
        [one[0] for one in kernel.operand(side, SCALES[type], 1, at)]
        for side, at in (("x", SCALE_A), ("y", SCALE_B))
    ]
    for number, (opcode, selectors) in enumerate(opcodes):
        x, y, z = _matrices(opcode, held, words)
        of_a, of_b = _scales(opcode, scales, selectors)
        columns = scaled(list(zip(*y, strict=True)), of_b)
        found = multiplied(scaled(x, of_a), list(zip(*columns, strict=True)), z, "f32")
        tail = (", %e0, 0" if sparse else "") + (
            ", %x0, {{{}, {}}}, %y0, {{{}, {}}}".format(*selectors)
        )
        registers = issue(kernel, opcode, tail, sparse=sparse)
        kernel.result(f"{opcode.shape}_{number}", "f32", registers, spread(found, 16))
    return kernel


def _matrices(
    opcode: Opcode, held: Sequence[Sequence[Sequence[int]]], words: Sequence[int]
) -> tuple[Matrix, Matrix, Matrix]:
    if words:
        return exact_mma_sparse.matrices(opcode, held, words, 0)
    _, a, b, c = opcode.types
    return (
        collected(LEFT[opcode.shape, bits_of(a)], elements(held[0], a), 16, opcode.k),
        collected(RIGHT[opcode.shape, bits_of(b)], elements(held[1], b), opcode.k, 8),
        collected(SUM[16], elements(held[2], c), 16, 8),
    )


def _scales(
    opcode: Opcode, scales: Sequence[Sequence[int]], selectors: Selectors
) -> tuple[list[list[int]], list[list[int]]]:
    """The scales of each row of A and of each column of B ("Block Scaling for mma.sync"). Of the pair of
    threads that has those of A the first has row g and the second row g + 8 (Figure 43).
    """
    count = next(
        (int(one) for one in "124" if f"scale_vec::{one}X" in opcode.text), 2 if "mxf4." in opcode.text else 1
    )
    type = opcode.text.rpartition(".")[2]

    def bytes_of(word: int, first: int) -> list[int]:
        return [units(one, type) for one in split([word], 8)[first : first + count]]

    of_a, of_b = scales
    rows = [
        bytes_of(of_a[row % 8 * 4 + 2 * selectors.thread_a + row // 8], selectors.byte_a) for row in range(16)
    ]
    columns = [bytes_of(of_b[column * 4 + selectors.thread_b], selectors.byte_b) for column in range(8)]
    return rows, columns
