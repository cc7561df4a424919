"""A comparison as JSON, for programs and the panel of the editor; it only ever grows."""

from __future__ import annotations

from ptx_lsp.lint.reporters.json import Value
from ptx_lsp.lint.results.comparison import Comparison, Pair, Subject


def comparison_json(found: Comparison) -> dict[str, Value]:
    """The whole comparison."""
    return {
        "pairs": [_pair(pair) for pair in found.pairs],
        "new": [_subject(one) for one in found.added],
        "gone": [_subject(one) for one in found.gone],
    }


def _pair(pair: Pair) -> Value:
    return {
        "old": _subject(pair.old),
        "new": _subject(pair.new),
        "likeness": round(pair.likeness, 3),
        "same": pair.is_same,
        "worse": pair.is_worse,
        "figures": {
            one.name: {
                "old": one.old, "new": one.new, "unit": one.unit, "says": one.says,
                "worse": one.is_worse, "better": one.is_better,
            }
            for one in pair.figures
        },
        "instructions": dict(pair.instructions),
        "findings": dict(pair.findings),
    }


def _subject(one: Subject) -> Value:
    return {"path": one.path, "kernel": one.kernel.name, "line": one.kernel.line}
