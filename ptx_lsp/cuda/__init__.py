"""The CUDA driver as a library of this process: kernels run on the executor (docs/python-programs.md)."""

from ptx_lsp.cuda.installation import install
from ptx_lsp.cuda.launches import LaunchReport, Settings
from ptx_lsp.cuda.report import print_report

__all__ = ["LaunchReport", "Settings", "install", "print_report"]
