"""A word of the debugger: `Command`, made by `@command` from the function that carries it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ptx_lsp.debug.console.console import Console

Action: TypeAlias = Callable[[Console, str], None]
"""Carries out a command with its arguments. Raises RequestError."""
Candidates: TypeAlias = Callable[[Console], Iterable[str]]
"""The words that an argument can be."""


@dataclass(frozen=True)
class Command:
    """A command. `name` may have several words, as `info cuda warps`."""

    name: str
    aliases: tuple[str, ...]
    action: Action
    candidates: Candidates | None
    repeats: str | None
    """The line that an empty one after it stands for; None for the same again."""

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.name.split())

    @property
    def summary(self) -> str:
        """The first line of its help."""
        return self.help.splitlines()[0]

    @property
    def help(self) -> str:
        lines = [line.strip() for line in (self.action.__doc__ or "").strip().splitlines()]
        return "\n".join(lines)


def command(
    name: str, *aliases: str, candidates: Candidates | None = None, repeats: str | None = None
) -> Callable[[Action], Command]:
    """Makes a command of a function, whose docstring is its help."""
    return lambda action: Command(name, aliases, action, candidates, repeats)
