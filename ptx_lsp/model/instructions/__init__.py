"""Instructions of a function: their arguments, accesses to memory, and the verdict of the table."""
