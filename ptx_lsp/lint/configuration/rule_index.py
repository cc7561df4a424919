"""The names of the rules, and what wakes them: rules need not be imported to be selected, and some never."""

from __future__ import annotations

import marshal
import os
from functools import cache

from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.prepared import modules_in, prepared
from ptx_lsp.static_typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import Final, TypeAlias

    from ptx_lsp.lint.rule import Rule
    from ptx_lsp.model.module_wakes import ModuleWake

_LINT: Final = os.path.dirname(os.path.dirname(__file__))
WAKES: Final = (
    "ptx_lsp/analyses/dataflow/pointer_provenance.py",
    "ptx_lsp/lint/divergence.py",
    "ptx_lsp/model/directives/debugging.py",
    "ptx_lsp/model/function_wakes.py",
    "ptx_lsp/model/instructions/access.py",
    "ptx_lsp/model/instructions/features.py",
    "ptx_lsp/model/instructions/wakes.py",
    "ptx_lsp/model/module_wakes.py",
)
"""The files with wakes of rules, other than the rules themselves."""


class RuleEntry(NamedTuple):
    """The properties of a rule that selection needs."""

    name: str
    code: str
    severity: Severity
    module: str
    """The name of its file, without the ending."""
    on_comments: bool
    on_block: bool
    wake: ModuleWake
    """The features that a module must have for the rule to find something."""
    words: tuple[str, ...]
    """If there are some, those of which its text must have one."""


_Row: TypeAlias = "tuple[str, Severity, str, bool, bool, ModuleWake, tuple[str, ...]]"
"""A rule without its name."""


@cache
def rule_index() -> tuple[RuleEntry, ...]:
    """Every rule, by code."""
    index = _read_index()
    return _entries(index if index is not None else compute_index())


def prepare() -> None:
    """Writes the index, for a package that is being built."""
    _read_index(write=True)


def _read_index(write: bool | None = None) -> dict[str, bytes] | None:
    folder = os.path.join(_LINT, "rules")
    root = os.path.dirname(os.path.dirname(_LINT))
    wakes = [os.path.join(root, name) for name in WAKES]
    sources = [*modules_in(folder), os.path.join(_LINT, "rule.py"), __file__, *wakes]
    return prepared("rules", folder, sources, compute_index, write)


def compute_index() -> dict[str, bytes]:
    """The index by rule, from the rules themselves."""
    from ptx_lsp.lint.registry import all_rules

    return {row.name: marshal.dumps(tuple(row[1:])) for row in map(entry_of, all_rules())}


def entry_of(rule: Rule) -> RuleEntry:
    """The entry of an imported rule."""
    from ptx_lsp.model.module_wakes import module_wake

    wake = module_wake(rule.wake)
    return RuleEntry(
        rule.name, rule.code, rule.severity, rule.module, rule.on_comments, rule.on_block is not None, wake,
        rule.words,
    )  # fmt: skip


def _entries(index: dict[str, bytes]) -> tuple[RuleEntry, ...]:
    rows = {name: cast(_Row, marshal.loads(data)) for name, data in index.items()}
    return tuple(RuleEntry(name, *row) for name, row in rows.items())
