"""A comparison as JSON, for programs and the panel of the editor; it only ever grows."""

from __future__ import annotations

from collections.abc import Mapping

from ptx_lsp.lint.reporters.json import Value
from ptx_lsp.lint.results.comparison import Change, Comparison, Pair, Subject

Names = Mapping[str, str]


def comparison_json(found: Comparison, display_names: Names | None = None) -> dict[str, Value]:
    """The whole comparison. With `display_names`, kernels have these besides their names."""
    return {
        "pairs": [_pair(pair, display_names) for pair in found.pairs],
        "new": [_subject(one, display_names) for one in found.added],
        "gone": [_subject(one, display_names) for one in found.gone],
    }


def _pair(pair: Pair, names: Names | None) -> Value:
    return {
        "old": _subject(pair.old, names),
        "new": _subject(pair.new, names),
        "likeness": round(pair.likeness, 3),
        "same": pair.is_same,
        "worse": pair.is_worse,
        "figures": {
            one.name: {
                "old": one.old, "new": one.new, "unit": one.unit, "says": one.says,
                "worse": one.is_worse, "better": one.is_better, **_intervals(one),
            }
            for one in pair.figures
        },
        "instructions": dict(pair.instructions),
        "findings": dict(pair.findings),
    }


def _intervals(one: Change) -> dict[str, Value]:
    if one.intervals == (None, None):
        return {}
    return {"intervals": [list(ends) if ends is not None else None for ends in one.intervals]}


def _subject(one: Subject, names: Names | None) -> Value:
    name = one.kernel.name
    shown: dict[str, Value] = {} if names is None else {"displayName": names.get(name, name)}
    return {"path": one.path, "kernel": name, **shown, "line": one.kernel.line}
