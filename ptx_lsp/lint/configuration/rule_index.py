"""The names of the rules. To select rules, they need not be imported, which takes long."""

from __future__ import annotations

import marshal
from functools import cache
from pathlib import Path
from typing import cast

from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.prepared import prepared

_LINT = Path(__file__).parents[1]


class RuleEntry(NamedTuple):
    """The properties of a rule that selection needs."""

    name: str
    code: str
    severity: Severity
    module: str
    """The name of its file, without the ending."""
    on_comments: bool


@cache
def rule_index() -> tuple[RuleEntry, ...]:
    """Every rule, by code."""
    index = _read_index()
    return _entries(index if index is not None else compute_index())


def prepare() -> None:
    """Writes the index, for a package that is being built."""
    _read_index(write=True)


def _read_index(write: bool | None = None) -> dict[str, bytes] | None:
    folder = _LINT / "rules"
    sources = [*sorted(folder.glob("*.py")), _LINT / "rule.py", Path(__file__)]
    return prepared("rules", folder, sources, compute_index, write)


def compute_index() -> dict[str, bytes]:
    """The index by rule, from the rules themselves."""
    from ptx_lsp.lint.registry import all_rules

    return {
        one.name: marshal.dumps((one.code, one.severity, one.module, one.on_comments)) for one in all_rules()
    }


def _entries(index: dict[str, bytes]) -> tuple[RuleEntry, ...]:
    rows = {name: cast(tuple[str, Severity, str, bool], marshal.loads(data)) for name, data in index.items()}
    return tuple(RuleEntry(name, *row) for name, row in rows.items())
