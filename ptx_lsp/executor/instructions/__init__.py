"""Arithmetic, loads and stores, atomics, and what the lanes of a warp exchange."""
