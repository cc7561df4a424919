"""What is at a place of the text: tokens, names, operands, live ranges."""
