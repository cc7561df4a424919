"""The context of a place in the text: tokens, names, operands, live ranges."""
