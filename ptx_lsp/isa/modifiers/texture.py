"""Modifiers of texture and surface instructions, as `lookup` reads them."""

from __future__ import annotations

from typing import Final

TEXT: Final = """
# Geometry
tex tld4 suld sust sured | .<N>d | The image has <N> dimensions.
tex tld4 suld sust | .a<N>d | An array of images with <N> dimensions; the first coordinate is the index.
tex | .2dms | A two-dimensional image with several samples for each pixel; the first coordinate is the sample.
tex | .a2dms | An array of images with several samples for each pixel, by index and sample.
tex tld4 | .cube | A cube map: six faces, addressed by a direction.
tex tld4 | .acube | An array of cube maps, addressed by index and direction.
tex | .base | Reads the finest level of a mipmap.
tex | .level | Reads the level of detail that an operand names.
tex | .grad | Reads the level of detail that follows from the derivatives of the coordinates.
tld4 | .r | Gathers the red component, the first.
tld4 | .g | Gathers the green component, the second.
tld4 | .b | Gathers the blue component, the third.
tld4 | .a | Gathers the alpha component, the fourth.

# Surfaces
suld sust | .b | Moves bytes as they are, and counts the first coordinate in bytes.
sured | .b | Counts the first coordinate in bytes.
sust | .p | Converts components to the format of the surface, and counts coordinates in samples.
sured | .p | Counts the first coordinate in samples, not bytes.
suld sust sured | .trap | An access out of bounds aborts the grid.
suld sust sured | .clamp | An access out of bounds goes to the nearest place within.
suld sust sured | .zero | A load out of bounds gives 0, a store there does nothing.

# Questions
suq txq | .width | Asks for the width, in elements.
suq txq | .height | Asks for the height, in elements.
suq txq | .depth | Asks for the depth, in elements.
suq txq | .channel_data_type | Asks for the type of the components, as the host API numbers it.
suq txq | .channel_order | Asks for the order of the components, as the host API numbers it.
suq txq | .array_size | Asks how many images the array has.
suq | .memory_layout | Asks whether the surface lies row by row (1) or in blocks (0).
txq | .level | Asks about one level of a mipmap.
txq | .num_mipmap_levels | Asks how many levels the mipmap has.
txq | .num_samples | Asks how many samples a pixel has.
txq | .filter_mode | Asks how the sampler filters: nearest or linear.
txq | .addr_mode_<N> | Asks what the sampler does with coordinate <N> out of bounds: wrap, mirror, clamp.
txq | .normalized_coords | Asks whether coordinates go from 0.0 to 1.0.
txq | .force_unnormalized_coords | Asks whether the sampler overrides normalized coordinates of the texture.
"""
