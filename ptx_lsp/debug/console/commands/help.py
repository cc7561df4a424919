"""Help, and commands from files."""

from __future__ import annotations

from pathlib import Path

from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.registry import all_commands, find, words
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.finding_kinds.registry import KINDS

_MOST_DEPTH = 20


@command("help", "h", candidates=lambda console: words().names, repeats="")
def help_(console: Console, text: str) -> None:
    """The commands, or the use of one, or the meaning of a finding.
    Usage: help [COMMAND | FINDING]
    FINDING is the kind of a finding, such as race.
    Words can be cut short as far as they are unambiguous. An empty line repeats the last command.
    """
    if not text:
        console.say(*(f"{one.name} -- {one.summary}" for one in all_commands()))
        return
    if text in KINDS:
        console.say(*KINDS[text].lines())
        return
    tree, name, rest = find(text)
    if rest:
        raise RequestError(f'Undefined command: "{text}".  Try "help".')
    if tree.command is not None:
        console.say(", ".join((tree.command.name, *tree.command.aliases)), tree.command.help)
    inner = [one for one in all_commands() if one.name.startswith(f"{name} ")]
    if inner:
        console.say(f'"{name}" is followed by:', *(f"{one.name} -- {one.summary}" for one in inner))


@command("apropos", repeats="")
def apropos(console: Console, text: str) -> None:
    """The commands whose help has a text.
    Usage: apropos TEXT
    """
    found = [one for one in all_commands() if text.lower() in f"{one.name}\n{one.help}".lower()]
    console.say(*(f"{one.name} -- {one.summary}" for one in found))


@command("source", repeats="")
def source(console: Console, text: str) -> None:
    """Carry out the commands of a file, one per line; a line that fails ends it.
    Usage: source FILE
    """
    if not text:
        raise RequestError("source command requires file name of file to source.")
    try:
        lines = Path(text).expanduser().read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError, RuntimeError):
        raise RequestError(f"{text}: No such file or directory.") from None
    if console.depth >= _MOST_DEPTH:
        raise RequestError("Too many nested `source` commands.")
    console.depth += 1
    try:
        for line in lines:
            if line.strip() and not console.is_over:
                console.execute(line)
    finally:
        console.depth -= 1


@command("echo", repeats="")
def echo(console: Console, text: str) -> None:
    """Print a text.
    Usage: echo TEXT
    """
    console.say(text)
