"""Baselines: known findings, counted per file, kernel and rule, never per line.

A group with no more findings than in the baseline is hidden. A group with more is shown completely, because
the new finding cannot be identified. A group with fewer is reported as an improvement, so that the baseline
can be updated.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, cast

from ptx_lsp import __version__
from ptx_lsp.lint.results.report import FileReport, Reported
from ptx_lsp.named_tuple import NamedTuple

_Json: TypeAlias = Mapping[str, object] | Sequence[object] | str | float | None
_VERSION = 1
UNEXPLAINED = "known when the baseline was made"
"""The reason if none was given."""


class BaselineError(ValueError):
    """A text that is not a valid baseline; the message gives the reason."""


class Group(NamedTuple):
    """The unit of counting. `file` uses `/` and is relative to the folder of the baseline; `kernel` is any
    function, empty at file level.
    """

    file: str
    kernel: str
    rule: str


class Known(NamedTuple):
    """The number of known findings of a group, and the reason."""

    number: int
    reason: str


Baseline = Mapping[Group, Known]
Ran = Callable[[str, str], bool]
"""Whether a rule ran on a file. Without a run, nothing has improved."""


class Compared(NamedTuple):
    """Reports without known findings, and the improvements: the count before and now."""

    files: list[FileReport]
    hidden: int
    improved: dict[Group, tuple[int, int]]


def parse(text: str) -> dict[Group, Known]:
    """The baseline in a file. Raises BaselineError."""
    try:
        whole: object = json.loads(text)
    except ValueError as error:
        raise BaselineError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise BaselineError("nested too deeply") from error
    if not isinstance(whole, dict) or cast(dict[str, object], whole).get("version") != _VERSION:
        raise BaselineError(f"not a baseline of version {_VERSION}")
    known: dict[Group, Known] = {}
    rows = cast(dict[str, object], whole).get("findings")
    for number, row in enumerate(cast(list[_Json], rows) if isinstance(rows, list) else [None], 1):
        match row:
            case {
                "file": str() as file, "kernel": str() as kernel, "rule": str() as rule,
                "count": int() as count, "reason": str() as reason,
            } if count > 0:
                known[Group(file, kernel, rule)] = Known(count, reason)
            case _:
                raise BaselineError(
                    f"finding {number} lacks one of `file`, `kernel`, `rule`, `count` and `reason`"
                )
    return known


def written(baseline: Baseline) -> str:
    """The text of a baseline, deterministic."""
    rows = [
        {**group._asdict(), "count": known.number, "reason": known.reason}
        for group, known in sorted(baseline.items())
    ]
    whole = {"version": _VERSION, "tool": f"ptx-lint {__version__}", "findings": rows}
    return json.dumps(whole, indent=2, ensure_ascii=True) + "\n"


def compared(
    files: Sequence[FileReport],
    baseline: Baseline,
    place: Callable[[str], str],
    ran: Ran,
    exists: Callable[[str], bool],
) -> Compared:
    """Compares reports with a baseline. `place` converts a path to the `file` of a group. `exists` reports
    whether a `file` exists: the findings of a deleted file are gone with it.
    """
    shown: list[FileReport] = []
    hidden = 0
    improved: dict[Group, tuple[int, int]] = {}
    for file in files:
        own = place(file.path)
        counts = Counter(_group(own, found) for found in file.diagnostics)
        left = tuple(
            _explained(found, counts[group], known)
            for found in file.diagnostics
            if (known := baseline.get(group := _group(own, found))) is None
            or counts[group] > known.number
        )
        hidden += len(file.diagnostics) - len(left)
        shown.append(file._replace(diagnostics=left))
        if file.error is None:
            improved |= {
                group: (known.number, counts[group])
                for group, known in baseline.items()
                if group.file == own and counts[group] < known.number and ran(file.path, group.rule)
            }
    looked_at = {place(file.path) for file in files}
    gone = {file for file in {group.file for group in baseline} - looked_at if not exists(file)}
    improved |= {group: (known.number, 0) for group, known in baseline.items() if group.file in gone}
    return Compared(shown, hidden, improved)


def updated(
    baseline: Baseline,
    files: Sequence[FileReport],
    place: Callable[[str], str],
    ran: Ran,
    exists: Callable[[str], bool],
    reason: str | None = None,
) -> dict[Group, Known]:
    """The baseline for the findings in the reports. Groups keep their reasons. Groups of files that were not
    checked and of rules that did not run are unchanged. Groups of deleted files are removed.
    """
    checked = {place(file.path): file.path for file in files if file.error is None}
    kept = {
        group: known
        for group, known in baseline.items()
        if (not ran(checked[group.file], group.rule) if group.file in checked else exists(group.file))
    }
    counts = Counter(_group(place(file.path), found) for file in files for found in file.diagnostics)
    found = {
        group: Known(count, baseline[group].reason if group in baseline else reason or UNEXPLAINED)
        for group, count in counts.items()
    }
    return kept | found


def remarks(improved: Mapping[Group, tuple[int, int]], hidden: int) -> Iterable[str]:
    """The remarks of a comparison for people."""
    if hidden:
        yield f"{hidden} known finding{'' if hidden == 1 else 's'} hidden by the baseline."
    for group, (before, now) in sorted(improved.items()):
        kernel = f" in `{group.kernel}`" if group.kernel else ""
        yield (
            f"Improved: {group.file}{kernel} has {now or 'no'} `{group.rule}`, but the baseline "
            f"allows {before}; --update-baseline records the improvement."
        )


def _group(file: str, found: Reported) -> Group:
    return Group(file, found.function, found.rule)


def _explained(found: Reported, count: int, known: Known | None) -> Reported:
    if known is None:
        return found
    note = f"{count} findings of this kind, but the baseline allows {known.number}"
    return found._replace(notes=(*found.notes, note))
