"""The baseline of a run: reads it, applies it to the reports, and writes it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePath

from ptx_lsp.cli.arguments import Options, UsageError
from ptx_lsp.cli.checking.jobs import Work
from ptx_lsp.cli.files import replace
from ptx_lsp.cli.inputs import SEPARATOR
from ptx_lsp.lint.results import baseline
from ptx_lsp.lint.results.baseline import Group, Known
from ptx_lsp.lint.results.report import FileReport


def apply_baseline(
    options: Options, path: Path, works: Sequence[Work], files: Sequence[FileReport]
) -> tuple[Sequence[FileReport], tuple[str, ...], bool]:
    """The reports without known findings, the remarks on the baseline, and whether the findings have
    improved.

    With --update-baseline, the baseline is rewritten. Raises UsageError if it cannot be read or written.
    """
    rules = {one.path: settings.rules.names for one, settings in works}

    def place(file: str) -> str:
        whole = Path(file).absolute()
        try:
            return PurePath(os.path.relpath(whole, path.absolute().parent)).as_posix()
        except ValueError:  # another drive
            return whole.as_posix()

    def ran(file: str, rule: str) -> bool:
        return rule in rules[file]

    def exists(file: str) -> bool:
        return (path.parent / file).exists() or _is_member(str(path.parent / file))

    if not options.update_baseline:
        known = _read(path, missing_is_empty=False)
        found = baseline.compared(files, known, place, ran, exists)
        told = tuple(baseline.remarks(found.improved, found.hidden))
        return found.files, told, bool(found.improved)
    known = _read(path, missing_is_empty=True)
    after = baseline.updated(known, files, place, ran, exists, options.reason)
    replace(path, baseline.written(after).encode())
    total = sum(one.number for one in after.values())
    hidden = baseline.compared(files, after, place, ran, exists).files
    return hidden, (f"Wrote {total} finding{'' if total == 1 else 's'} to {path}.",), False


def _is_member(address: str) -> bool:
    if SEPARATOR not in address:
        return False
    from ptx_lsp.cli.members import is_member

    return is_member(address)


def _read(path: Path, missing_is_empty: bool) -> dict[Group, Known]:
    try:
        return baseline.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if missing_is_empty:
            return {}
        raise UsageError(f"baseline `{path}` does not exist; create it with --update-baseline") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`{path}` is not a valid baseline: not UTF-8 text") from error
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from error
    except baseline.BaselineError as error:
        raise UsageError(f"`{path}` is not a valid baseline: {error}") from error
