"""Converts text to typed, read-only nodes, with errors beside the tree. Parsing never raises."""
