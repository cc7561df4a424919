"""The reference executor: runs PTX without a GPU (`launch`)."""

from ptx_lsp.executor.check import Finding
from ptx_lsp.executor.errors import ExecutionError, Lane
from ptx_lsp.executor.launch import launch

__all__ = ["ExecutionError", "Finding", "Lane", "launch"]
