"""`ptx-lint man`: the manual page, generated from the parser and the configuration keys."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from ptx_lsp import __version__
from ptx_lsp.cli.option_parser import Parser, parser
from ptx_lsp.cli.output import print_lines
from ptx_lsp.lint.configuration.config import FILE_NAMES, KEYS


def run(words: Sequence[str]) -> int:
    """Prints the page, for `man -l -`. Returns 0."""
    parser = Parser(prog="ptx-lint man", description=__doc__, allow_abbrev=False)
    parser.parse_args(parser.checked(words))
    print_lines(page())
    return 0


def page() -> Iterator[str]:
    """The lines of the page, in `man` macros."""
    whole = parser()
    yield f'.TH PTX\\-LINT 1 "" "ptx\\-lint {__version__}" "User Commands"'
    yield ".SH NAME"
    yield r"ptx\-lint \- find mistakes in NVIDIA PTX"
    yield ".SH SYNOPSIS"
    yield r".B ptx\-lint"
    yield r"[\fIOPTIONS\fR] \fIPATH\fR ..."
    yield ".SH DESCRIPTION"
    yield _roff(whole.description or "")
    yield (
        r"A \fIPATH\fR is a file, a directory (every *.ptx below it), a container (all PTX in a library, "
        r"object file, archive, executable or fat binary), a member of one (LIB!3:sm_90), or \- for standard "
        "input. "
        "The manual is docs/ptx-lint.md."
    )
    yield ".SH OPTIONS"
    for group in whole._action_groups:  # argparse has no other way to read them
        actions = [one for one in group._group_actions if one.option_strings]
        if not actions:
            continue
        yield f".SS {_roff((group.title or '').capitalize())}"
        for action in actions:
            yield ".TP"
            yield _named(action)
            yield _roff(action.help or "")
    yield ".SH CONFIGURATION"
    yield _roff(
        f"{' or '.join(FILE_NAMES)} (there: [tool.ptx-lint]), of the folder of a file or the nearest "
        "above it."
    )
    for key, (_, summary) in KEYS.items():
        yield ".TP"
        yield rf"\fB{_roff(key)}\fR"
        yield _roff(summary)
    for title, lines in _sections(whole.epilog or ""):
        yield f".SH {_roff(title.upper())}"
        yield ".nf"
        yield from map(_roff, lines)
        yield ".fi"


def _named(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else rf" \fI{_roff(_value(action))}\fR"
    return ", ".join(rf"\fB{_roff(name)}\fR{value}" for name in action.option_strings)


def _value(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    return "|".join(map(str, action.choices)) if action.choices is not None else action.dest.upper()


def _sections(epilog: str) -> Iterator[tuple[str, list[str]]]:
    for part in epilog.strip().split("\n\n"):
        head, *lines = part.split("\n")
        yield head.rstrip(":"), [line.removeprefix("  ") for line in lines]


def _roff(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("%%", "%")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
