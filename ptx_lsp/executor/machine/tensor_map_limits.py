"""The limits of tensor maps by the manual and the driver API (`cuTensorMapEncode...`)."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.executor.machine.tensor_map_fields import (
    ATOMICITIES,
    BITS,
    ELEMENTS,
    FILLS,
    INTERLEAVES,
    LOAD_MODES,
    PADDED,
    SLICES,
    SWIZZLES,
    Fields,
)

_SPANS = {"32B": 32, "64B": 64, "96B": 96, "128B": 128}
"""How many bytes of a row each swizzle mode allows."""
_CORNER_BITS = {3: 16, 4: 8, 5: 5}
"""By the rank of the tensor, for `.im2col`; other modes have 16 bits."""


def map_problem(map: Fields) -> str:
    """The reason that no tensor map has such fields; "" if one may."""
    return next(_problems(map), "")


def _problems(map: Fields) -> Iterator[str]:
    yield from _unknown_numbers(map)
    rank = map["rank"] + 1
    yield from _size_problems(map, rank)
    if map["load_mode"]:
        yield from _column_problems(map, rank)
    yield from _layout_problems(map, rank)
    if ELEMENTS[map["elemtype"]] in PADDED:
        yield from _padding_problems(map)


def _unknown_numbers(map: Fields) -> Iterator[str]:
    for name, value, count in (
        ("elemtype", map["elemtype"], len(ELEMENTS)),
        ("rank", map["rank"], 5),
        ("interleave_layout", map["interleave_layout"], len(INTERLEAVES)),
        ("swizzle_mode", map["swizzle_mode"], len(SWIZZLES)),
        ("swizzle_atomicity", map["swizzle_atomicity"], len(ATOMICITIES)),
        ("fill_mode", map["fill_mode"], len(FILLS)),
        ("load mode", map["load_mode"], len(LOAD_MODES)),
    ):
        if not 0 <= value < count:
            yield f"the field `{name}` is {value}, but must be less than {count}"


def _size_problems(map: Fields, rank: int) -> Iterator[str]:
    is_interleaved = map["interleave_layout"] > 0
    if any(not 1 <= one <= 8 for one in map["element_stride"][not is_interleaved : rank]):
        yield "a step must be from 1 to 8 elements"
    if not map["load_mode"]:
        if any(not 1 <= one <= 256 for one in map["box_dim"][:rank]):
            yield "a box must have 1 to 256 elements in each dimension"
        if not is_interleaved and map["box_dim"][0] * BITS[ELEMENTS[map["elemtype"]]] % 128:
            yield "the rows of a box must be a multiple of 16 bytes"
    if map["global_address"] % 16:
        yield f"the address must be a multiple of 16, not {map['global_address']:#x}"
    for stride in map["global_stride"][: rank - 1]:
        if stride % 16:
            yield (
                "the elements of a row must be adjacent, and rows a multiple of 16 bytes apart, not"
                f" {stride}"
            )
        if stride >= 1 << 40:
            yield f"rows must be less than 2^40 bytes apart, not {stride}"


def _column_problems(map: Fields, rank: int) -> Iterator[str]:
    mode, is_interleaved = LOAD_MODES[map["load_mode"]], map["interleave_layout"] > 0
    if rank < 3:
        yield f"`{mode}` requires a tensor of 3 to 5 dimensions, not {rank}"
    if not 1 <= map["channels"] <= 256:
        yield f"a pixel must have 1 to 256 channels, not {map['channels']}"
    if not 1 <= map["pixels"] <= 1024 and mode != ".im2col::w::128":
        yield f"a column must have 1 to 1024 pixels, not {map['pixels']}"
    is_wide = mode != ".im2col"
    half = 1 << (16 if is_wide else _CORNER_BITS[rank]) - 1
    for number in (*map["lower"], *map["upper"]):
        if not -half <= number < half:
            yield (
                f"a corner of `{mode}` in {rank} dimensions must be from {-half} to {half - 1}, not"
                f" {number}"
            )
    sizes = map["global_dim"][not is_interleaved :]
    for at, name in enumerate(("width", "height", "depth")[: 1 if is_wide else rank - 2]):
        first, last = _at(map["lower"], at), sizes[at] - 1 + _at(map["upper"], at)
        if first > last:
            yield f"the bounding box has no pixels: it begins at {name} {first} and ends at {last}"
    if not is_wide:
        return
    swizzle = SWIZZLES[map["swizzle_mode"]]
    if is_interleaved:
        yield f"`{mode}` does not allow interleaved channels"
    if swizzle == "none":
        yield f"`{mode}` requires a swizzle mode"
    if _is_flipped(map):
        yield f"`{mode}` does not allow swizzling with 8-byte flips"
    if mode == ".im2col::w::128" and swizzle == "96B":
        yield f"`{mode}` does not allow swizzle mode 96B"


def _layout_problems(map: Fields, rank: int) -> Iterator[str]:
    swizzle, slice_bytes = SWIZZLES[map["swizzle_mode"]], SLICES[map["interleave_layout"]]
    name = ELEMENTS[map["elemtype"]]
    if swizzle not in ("none", "128B") and map["swizzle_atomicity"]:
        atomicity = ATOMICITIES[map["swizzle_atomicity"]]
        yield f"swizzle mode {swizzle} requires an atomicity of 16B, not {atomicity}"
    if slice_bytes:
        if rank < 3:
            yield f"{slice_bytes}-byte interleave requires a tensor of 3 to 5 dimensions, not {rank}"
        if slice_bytes == 32 and swizzle != "32B":
            yield f"32-byte interleave requires swizzle mode 32B, not {swizzle}"
        if swizzle == "96B":
            yield "swizzle mode 96B does not allow interleaved channels"
        if slice_bytes == 32:
            yield from _unaligned(map, 32, "32-byte interleave")
    elif swizzle != "none" and name not in PADDED:
        row = _row(map) * BITS[name] // 8
        if row > _SPANS[swizzle]:
            yield f"swizzle mode {swizzle} allows rows of at most {_SPANS[swizzle]} bytes, not {row}"


def _padding_problems(map: Fields) -> Iterator[str]:
    """The problems of elements of 4 or 6 bits with padding. What sm_103a and sm_107a allow in stores is
    allowed here.
    """
    name, swizzle = ELEMENTS[map["elemtype"]], SWIZZLES[map["swizzle_mode"]]
    least, alignment = (64, 16) if name == ".b6x16_p32" else (128, 32)
    if map["interleave_layout"]:
        yield f"elements of type `{name}` cannot be interleaved"
    if map["global_dim"][0] % least:
        yield f"rows of `{name}` must have a multiple of {least} elements, not {map['global_dim'][0]}"
    if _row(map) not in (least, 128):
        row = "a pixel" if map["load_mode"] else "a box"
        yield f"{row} must have 128 elements of type `{name}` in a row, not {_row(map)}"
    if swizzle not in ("none", "128B") and (swizzle != "64B" or least == 128):
        yield f"elements of type `{name}` do not allow swizzle mode {swizzle}"
    if _is_flipped(map):
        yield f"elements of type `{name}` do not allow swizzling with 8-byte flips"
    yield from _unaligned(map, alignment, f"the type `{name}`")


def _unaligned(map: Fields, alignment: int, what: str) -> Iterator[str]:
    if map["global_address"] % alignment:
        yield f"{what} requires an address that is a multiple of {alignment}"
    for stride in map["global_stride"][: map["rank"]]:
        if stride % alignment:
            yield f"{what} requires strides that are multiples of {alignment} bytes, not {stride}"


def _row(map: Fields) -> int:
    """The elements of a row of a box, or the channels of a pixel."""
    return map["channels"] if map["load_mode"] else map["box_dim"][0]


def _is_flipped(map: Fields) -> bool:
    return SWIZZLES[map["swizzle_mode"]] == "128B" and ATOMICITIES[map["swizzle_atomicity"]] == "32B flip 8B"


def _at(corner: list[int], at: int) -> int:
    """The number of a corner in W, H or D, which is 0 if it is not given."""
    return corner[at] if at < len(corner) else 0
