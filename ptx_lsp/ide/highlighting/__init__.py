"""Semantic tokens."""
