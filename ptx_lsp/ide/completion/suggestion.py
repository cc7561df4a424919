"""A completion suggestion."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ptx_lsp.named_tuple import NamedTuple

Sort: TypeAlias = Literal[
    "opcode", "modifier", "register", "special register", "label", "variable", "parameter", "kernel",
    "function", "call prototype", "list of targets", "directive", "type", "state space", "version",
    "target", "pragma", "component", "constant", "name",
]


class Suggestion(NamedTuple):
    """A suggestion for the cursor: `text` is inserted, as a snippet with `${1:places}` if `is_snippet`.

    A smaller `rank` comes first. `key` is for `documentation`.
    """

    label: str
    sort: Sort
    text: str
    detail: str = ""
    rank: int = 0
    is_snippet: bool = False
    is_supported: bool = True
    """Whether the file's version and target support it."""
    is_deprecated: bool = False
    key: str = ""


def plain(label: str, sort: Sort, detail: str = "", rank: int = 0, key: str = "") -> Suggestion:
    """A suggestion inserted as plain text."""
    return Suggestion(label, sort, label, detail, rank, key=key)


def escaped(text: str) -> str:
    """Text escaped for a snippet, where `$` and `}` are special."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")
