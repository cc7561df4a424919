"""Carries out the lines that a user types, and completes them."""

from __future__ import annotations

from ptx_lsp.debug.console.candidates import symbols
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.registry import Words, find, words
from ptx_lsp.debug.request_error import RequestError

_MOST_LINE = 1 << 16
WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%.:-"
"""The characters of the words that are completed."""


class Interpreter:
    """Understands the lines of one session."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._again = ""
        """The line that an empty one repeats."""
        console.execute = self.execute

    def execute(self, line: str) -> None:
        """Carries out a line. Raises RequestError if that is impossible."""
        line = line.strip()
        if not line:
            line = self._again
        if not line or line.startswith("#"):
            return
        if len(line) > _MOST_LINE:
            raise RequestError("The line is too long.")
        self._again = ""
        tree, name, rest = find(line)
        command = tree.command
        if command is None:
            listed = ", ".join(tree.names)
            raise RequestError(f'"{name}" must be followed by the name of a subcommand: {listed}.')
        self._again = line if command.repeats is None else command.repeats
        command.action(self.console, rest)

    def is_command(self, text: str) -> bool:
        """Whether a text is a command rather than an expression: a name that the program has is none."""
        if not text.strip() or self._is_name(text.strip()):
            return False
        try:
            find(text)
        except RequestError:
            return False
        return True

    def completions(self, text: str) -> list[str]:
        """The words that the last one of a text can be."""
        before = text.rstrip(WORD)
        typed = text[len(before) :]
        found = _following(words(), before.split())
        if found is None:
            return []
        tree, is_whole = found
        names = tree.names if is_whole else []
        if tree.command is not None:
            names = [*names, *self._arguments(tree)]
        return sorted({name for name in names if name.startswith(typed)}, key=_order)

    def symbols(self) -> list[str]:
        """The names that expressions can have here."""
        try:
            return symbols(self.console)
        except RequestError:
            return []

    def _arguments(self, tree: Words) -> list[str]:
        command = tree.command
        if command is None or command.candidates is None:
            return []
        try:
            return list(command.candidates(self.console))
        except RequestError:
            return []

    def _is_name(self, text: str) -> bool:
        return text in self.symbols()


def _following(tree: Words, before: list[str]) -> tuple[Words, bool] | None:
    """The words that can come after others, and whether a command word can; None after unknown ones."""
    for at, word in enumerate(before):
        word = word.partition("/")[0]
        names = [word] if word in tree.inner else [name for name in tree.inner if name.startswith(word)]
        inner = {id(tree.inner[name]): tree.inner[name] for name in names}
        if len(inner) != 1:
            return (tree, False) if at and tree.command is not None else None
        tree = next(iter(inner.values()))
    return tree, True


def _order(name: str) -> tuple[str, int, str]:
    """Names with numbers in the order of these."""
    digits = len(name) - len(name.rstrip("0123456789"))
    return (name[: len(name) - digits], int(name[-digits:]), name) if digits else (name, -1, name)
