"""All commands, and which of them a line means: words may be cut short as far as they stay unambiguous."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from ptx_lsp.debug.console import commands
from ptx_lsp.debug.console.command import Command
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.packages import module_names

_WORD = re.compile(r"\s*([A-Za-z][\w-]*)")


@dataclass
class Words:
    """The words that can come next, and the command that ends here."""

    command: Command | None = None
    inner: dict[str, Words] = field(default_factory=dict[str, "Words"])

    @property
    def names(self) -> list[str]:
        """The words, without aliases."""
        found = {one.command.words[-1] for one in self.inner.values() if one.command is not None}
        return sorted(found | {name for name, one in self.inner.items() if one.command is None})


@cache
def words() -> Words:
    """The tree of all commands."""
    found = Words()
    for name in module_names(commands.__path__):
        module = import_module(f"{commands.__name__}.{name}")
        for one in vars(module).values():
            if isinstance(one, Command):
                _add(found, one)
    return found


def _add(tree: Words, command: Command) -> None:
    *outer, last = command.words
    for word in outer:
        tree = tree.inner.setdefault(word, Words())
    here = tree.inner.setdefault(last, Words())
    here.command = command
    for alias in command.aliases:
        tree.inner[alias] = here


def all_commands() -> list[Command]:
    """All commands, in the order of their names."""
    return sorted(_below(words()), key=lambda one: one.name)


def _below(tree: Words) -> set[Command]:
    found = {tree.command} if tree.command is not None else set[Command]()
    return found.union(*(_below(inner) for inner in tree.inner.values()))


def find(line: str) -> tuple[Words, str, str]:
    """The words that a line begins with: where they end in the tree, as they are written in full, and the
    rest of the line. Raises RequestError for an unknown or ambiguous word.
    """
    tree, known, rest = words(), list[str](), line.strip()
    while (match := _WORD.match(rest)) is not None and tree.inner:
        word = match[1]
        chosen = _chosen(tree, word, " ".join(known))
        if chosen is None:
            break
        tree, rest = tree.inner[chosen], rest[match.end() :]
        known.append(tree.command.words[-1] if tree.command is not None else chosen)
    if tree is words():
        raise RequestError(f'Undefined command: "{line.split()[0] if line.split() else ""}".  Try "help".')
    return tree, " ".join(known), rest.strip()


def _chosen(tree: Words, word: str, before: str) -> str | None:
    """The word that is meant; None for the beginning of an argument. Raises RequestError."""
    if word in tree.inner:
        return word
    found = {
        id(inner): name for name, inner in sorted(tree.inner.items(), reverse=True) if name.startswith(word)
    }
    if len(found) == 1:
        return next(iter(found.values()))
    whole = f"{before} {word}".strip()
    if found:
        raise RequestError(f'Ambiguous command "{whole}": {", ".join(sorted(found.values()))}.')
    if tree.command is not None:
        return None
    raise RequestError(f'Undefined command: "{whole}".  Try "help{f" {before}" if before else ""}".')
