"""Occupancy: resident blocks and warps, what limits them, and what launch bounds do to them."""

from analyses.occupancy.calculator import occupancy

__all__ = ["occupancy"]
