"""Checks of a running kernel: each file is an observer that performs one check."""
