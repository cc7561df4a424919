"""Textures, samplers and surfaces. Filtered values are computed by hand from the CUDA Programming Guide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import ExecutionError, Sampler, Surface, Texture, launch
from ptx_lsp.executor.machine.texture import Address

KERNELS = Path(__file__).parent / "kernels"
Array = npt.NDArray[np.generic]
_HEAD = """.version 8.8
.target TARGET
.address_size 64
.global .texref t; .global .surfref s; SAMPLERS
.entry k(.param .u64 in, .param .u64 out, .param .u64 object) {
.reg .u64 %in, %out, %object, %s<4>, %step; .reg .u32 %t, %r<9>; .reg .f32 %f<9>; .reg .b16 %h<5>;
.reg .pred %p<4>; .reg .b32 %w<3>;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %object, [object];
mov.u32 %t, %tid.x; mul.wide.u32 %step, %t, 16; add.u64 %in, %in, %step; add.u64 %out, %out, %step;
ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%in]; ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%in];
"""
_SAMPLERS = """.global .samplerref m; .global .samplerref repeated = {
 addr_mode_0 = wrap, addr_mode_1 = clamp_to_border, filter_mode = linear };"""
_RESULT = "\nst.global.v4.f32 [%out], {%f1, %f2, %f3, %f4};"
Coordinates = Sequence[Sequence[float]]


def run(
    body: str, inputs: Array, out: Array, object: Texture | Surface | Sampler | int = 0,
    bind: Mapping[str, Texture | Surface | Sampler] | None = None, target: str = "sm_80",
) -> None:
    head = _HEAD.replace("TARGET", target)
    head = head.replace("SAMPLERS", _SAMPLERS if "independent" in target else "\n")
    launch(
        head + body + "\nret;\n}\n", entry="k", grid=1, block=len(inputs),
        args=[inputs, out, object], bind=bind,
    )


def sampled(
    instruction: str, coordinates: Coordinates, texture: Texture, **more: Sampler
) -> npt.NDArray[np.float32]:
    """What an instruction leaves in %f1 to %f4 for coordinates in %f5 to %f8, one thread each."""
    inputs = np.zeros((len(coordinates), 4), np.float32)
    for row, one in zip(inputs, coordinates, strict=True):
        row[: len(one)] = one
    out = np.zeros_like(inputs)
    target = "sm_80, texmode_independent" if more else "sm_80"
    run(instruction + _RESULT, inputs, out, texture, {"t": texture, **more}, target)
    return out


_1D = "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5}];"
_2D = "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];"
_RAMP = np.array([10, 20, 30, 40], np.float32)


@pytest.mark.parametrize(
    ("address", "want"),
    [
        ("clamp", [10, 10, 10, 20, 40, 40, 40]),
        ("border", [7, 7, 10, 20, 40, 7, 7]),
        ("wrap", [30, 40, 10, 20, 40, 10, 20]),
        ("mirror", [20, 10, 10, 20, 40, 40, 30]),
    ],
)
def test_address_modes(address: Address, want: list[float]) -> None:
    texture = Texture(_RAMP, address=address, normalized=True, border=(7, 7, 7, 7))
    at = [[one / 4] for one in (-1.5, -0.5, 0.5, 1.5, 3.5, 4.5, 5.5)]
    assert sampled(_1D, at, texture)[:, 0].tolist() == want


def test_only_normalized_coordinates_repeat() -> None:
    assert sampled(_1D, [[4.5], [-1]], Texture(_RAMP, address="wrap"))[:, 0].tolist() == [40, 10]


def test_linear_filter() -> None:
    """Texel centres are at .5; weights have 8 bits: 0.3 is 77/256."""
    texture = Texture(_RAMP, filter="linear")
    got = sampled(_1D, [[0.5], [1.0], [1.5], [0.8], [0.0], [4.0], [2.25]], texture)[:, 0]
    assert got.tolist() == [10, 15, 20, np.float32(10 + 10 * 77 / 256), 10, 40, 27.5]


def test_bilinear_filter_at_the_border() -> None:
    texture = Texture(np.array([[1, 2], [3, 4]], np.float32), filter="linear", address="border")
    got = sampled(_2D, [[1, 1], [0, 0], [0.75, 1.25], [2, 1]], texture)
    assert got[:, 0].tolist() == [2.5, 0.25, 0.75 * (0.25 * 1 + 0.75 * 3) + 0.25 * (0.25 * 2 + 0.75 * 4), 1.5]


def test_channels_and_their_defaults() -> None:
    two = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    assert sampled(_2D, [[1, 1]], Texture(two, geometry="2d")).tolist() == [[6, 7, 0, 1]]


def test_integers() -> None:
    bytes_ = np.array([0, 51, 255], np.uint8)
    assert sampled(_1D, [[1]], Texture(bytes_, as_floats=True))[0, 0] == np.float32(0.2)
    signed = np.array([-128, -127, 127], np.int8)
    got = sampled(_1D, [[0], [1], [2]], Texture(signed, as_floats=True))[:, 0]
    assert got.tolist() == [-1, -1, 1]
    got = sampled("tex.1d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [t, {%f5}];\nmov.b32 %f1, %r1; mov.b32 %f4, %r4;",
                  [[0], [2]], Texture(signed))
    assert got.view(np.int32)[:, [0, 3]].tolist() == [[-128, 1], [127, 1]]


def test_coordinates_that_are_integers() -> None:
    texture = Texture(_RAMP, filter="linear", normalized=True)
    got = sampled("cvt.rzi.s32.f32 %r1, %f5; tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];",
                  [[0], [3], [9]], texture)
    assert got[:, 0].tolist() == [10, 40, 40]


def test_offsets() -> None:
    image = np.arange(16, dtype=np.float32).reshape(4, 4)
    got = sampled("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}], {1, -2};", [[1.5, 2.5]],
                  Texture(image))
    assert got[0, 0] == 2


def test_volumes_layers_and_samples() -> None:
    volume = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    four = "{%f1, %f2, %f3, %f4}"
    got = sampled(f"tex.3d.v4.f32.f32 {four}, [t, {{%f5, %f6, %f7, %f8}}];", [[3, 2, 1]], Texture(volume))
    assert got[0, 0] == 23
    trilinear = Texture(volume, filter="linear")
    got = sampled(f"tex.3d.v4.f32.f32 {four}, [t, {{%f5, %f6, %f7, %f8}}];", [[2, 1.5, 1]], trilinear)
    assert got[0, 0] == 11.5
    layered = f"mov.u32 %r1, 1; tex.a2d.v4.f32.f32 {four}, [t, {{%r1, %f5, %f6, %f7}}];"
    assert sampled(layered, [[2, 1]], Texture(volume, geometry="a2d"))[0, 0] == 18
    line = f"mov.u32 %r1, 9; tex.a1d.v4.f32.f32 {four}, [t, {{%r1, %f5}}];"
    assert sampled(line, [[2]], Texture(volume[0], geometry="a1d"))[0, 0] == 10
    sample = f"mov.u32 %r1, 1; mov.u32 %r2, 2; tex.2dms.v4.f32.s32 {four}, [t, {{%r1, %r2, %r1, %r1}}];"
    assert sampled(sample, [[0]], Texture(volume, geometry="2dms"))[0, 0] == 18
    both = f"mov.u32 %r1, 1; mov.u32 %r2, 2; tex.a2dms.v4.f32.s32 {four}, [t, {{%r1, 0, %r2, %r1}}];"
    assert sampled(both, [[0]], Texture(volume.reshape(1, 2, 3, 4), geometry="a2dms"))[0, 0] == 18


def test_cube_maps() -> None:
    """The middles of the faces in the order +x, -x, +y, -y, +z, -z, and a texel of two."""
    cube = np.arange(24, dtype=np.float32).reshape(6, 2, 2)
    instruction = "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6, %f7, %f8}];"
    directions = [[1, 0, 0], [-2, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 3], [0, 0, -1]]
    faces = sampled(instruction, directions, Texture(cube, geometry="cube"))[:, 0] // 4
    assert faces.tolist() == [0, 1, 2, 3, 4, 5]
    # +x: s = -z, t = -y; -z: s = -x, t = -y
    directions = [[1, 0.5, 0.5], [1, -0.5, -0.5], [0.5, 0.5, -1]]
    got = sampled(instruction, directions, Texture(cube, geometry="cube"))
    assert got[:, 0].tolist() == [0, 3, 20]
    several = Texture(np.stack([cube, cube + 100]), geometry="acube")
    layered = "mov.u32 %r1, 1; tex.acube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%r1, %f5, %f6, %f7}];"
    assert sampled(layered, [[1, -0.5, -0.5]], several)[0, 0] == 103


def test_levels_of_detail() -> None:
    levels = [np.full((size, size), 10.0 * at, np.float32) for at, size in enumerate((8, 4, 2, 1))]
    level = "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}], %f7;"
    at = [[0, 0, lod] for lod in (-1, 0.4, 0.6, 2.25, 9)]
    assert sampled(level, at, Texture(levels))[:, 0].tolist() == [0, 0, 10, 20, 30]
    mixed = Texture(levels, mip_filter="linear")
    want = [0, np.float32(1020 / 256), np.float32(1540 / 256), 22.5, 30]
    assert sampled(level, at, mixed)[:, 0].tolist() == want
    grad = "tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f5}], {%f6, %f5}, {%f5, %f7};"
    assert sampled(grad, [[0, 4, 1], [0, 1, 2]], Texture(levels))[:, 0].tolist() == [20, 10]
    base = "tex.base.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];"
    assert sampled(base, [[0, 0]], Texture(levels))[0, 0] == 0


def test_depth_and_residence() -> None:
    texture = Texture(_RAMP.reshape(1, 4), filter="linear")
    got = sampled("""tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [t, {%f5, %f6}], %f7;
selp.f32 %f2, 1.0, 0.0, %p1;""", [[2, 0, 25], [2, 0, 30], [2, 0, 41]], texture)
    assert got[:, :2].tolist() == [[0.5, 1], [0.5, 1], [0, 1]]


def test_gather_goes_round_counter_clockwise() -> None:
    image = np.arange(32, dtype=np.float32).reshape(4, 4, 2)
    got = sampled("tld4.g.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];", [[2, 2]],
                  Texture(image, geometry="2d"))
    assert got.tolist() == [[image[2, 1, 1], image[2, 2, 1], image[1, 2, 1], image[1, 1, 1]]]


def test_halves() -> None:
    image = np.array([[1.5, 2, 3, 4]], np.float32)
    texture = Texture(image, geometry="1d")
    one = sampled("""tex.1d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [t, {%f5}];
mov.b32 %f1, {%h1, %h2}; mov.b32 %f2, {%h3, %h4};""", [[0]], texture)
    two = sampled("tex.1d.v2.f16x2.f32 {%w1, %w2}, [t, {%f5}];\nmov.b32 %f1, %w1; mov.b32 %f2, %w2;",
                  [[0]], texture)
    for got in (one, two):
        assert got.view(np.float16)[0, :4].tolist() == [1.5, 2, 3, 4]


def test_samplers_of_their_own() -> None:
    texture = Texture(_RAMP.reshape(1, 4), normalized=True)
    read = "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, SAMPLER, {%f5, %f6}];"
    at = [[1.0, 0.5]]
    point = Sampler()
    assert sampled(read.replace("SAMPLER", "m"), at, texture, m=point)[0, 0] == 40
    assert sampled(read.replace("SAMPLER", "repeated"), at, texture, m=point)[0, 0] == 25
    forced = Sampler(force_unnormalized=True)
    assert sampled(read.replace("SAMPLER", "m"), [[1.5, 0.5]], texture, m=forced)[0, 0] == 20


def test_objects_by_handle() -> None:
    """Threads of one warp read different textures by handles in memory."""
    texture = Texture(_RAMP)
    out = np.zeros((1, 4), np.float32)
    run("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%object, {%f5}];\n"
        "mov.u64 %s1, t; istypep.texref %p1, %s1; selp.f32 %f2, 1.0, 0.0, %p1;\n"
        "istypep.surfref %p1, %object; selp.f32 %f3, 1.0, 0.0, %p1;" + _RESULT,
        np.full((1, 4), 2, np.float32), out, texture, {"t": texture})
    assert out.tolist() == [[30, 1, 0, 1]]


def test_queries() -> None:
    texture = Texture(
        [np.zeros((3, 8, 4, 2), np.uint8), np.zeros((3, 4, 2, 2), np.uint8)], geometry="a2d",
        address=("wrap", "border"), filter="linear", normalized=True,
    )
    asked = {
        "txq.width": 4, "txq.height": 8, "txq.depth": 0, "txq.array_size": 3, "txq.num_mipmap_levels": 2,
        "txq.normalized_coords": 1, "txq.filter_mode": 1, "txq.addr_mode_0": 0, "txq.addr_mode_1": 4,
        "txq.addr_mode_2": 3, "txq.channel_data_type": 0x10DA, "txq.channel_order": 0x10B2,
        "txq.num_samples": 0, "txq.level.width": 2,
    }
    for query, want in asked.items():
        lod = ", 1" if "level" in query.split(".") else ""
        out = np.zeros((1, 4), np.uint32)
        run(f"{query}.b32 %r1, [t]{lod};\nst.global.u32 [%out], %r1;", np.zeros((1, 4), np.float32), out,
            bind={"t": texture})
        assert (query, out[0, 0]) == (query, want)


def test_blur() -> None:
    image = np.arange(20 * 40, dtype=np.float32).reshape(20, 40) % 17
    out = np.zeros_like(image)
    launch(KERNELS / "blur.ptx", entry="blur", grid=(2, 20), block=32, args=[Texture(image), Surface(out)])
    padded = np.pad(image, 1, mode="edge")
    want = sum(padded[y : y + 20, x : x + 40] for y in range(3) for x in range(3)) / np.float32(9)
    assert np.array_equal(out, want)


_AT = np.array([[0, 0], [4, 1], [12, 1], [-4, 0], [16, 2]], np.int32)


@pytest.mark.parametrize(
    ("bounds", "want"), [(".clamp", [1, 6, 8, 1, 8]), (".zero", [1, 6, 8, 0, 0])],
)
def test_surface_bounds(bounds: str, want: list[int]) -> None:
    image = np.arange(1, 9, dtype=np.uint32).reshape(2, 4)
    inputs = np.zeros((5, 4), np.int32)
    inputs[:, :2] = _AT
    out = np.zeros((5, 4), np.uint32)
    body = f"suld.b.2d.b32{bounds} %r1, [s, {{%r5, %r6}}];\nst.global.u32 [%out], %r1;"
    run(body, inputs, out, bind={"s": Surface(image)})
    assert out[:, 0].tolist() == want
    run(f"sust.b.2d.b32{bounds} [s, {{%r5, %r6}}], 99;", inputs[3:], out, bind={"s": Surface(image)})
    assert image.tolist() == ([[99, 2, 3, 4], [5, 6, 7, 99]] if bounds == ".clamp" else
                              [[1, 2, 3, 4], [5, 6, 7, 8]])


def test_surface_traps() -> None:
    inputs = np.zeros((5, 4), np.int32)
    inputs[:, :2] = _AT
    with pytest.raises(ExecutionError, match="outside the surface") as caught:
        run("suld.b.2d.b32.trap %r1, [s, {%r5, %r6}];", inputs, inputs,
            bind={"s": Surface(np.zeros((2, 4), np.uint32))})
    assert [lane.thread[0] for lane in caught.value.lanes] == [3, 4]


def test_vectors_and_layers_of_surfaces() -> None:
    image = np.arange(32, dtype=np.uint16).reshape(2, 2, 8)
    inputs = np.array([[1, 8, 1, 0]], np.int32)
    out = np.zeros((1, 4), np.uint32)
    run("""suld.b.a2d.v4.b16.trap {%h1, %h2, %h3, %h4}, [s, {%r5, %r6, %r7, %r7}];
mov.b32 %r1, {%h1, %h2}; mov.b32 %r2, {%h3, %h4};
st.global.v2.u32 [%out], {%r1, %r2};
sust.b.a2d.v2.b16.trap [s, {%r5, %r6, %r7, %r7}], {%h4, %h3};""", inputs, out,
        bind={"s": Surface(image, geometry="a2d")})
    assert out.view(np.uint16)[0, :4].tolist() == [28, 29, 30, 31]
    assert image[1, 1].tolist() == [24, 25, 26, 27, 31, 30, 30, 31]


def test_formatted_stores() -> None:
    inputs = np.array([[2, 1, 0, 0]], np.int32)
    store = """mov.b32 %r1, 0f3F000000; mov.b32 %r2, 0fC0000000;
sust.p.2d.v2.b32.trap [s, {%r5, %r6}], {%r1, %r2};"""
    for image, want in (
        (np.zeros((2, 4, 2), np.float16), [0.5, -2]), (np.zeros((2, 4, 2), np.int8), [64, -127]),
        (np.zeros((2, 4, 2), np.uint8), [128, 0]),
    ):
        run(store, inputs, inputs, bind={"s": Surface(image, geometry="2d", as_floats=True)})
        assert image[1, 2].tolist() == want
    image = np.zeros((2, 4, 2), np.int8)
    run("mov.u32 %r1, -500; sust.p.2d.v2.b32.trap [s, {%r5, %r6}], {%r1, 7};", inputs, inputs,
        bind={"s": Surface(image, geometry="2d")})
    assert image[1, 2].tolist() == [-128, 7]


def test_reductions_in_surfaces() -> None:
    image = np.array([[1, 2, 3], [4, -5, 6]], np.int32)
    inputs = np.zeros((32, 4), np.int32)
    inputs[:, 0], inputs[:, 1] = 4, 1
    run("sured.b.add.2d.s32.trap [s, {%r5, %r6}], %t;", inputs, inputs, bind={"s": Surface(image)})
    assert image[1, 1] == sum(range(32)) - 5
    run("mov.u32 %r1, -9; sured.p.min.2d.b32.trap [s, {2, %r6}], %r1;", inputs, inputs,
        bind={"s": Surface(image)})
    assert image[1, 2] == -9


def test_what_does_not_fit() -> None:
    nothing = np.zeros((1, 4), np.float32)
    with pytest.raises(ExecutionError, match="no texture has the handle") as caught:
        run(_1D, nothing, nothing)
    assert caught.value.line == 12
    with pytest.raises(ExecutionError, match=r"the texture is `\.1d`, not `\.2d`"):
        run(_2D, nothing, nothing, bind={"t": Texture(_RAMP)})
    with pytest.raises(ExecutionError, match="`u` is not a texture, sampler or surface"):
        run(_1D, nothing, nothing, bind={"u": Texture(_RAMP)})
    with pytest.raises(ExecutionError, match="`t` must be bound to a Texture, not to a Surface"):
        run(_1D, nothing, nothing, bind={"t": Surface(_RAMP)})
    with pytest.raises(ExecutionError, match="six square faces"):
        Texture(np.zeros((5, 2, 2), np.float32), geometry="cube")
    with pytest.raises(ExecutionError, match="half the sizes"):
        Texture([np.zeros((4, 4), np.float32), np.zeros((3, 2), np.float32)])
