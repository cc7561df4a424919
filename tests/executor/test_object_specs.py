"""Textures, samplers and surfaces written as text."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor.launching.object_specs import argument, array_of, bindings
from ptx_lsp.executor.launching.preview import preview_kernels
from ptx_lsp.executor.launching.specs import SpecError, is_object
from ptx_lsp.executor.machine.texture import Sampler, Surface, Texture
from ptx_lsp.model.module import Module


def test_a_texture() -> None:
    words = "shape=2x4,filter=linear,address=wrap/border,normalized,border=1/2/3/4"
    found = argument(f"texture(f32:arange(-4,4),{words})")
    assert isinstance(found, Texture)
    assert found.sampler == Sampler(("wrap", "border"), "linear", border=(1, 2, 3, 4))
    assert (found.normalized, found.is_mipmap) == (True, False)
    assert found.levels[0].sizes == (4, 2)
    assert found.levels[0].data.reshape(-1).tolist() == [-4, -3, -2, -1, 0, 1, 2, 3]


def test_a_mipmap() -> None:
    found = argument("texture(u8:zeros(96),u8:zeros(24),u8:[1,2,3,4,5,6],geometry=a2d,shape=3x4x4x2)")
    assert isinstance(found, Texture)
    assert [one.sizes for one in found.levels] == [(4, 4), (2, 2), (1, 1)]
    assert found.levels[2].data.reshape(-1).tolist() == [1, 2, 3, 4, 5, 6]


def test_a_sampler_and_a_surface() -> None:
    assert argument("sampler()") == Sampler()
    forced = argument("sampler(force_unnormalized,compare=>=)")
    assert forced == Sampler(force_unnormalized=True, compare=">=")
    found = argument("surface(s8:full(6,-1),shape=3x2,geometry=1d,as_floats)")
    assert isinstance(found, Surface)
    assert (found.image.sizes, found.image.as_floats) == ((3,), True)
    array = array_of(found)
    assert array is not None
    assert array.tolist() == [[-1, -1]] * 3


def test_files() -> None:
    image = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = argument("texture(@image.npy,filter=linear)", file={"image.npy": image}.__getitem__)
    assert isinstance(found, Texture)
    assert found.levels[0].sizes == (3, 2)
    with pytest.raises(SpecError, match=r"`@image\.npy`: expected TYPE:VALUE"):
        argument("texture(@image.npy)")


def test_what_is_no_object() -> None:
    assert not is_object("f32:arange(4)")
    assert array_of(argument("f32:arange(4)")) is not None
    assert array_of(argument("f32:4")) is None
    with pytest.raises(SpecError, match=r"`t=f32:4`: expected texture\(\.\.\.\), sampler"):
        bindings([("t", "f32:4")])
    with pytest.raises(SpecError, match=r"`t=sampler\(filter=linear\)`: duplicate `t`"):
        bindings([("t", "sampler()"), ("t", "sampler(filter=linear)")])


@pytest.mark.parametrize(("spec", "why"), [
    ("texture()", "a texture must begin with its buffer"),
    ("surface(u8:zeros(4),u8:zeros(2))", "a surface must begin with its buffer"),
    ("sampler(f32:zeros(4))", "a sampler cannot have a buffer"),
    ("texture(f32:5)", "`f32:5` is a value, not a buffer"),
    ("texture(f32:zeros(4),shape=2x3)", "2x3 does not match the 4 elements of the buffer"),
    ("texture(f32:zeros(4),shape=2y2)", "expected sizes, such as shape=4x8"),
    ("texture(f32:zeros(4),filter=cubic)", "unknown value `cubic`; expected point, linear"),
    ("texture(f32:zeros(4),normalized=1)", "unknown option `normalized=1`; expected address, filter"),
    ("surface(f32:zeros(4),filter=linear)", "unknown option `filter=linear`; expected shape, geometry"),
    ("texture(f32:zeros(4),border=1)", "four numbers"),
    ("texture(f32:zeros(5),shape=5x1x1,geometry=cube)", "six square faces"),
    ("texture(f32:zeros(0))", "the array is empty"),
    ("texture(f32:zeros(4),shape=4,shape=2x2)", "duplicate `shape`"),
    ("sampler(address=wrap/wrap/wrap/wrap)", "at most three modes, for x, y and z"),
    ("multimem(u32:zeros(0),gpus=2)", "0 elements cannot be divided evenly among 2 GPUs"),
    ("multimem(u8:zeros(4096),gpus=4096)", "at most 1024 GPUs are supported, not 4096"),
    ("tensor(u16:zeros(32),box=8,box=16)", "duplicate `box`"),
    ("tensor(u16:zeros(32),box=8,type=f64)", "have 8 bytes, but those of the array 2"),
    ("tensor(u16:zeros(0),shape=4294967296x4294967296)", "the buffer has 0 elements"),
    ("tensor(f16:zeros(64),shape=2x2x16,channels=8x8,pixels=1)", "`channels=8x8`: expected one number"),
    ("tensor(f16:zeros(64),shape=2x2x16,channels=99999,pixels=1)", "must have 1 to 256 channels, not 99999"),
    ("tensor(f16:zeros(64),shape=2x2x16,channels=8,pixels=99999)", "1024 pixels"),
    ("tensor(f16:zeros(64),shape=2x2x16,channels=8,pixels=1,lower=-99999)", "must be from -32768 to 32767"),
    ("tensor(f16:zeros(64),shape=2x2x16,channels=8,pixels=1,upper=1/1/1/1)", "at most three numbers"),
])
def test_what_is_not_understood(spec: str, why: str) -> None:
    with pytest.raises(SpecError) as caught:
        argument(spec)
    assert str(caught.value).startswith(f"`{spec}`: ")
    assert why in str(caught.value)


KERNEL = """.version 8.0
.target sm_80
.address_size 64
.global .texref t;
.global .surfref s;
// ptx-run: COMMENT
.visible .entry k(.param .u64 out)
{
  .reg .u64 %rd; .reg .b32 %r; .reg .f32 %f<4>;
  ld.param.u64 %rd, [out];
  mov.b32 %r, 1;
  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%r}];
  st.global.f32 [%rd], %f0;
  mov.b32 %r, 4;
  sust.b.1d.b32.trap [s, {%r}], %f0;
  ret;
}
"""


@pytest.mark.parametrize("spec", ["tensor(u16:arange(64),shape=4x16,box=2x8)", "multimem(u32:[3,5],gpus=2)"])
def test_comments_take_objects_in_order(spec: str) -> None:
    text = KERNEL.replace("COMMENT", f"grid=1 block=1 {spec} t=texture(f32:[3,5]) s=surface(f32:zeros(2))")
    (one,) = preview_kernels(Module.parse(text))
    assert (one.problem, [buffer.name for buffer in one.buffers]) == ("", ["out", "s"])


def test_previews_show_surfaces() -> None:
    words = "grid=1 block=1 f32:zeros(1) t=texture(f32:[3,5,7]) s=surface(f32:zeros(2))"
    (one,) = preview_kernels(Module.parse(KERNEL.replace("COMMENT", words)))
    assert one.problem == ""
    assert [(buffer.name, buffer.type, buffer.after, buffer.changed) for buffer in one.buffers] == [
        ("out", "f32", ("5.0",), 1), ("s", "f32", ("0.0", "5.0"), 1),
    ]


@pytest.mark.parametrize(("words", "why"), [
    ("t=texture(f32:zeros(4))", "no surface has the handle"),
    ("t=surface(f32:zeros(4))", "`t` must be bound to a Texture, not to a Surface"),
    ("t=f32:zeros(4)", "`t=f32:zeros(4)`: expected texture(...)"),
    ("t=sampler() t=sampler()", "`t=sampler()`: duplicate `t`"),
    ("grid=2", "`grid=2`: duplicate `grid`"),
    ("u=texture(f32:zeros(4))", "`u` is not a parameter; expected `out`"),
])
def test_problems_of_a_comment(words: str, why: str) -> None:
    text = KERNEL.replace("COMMENT", f"grid=1 block=1 out=f32:zeros(1) {words}")
    (one,) = preview_kernels(Module.parse(text))
    assert why in one.problem
