"""`mma.sp` for matrix.py: A has half of its elements, and the metadata says where they belong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.oracle.exact.fragments import RIGHT, SPARSE_LEFT, SUM, collected, metadata
from tests.oracle.exact.kernel import Field, Kernel
from tests.oracle.exact.mma import FIELDS, NEAR_THE_ENDS, Opcode, counts, elements, issue, spread
from tests.oracle.exact.products import Matrix, bits_of, multiplied

ORDERED = Field("b32", 0x55555555, 0x88888888)
"""Of each four bits the pairs of places (0, 2), (1, 2), (0, 3) and (1, 3)."""
UNORDERED = Field("b32", 0xAAAAAAAA, 0x44444444)
"""The pairs (0, 1), (2, 1), (0, 3) and (2, 3), the first place in the lower bits."""
A, B, C, E = 0, 4, 8, 12
"""The words of a thread that are those operands."""


def floats() -> Iterator[Kernel]:
    for type, sum in (("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("tf32", "f32")):
        short, long = (8, 16) if type == "tf32" else (16, 32)
        types = f"{sum}.{type}.{type}.{sum}"
        for ordered in (False, True):
            lanes = (1, 3) if ordered else (0, 2)
            yield _group(f"{type}_{sum}", ordered, [
                *((f"m16n8k{short}.row.col.{types}", lane) for lane in lanes),
                (f"m16n8k{long}.row.col.{types}", int(ordered)),
                *([(f"m16n8k{long}.row.col.{types}", 0)] if ordered else []),
            ])


def bytes_of_floats() -> Iterator[Kernel]:
    for a, b, ordered in (("e4m3", "e5m2", False), ("e5m2", "e4m3", True)):
        yield _group(f"{a}_{b}", ordered, [(f"m16n8k64.row.col.f32.{a}.{b}.f32", 0)])


def kinds() -> Iterator[Kernel]:
    """What the targets with `.kind` have besides, always ordered."""
    yield _group("e5m2_e4m3_f16", True, [("m16n8k64.row.col.f16.e5m2.e4m3.f16", 0)])
    for a, b, sum in (("e3m2", "e2m3", "f32"), ("e2m1", "e3m2", "f16"), ("e2m3", "e2m1", "f32")):
        yield _group(f"{a}_{b}_{sum}", True, [(f"m16n8k64.row.col.kind::f8f6f4.{sum}.{a}.{b}.{sum}", 0)])


def integers(bits: int) -> Iterator[Kernel]:
    short, long = (32, 64) if bits == 8 else (64, 128)
    for number, (a, b) in enumerate((f"{x}{bits}", f"{y}{bits}") for x in "us" for y in "us"):
        types = f"s32.{a}.{b}.s32"
        yield _group(f"{a}_{b}", number % 2 == 1, [
            (f"m16n8k{short}.row.col.{types}", 1), (f"m16n8k{short}.row.col.satfinite.{types}", 0),
            (f"m16n8k{long}.row.col.{types}", 0), (f"m16n8k{long}.row.col.satfinite.{types}", 0),
        ])


def _group(name: str, ordered: bool, spellings: Sequence[tuple[str, int]]) -> Kernel:
    """A kernel whose products, each with a selector, have the same operands."""
    kernel = Kernel(f"{name}_{'ordered' if ordered else 'unordered'}", 16, sum(map(ord, name)) + ordered)
    head = "mma.sp::ordered_metadata" if ordered else "mma.sp"
    opcodes = [(Opcode.of(f"{head}.sync.aligned.{one}"), selector) for one, selector in spellings]
    _, a, b, c = opcodes[0][0].types
    most = [max(counts(one, sparse=True)[at] for one, _ in opcodes) for at in range(4)]
    of_c = NEAR_THE_ENDS[bits_of(a)] if c == "s32" else FIELDS[c]
    held = [
        kernel.operand(operand, field, count, first)
        for operand, field, count, first in zip(
            "abc", (FIELDS[a], FIELDS[b], of_c), most[1:], (A, B, C), strict=True
        )
    ]
    words = places(kernel, "twins" if a == "tf32" else "ordered" if ordered else "unordered")
    for opcode, selector in opcodes:
        read = counts(opcode, sparse=True)[1:]
        parts = [[one[:count] for one in part] for part, count in zip(held, read, strict=True)]
        x, y, z = matrices(opcode, parts, words, selector)
        limited = ".satfinite" in opcode.text
        values = spread(multiplied(x, y, z, opcode.types[0], limited=limited), 16)
        registers = issue(kernel, opcode, f", %e0, {selector:#x}", sparse=True)
        label = opcode.label.replace("_ordered_metadata", "")
        kernel.result(f"{label}_by_{selector}", opcode.types[0], registers, values)
    return kernel


def places(kernel: Kernel, kind: str, first: int = E) -> list[int]:
    """Gives %e0 the metadata of each thread; its words. That of `.tf32` has 0b0100 and 0b1110 alone."""
    if kind != "twins":
        return [one[0] for one in kernel.operand("e", ORDERED if kind == "ordered" else UNORDERED, 1, first)]
    found = [one[0] for one in kernel.operand("e", Field("b32", 0x88888888), 1, first)]
    kernel.line("shr.u32 %h, %e0, 2;  or.b32 %e0, %e0, %h;  or.b32 %e0, %e0, 0x44444444;")
    return [word | word >> 2 | 0x44444444 for word in found]


def matrices(
    opcode: Opcode, held: Sequence[Sequence[Sequence[int]]], words: Sequence[int], selector: int
) -> tuple[Matrix, Matrix, Matrix]:
    """A with its zeros, B and C, in units."""
    _, a, b, c = opcode.types
    kept = collected(
        SPARSE_LEFT[opcode.shape, bits_of(a)], elements(held[0], a), opcode.m, opcode.k // 2
    )
    return (
        expanded(kept, a, words, selector),
        collected(RIGHT[opcode.shape, bits_of(b)], elements(held[1], b), opcode.k, 8),
        collected(SUM[opcode.m], elements(held[2], c), opcode.m, 8),
    )


def expanded(kept: Matrix, type: str, words: Sequence[int], selector: int) -> list[list[int]]:
    """Puts the elements of 16 rows where the metadata has them: of two elements one (`.tf32`), of four
    elements two, or of four pairs two (4 bits).
    """
    wide, pieces, each = {32: (2, 1, 1), 4: (8, 2, 2)}.get(bits_of(type), (4, 2, 1))
    found: list[list[int]] = []
    for number, row in enumerate(kept):
        chunks = len(row) // (pieces * each)
        full = [0] * (chunks * wide)
        left = iter(row)
        for chunk in range(chunks):
            code = metadata(words, selector, number, chunk, chunks=chunks, halves=bits_of(type) >= 16)
            chosen = [{0b0100: 0, 0b1110: 1}[code]] if pieces == 1 else [code & 3, code >> 2]
            assert len(set(chosen)) == pieces
            for place in chosen:
                for at in range(each):
                    full[chunk * wide + place * each + at] = next(left)
        found.append(full)
    return found
