"""Fixes: suggestions, insertions and removals, and how they are applied."""
