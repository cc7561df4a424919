"""The names of kernels in reports for people."""

from __future__ import annotations

from collections.abc import Iterable

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_MANGLED: Final = ("_Z", "_R")


def display_names(names: Iterable[str]) -> dict[str, str]:
    """The short demangled forms of mangled names. The mangled name is what other options take, and separates
    instances of a template, so both are shown.
    """
    mangled = [name for name in names if name.startswith(_MANGLED)]
    if not mangled:
        return {}
    from ptx_lsp.demangler import demangled, short_name  # which starts processes

    return {name: short_name(text) for name, text in demangled(mangled).items()}
