"""Modules in C that were not built, or that are older than those in Python, and a package of another project
that hides `analyses`.
"""

from __future__ import annotations

import sys
from typing import Final

IN_C: Final = (
    "tree_sitter_ptx._binding", "ptx_lsp.syntax._scanner", "ptx_lsp.model._core", "analyses._flow"
)  # fmt: skip
_TROUBLE: Final = 2


def unbuilt(error: Exception) -> str | None:
    """The message for a module that is absent, old or hidden; None for any other error."""
    hidden = _hidden(error)
    if hidden is not None:
        return hidden
    if not isinstance(error, ImportError) or error.name not in IN_C:
        return None
    return (
        f"{error}: the modules in C are not built, or are older than the others: `pip install .` in "
        "the repository builds them (it needs a C compiler)"
    )


def _hidden(error: Exception) -> str | None:
    """The message where another package named `analyses` is found first: ours lies beside this one."""
    if not isinstance(error, ImportError) or (error.name or "").partition(".")[0] != "analyses":
        return None
    found = sys.modules.get("analyses")
    places = [str(place) for place in getattr(found, "__path__", [])] or [str(getattr(found, "__file__", ""))]
    own = __file__.replace("\\", "/").rsplit("/", 2)[0] + "/analyses"
    if found is None or any(place.replace("\\", "/").startswith(own) for place in places):
        return None
    return (
        f"`analyses` is a package of ptx-lsp, but {places[0]} hides it: rename that one, or install ptx-lsp "
        "in an environment of its own"
    )


def report_unbuilt(program: str, error: ImportError) -> int:
    """Says what to do, and returns the exit status; raises any other error."""
    message = unbuilt(error)
    if message is None:
        raise error
    print(f"{program}: error: {message}", file=sys.stderr)
    return _TROUBLE
