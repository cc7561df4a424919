"""Holds a spelling and its operands against the rows of the table."""
