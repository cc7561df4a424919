"""Editor features, one per file: byte offsets in, immutable values out."""
