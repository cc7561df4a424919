"""Rows of the table in words, for people."""
