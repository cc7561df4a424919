"""Calls: what they call, what they pass, and prototypes."""
