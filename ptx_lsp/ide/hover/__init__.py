"""Hover texts and links."""
