"""Decodes the instructions of a kernel, and of its callees, into blocks of steps."""
