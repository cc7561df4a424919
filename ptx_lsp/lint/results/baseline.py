"""Baselines: findings that are known, counted by file, kernel and rule, and never by line.

A group that has no more findings than the baseline knows is hidden. One with more is shown whole, as nobody
can tell which of them is the new one. One with fewer is an improvement, which is told, so that the baseline
can follow: a ratchet that goes both ways.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from ptx_lsp import __version__
from ptx_lsp.lint.results.report import FileReport, Reported

_VERSION = 1
UNEXPLAINED = "known when the baseline was made"
"""The reason where none was given."""


class BaselineError(ValueError):
    """A text that is no baseline; the message says why."""


class Group(NamedTuple):
    """What is counted together. `file` has `/` and counts from the folder of the baseline; `kernel` is any
    function, empty at the level of the file.
    """

    file: str
    kernel: str
    rule: str


class Known(NamedTuple):
    """How many findings a group may have, and why."""

    number: int
    reason: str


Baseline = Mapping[Group, Known]
Ran = Callable[[str, str], bool]
"""Whether a rule ran on a file: what did not run has not improved."""


class Compared(NamedTuple):
    """Reports without what is known, and what has become better: the count before and now."""

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
    for number, row in enumerate(cast(list[object], rows) if isinstance(rows, list) else [None], 1):
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
    """The text of a baseline; the same baseline gives the same text."""
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
    """Holds reports against a baseline. `place` makes the `file` of a group of a path; `exists` says of a
    `file` whether it is there: the findings of one that is gone are gone with it.
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
    """The baseline for what the reports have. Groups keep their reasons; those of files that were not
    looked at, and of rules that did not run, stay as they are; those of files that are gone go.
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
    """What a person is told of a comparison."""
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
