"""Hover text for a kernel with launch comments: the results of the launches."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.ide.cursor.markdown import code, fenced, listed, paragraphs
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source

_LONGEST = 200_000
"""A hover launches only kernels of files up to this many bytes."""
_MOST = 4
_SECONDS = 0.2
_SHOWN = 1000
"""Characters of what a kernel prints."""
_LIMIT = 1 << 12
"""Steps per wave: longer launches are left to the panel."""


def launch_text(module: Module, name: str) -> str:
    """The buffers of the kernel `name` before and after each of its launches; empty if it has none."""
    data = module.document.source.data
    if b"ptx-run:" not in data or len(data) > _LONGEST:
        return ""
    return _launched(data, name)


@lru_cache(maxsize=8)
def _launched(data: bytes, name: str) -> str:
    from ptx_lsp.executor.launching.launch_comment import launch_comments
    from ptx_lsp.executor.launching.preview import (
        preview_kernels,  # NumPy: only where there is such a comment
    )

    module = Module(Document.parse(Source(data)))
    if len(launch_comments(module)) > _MOST:
        return ""
    parts: list[str] = []
    for one in preview_kernels(module, limit=_LIMIT, seconds=_SECONDS, check=False):
        if one.entry != name:
            continue
        grid, block = (", ".join(map(str, size)) for size in (one.grid, one.block))
        head = f"Launched as specified in line {one.line}: grid {grid}, block {block}"
        if one.problem:
            where = f"line {one.problem_line}: " if one.problem_line else ""
            parts.append(f"Launch specified in line {one.line}: {where}{one.problem}")
            continue
        rows = [
            f"{code(buffer.name)} ({buffer.type}, {buffer.changed} of {buffer.size} changed): "
            f"{code(', '.join(buffer.before))} → {code(', '.join(buffer.after))}"
            for buffer in one.buffers
        ]
        printed = f"Output:\n\n{fenced(one.console[:_SHOWN].rstrip(), 'text')}" if one.console else ""
        parts.append(paragraphs([head, listed(rows), printed]))
    return paragraphs(parts)
