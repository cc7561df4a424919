"""The formats of containers, one per file: `FORMAT` is a `Format`. They are discovered, not listed."""
