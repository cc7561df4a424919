"""Checks of a running kernel: each file is an observer that looks for one thing."""
