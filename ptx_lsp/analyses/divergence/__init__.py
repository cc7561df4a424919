"""Divergence: uniform values and branches, lanes that differ, and their accesses to memory."""
