"""`spcompress` and `spdecompress` for matrix.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from tests.oracle.exact.floats import decode
from tests.oracle.exact.kernel import Field, Kernel, split, vector

_THREADS = 4
_OPERATIONS = ("max", "maxabs", "min", "minabs")
_TYPES = {8: ("u8", "s8", "e5m2", "e4m3", "e3m2", "e2m3"), 16: ("f16", "bf16")}
"""By the bits of an element, in the order of their numbers in the descriptor (Table 38)."""
_APART = {
    8: (Field("b32", 0xF8F8F8F8, 0x04020100), Field("b32", 0xF8F8F8F8, 0x01040002)),
    6: (Field("b32", 0x38383838, 0x04020100), Field("b32", 0x38383838, 0x01040002)),
    16: (Field("b32", 0xFFF8FFF8, 0x00010000), Field("b32", 0xFFF8FFF8, 0x00040002)),
}
"""Even and odd words whose elements differ in size within four: of equal ones either may be taken."""


def compressed() -> Iterator[Kernel]:
    for bits, types in ((8, _TYPES[8][:4]), (6, _TYPES[8][4:]), (16, _TYPES[16])):
        kernel = Kernel(f"of_{bits}", 16, bits, _THREADS)
        data = _alternating(kernel, "d", _APART[bits], 16)
        for number, (type, code) in enumerate((type, code) for type in types for code in range(4)):
            count, index = (1, 2, 4, 8)[number % 4], (2, 4)[number // 2 % 2]
            _compress(kernel, data, type, code, count, index)
        yield kernel
    yield _special()


def _alternating(
    kernel: Kernel, name: str, fields: tuple[Field, Field], count: int
) -> list[list[int]]:
    """Registers that keep of even and odd words different parts."""
    even = kernel.operand(name, fields[0], count, 0)
    odd = kernel.operand("o", fields[1], count, 0)
    for at in range(1, count, 2):
        kernel.line(f"mov.b32 %{name}{at}, %o{at};")
    return [
        [(y if at % 2 else x) for at, (x, y) in enumerate(zip(one, other, strict=True))]
        for one, other in zip(even, odd, strict=True)
    ]


def _compress(
    kernel: Kernel, data: Sequence[Sequence[int]], type: str, code: int, count: int, index: int
) -> None:
    bits = 16 if type in _TYPES[16] else 8
    places = -(-count * index // bits)
    descriptor = code | _TYPES[bits].index(type) << 2
    kernel.declare("m", ".b32", 8)
    kernel.declare("c", ".b32", 8)
    kernel.line(f"mov.b32 %s, {descriptor};")
    kernel.line(
        f"spcompress.b{bits}.b{index}.sp::2:4.x{count} {vector('m', places)}, {vector('c', count)},"
        f" {vector('d', 2 * count)}, %s;"
    )
    values: list[str] = []
    for words in data:
        elements = split(words[: 2 * count], bits)
        chosen = [
            (group, place) for group in range(0, len(elements), 4)
            for place in _chosen(elements[group : group + 4], type, _OPERATIONS[code])
        ]
        found = [
            *_words([place for _, place in chosen], index, places),
            *_words([elements[group + place] for group, place in chosen], bits, count),
        ]
        values += map(hex, found)
    names = [f"%m{at}" for at in range(places)] + [f"%c{at}" for at in range(count)]
    kernel.result(f"{type}_{_OPERATIONS[code]}_x{count}_b{index}", "b32", names, values)


def _chosen(elements: Sequence[int], type: str, operation: str) -> tuple[int, int]:
    """The places of the two elements that are wanted; there must be no others as good."""
    keys = [_key(one, type, operation) for one in elements]
    best = [
        pair for pair in combinations(range(4), 2)
        if all(keys[one] > keys[other] for one in pair for other in range(4) if other not in pair)
    ]
    assert len(best) == 1, "what is taken is left open"
    return best[0]


def _key(bits: int, type: str, operation: str) -> tuple[float, ...]:
    """Greater for elements that are wanted more: what is no number, then by size; -0 is less than 0."""
    if type in ("u8", "s8"):
        value = float(bits - 256 if type == "s8" and bits > 127 else bits)
        tie = 0
    else:
        number = decode(bits, type)
        if number is None:
            return (1.0,)
        value = float("inf") if number.size is None else float(number.size)
        value = -value if number.negative else value
        tie = 0 if number.negative else 1
    if operation.endswith("abs"):
        value, tie = abs(value), 0
    return (0.0, -value, -tie) if operation.startswith("min") else (0.0, value, tie)


def _words(parts: Sequence[int], bits: int, count: int) -> list[int]:
    whole = sum(part << bits * at for at, part in enumerate(parts))
    assert whole >> 32 * count == 0
    return [whole >> 32 * at & 0xFFFFFFFF for at in range(count)]


def _special() -> Kernel:
    """Elements that are no numbers, infinities and zeros with either sign."""
    kernel = Kernel("special", 4, 0, _THREADS)
    data = [0xBC007E00, 0x3C007C00, 0x00008000, 0xBC003C00, 0x80007BFF, 0xFC000000, 0x3C017FFF, 0xFFFF7C00]
    kernel.declare("d", ".b32", len(data))
    for at, word in enumerate(data):
        kernel.line(f"mov.b32 %d{at}, {word:#x};")
    for code in (0, 2):
        _compress(kernel, [data] * _THREADS, "f16", code, 4, 2)
    for type, words in _LEAST_NAN.items():
        for at, word in enumerate(words):
            kernel.line(f"mov.b32 %d{at}, {word:#x};")
        for code in (0, 2):
            _compress(kernel, [words] * _THREADS, type, code, 1, 2)
    return kernel


_LEAST_NAN = {
    "bf16": [0x7F807F81, 0x40003F80], "e5m2": [0x403C7C7D, 0x403CFDFC], "e4m3": [0x40387E7F, 0x4038FFFE],
}
"""What is no number, of the least magnitude, beside the greatest that is one."""


_INDICES = {
    ("1:2", 2): Field("b32", 0x55555555), ("1:4", 2): Field("b32"), ("1:4", 4): Field("b32", 0x33333333),
    ("1:8", 4): Field("b32", 0x77777777), ("1:16", 4): Field("b32"),
    ("2:4", 2): Field("b32", 0x55555555, 0x22222222), ("2:4", 4): Field("b32", 0x11111111, 0x20202020),
    ("2:8", 4): Field("b32", 0x66666666, 0x10101010), ("2:16", 4): Field("b32", 0xEEEEEEEE, 0x01010101),
    ("4:8", 4): Field("b32", 0x44444444, 0x13021302), ("4:16", 4): Field("b32", 0xCCCCCCCC, 0x32103210),
}
"""Indices that differ within their elements, by the factor and the bits of an index."""
_REPEATS = (
    ("1:2", 2, 16, 4), ("1:2", 2, 8, 2), ("1:4", 2, 8, 4), ("1:4", 4, 16, 2), ("1:8", 4, 8, 2),
    ("1:8", 4, 16, 4), ("1:16", 4, 8, 1), ("1:16", 4, 16, 2), ("2:4", 2, 8, 8), ("2:4", 4, 16, 4),
    ("2:8", 4, 8, 4), ("2:16", 4, 16, 1), ("2:16", 4, 8, 2), ("4:8", 4, 8, 4), ("4:16", 4, 8, 2),
)


def decompressed() -> Iterator[Kernel]:
    kernel = Kernel("decompress", 16, 7, _THREADS)
    elements = kernel.operand("c", Field("b32"), 8, 8)
    kernel.declare("d", ".b32", 16)
    kernel.declare("m", ".b32", 4)
    for factor, index, bits, count in _REPEATS:
        source, target = map(int, factor.split(":"))
        sizes = [-(-parts * count // 32) for parts in (target * bits, source * index, source * bits)]
        places = kernel.operand("m", _INDICES[factor, index], sizes[1], 0)
        registers = [vector(name, size) for name, size in zip("dmc", sizes, strict=True)]
        kernel.line(f"spdecompress.b{bits}.b{index}.sp::{factor}.x{count} {', '.join(registers)};")
        values: list[str] = []
        for indices, kept in zip(places, elements, strict=True):
            dense = [0] * (target * count)
            pairs = zip(split(indices, index), split(kept, bits), strict=False)
            for at, (place, element) in zip(range(source * count), pairs, strict=False):
                where = at // source * target + place
                assert place < target and dense[where] == 0
                dense[where] = element
            values += map(hex, _words(dense, bits, sizes[0]))
        label = f"sp{factor.replace(':', '_')}_b{bits}_b{index}"
        kernel.result(label, "b32", [f"%d{at}" for at in range(sizes[0])], values)
    yield kernel
