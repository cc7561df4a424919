"""Occupancy: resident blocks and warps, what limits them, and what launch bounds do to them."""

from ptx_lsp.analyses.occupancy.calculator import occupancy

__all__ = ["occupancy"]
