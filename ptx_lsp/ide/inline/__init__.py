"""Features in blocks of inline assembly: places in the host, operands, semantic tokens."""
