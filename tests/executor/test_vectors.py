"""Loads and stores of vectors in all widths; registers of 128 bits, and registers that are vectors."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, launch

HEADER = ".version 9.0\n.target sm_100\n.address_size 64\n"


def moved(body: str, lanes: int, size: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Runs `body` in threads that have `size` bytes each at %x, and at %y those that are given back."""
    source = f"""{HEADER}
.entry k(.param .u64 x, .param .u64 y)
{{
  .reg .u64 %x, %y;
  .reg .u32 %i;
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
  mov.u32 %i, %tid.x;
  mad.wide.u32 %x, %i, {size}, %x;
  mad.wide.u32 %y, %i, {size}, %y;
  {body}
  ret;
}}
"""
    x = (np.arange(lanes * size) * 7 % 251).astype(np.uint8)
    y = np.zeros(lanes * size, np.uint8)
    launch(source, entry="k", grid=1, block=lanes, args=[x, y])
    return np.concatenate([x.reshape(lanes, size), y.reshape(lanes, size)], axis=1)


@pytest.mark.parametrize(
    ("vector", "width"),
    [(2, 8), (4, 8), (2, 16), (4, 16), (2, 32), (4, 32), (8, 32), (2, 64), (4, 64)],
)
def test_reversed(vector: int, width: int) -> None:
    names = [f"%r{at}" for at in range(vector)]
    register = 16 if width == 8 else width
    body = f""".reg .b{register} %r<{vector}>;
  ld.global.v{vector}.b{width} {{{", ".join(names)}}}, [%x];
  st.global.v{vector}.b{width} [%y], {{{", ".join(reversed(names))}}};"""
    size = vector * width // 8
    found = moved(body, 40, size)
    elements = found[:, :size].reshape(40, vector, width // 8)[:, ::-1]
    assert np.array_equal(found[:, size:], elements.reshape(40, size))


def test_elements_left_out() -> None:
    body = """.reg .b32 %r<8>;
  ld.global.v8.b32 {%r0, _, %r2, _, _, _, _, %r7}, [%x];
  st.global.v2.b32 [%y], {%r7, %r2};
  st.global.b32 [%y+8], %r0;"""
    found = moved(body, 5, 32)
    words = found[:, :32].copy().view(np.uint32)
    assert np.array_equal(found[:, 32:44].copy().view(np.uint32), words[:, [7, 2, 0]])


def test_halves_of_128_bits() -> None:
    body = """.reg .b128 %q, %p; .reg .b64 %a, %b; .reg .b32 %w<4>;
  ld.global.b128 %q, [%x];
  mov.b128 {%a, %b}, %q;
  mov.b128 %p, {%b, %a};
  mov.b128 {%w0, %w1, %w2, %w3}, %p;
  mov.b128 %q, {%w3, %w2, %w1, %w0};
  st.global.b128 [%y], %q;"""
    found = moved(body, 33, 16)
    words = found[:, :16].copy().view(np.uint32)
    assert np.array_equal(found[:, 16:].copy().view(np.uint32), words[:, [1, 0, 3, 2]])


def test_vector_registers() -> None:
    body = """.reg .v4 .f32 %v, %w; .reg .f32 %f;
  ld.global.v4.f32 %v, [%x];
  mov.v4.f32 %w, %v;
  mov.f32 %f, %w.z;
  mov.f32 %w.x, %f;
  st.global.v4.f32 [%y], %w;"""
    found = moved(body, 3, 16)
    words = found[:, :16].copy().view(np.uint32)
    assert np.array_equal(found[:, 16:].copy().view(np.uint32), words[:, [2, 1, 2, 3]])


@pytest.mark.parametrize("body", [
    ".reg .b128 %q; ld.global.b128 %q, [%x+8];", ".reg .b32 %r<8>; ld.global.v8.b32"
    " {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%x+16];",
])
def test_alignment_is_that_of_the_whole(body: str) -> None:
    with pytest.raises(ExecutionError) as caught:
        moved(body, 2, 32)
    assert caught.value.kind == "misaligned"
