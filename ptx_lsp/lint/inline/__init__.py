"""Findings about inline assembly."""
