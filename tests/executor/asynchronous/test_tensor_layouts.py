"""Copies along the width, of interleaved channels and of padded elements, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import ExecutionError, TensorMap, launch, tensor_map
from ptx_lsp.executor.asynchronous.tensor_box import Description
from ptx_lsp.executor.machine.tensor_map_fields import FIELDS

Array = npt.NDArray[np.generic]
_TEXT = """.version 9.4
.target sm_107a
.address_size 64
.entry k(.param .align 64 .b8 map[128], .param .u64 out) {
.reg .u64 %map, %out, %state; .reg .u32 %t; .reg .b16 %halo, %offset; .reg .pred %p, %q;
.shared .align 1024 .b8 box[20480];
.shared .align 8 .b64 bar;
ld.param.u64 %out, [out];
mov.b64 %map, map; cvta.param.u64 %map, %map;
mov.b16 %halo, HALO; mov.b16 %offset, OFFSET;
mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 5; @%p ret;
COPY
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
ret;
}
"""
_LOAD = """mbarrier.init.shared::cta.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], BYTES;
cp.async.bulk.tensor.{rank}d.shared::cta.global.{mode}.mbarrier::complete_tx::bytes \
[box], [%map, {{{at}}}], [bar]{info};
again: mbarrier.try_wait.parity.shared::cta.b64 %q, [bar], 0; @!%q bra again;
cp.async.bulk.global.shared::cta.bulk_group [%out], [box], BYTES;"""


def load(rank: int, mode: str, *at: int) -> str:
    info = ", {%halo, %offset}" if "im2col" in mode else ""
    return _LOAD.format(rank=rank, mode=mode, at=", ".join(map(str, at)), info=info)


def run(
    map: TensorMap, copy: str, out: Array, halo: int = 0, offset: int = 0, loaded: int | None = None
) -> None:
    """Runs a copy; `out` is then as the box, of which a load has written `loaded` bytes (None: all)."""
    text = _TEXT.replace("COPY", copy).replace("[bar], BYTES", f"[bar], {loaded or out.nbytes}")
    text = text.replace("BYTES", str(out.nbytes)).replace("HALO", str(halo)).replace("OFFSET", str(offset))
    launch(text, entry="k", grid=1, block=32, args=[map, out], limit=1 << 20)


def unswizzled(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Lines of 128 bytes before "128B" swizzling."""
    pieces = data.reshape(-1, 8, 16)
    lines = np.arange(len(pieces)).reshape(-1, 1)
    return pieces[lines, np.arange(8) ^ lines % 8]


@pytest.mark.parametrize(("mode", "wide"), [("im2col::w", "W"), ("im2col::w::128", "W128")])
def test_the_example_of_the_manual(mode: str, wide: str) -> None:
    """128 pixels of 64 channels from image 7, row 2, pixel 3 on, and two of the halo."""
    array = np.arange(64 * 7 * 9 * 128, dtype=np.uint32).astype(np.uint16).reshape(64, 7, 9, 128)
    map = tensor_map(
        array, box=(1, 1, 1, 1), channels=64, pixels=128, lower=(0,), upper=(0,), swizzle="128B",
        wide="W" if wide == "W" else "W128",
    )
    row = array[7:, 2].reshape(-1, 128)[3:, :64]
    halo = [128, 129] if wide == "W" else [32, 64, 96, 128, 33, 65, 97, 129]
    out = np.zeros(128 * (128 + len(halo)), np.uint8)
    run(map, load(4, mode, 0, 3, 2, 7), out, halo=2)
    got = unswizzled(out).view(np.uint16).reshape(-1, 64)
    assert np.array_equal(got, row[[*range(128), *halo]])


@pytest.mark.parametrize("slices", [1, 3])
def test_slices_of_channels(slices: int) -> None:
    """A slice of 8 channels of each pixel, from an array N, C/8, H, W, 8; however many the box has."""
    array = np.arange(2 * 3 * 4 * 6 * 8, dtype=np.uint16).reshape(2, 3, 4, 6, 8)
    map = tensor_map(array, box=(2, slices, 3, 4), interleave="16B")
    out = np.zeros((2, 1, 3, 4, 8), np.uint16)
    run(map, load(4, "tile", 1, 0, 2, 0), out)
    assert np.array_equal(out, array[:, 2:, :3, 1:5])


def _packed(values: npt.NDArray[np.uint8], bits: int) -> npt.NDArray[np.uint8]:
    """Elements of so many bits without gaps."""
    unpacked = np.unpackbits(values[..., None], axis=-1, count=bits, bitorder="little")
    return np.packbits(unpacked.reshape(*values.shape[:-1], -1), axis=-1, bitorder="little")


@pytest.mark.parametrize(("bits", "type"), [(4, ".b4x16_p64"), (6, ".b6x16_p32")])
def test_padded_elements(bits: int, type: str) -> None:
    values = (np.arange(3 * 256) * 7 % (1 << bits)).astype(np.uint8).reshape(3, 256)
    map = tensor_map(_packed(values, bits), box=(2, 128), type=type)
    out = np.zeros(256, np.uint8)
    run(map, load(2, "tile", 128, 1), out, loaded=256 * bits // 8)
    got = out.reshape(2, 8, 16)
    assert np.array_equal(got[..., : 2 * bits].reshape(2, -1), _packed(values[1:, 128:], bits))
    assert not got[..., 2 * bits :].any()


# -- what is wrong ------------------------------------------------------------------------------

_IMAGES = np.zeros((2, 4, 9, 64), np.uint16)
_WIDE = tensor_map(_IMAGES, box=(1, 1, 1, 1), channels=64, pixels=16, swizzle="128B", wide="W")
_WIDE_128 = tensor_map(_IMAGES, box=(1, 1, 1, 1), channels=64, swizzle="128B", wide="W128")
_COLUMNS = tensor_map(_IMAGES, box=(1, 1, 1, 1), channels=64, pixels=16, lower=(0, 0), upper=(-1, -1))
_STORED = tensor_map(
    _IMAGES, box=(1, 1, 1, 1), channels=64, pixels=16, lower=(-1,), upper=(0,), swizzle="128B", wide="W"
)
_BYTES = np.zeros((4, 192), np.uint8)
_SIX = tensor_map(_BYTES, box=(1, 128), type=".b6p2x16")
_SIX_HALF = tensor_map(_BYTES, box=(1, 64), type=".b6p2x16")
_FOUR = tensor_map(_BYTES, box=(1, 128), type=".b4x16_p64")
_MATRIX = tensor_map(_BYTES, box=(1, 16))
_FLIPPED = tensor_map(_BYTES, box=(1, 128), swizzle="128B", atomicity="32B flip 8B")
_SLICES = tensor_map(
    np.zeros((2, 3, 8, 8), np.uint16), box=(1, 1, 8), interleave="16B", swizzle="32B"
)
_STORE = "cp.async.bulk.tensor.{}d.global.shared::cta.{}.bulk_group [%map, {{{}}}], [box];"


@pytest.mark.parametrize(("map", "copy", "info", "message"), [
    (_WIDE, load(4, "im2col::w", 0, 0, 0, 0), (512, 0),
     "`wHalo` of `.im2col::w` must be less than 512, not 512"),
    (_WIDE, load(4, "im2col::w", 0, 0, 0, 0), (511, 32),
     "`wOffset` of `.im2col::w` must be less than 32, not 32"),
    (_WIDE_128, load(4, "im2col::w::128", 0, 0, 0, 0), (32, 0),
     "`wHalo` of `.im2col::w::128` must be less than 32, not 32"),
    (_WIDE, load(4, "im2col::w::128", 0, 0, 0, 0), (0, 0),
     "is for `.4d` and `.im2col::w`, not `.4d` and `.im2col::w::128`"),
    (_COLUMNS, load(4, "im2col::w", 0, 0, 0, 0), (0, 0),
     "is for `.4d` and `.im2col`, not `.4d` and `.im2col::w`"),
    (_WIDE, load(4, "im2col::w", 0, 9, 0, 0), (0, 2),
     "coordinate 1 is 9, but the bounding box goes from 0 to 8"),
    (_COLUMNS, load(4, "im2col", 0, 0, -1, 0), (0, 0),
     "coordinate 2 is -1, but the bounding box goes from 0 to 2"),
    (_WIDE, _STORE.format(4, "im2col_no_offs::w", "0, -1, 0, 0"), (0, 0),
     "the coordinates of stores must not be negative, but one is -1"),
    (_STORED, _STORE.format(4, "im2col_no_offs::w", "0, 0, 0, 0"), (0, 0),
     "lower corners must not be negative"),
    (_FOUR, load(2, "tile", 16, 0), (0, 0),
     "the first coordinate of `.b4x16_p64` must be a multiple of 128, not 16"),
    (_SIX, _STORE.format(2, "tile", "32, 0"), (0, 0),
     "the first coordinate of `.b6p2x16` must be a multiple of 64, not 32"),
    (_SIX_HALF, load(2, "tile", 0, 0), (0, 0),
     "loads of `.b6x16_p32` require boxes of 128 elements and rows of a multiple of 128, not 64 and 256"),
    (_FOUR, _STORE.format(2, "tile", "0, 0"), (0, 0),
     "elements of type `.b4x16_p64` can only be loaded; stores have `.b4x16`"),
    (_MATRIX, _STORE.format(2, "tile", "0, -1"), (0, 0),
     "the coordinates of stores must not be negative, but one is -1"),
    (_FLIPPED, _STORE.format(2, "tile", "0, 0"), (0, 0), "swizzling with 8-byte flips is for loads only"),
    (_COLUMNS, load(4, "im2col", 0, 0, 0, 0), (256, 0),
     "offsets of `.im2col` in 4 dimensions must be less than 256, not 256"),
    (_SIX, _STORE.replace("cp.", "cp.reduce.").format(2, "or.tile", "0, 0"), (0, 0),
     "`.or` does not allow elements of type `.b6x16_p32`"),
])
def test_misuse_names_the_line_and_the_thread(
    map: TensorMap, copy: str, info: tuple[int, int], message: str
) -> None:
    with pytest.raises(ExecutionError, match=re.escape(message)) as caught:
        run(map, copy, np.zeros(64, np.uint8), *info)
    error = caught.value
    lines = _TEXT.replace("COPY", copy).splitlines()
    assert (error.kind, "[%map, {" in lines[error.line - 1]) == ("tensor-map", True)
    assert [lane.thread[0] for lane in error.lanes] == [5]


def test_swizzled_slices_of_16_bytes_are_refused() -> None:
    with pytest.raises(ExecutionError, match="16-byte interleave with swizzling is not supported") as caught:
        run(_SLICES, load(3, "tile", 0, 0, 0), np.zeros(128, np.uint8))
    assert caught.value.kind == "unsupported"


@pytest.mark.parametrize(("map", "fields", "message"), [
    (_WIDE, {"swizzle_mode": 0}, "`.im2col::w` requires a swizzle mode"),
    (_WIDE, {"swizzle_atomicity": 2}, "`.im2col::w` does not allow swizzling with 8-byte flips"),
    (_WIDE, {"interleave_layout": 1}, "`.im2col::w` does not allow interleaved channels"),
    (_WIDE_128, {"swizzle_mode": 4}, "`.im2col::w::128` does not allow swizzle mode 96B"),
    (_WIDE, {"upper": -9}, "the bounding box has no pixels: it begins at width 0 and ends at -1"),
    (_WIDE, {"rank": 1}, "`.im2col::w` requires a tensor of 3 to 5 dimensions, not 2"),
    (_SLICES, {"rank": 1}, "16-byte interleave requires a tensor of 3 to 5 dimensions, not 2"),
    (_SLICES, {"swizzle_mode": 4}, "swizzle mode 96B does not allow interleaved channels"),
    (_SLICES, {"interleave_layout": 2, "swizzle_mode": 3},
     "32-byte interleave requires swizzle mode 32B, not 128B"),
    (_SLICES, {"interleave_layout": 2, "global_address": 48},
     "32-byte interleave requires an address that is a multiple of 32"),
    (_SLICES, {"interleave_layout": 2, "global_stride": 48},
     "32-byte interleave requires strides that are multiples of 32 bytes, not 48"),
    (_SLICES, {"elemtype": 14}, "elements of type `.b4x16_p64` cannot be interleaved"),
    (_FOUR, {"global_dim": 64}, "rows of `.b4x16_p64` must have a multiple of 128 elements, not 64"),
    (_SIX, {"global_dim": 96}, "rows of `.b6x16_p32` must have a multiple of 64 elements, not 96"),
    (_FOUR, {"box_dim": 64}, "a box must have 128 elements of type `.b4x16_p64` in a row, not 64"),
    (_FOUR, {"swizzle_mode": 2}, "elements of type `.b4x16_p64` do not allow swizzle mode 64B"),
    (_SIX, {"swizzle_mode": 1}, "elements of type `.b6x16_p32` do not allow swizzle mode 32B"),
    (_SIX, {"swizzle_mode": 3, "swizzle_atomicity": 2},
     "elements of type `.b6x16_p32` do not allow swizzling with 8-byte flips"),
    (_FOUR, {"global_stride": 80},
     "the type `.b4x16_p64` requires strides that are multiples of 32 bytes, not 80"),
    (_FOUR, {"global_address": 16}, "the type `.b4x16_p64` requires an address that is a multiple of 32"),
    (_WIDE, {"rank": 5}, "the field `rank` is 5, but must be less than 5"),
    (_WIDE, {"elemtype": 16}, "the field `elemtype` is 16, but must be less than 16"),
    (_WIDE, {"load_mode": 4}, "the field `load mode` is 4, but must be less than 4"),
    (_WIDE, {"channels": 0}, "a pixel must have 1 to 256 channels, not 0"),
    (_WIDE, {"channels": 128}, "swizzle mode 128B allows rows of at most 128 bytes, not 256"),
    (_WIDE, {"swizzle_mode": 2, "swizzle_atomicity": 1},
     "swizzle mode 64B requires an atomicity of 16B, not 32B"),
    (_COLUMNS, {"pixels": 0}, "a column must have 1 to 1024 pixels, not 0"),
    (_COLUMNS, {"pixels": 1025}, "a column must have 1 to 1024 pixels, not 1025"),
    (_COLUMNS, {"lower": 128}, "a corner of `.im2col` in 4 dimensions must be from -128 to 127, not 128"),
    (_COLUMNS, {"upper": -9}, "the bounding box has no pixels: it begins at width 0 and ends at -1"),
    (_COLUMNS, {"global_address": 8}, "the address must be a multiple of 16, not 0x8"),
    (_COLUMNS, {"global_stride": 1 << 40}, "rows must be less than 2^40 bytes apart, not 1099511627776"),
    (_SLICES, {"element_stride": 0}, "a step must be from 1 to 8 elements"),
    (_SLICES, {"box_dim": 0}, "a box must have 1 to 256 elements in each dimension"),
])
def test_maps_that_the_manual_does_not_allow(map: TensorMap, fields: Mapping[str, int], message: str) -> None:
    changed = map.fields.copy()
    for name, value in fields.items():
        found = changed.view(FIELDS)[name]
        if found.ndim > 1:
            found[0, 0] = value
        else:
            found[0] = value
    with pytest.raises(ExecutionError, match=re.escape(f"invalid tensor map: {message}")) as caught:
        Description(changed)
    assert caught.value.kind == "tensor-map"


def test_copies_of_invalid_maps_name_the_line_and_the_thread() -> None:
    """Also fields that only `tensormap.replace` or a store can give such values."""
    for name, value in (("element_stride", 0), ("box_dim", 0), ("rank", 9), ("global_stride", 1 << 63)):
        changed = tensor_map(np.zeros((2, 4, 8), np.uint16), box=(1, 1, 8))
        changed.fields.view(FIELDS)[name][..., -1:] = value
        changed.fields.view(FIELDS)[name][..., :2] = value
        with pytest.raises(ExecutionError, match="invalid tensor map") as caught:
            run(changed, load(3, "tile", 0, 0, 0), np.zeros(64, np.uint8))
        assert (caught.value.kind, caught.value.lanes[0].thread[0]) == ("tensor-map", 5)
        assert caught.value.line


def test_boxes_larger_than_memory() -> None:
    """Boxes of a shared memory that no block has, and elements beyond all addresses."""
    map = tensor_map(np.zeros((1, 1, 1, 1, 16), np.uint8), box=(256, 256, 256, 256, 256))
    with pytest.raises(ExecutionError, match="the box does not fit in shared memory"):
        run(map, load(5, "tile", 0, 0, 0, 0, 0), np.zeros(64, np.uint8))
    map = tensor_map(np.zeros((1, 16), np.uint8), box=(1, 16))
    map.fields.view(FIELDS)["global_stride"][:, 0] = (1 << 40) - 16
    map.fields.view(FIELDS)["global_dim"][:, 1] = (1 << 32) - 1
    with pytest.raises(ExecutionError, match="the tensor is larger than"):
        run(map, load(2, "tile", 0, (1 << 31) - 1), np.zeros(64, np.uint8))


@pytest.mark.parametrize(("shape", "more", "message"), [
    ((2, 4, 8, 4), {"interleave": "16B", "box": (1, 1, 8)},
     "innermost dimension is a slice of 16 bytes, not 8"),
    ((4, 8), {"interleave": "16B", "box": (4,)}, "requires a tensor of 3 to 5 dimensions, not 1"),
    ((4, 16), {"type": ".b4x16", "box": (1, 32)}, "`.b4x16` must be packed in an array of bytes"),
    ((2, 4, 8), {"wide": "W", "box": (1, 1, 8)}, "a tensor map for `.im2col::w` requires `channels`"),
    ((2, 4, 8), {"wide": "W", "box": (1, 1, 1), "channels": 8, "pixels": 4}, "requires a swizzle mode"),
])
def test_what_is_no_tensor_map(shape: Sequence[int], more: dict[str, object], message: str) -> None:
    with pytest.raises(ExecutionError, match=re.escape(message)) as caught:
        tensor_map(np.zeros(shape, np.uint16), **more)  # pyrefly: ignore[bad-argument-type]
    assert caught.value.kind == "launch"


def test_rows_of_6_bits() -> None:
    message = "rows of 16 bytes do not hold a whole number of elements of 6 bits"
    with pytest.raises(ExecutionError, match=message):
        tensor_map(np.zeros((2, 16), np.uint8), box=(1, 128), type=".b6x16_p32")
