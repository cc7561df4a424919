"""Checks of a running kernel: each file is an observer that looks for one thing."""

from ptx_lsp.executor.check.checker import Checker
from ptx_lsp.executor.check.finding import Finding

__all__ = ["Checker", "Finding"]
