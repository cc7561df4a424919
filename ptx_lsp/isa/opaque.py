"""The fields that a texture, sampler or surface can be declared with: `.global .texref t = { width = 4 };`.

Source: PTX ISA, "Texture Sampler and Surface Types"; which type has which, and that any word may stand for
any field, probed with ptxas 13.5.
"""

from __future__ import annotations

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_SIZES = ("width", "height", "depth")
_SAMPLING = ("addr_mode_0", "addr_mode_1", "addr_mode_2", "filter_mode")
_FORMAT = ("channel_order", "channel_data_type", "array_size")

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    ".texref": (*_SIZES, *_SAMPLING, "normalized_coords", *_FORMAT, "num_mipmap_levels", "num_samples"),
    ".samplerref": (*_SAMPLING, "force_unnormalized_coords"),
    ".surfref": (*_SIZES, *_FORMAT, "memory_layout"),
}
"""By type. A field may be given twice, but no more values than there are fields."""

WORDS: Final = ("wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border", "nearest", "linear")
"""The values of a field besides whole numbers."""
