"""One thing that may be typed."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Sort: TypeAlias = Literal[
    "opcode", "modifier", "register", "special register", "label", "variable", "parameter", "kernel",
    "function", "call prototype", "list of targets", "directive", "type", "state space", "version",
    "target", "pragma", "component", "constant", "name",
]


class Suggestion(NamedTuple):
    """What may stand at the cursor: `text` is inserted, a snippet with `${1:places}` where `is_snippet`.

    A smaller `rank` comes first. `key` is for `documentation`.
    """

    label: str
    sort: Sort
    text: str
    detail: str = ""
    rank: int = 0
    is_snippet: bool = False
    is_supported: bool = True
    """Whether the version and target of the file have it."""
    is_deprecated: bool = False
    key: str = ""


def plain(label: str, sort: Sort, detail: str = "", rank: int = 0, key: str = "") -> Suggestion:
    """One that is inserted as it is."""
    return Suggestion(label, sort, label, detail, rank, key=key)


def escaped(text: str) -> str:
    """Text within a snippet, where `$` and `}` would mean something."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")
