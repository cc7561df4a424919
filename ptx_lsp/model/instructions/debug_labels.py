"""The labels of debug information, which compilers place between instructions and nothing jumps to."""

from __future__ import annotations

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.uses import unused

_DEBUG_LABEL = lazy_pattern(r"\$?L(?:__)?(?:tmp|func_begin|func_end)\d+")
"""As LLVM names them, and with it nvcc, clang, Triton and Numba: `$L__tmp12`, `$L__func_begin0`."""


def debug_labels(function: Function) -> frozenset[str]:
    """The names of the labels of `function` that only debug information may refer to."""
    named = [label for label in function.body.labels if _DEBUG_LABEL.fullmatch(label.name)]
    return frozenset(label.name for label in unused(function, named)) if named else frozenset()
