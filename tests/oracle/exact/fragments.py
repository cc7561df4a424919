"""Which element of a matrix a thread holds, as the formulas of the PTX ISA manual say, one by one ("Matrix
Fragments for ..." of `mma`, `mma.sp` and `wgmma`); where it has a figure only, the comment says which.

Each formula takes the number of the thread in its warp in two parts, `g` (its group of four) and `t` (its
place there), and `i`, the number of the element that the thread has. It shares nothing with the executor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Place = tuple[int, int]
"""Row and column."""
Formula = Callable[[int, int, int], Place]


def _rows(i: int, *spans: tuple[int, int]) -> int:
    """0 for the row of the group, where i is in one of the spans, else 8 for the one that far below."""
    return 0 if any(low <= i < high for low, high in spans) else 8


def _on(i: int, first: int, by: int) -> int:
    """How far on the elements from the `first` lie."""
    return by if i >= first else 0


LEFT: dict[tuple[str, int], Formula] = {
    ("m8n8k4", 64): lambda g, t, i: (g, t),
    ("m8n8k16", 8): lambda g, t, i: (g, t * 4 + i),
    ("m8n8k32", 4): lambda g, t, i: (g, t * 8 + i),
    ("m8n8k128", 1): lambda g, t, i: (g, t * 32 + i),
    ("m16n8k4", 32): lambda g, t, i: (g + _rows(i, (0, 1)), t),
    ("m16n8k4", 64): lambda g, t, i: (g + _rows(i, (0, 1)), t),
    ("m16n8k8", 16): lambda g, t, i: (g + _rows(i, (0, 2)), t * 2 + (i & 1)),
    ("m16n8k8", 32): lambda g, t, i: (g + _rows(i, (0, 1), (2, 3)), t if i < 2 else t + 4),
    ("m16n8k8", 64): lambda g, t, i: (g + _rows(i, (0, 1), (2, 3)), t if i < 2 else t + 4),
    ("m16n8k16", 16): lambda g, t, i: (g + _rows(i, (0, 2), (4, 6)), t * 2 + (i & 1) + _on(i, 4, 8)),
    ("m16n8k16", 64): lambda g, t, i: (g, i * 2 + t) if i % 2 == 0 else (g + 8, i * 2 - 2 + t),
    ("m16n8k16", 8): lambda g, t, i: (g + _rows(i, (0, 4)), t * 4 + (i & 3)),
    ("m16n8k32", 4): lambda g, t, i: (g + _rows(i, (0, 8)), t * 8 + (i & 7)),
    ("m16n8k32", 8): lambda g, t, i: (g + _rows(i, (0, 4), (8, 12)), t * 4 + (i & 3) + _on(i, 8, 16)),
    ("m16n8k64", 4): lambda g, t, i: (g + _rows(i, (0, 8), (16, 24)), t * 8 + (i & 7) + _on(i, 16, 32)),
    ("m16n8k128", 1): lambda g, t, i: (g + _rows(i, (0, 32)), t * 32 + (i & 31)),
    ("m16n8k256", 1): lambda g, t, i: (
        g + _rows(i, (0, 32), (64, 96)), t * 32 + (i & 31) + _on(i, 64, 128)
    ),
}
"""A by the shape and the bits of an element."""

SPARSE_LEFT: dict[tuple[str, int], Formula] = {
    ("m16n8k16", 16): lambda g, t, i: (g + _rows(i, (0, 2)), t * 2 + (i & 1)),
    ("m16n8k32", 16): lambda g, t, i: (g + _rows(i, (0, 2), (4, 6)), t * 2 + (i & 1) + _on(i, 4, 8)),
    ("m16n8k8", 32): lambda g, t, i: (g + _rows(i, (0, 1)), t),
    ("m16n8k16", 32): lambda g, t, i: (g + _rows(i, (0, 1), (2, 3)), t + _on(i, 2, 4)),
    ("m16n8k32", 8): lambda g, t, i: (g + _rows(i, (0, 4)), t * 4 + (i & 3)),
    ("m16n8k64", 8): lambda g, t, i: (g + _rows(i, (0, 4), (8, 12)), t * 4 + (i & 3) + _on(i, 8, 16)),
    ("m16n8k64", 4): lambda g, t, i: (g + _rows(i, (0, 8)), t * 8 + (i & 7)),
    ("m16n8k128", 4): lambda g, t, i: (g + _rows(i, (0, 8), (16, 24)), t * 8 + (i & 7) + _on(i, 16, 32)),
}
"""A without its zeros: half of the column that begins the chunk (`firstcol`), and on from there."""

RIGHT: dict[tuple[str, int], Formula] = {
    ("m8n8k4", 64): lambda g, t, i: (t, g),
    ("m8n8k16", 8): lambda g, t, i: (t * 4 + i, g),
    ("m8n8k32", 4): lambda g, t, i: (t * 8 + i, g),
    ("m8n8k128", 1): lambda g, t, i: (t * 32 + i, g),
    ("m16n8k4", 32): lambda g, t, i: (t, g),
    ("m16n8k4", 64): lambda g, t, i: (t, g),
    ("m16n8k8", 16): lambda g, t, i: (t * 2 + i, g),
    ("m16n8k8", 32): lambda g, t, i: (t + 4 * i, g),
    ("m16n8k8", 64): lambda g, t, i: (t + 4 * i, g),
    ("m16n8k16", 16): lambda g, t, i: (t * 2 + (i & 1) + _on(i, 2, 8), g),
    ("m16n8k16", 64): lambda g, t, i: (t + i * 4, g),
    ("m16n8k16", 8): lambda g, t, i: (t * 4 + i, g),
    ("m16n8k32", 4): lambda g, t, i: (t * 8 + i, g),
    ("m16n8k32", 8): lambda g, t, i: (t * 4 + (i & 3) + _on(i, 4, 16), g),
    ("m16n8k64", 4): lambda g, t, i: (t * 8 + (i & 7) + _on(i, 8, 32), g),
    ("m16n8k128", 1): lambda g, t, i: (t * 32 + i, g),
    ("m16n8k256", 1): lambda g, t, i: (t * 32 + (i & 31) + _on(i, 32, 128), g),
    # Of sparse products: Figure 121, 124, 132 to 135 ("rows 0-15" and on), 142 to 145 ("rows 0-31" and on).
    ("m16n8k32", 16): lambda g, t, i: (i // 2 * 8 + t * 2 + (i & 1), g),
    ("m16n8k16", 32): lambda g, t, i: (t + i * 4, g),
    ("m16n8k64", 8): lambda g, t, i: (i // 4 * 16 + t * 4 + (i & 3), g),
    ("m16n8k128", 4): lambda g, t, i: (i // 8 * 32 + t * 8 + (i & 7), g),
}

SUM: dict[int, Formula] = {
    8: lambda g, t, i: (g, t * 2 + (i & 1)),
    16: lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
}
"""C and D by their rows."""


def quarter(name: str, layout: str, bits: int) -> Callable[[int, int], tuple[int, int, int]]:
    """`mma.m8n8k4` of `.f16`: from a thread and an element to one of four products, and the row and column of
    A, B or C there.
    """
    def place(lane: int, i: int) -> tuple[int, int, int]:
        upper = 0 if lane < 16 else 4
        match name, layout:
            case "a", "row":
                row, column = lane % 4 + upper, i
            case "a", _:
                row, column = i % 4 + upper, lane % 4
            case "b", "row":
                row, column = lane % 4, i + upper
            case "b", _:
                row, column = i, lane % 4 + upper
            case _ if bits == 16:
                row, column = lane % 4 + upper, i
            case _:
                row, column = (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)
        return lane % 16 // 4, row, column

    return place


def collected(
    formula: Formula, held: Sequence[Sequence[int]], rows: int, columns: int
) -> list[list[int]]:
    """The matrix whose elements the threads of a warp hold; each must be there once."""
    found: dict[Place, int] = {}
    for lane, elements in enumerate(held):
        for i, element in enumerate(elements):
            place = formula(lane >> 2, lane % 4, i)
            assert place not in found
            found[place] = element
    return [[found[row, column] for column in range(columns)] for row in range(rows)]


def metadata(
    words: Sequence[int], selector: int, row: int, chunk: int, *, chunks: int, halves: bool
) -> int:
    """The four bits of a chunk of a row of A, from the words of a warp (Figures 119, 122, 125, 127, 129, 136,
    137, 139, 146 and 147); `chunks` are those of a row.

    With `halves` (`.f16`, `.bf16`, `.tf32`) the lower half of a word has four chunks of a row, the upper half
    those of the row 8 below; else a word has eight chunks of a row, and the next thread those 8 rows below.
    """
    below = row // 8
    first = row % 8 * 4 + selector * (chunks // 4)
    if halves:
        return words[first + chunk // 4] >> chunk % 4 * 4 + 16 * below & 15
    return words[first + chunk // 8 * 2 + below] >> chunk % 8 * 4 & 15
