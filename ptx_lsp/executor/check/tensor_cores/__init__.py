"""Checks of `wgmma` and `tcgen05`."""
