"""One message of ptxas in a log."""

from __future__ import annotations

from typing import Final

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.ptxas import Severity as Word

ABORTED: Final = "Ptx assembly aborted due to errors"
DRIVER: Final = "application ptx input"
"""The name of a text without a file in messages of the driver and of nvJitLink."""
_QUOTED = lazy_pattern(r"'([^']+)'")
_DOTTED = lazy_pattern(r"(?<![\w.])\.[a-z]\w*(?:::\w+)*")
_ADVICE = lazy_pattern(r"\(C75\d\d\)")
_ADVISED: Final = ("setmaxnreg", "wgmma.mma_async")
"""The opcodes that advice is about."""
_FUNCTION = lazy_pattern(r"(?:[Ee]ntry function|[Ff]unction|extern \w+|reference to) '([^']+)'")


class Message(NamedTuple):
    """One message. `path` is empty and `line`, from 1, is None if it names no place."""

    program: str
    """`ptxas`, `nvlink` or `nvcc`."""
    word: Word
    path: str
    line: int | None
    text: str
    log_line: int

    @property
    def severity(self) -> Severity:
        """The severity as we report it."""
        return "error" if self.word == "fatal" else self.word

    @property
    def tokens(self) -> list[str]:
        """The words of PTX that the message names: those in quotes, else directives and modifiers."""
        if _ADVICE.match(self.text):  # it names the function, and means its opcodes
            return [word for word in _ADVISED if word in self.text]
        return _QUOTED.findall(self.text) or _DOTTED.findall(self.text)

    @property
    def is_missing_definition(self) -> bool:
        """Whether a function that is called is not defined."""
        return self.text.startswith(("Unresolved extern", "Undefined reference"))

    @property
    def is_syntax_error(self) -> bool:
        return self.text.startswith("Parsing error near")

    @property
    def function(self) -> str:
        """The function that it is about; empty if it names none."""
        named = _FUNCTION.search(self.text)
        return named[1] if named is not None else ""
