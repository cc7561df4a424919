"""`tcgen05.mma` in all kinds for matrix.py; tensor_case.py has the layouts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from tests.oracle.exact.kernel import Field, vector
from tests.oracle.exact.mma import FIELDS, NEAR_THE_ENDS
from tests.oracle.exact.mma_sparse import ORDERED, UNORDERED
from tests.oracle.exact.products import totals, units
from tests.oracle.exact.tensor_case import (
    SIZES,
    Case,
    descriptor,
    elements,
    instruction,
    lane_of,
    mask_of,
    matrix,
    place_of,
    region,
    stored_bits,
)
from tests.oracle.exact.tensor_kernel import TensorKernel
from tests.oracle.exact.wgmma import Layout

_WORDS = 36
_A, _B, _D, _E, _S = 0, 16, 16, 8, 24
"""The words of a thread that are those operands."""
_COLUMNS = {"d": 0, "a": 64, "e": 96, "scale_a": 104, "scale_b": 112}


_SCALES = {
    "ue8m0": Field("ue8m0", 0x03030303, 0x7C7C7C7C), "ue4m3": Field("ue4m3", 0x0F0F0F0F, 0x30303030),
}
_K, _K32, _K64, _K128 = (Layout("k", width) for width in (16, 32, 64, 128))
_MN, _MN32, _MN64, _MN128 = (Layout("mn", width) for width in (16, 32, 64, 128))
_ATOMS = Layout("mn", 0)
"""128-byte swizzling with atoms of 32 bytes."""
_WITHIN = Layout("k", 128, 32)
_SHIFTED = Layout("k", 128, 512, 512)
def floats() -> Iterator[TensorKernel]:
    half = ("f32", "f16", "f16")
    yield from map(_kernel, (
        Case("f16", "f16", half, 128, 16, _K, _K128),
        Case("f16_sum", "f16", ("f16", "f16", "f16"), 128, 8, _K32, _MN, signs=(-1, 1)),
        Case("bf16", "f16", ("f32", "bf16", "bf16"), 64, 24, _K128, _K64, path="F", adds=False),
        Case("f16_turned", "f16", half, 128, 32, _MN128, _MN32, signs=(-1, -1)),
        Case("f16_lanes", "f16", half, 64, 16, _MN64, _MN64, path="F",
             disabled=0x0000_8001_0000_FF00_0000_0000_0000_00F0),
        Case("f16_tensor", "f16", half, 128, 16, None, _SHIFTED, words=".collector::a::discard"),
        Case("f16_tensor_half", "f16", half, 64, 8, None, _WITHIN, path="F", divided=1),
        Case("f16_divided", "f16", half, 128, 8, _WITHIN, _K, divided=3),
        Case("f16_ashift", "f16", half, 128, 8, None, _K, words=".ashift"),
        Case("tf32", "tf32", ("f32", "tf32", "tf32"), 128, 8, _K, _K128, signs=(-1, 1)),
        Case("tf32_turned", "tf32", ("f32", "tf32", "tf32"), 128, 32, _ATOMS, _ATOMS),
        Case("tf32_tensor", "tf32", ("f32", "tf32", "tf32"), 128, 16, None, _K32, adds=False),
    ))


def bytes_of_numbers() -> Iterator[TensorKernel]:
    for number, (a, b) in enumerate((
        ("e4m3", "e5m2"), ("e5m2", "e2m3"), ("e2m3", "e3m2"), ("e3m2", "e2m1"), ("e2m1", "e4m3"),
    )):
        d = ("f32", "f16")[number % 2]
        layouts = (_K, _K32, _K64, _K128)
        yield _kernel(Case(
            f"{a}_{b}", "f8f6f4", (d, a, b), 128, 8, layouts[number % 4], layouts[(number + 1) % 4]
        ))
        yield _kernel(Case(f"{a}_{b}_tensor", "f8f6f4", ("f32", a, b), 128, 16, None, _K128, adds=False))
    yield _kernel(Case("e4m3_turned", "f8f6f4", ("f32", "e4m3", "e5m2"), 128, 16, _MN, _MN128))
    for number, (a, b) in enumerate((("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8"))):
        d = ("s32", a, b)
        yield _kernel(Case(f"{a}_{b}", "i8", d, 128, 8, _K64, _K, limited=number % 2 == 1))
        yield _kernel(Case(f"{a}_{b}_tensor", "i8", d, 128, 16, None, _K32, limited=number % 2 == 0))


def scaled() -> Iterator[TensorKernel]:
    for a, b, ids in (("e4m3", "e2m1", (0, 3)), ("e3m2", "e5m2", (2, 1))):
        case = Case(
            f"{a}_{b}_scaled", "mxf8f6f4", ("f32", a, b), 128, 16, _K64, _K, scales=1, scale_ids=ids,
            words=".block_scale.scale_vec::1X",
        )
        yield _kernel(case)
        yield _kernel(case._replace(name=f"{case.name}_tensor", a=None, words=".block_scale.block32"))
    four = ("f32", "e2m1x2", "e2m1x2")
    for kind, scales, words, type, ids in (
        ("mxf4", 2, ".block_scale", "ue8m0", (2, 0)),
        ("mxf4", 2, ".block_scale.scale_vec::2X", "ue8m0", (0, 2)),
        ("mxf4nvf4", 2, ".block_scale.block32", "ue8m0", (0, 2)),
        ("mxf4nvf4", 4, ".block_scale.scale_vec::4X", "ue4m3", (0, 0)),
        ("mxf4nvf4", 4, ".block_scale.block16", "ue8m0", (0, 0)),
    ):
        for sparse in (False, True):
            for a in (_K128, None):
                parts = [kind, words.rpartition(":")[2].rpartition(".")[2], type]
                yield _kernel(Case(
                    "_".join([*parts, *(["sparse"] if sparse else []), *(["tensor"] if a is None else [])]),
                    kind, four, 128, 8, a, _K64, adds=a is None, scales=scales, scale_type=type,
                    scale_ids=ids, words=words, sparse=sparse,
                ))
    yield _kernel(Case(
        "e5m2_e4m3_scaled_sparse", "mxf8f6f4", ("f32", "e5m2", "e4m3"), 128, 8, _K, _K, scales=1,
        scale_ids=(1, 2), words=".block_scale", sparse=True,
    ))


def sparse() -> Iterator[TensorKernel]:
    half, byte = ("f32", "f16", "f16"), ("f32", "e5m2", "e4m3")
    for number, a in enumerate((_K, None)):
        for stationary in (False, True):
            n = 64 if stationary else 8
            end = f"{'_tensor' if a is None else ''}{'_ws' if stationary else ''}"
            yield from map(_kernel, (
                Case(f"f16{end}", "f16", half, 128, n, a, _K128, sparse=True, stationary=stationary,
                     selector=number, adds=False),
                Case(f"tf32{end}", "tf32", ("f32", "tf32", "tf32"), 128, n, a, _K, sparse=True,
                     stationary=stationary, adds=False),
                Case(f"e5m2{end}", "f8f6f4", byte, 128, n, a, _K64, sparse=True, stationary=stationary,
                     adds=False),
                Case(f"s8{end}", "i8", ("s32", "s8", "u8"), 128, n, a, _K64, sparse=True,
                     stationary=stationary, limited=True),
            ))
    yield _kernel(Case("f16_64", "f16", half, 64, 8, _MN, _K, path="F", sparse=True))


def stationary() -> Iterator[TensorKernel]:
    half = ("f32", "f16", "f16")
    yield from map(_kernel, (
        Case("f16_32", "f16", half, 32, 64, _K, _K128, path="G", stationary=True, adds=False),
        Case("f16_64", "f16", half, 64, 64, _K, _K, path="E", stationary=True, adds=False,
             words=".collector::b1::fill"),
        Case("f16_128", "f16", half, 128, 64, None, _K32, stationary=True, adds=False),
        Case("tf32_64", "tf32", ("f32", "tf32", "tf32"), 64, 64, _K, _K, path="E", stationary=True,
             adds=False),
        Case("e4m3_32", "f8f6f4", ("f32", "e4m3", "e5m2"), 32, 64, _K, _K64, path="G", stationary=True,
             adds=False),
        Case("s8_64", "i8", ("s32", "s8", "u8"), 64, 64, _K, _K64, path="E", stationary=True),
        # Example 2 of the zero-column masks: four columns count, then three do not
        Case("f16_zeros", "f16", half, 128, 64, _K, _K, stationary=True, adds=False,
             tail=f"{1 << 39 | 2 << 40 | 3 << 48:#x}",
             zeros=tuple(at for at in range(64) if at % 7 > 3)),
    ))


def _kernel(case: Case) -> TensorKernel:
    d, a, b = case.types
    kernel = TensorKernel(f"{case.name}_m{case.m}n{case.n}", _WORDS, len(case.name) + case.n, 128)
    kept = case.k // 2 if case.sparse else case.k
    left, right = region(kernel, "left", a, 32, _A), region(kernel, "right", b, 16, _B)
    columns = case.n // {"E": 2, "G": 4}.get(case.path, 1)
    field = NEAR_THE_ENDS[8] if d == "s32" else FIELDS[d]
    before = kernel.operand("c", field, min(columns, 16), _D)
    for first in range(0, columns, 16):
        if columns >= 16:
            kernel.store("c", 16, _COLUMNS["d"] + first)
        else:
            for at in range(0, columns, 8):
                line = f"[%t1+{_COLUMNS['d'] + at}], {{{', '.join(f'%c{at + one}' for one in range(8))}}};"
                kernel.line(f"tcgen05.st.sync.aligned.32x32b.x8.b32 {line}")
    kernel.line("tcgen05.wait::st.sync.aligned;")
    if case.a is None:
        count = kept * stored_bits(a) // 32
        words = kernel.operand("a", FIELDS[a], count, _A)
        kernel.store("a", count, _COLUMNS["a"])
        x = [elements(words[lane_of(case, row)], a) for row in range(case.m)]
        if ".ashift" in case.words:
            x = [*x[1:], x[-1]]
    else:
        x = matrix(case.a, left, case.m, kept, a)
    x = [[units(one, a) * case.signs[0] for one in row] for row in x]
    y = [[units(one, b) * case.signs[1] for one in row] for row in matrix(case.b, right, case.n, case.k, b)]
    if case.sparse:
        x = _expanded(kernel, case, x)
    if case.scales:
        x = _scaled(kernel, case, "scale_a", case.scale_ids[0], x)
        y = _scaled(kernel, case, "scale_b", case.scale_ids[1], y)
    y = [[0] * case.k if at in case.zeros else row for at, row in enumerate(y)]
    start = [[0] * case.n for _ in range(case.m)]
    where = [[place_of(case, lane, column) for column in range(columns)] for lane in range(128)]
    held = [[units(row[at % 16] & mask_of(d), d) for at in range(columns)] for row in before]
    for lane, row in enumerate(where):
        for column, place in enumerate(row):
            if place is not None and case.adds:
                start[place[0]][place[1]] = held[lane][column] >> case.divided
    shift = 2 * 24 if case.scales else 0
    product = totals(
        x, list(zip(*y, strict=True)), [[one << shift for one in row] for row in start], d,
        limited=case.limited,
    )
    found: list[list[Fraction]] = []
    for lane, row in enumerate(where):
        off = case.disabled >> lane & 1
        found.append([
            Fraction(held[lane][column], 1 << 24) if place is None or off
            else product[place[0]][place[1]] / (1 << shift)
            for column, place in enumerate(row)
        ])
    _issue(kernel, case, kept)
    kernel.load("d", columns if columns in (8, 16, 32, 64) else 32, _COLUMNS["d"])
    kernel.numbers("d_out", "d", columns, d, found)
    kernel.end()
    return kernel


def _issue(kernel: TensorKernel, case: Case, kept: int) -> None:
    kernel.declare("x", ".b64", 4)
    for number, (side, layout, length, depth, type) in enumerate((
        ("left", case.a, case.m, kept, case.types[1]), ("right", case.b, case.n, case.k, case.types[2]),
    )):
        if layout is not None:
            kernel.line(f"add.u32 %h, %{side}0, {layout.start};  bfe.u32 %h, %h, 4, 14;")
            kernel.line(f"cvt.u64.u32 %x{number}, %h;")
            kernel.line(f"or.b64 %x{number}, %x{number}, {descriptor(layout, length, depth, type):#x};")
    kernel.line("fence.proxy.async.shared::cta;")
    kernel.settle()
    place = {name: f"[%t0+{column}]" for name, column in _COLUMNS.items()}
    operands = [place["d"], place["a"] if case.a is None else "%x0", "%x1"]
    if case.sparse:
        operands.append(place["e"])
    operands.append(f"{instruction(case):#x}")
    if case.scales:
        operands += [place["scale_a"], place["scale_b"]]
    if case.disabled:
        kernel.declare("m", ".b32", 4)
        masks = [case.disabled >> at & 0xFFFFFFFF for at in range(0, 128, 32)]
        kernel.lines([f"mov.b32 %m{at}, {mask:#x};" for at, mask in enumerate(masks)], 4)
        operands.append(vector("m", 4))
    operands.append("%q1" if case.adds else "%q3")
    if case.divided:
        operands.append(str(case.divided))
    if case.tail:
        kernel.line(f"mov.b64 %x3, {case.tail};")
        operands.append("%x3")
    name = f"tcgen05.mma{'.ws' if case.stationary else ''}{'.sp' if case.sparse else ''}"
    kernel.line(f"mov.b32 %h, {operands.pop(4 if case.sparse else 3)};")
    operands.insert(4 if case.sparse else 3, "%h")
    kernel.line(f"@%q1 {name}.cta_group::1.kind::{case.kind}{case.words} {', '.join(operands)};")
    kernel.commit()


def _expanded(kernel: TensorKernel, case: Case, x: Sequence[Sequence[int]]) -> list[list[int]]:
    """A with its zeros (Figures 259 to 267)."""
    type = case.types[1]
    twins = type == "tf32"
    field = Field("b32") if twins else ORDERED if len(case.name) % 2 else UNORDERED
    words = kernel.operand("e", field, 2, _E)
    if twins:  # 0b1110 or 0b0100
        kernel.lines([
            f"and.b32 %h, %e{at}, 0x88888888;  shr.u32 %s, %h, 2;  or.b32 %h, %h, %s;"
            f"  or.b32 %e{at}, %h, 0x44444444;" for at in range(2)
        ], 1)
        words = [[one & 0x88888888 | (one & 0x88888888) >> 2 | 0x44444444 for one in row] for row in words]
    column = _COLUMNS["e"] + (case.selector if type in SIZES else 0)
    kernel.line(f"tcgen05.st.sync.aligned.32x32b.x2.b32 [%t1+{column}], {{%e0, %e1}};")
    kernel.line("tcgen05.wait::st.sync.aligned;")
    chunk, kept = {"tf32": (2, 1), "e2m1x2": (8, 4)}.get(type, (4, 2))
    found: list[list[int]] = []
    for row, stored in enumerate(x):
        whole = [0] * case.k
        for number in range(case.k // chunk):
            if type in SIZES:
                lane = lane_of(case, row // 16 * 16 + row % 8 + number // 4 * 8)
                code = words[lane][0] >> row // 8 % 2 * 16 + number % 4 * 4 & 15
            else:
                code = words[lane_of(case, row)][number // 8] >> number % 8 * 4 & 15
            part = stored[number * kept : number * kept + kept]
            if kept == 1:
                places = [code >> 1 & 1]
            elif kept == 2:
                places = [code & 3, code >> 2]
            else:
                places = [2 * (code & 3), 2 * (code & 3) + 1, 2 * (code >> 2), 2 * (code >> 2) + 1]
            for place, one in zip(places, part, strict=True):
                whole[number * chunk + place] = one
        found.append(whole)
    return found


def _scaled(
    kernel: TensorKernel, case: Case, name: str, first: int, rows: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Rows of A, or columns of B, with their scales (Figures 231 to 233, 240 to 242), 2^24 times as large.
    The scales of rows 32 apart are in neighbouring columns, all quarters of the lanes have a copy.
    """
    field = _SCALES[case.scale_type]
    kernel.declare("g", ".b32", 4)
    kernel.line(f"and.b32 %h, %id, 31;  mad.lo.u32 %s, %h, {4 * _WORDS}, %base;")
    at = _S + (4 if name == "scale_b" else 0)
    for one in range(4):
        kernel.line(f"ld.shared.b32 %g{one}, [%s+{4 * (at + one)}];  {field.code(f'%g{one}', f'%g{one}')}")
    kernel.store("g", 4, _COLUMNS[name])
    size = case.k // case.scales
    found: list[list[int]] = []
    for row, values in enumerate(rows):
        word = field.of(kernel.word(row % 32, at + row // 32))
        codes = [word >> 8 * (first + block) & 0xFF for block in range(case.scales)]
        scales = [units(code, case.scale_type) for code in codes]
        found.append([value * scales[k // size] for k, value in enumerate(values)])
    return found
