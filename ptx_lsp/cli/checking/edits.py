"""The file changes of `--fix`, `--diff` and `--add-ignore`."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ptx_lsp.cli.files import replace
from ptx_lsp.cli.inputs import Input, read
from ptx_lsp.cli.output import write_bytes
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import language_named
from ptx_lsp.lint.configuration.suppression import insertion
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.lint.results.style import Style, printable
from ptx_lsp.text import Source


def write_fixes(inputs: Sequence[Input], files: Sequence[FileReport]) -> Iterator[str]:
    """Writes the fixed texts, standard input to standard output, and reports the number of fixes. Raises
    UsageError if a file cannot be written.
    """
    fixed = [(one, file) for one, file in zip(inputs, files, strict=True) if one.error is None]
    for one, file in fixed:
        if one.data is not None:  # the reader of the output expects the text even if it is unchanged
            write_bytes(file.text if file.text is not None else one.data)
        elif file.text is not None:
            replace(file.path, file.text)
    count = sum(len(file.fixed) for file in files)
    having = sum(bool(file.fixed) for file in files)
    if count:
        yield f"Fixed {_number(count, 'finding')} in {_number(having, 'file')}."


def diff(inputs: Sequence[Input], files: Sequence[FileReport], style: Style) -> Iterator[bytes]:
    """The changes of the fixes, as a unified diff that `git apply` and `patch -p1` accept. It contains the
    bytes of the files unchanged, including line ends.
    """
    for one, file in zip(inputs, files, strict=True):
        if file.text is None:
            continue
        before, after = (_lines(data) for data in (read(one), file.text))
        path = _from_here(file.path)
        names = (_diff_name(f"{side}/{path}") for side in ("a", "b"))
        for line in difflib.unified_diff(before, after, *names, n=3):
            yield _painted(line, style).encode("utf-8", "surrogateescape")


def add_ignores(inputs: Sequence[Input], files: Sequence[FileReport]) -> Iterator[str]:
    """Writes an ignore comment for each remaining finding, and reports the number. Raises UsageError."""
    own = {rule.name for rule in all_rules() if rule.on_comments}
    added = 0
    for one, file in zip(inputs, files, strict=True):
        lines: dict[int, list[str]] = {}
        for found in file.diagnostics:
            if found.rule not in own and one.data is None and one.container is None:
                lines.setdefault(found.mark.start.line - 1, []).append(found.rule)
        if not lines:
            continue
        source = Source(read(one))
        host = HostDocument(source, language_named(file.language)) if file.language is not None else None
        for line, names in sorted(lines.items(), reverse=True):
            mark = host.comment_mark(line) if host is not None else b"//"
            edit = insertion(source, line, dict.fromkeys(names), mark)
            if edit is None:
                yield f"{file.path}:{line + 1}: no comment can be here, as the line ends with `\\`."
                continue
            source = source.edited(edit)
            added += 1
        replace(file.path, source.data)
    yield f"Added {_number(added, 'comment')}."


def _lines(data: bytes) -> list[str]:
    """With their ends. Only `\n` ends a line, as for git."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _from_here(path: str) -> str:
    """A path as written after `a/`: relative to the current folder if inside it, else without a root."""
    named = Path(os.path.normpath(path))
    if named.is_relative_to(Path.cwd()):
        named = named.relative_to(Path.cwd())
    return named.relative_to(named.anchor).as_posix()


def _diff_name(path: str) -> str:
    """A path as git writes it in a diff: in quotes, or followed by a tab if it contains blanks."""
    if path.isprintable() and not set(path) & set('"\\'):
        return f"{path}\t" if " " in path else path
    data = os.fsencode(path)
    quoted = "".join(
        f"\\{byte:03o}" if byte < 0x20 or byte >= 0x7F or byte in b'"\\' else chr(byte) for byte in data
    )
    return f'"{quoted}"'


def _painted(line: str, style: Style) -> str:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    text = line.removesuffix("\n")
    end = "\n" if line != text else "\n\\ No newline at end of file\n"
    if style.coloured:  # to be read, and not applied
        text = "\t".join(map(printable, text.split("\t")))
    return (style.paint(text, colours[text[:1]]) if text[:1] in colours else text) + end


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
