"""The dynamic shared memory of a kernel's blocks, as far as something says it.

1. A kernel that names no `.extern .shared` variable, not even in a function that it calls, has none.
2. Otherwise it is that of the kernel's first launch comment with `shared=`, else that of the setting, else
   that of the metadata that a compiler wrote (`metadata.py`). Without any of them it is unknown.
"""

from __future__ import annotations

from ptx_lsp.containers.kernel_metadata import KernelMetadata
from ptx_lsp.lint.results.report import DynamicShared
from ptx_lsp.model.calls.dynamic_shared import uses_dynamic_shared
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module, module_of


def dynamic_shared(
    function: Function, setting: int | None = None, known: KernelMetadata | None = None
) -> DynamicShared:
    """The dynamic shared memory of one kernel; `setting` has bytes per block, `known` is its metadata."""
    if not uses_dynamic_shared(function):
        return DynamicShared(0, "none")
    commented = _commented(module_of(function), function.name)
    if commented is not None:
        return DynamicShared(commented, "launch comment")
    if setting is not None:
        return DynamicShared(setting, "setting")
    if known is not None and known.shared_bytes is not None:
        return DynamicShared(known.shared_bytes, "metadata")
    return DynamicShared(None, "unknown")


def _commented(module: Module, kernel: str) -> int | None:
    if b"ptx-run:" not in module.document.source.data:
        return None
    from ptx_lsp.executor.launching.launch_comment import launch_comments

    for one in launch_comments(module):
        if one.entry == kernel and one.has_shared and not one.problem:
            return one.shared_bytes
    return None
