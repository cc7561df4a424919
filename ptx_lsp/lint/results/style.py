"""Colours of terminals, and text that is safe to show there."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.lazy_pattern import lazy_pattern

_CODES = {
    "bold": "1", "dim": "2",
    "red": "1;31", "yellow": "1;33", "blue": "1;34", "cyan": "1;36", "green": "1;32",
}
_COMMAND = lazy_pattern(r"##(?=\w*\[)")
_PAINTED = lazy_pattern(r"\x1b\[[\d;]*m")
SEVERITY_COLOURS = {"error": "red", "warning": "yellow", "info": "blue", "hint": "cyan"}


class Style:
    """Paints words with ANSI escapes, or leaves them alone."""

    def __init__(self, coloured: bool = False) -> None:
        self.coloured = coloured

    def paint(self, text: str, colour: str) -> str:
        if not self.coloured or not text:
            return text
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def printable(text: str) -> str:
    """`text` in one line, and without what a terminal or a service would take for a command."""
    text = without_commands(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _shown(c) for c in text)


def without_commands(text: str) -> str:
    """Text of the same length in which services that read what is printed find no command: to GitHub and
    Azure `##[...]` and `##vso[...]` are such, anywhere in a line.
    """
    return _COMMAND.sub("#\u266f", text) if "##" in text else text


def at_line_start(path: str) -> str:
    """A safe path for the start of a line, where GitHub treats `::...` as a command."""
    shown = printable(path)
    return f"./{shown}" if shown.lstrip().startswith("::") else shown


def width(text: str) -> int:
    """How many columns of a terminal `text` takes, colours left out."""
    if "\x1b" in text:
        text = _PAINTED.sub("", text)
    return len(text) if text.isascii() else sum(map(_width_of, text))


@lru_cache(maxsize=1024)
def _width_of(character: str) -> int:
    import unicodedata

    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _shown(character: str) -> str:
    """One printable character: control characters have pictures of their own."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"
