"""Atomic operations in all types: vectors, pairs, 128 bits; lanes that meet take turns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import launch
from tests.executor.arithmetic.instruction import HEADER

Array = npt.NDArray[np.generic]


def atomic(
    text: str, memory: Array, values: Array, block: int, *, shared: bool = False, result: int = 0
) -> Array:
    """Lanes execute `text`, which finds the address in %at, the operand in %b0 and on, the element of
    `values` of the lane; `result` registers %d0 and on are what it returns.
    """
    each = values.nbytes // block // 8
    given = ", ".join(f"%b{at}" for at in range(each))
    count = max(result, 1)
    stores = "".join(f"st.global.b64 [%out+{8 * at}], %d{at};\n" for at in range(result))
    text = text.replace("VALUE", "{" + given + "}" if each > 1 else given)
    space = "shared" if shared else "global"
    source = f"""{HEADER}
.shared .align 32 .b8 s[{memory.nbytes}];
.entry k(.param .u64 m, .param .u64 v, .param .u64 o)
{{
  .reg .u64 %m, %v, %out, %at;
  .reg .b64 %b<8>, %d<{count}>;
  .reg .b32 %h<8>, %x, %y;
  .reg .b16 %q<8>;
  .reg .f32 %f<8>, %g<8>;
  .reg .b128 %w, %z, %c;
  .reg .u32 %i;
  .reg .pred %p;
  ld.param.u64 %m, [m];
  ld.param.u64 %v, [v];
  ld.param.u64 %out, [o];
  mov.u32 %i, %tid.x;
  mad.wide.u32 %v, %i, {8 * each}, %v;
  mad.wide.u32 %out, %i, {8 * count}, %out;
  ld.global{f".v{each}" if each > 1 else ""}.b64 {"{" + given + "}" if each > 1 else given}, [%v];
  mov.u64 %at, {"s" if shared else "%m"};
  {text.replace("SPACE", space)}
  {stores}
  ret;
}}
"""
    out = np.zeros(block * count, np.uint64)
    launch(source, entry="k", grid=1, block=block, args=[memory, values, out])
    return out


def test_sums_of_vectors() -> None:
    memory = np.zeros(4, np.float32)
    values = np.arange(256, dtype=np.float32).reshape(64, 4)
    text = """
  mov.b64 {%f0, %f1}, %b0;
  mov.b64 {%f2, %f3}, %b1;
  atom.global.v4.f32.add {%g0, %g1, %g2, %g3}, [%at], {%f0, %f1, %f2, %f3};
  mov.b64 %d0, {%g0, %g1};
  mov.b64 %d1, {%g2, %g3};"""
    found = atomic(text, memory, values, 64, result=2).view(np.float32).reshape(64, 4)
    assert np.array_equal(memory, values.sum(axis=0))
    assert np.array_equal(found, np.cumsum(values, axis=0) - values)


@pytest.mark.parametrize("operation", ["add", "min", "max"])
def test_pairs(operation: str) -> None:
    generator = np.random.default_rng(1)
    memory = np.array([1.0, 2.0, -3.0, 0.5], np.float16)
    wanted = memory.copy()
    values = generator.normal(size=(32, 4)).astype(np.float16)
    text = f"""
  mov.b64 {{%h0, %h1}}, %b0;
  red.global.{operation}.noftz.v2.f16x2 [%at], {{%h0, %h1}};"""
    atomic(text, memory, values, 32)
    function = {"add": np.add, "min": np.minimum, "max": np.maximum}[operation]
    for row in values:
        wanted = function(wanted, row)
    assert np.array_equal(memory, wanted)


def test_brain_floats_round_at_each_step() -> None:
    memory = np.array([0x4380, 0, 0, 0], np.uint16)  # 256
    values = np.full((8, 4), 0x3F80, np.uint16)  # 1: half a place of 256, a tie
    text = """
  mov.b64 {%q0, %q1, %q2, %q3}, %b0;
  red.global.add.noftz.v4.bf16 [%at], {%q0, %q1, %q2, %q3};"""
    atomic(text, memory, values, 8)
    assert memory.tolist() == [0x4380, 0x4100, 0x4100, 0x4100]


def test_exchange_and_compare_of_128_bits() -> None:
    memory = np.zeros(2, np.uint64)
    values = np.arange(1, 9, dtype=np.uint64).reshape(4, 2)
    text = """
  mov.b128 %w, {%b0, %b1};
  atom.global.exch.b128 %z, [%at], %w;
  mov.b128 {%d0, %d1}, %z;"""
    found = atomic(text, memory, values, 4, result=2)
    assert memory.tolist() == [7, 8]
    assert found.tolist() == [0, 0, 1, 2, 3, 4, 5, 6]
    text = """
  mov.b64 %d0, 7;
  mov.b64 %d1, 8;
  mov.b128 %c, {%d0, %d1};
  mov.b128 %w, {%b0, %b1};
  atom.global.cas.b128 %z, [%at], %c, %w;
  mov.b128 {%d0, %d1}, %z;"""
    found = atomic(text, memory, values, 4, result=2)
    assert memory.tolist() == [1, 2]
    assert found.tolist() == [7, 8, 1, 2, 1, 2, 1, 2]


@pytest.mark.parametrize("shared", [False, True])
def test_subnormal_sums(shared: bool) -> None:
    """Those of `.f32` in global memory are flushed (a note of the manual), in shared memory not."""
    memory = np.array([3, 0], np.uint32)
    values = np.array([[1, 0]], np.uint32)
    text = """
  mov.b64 {%f0, %f1}, %b0;
  mov.b32 %f3, 3;
  @%p st.shared.f32 [%at], %f3;
  atom.SPACE.add.f32 %g0, [%at], %f0;
  ld.SPACE.f32 %g1, [%at];
  mov.b64 %d0, {%g0, %g1};"""
    if shared:
        text = text.replace("@%p", "")
    found = atomic(text, memory, values, 1, shared=shared, result=1).view(np.uint32)
    assert found.tolist() == ([3, 4] if shared else [3, 0])


@pytest.mark.parametrize("block", [64, 1000])
@pytest.mark.parametrize("type", ["f64", "s64"])
def test_many_at_one_address(type: str, block: int) -> None:
    operation = "add" if type == "f64" else "min"
    dtype = np.float64 if type == "f64" else np.int64
    memory = np.array([5], dtype)
    values = (np.arange(block) * 3 - 1000).astype(dtype)
    text = f"atom.SPACE.{operation}.{type} %d0, [%at], %b0;"
    if type == "f64":
        text = ".reg .f64 %u<2>; mov.b64 %u0, %b0; atom.SPACE.add.f64 %u1, [%at], %u0; mov.b64 %d0, %u1;"
    found = atomic(text, memory, values, block, result=1).view(dtype)
    after = (np.add if type == "f64" else np.minimum).accumulate(np.append(dtype(5), values))
    assert np.array_equal(found, after[:-1])
    assert memory[0] == after[-1]


def test_compare_of_16_bits() -> None:
    memory = np.array([7, 7, 0, 0], np.uint16)
    values = np.array([[9, 0, 0, 0]], np.uint16)
    text = """
  mov.b64 {%q0, %q1, %q2, %q3}, %b0;
  mov.b16 %q4, 7;
  atom.SPACE.cas.b16 %q5, [%at], %q4, %q0;
  mov.b64 %d0, {%q5, %q1, %q1, %q1};"""
    assert atomic(text, memory, values, 1, result=1).tolist() == [7]
    assert memory.tolist() == [9, 7, 0, 0]
