"""Products of `tcgen05.mma` for tensor_mma.py: the layouts of the manual written down a second time, in
shared memory ("Canonical Layouts"), in Tensor Memory ("Data Path Layout Organization"; figures as
compilers have them), and the fields of descriptors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.oracle.exact.kernel import Field
from tests.oracle.exact.mma import FIELDS
from tests.oracle.exact.tensor_kernel import TensorKernel
from tests.oracle.exact.wgmma import Layout

_NARROW = {"e2m1": 4, "e3m2": 6, "e2m3": 6}
SIZES = {"f16": 16, "bf16": 16, "tf32": 32}
_DEPTHS = {"f16": 16, "tf32": 8, "mxf4": 64, "mxf4nvf4": 64}
_CODES = {
    "f16": {"f16": 0, "bf16": 1}, "tf32": {"tf32": 2}, "i8": {"u8": 0, "s8": 1},
    "mxf4": {"e2m1x2": 1}, "mxf4nvf4": {"e2m1x2": 1},
}
_FLOATS = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
_SUMS = {"f16": 0, "f32": 1, "s32": 2}
_SWIZZLES = {16: 0, 128: 2, 64: 4, 32: 6, 0: 1}


class Case(NamedTuple):
    """A product; `a` is None for Tensor Memory. `path` is the letter of D's layout. `tail` are operands after
    enable-input-d, `words` modifiers after the kind.
    """

    name: str
    kind: str
    types: tuple[str, str, str]
    m: int
    n: int
    a: Layout | None
    b: Layout
    path: str = "D"
    adds: bool = True
    signs: tuple[int, int] = (1, 1)
    sparse: bool = False
    stationary: bool = False
    scales: int = 0
    scale_type: str = "ue8m0"
    scale_ids: tuple[int, int] = (0, 0)
    selector: int = 0
    limited: bool = False
    divided: int = 0
    disabled: int = 0
    words: str = ""
    tail: str = ""
    zeros: tuple[int, ...] = ()

    @property
    def k(self) -> int:
        return _DEPTHS.get(self.kind, 32) * (2 if self.sparse else 1)


def instruction(case: Case) -> int:
    """The instruction descriptor (Tables 42 to 44)."""
    d, a, b = case.types
    codes = _CODES.get(case.kind, _FLOATS)
    turned = [layout is not None and layout.major == "mn" for layout in (case.a, case.b)]
    word = codes[a] << 7 | codes[b] << 10 | case.n >> 3 << 17
    word |= (case.signs[0] < 0) << 13 | (case.signs[1] < 0) << 14 | turned[0] << 15 | turned[1] << 16
    word |= case.sparse << 2
    if case.scales:
        word |= case.scale_ids[1] << 4 | (case.scale_type == "ue8m0") << 23
        return word | case.m >> 7 << 27 | case.scale_ids[0] << 29
    return word | case.selector | case.limited << 3 | _SUMS[d] << 4 | case.m >> 4 << 24


def descriptor(layout: Layout, length: int, depth: int, type: str) -> int:
    """The descriptor of a matrix in shared memory, without the address of its region (Table 40)."""
    leading, stride = _strides(layout, length, depth, type)
    fields = leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | (layout.pattern >> 7 & 7) << 49
    return fields | _SWIZZLES[layout.swizzle] << 61


def _strides(layout: Layout, length: int, depth: int, type: str) -> tuple[int, int]:
    return (1024, 512) if layout.swizzle == 0 else layout.strides(length, depth, stored_bits(type))


def stored_bits(type: str) -> int:
    """The bits of an element that 16 bytes of shared memory are divided into."""
    return 4 if type == "e2m1x2" else SIZES.get(type, 8)


def matrix(layout: Layout, memory: bytes, length: int, depth: int, type: str) -> list[list[int]]:
    """The elements of a matrix in shared memory, as `units` takes them."""
    size = stored_bits(type)
    strides = _strides(layout, length, depth, type)
    found: list[list[int]] = []
    for at in range(length):
        row: list[int] = []
        for k in range(depth):
            if layout.swizzle == 0:
                address = at // 4 % 8 * 16 + at // 32 * strides[0] + k % 4 * 128 + k // 4 * strides[1]
                address, inner = address ^ (address >> 7 & 3) << 5, at % 4
            else:
                address, inner = layout.place(at, k, strides, size)
            chunk = int.from_bytes(memory[address : address + 16], "little")
            assert address + 16 <= len(memory)
            width = _NARROW.get(type, size)
            code = chunk >> inner * width & (1 << width) - 1
            row.append(code << 2 if type == "e2m1" else code)
        found.append(row)
    return found


def region(kernel: TensorKernel, name: str, type: str, count: int, first: int) -> bytes:
    """Fills shared memory with elements, `count` words of each thread; their bytes."""
    field = FIELDS[type]
    fields = [field]
    if type in _NARROW:
        width = _NARROW[type]
        shift = 2 if type == "e2m1" else 0
        one = 0xF if type == "e2m1" else field.mask & 0x3F
        masks, bases = (
            sum(code << width * at for at in range(16)) for code in (one, field.base >> shift & 0x3F)
        )
        pairs = ((masks >> at & 0xFFFFFFFF, bases >> at & 0xFFFFFFFF) for at in range(0, 128, 32))
        fields = [Field(type, *pair) for pair in pairs]
    words = kernel.region(name, fields, count, first)
    return b"".join(one.to_bytes(4, "little") for one in words)


def elements(words: Sequence[int], type: str) -> list[int]:
    """The elements of the cells of a lane."""
    size = stored_bits(type)
    return [word >> at & (1 << size) - 1 for word in words for at in range(0, 32, size)]


def mask_of(type: str) -> int:
    return 0xFFFF if type == "f16" else 0xFFFFFFFF


def lane_of(case: Case, row: int) -> int:
    """The lane that has a row of A."""
    return row // 16 * 32 + row % 16 if case.path == "F" else row


def place_of(case: Case, lane: int, column: int) -> tuple[int, int] | None:
    """The element of D in a cell (Figures 211, 213, 215, 217)."""
    match case.path:
        case "F":
            return (lane // 32 * 16 + lane % 32, column) if lane % 32 < 16 else None
        case "E":
            return lane % 64, lane // 64 * (case.n // 2) + column
        case "G":
            return lane % 32, lane // 32 * (case.n // 4) + column
        case _:
            return lane, column


