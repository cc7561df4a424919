"""Arithmetic, loads and stores, atomics, and the warp exchange instructions."""
