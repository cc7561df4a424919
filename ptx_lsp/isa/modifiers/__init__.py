"""The meaning of every modifier."""
