"""Descriptors: bit fields that `wgmma` and `tcgen05` take for operands."""
