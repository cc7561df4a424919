"""How the rows of the instruction table are written, and what they are made of."""
