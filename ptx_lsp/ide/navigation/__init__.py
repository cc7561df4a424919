"""Definitions, references, symbols, calls, selection and folding."""
