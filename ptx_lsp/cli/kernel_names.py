"""The kernels of a PTX text, found without parsing it."""

from __future__ import annotations

from ptx_lsp.lazy_pattern import lazy_pattern

_ENTRY = lazy_pattern(rb"\.entry\s+([A-Za-z_$%][\w$]*)")


def kernel_names(text: bytes) -> list[str]:
    """The names after `.entry`, except in line comments; each once, in order."""
    names: dict[str, None] = {}
    for found in _ENTRY.finditer(text):
        line = text.rfind(b"\n", 0, found.start()) + 1
        if text.find(b"//", line, found.start()) < 0:
            names[found[1].decode()] = None
    return list(names)
