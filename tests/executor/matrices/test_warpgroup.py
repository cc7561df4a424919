"""`wgmma`: matrices in shared memory in every layout that a descriptor can describe."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import launch
from tests.executor.matrices.test_matrix import WIDTHS, drawn

HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"
Bits = npt.NDArray[np.uint64]


def stored(
    memory: npt.NDArray[np.uint8], bits: Bits, size: int, start: int, swizzle: int, *, k_major: bool
) -> int:
    """Puts a matrix (rows or columns by k) into memory at `start`; its descriptor.

    By the canonical layouts of the manual, one element after the other. `swizzle` is the width of the
    pattern in bytes, 16 for none.
    """
    length, depth = bits.shape
    t = 16 // size
    many = swizzle // 16
    if k_major:
        blocks = -(-length // 8)
        leading, stride = (8 * 16 * blocks, 128) if many == 1 else (16, 8 * swizzle)
        if many > 1 and depth * size > swizzle:
            raise ValueError("more than one pattern")
    else:
        groups = -(-length // (t * many))
        leading, stride = (128 * groups, 128) if many == 1 else (8 * swizzle, 8 * swizzle * groups)
    for at in range(length):
        for k in range(depth):
            if k_major and many == 1:
                offset = at % 8 * 16 + at // 8 * stride + k % t * size + k // t * leading
            elif k_major:
                offset = at % 8 * swizzle + at // 8 * stride + k * size
            elif many == 1:
                offset = at % t * size + at // t * stride + k % 8 * 16 + k // 8 * leading
            else:
                offset = at % t * size + at // t % many * 16 + at // t // many * leading
                offset += k % 8 * swizzle + k // 8 * stride
            address = start + offset
            address ^= (address >> 7 & many - 1) << 4
            memory[address : address + size] = list(int(bits[at, k]).to_bytes(size, "little"))
    code = {16: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | code << 62


def product(
    instruction: str, memory: npt.NDArray[np.uint8], descriptors: dict[str, int], count: int,
    type: str, before: npt.NDArray[np.generic], a: npt.NDArray[np.uint32] | None = None,
) -> npt.NDArray[np.uint32]:
    """The registers of D (128 lanes) after an instruction with `{d}`, `{a}` and %da, %db in it."""
    names = {"d": [f"%d{at}" for at in range(count)], "a": [f"%a{at}" for at in range(4)]}
    for name, registers in names.items():
        instruction = instruction.replace("{" + name + "}", "{" + ", ".join(registers) + "}")
    loads = "".join(f"  ld.global.b32 {one}, [%t+{4 * at}];\n" for at, one in enumerate(names["d"]))

    stores = "".join(f"  st.global.b32 [%t+{4 * at}], {one};\n" for at, one in enumerate(names["d"]))
    source = f"""{HEADER}
.shared .align 1024 .b8 memory[{memory.size}];
.entry k(.param .u64 pm, .param .u64 pd, .param .u64 pa)
{{
  .reg .u64 %pm, %pd, %pa, %t, %da, %db;
  .reg .u32 %lane, %i, %w;
  .reg .b32 %a<4>;
  .reg {type} %d<{count}>;
  .reg .pred %c, %one, %zero;
  ld.param.u64 %pm, [pm];
  ld.param.u64 %pd, [pd];
  ld.param.u64 %pa, [pa];
  mov.u32 %lane, %tid.x;
  mul.lo.u32 %i, %lane, 4;
fill:
  cvt.u64.u32 %t, %i;
  add.u64 %t, %t, %pm;
  ld.global.u32 %w, [%t];
  st.shared.u32 [%i], %w;
  add.u32 %i, %i, 512;
  setp.lt.u32 %c, %i, {memory.size};
  @%c bra fill;
  bar.sync 0;
  setp.eq.u32 %one, %lane, %lane;
  not.pred %zero, %one;
  mov.u64 %da, {descriptors.get("a", 0)};
  mov.u64 %db, {descriptors["b"]};
  mad.wide.u32 %t, %lane, 16, %pa;
  ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%t];
  mad.wide.u32 %t, %lane, {4 * count}, %pd;
{loads}  wgmma.fence.sync.aligned;
  {instruction};
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
{stores}  ret;
}}
"""
    result = np.ascontiguousarray(before).view(np.uint32).reshape(128, count).copy()
    held = np.zeros((128, 4), np.uint32) if a is None else a
    launch(source, entry="k", grid=1, block=128, args=[memory, result, held])
    return result


def place(lane: int, i: int) -> tuple[int, int]:
    """Of the i-th element of D that a lane has."""
    row = lane // 32 * 16 + lane % 32 // 4 + (8 if i & 2 else 0)
    return row, i // 4 * 8 + lane % 4 * 2 + (i & 1)


@pytest.mark.parametrize("swizzle", [16, 32, 64, 128])
@pytest.mark.parametrize("turned", ["00", "01", "10", "11"])
@pytest.mark.parametrize("n", [8, 64])
def test_layouts(n: int, turned: str, swizzle: int) -> None:
    some = random.Random(1)
    a_bits, a = drawn("f16", (64, 16), some)
    b_bits, b = drawn("f16", (16, n), some)
    memory = np.zeros(16384, np.uint8)
    descriptors = {
        "a": stored(memory, a_bits, 2, 0, swizzle, k_major=turned[0] == "0"),
        "b": stored(memory, np.ascontiguousarray(b_bits.T), 2, 8192, swizzle, k_major=turned[1] == "0"),
    }
    before = np.arange(128 * n // 2, dtype=np.float32)
    found = product(
        f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16 {{d}}, %da, %db, %one, 1, -1,"
        f" {turned[0]}, {turned[1]}", memory, descriptors, n // 2, ".f32", before,
    ).view(np.float32)
    want = -(a @ b)
    for lane in range(128):
        for i in range(n // 2):
            assert np.isclose(found[lane, i], want[place(lane, i)] + before[lane * n // 2 + i], rtol=1e-6)


@pytest.mark.parametrize("swizzle", [16, 128])
@pytest.mark.parametrize(
    ("type", "k", "sum"), [("bf16", 16, "f32"), ("tf32", 8, "f32"), ("e4m3", 32, "f32"), ("s8", 32, "s32")]
)
def test_left_in_registers(type: str, k: int, sum: str, swizzle: int) -> None:
    n, some = 32, random.Random(2)
    a_bits, a = drawn(type, (64, k), some)
    b_bits, b = drawn(type, (k, n), some)
    memory = np.zeros(16384, np.uint8)
    width = WIDTHS[type]
    descriptors = {
        "b": stored(memory, np.ascontiguousarray(b_bits.T), width // 8, 1024, swizzle, k_major=True)
    }
    each = 32 // width
    held = np.zeros((128, 4), np.uint32)
    for lane in range(128):
        for register in range(4):
            row = lane // 32 * 16 + lane % 32 // 4 + 8 * (register & 1)
            first = register // 2 * 4 * each + lane % 4 * each
            word = sum_of(a_bits[row, first : first + each], width)
            held[lane, register] = word
    signs = ", 1, 1" if sum == "f32" else ""
    signs += ", 0" if type == "bf16" else ""
    found = product(
        f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{sum}.{type}.{type} {{d}}, {{a}}, %db, %zero{signs}",
        memory, descriptors, n // 2, f".{sum}", np.full(128 * n // 2, 7, np.int32), held,
    )
    got = found.view(np.int32) if sum == "s32" else found.view(np.float32)
    want = a @ b
    for lane in range(128):
        for i in range(n // 2):
            assert np.isclose(got[lane, i], want[place(lane, i)], rtol=1e-6)


def sum_of(elements: Bits, width: int) -> int:
    return sum(int(one) << width * at for at, one in enumerate(elements))


def test_half_sums() -> None:
    """Two `.f16` to a register; the descriptor may begin within a pattern (a step along k)."""
    n, some = 16, random.Random(3)
    a_bits, a = drawn("f16", (64, 64), some)
    b_bits, b = drawn("f16", (64, n), some)
    memory = np.zeros(32768, np.uint8)
    step = 16
    right = np.ascontiguousarray(b_bits.T)
    descriptors = {
        "a": stored(memory, a_bits, 2, 0, 128, k_major=True) + (2 * step >> 4),
        "b": stored(memory, right, 2, 16384, 128, k_major=True) + (2 * step >> 4),
    }
    found = product(
        f"wgmma.mma_async.sync.aligned.m64n{n}k16.f16.f16.f16 {{d}}, %da, %db, %zero, 1, 1, 0, 0",
        memory, descriptors, n // 4, ".b32", np.zeros(128 * n // 4, np.uint32),
    ).view(np.float16)
    want = a[:, step : 2 * step] @ b[step : 2 * step]
    for lane in range(128):
        for i in range(n // 2):
            assert found[lane, i] == np.float16(want[place(lane, i)])
