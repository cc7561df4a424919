"""Reads regular statements of a text without a tree (`native/scanner.c`)."""

from ptx_lsp.syntax import nodes

class Scanner:
    """Reads statements of `text`, which has one character per byte of the file; offsets count from `base`."""

    def __new__(cls, text: str, base: int = 0) -> Scanner: ...
    @property
    def end(self) -> int:
        """The end of the statement that was read last, in the text."""

    def statement(self, at: int) -> nodes.Statement | None:
        """The statement at offset `at` of the text, or behind blanks and comments there; None if it is not
        regular.
        """

    def functions(self) -> list[tuple[int, int, nodes.Function]]:
        """The start, end and node of each regular function; a comment or a string may contain it."""

def forget_strings() -> None:
    """Forgets the names in the texts that were read. It saves time to know them."""
