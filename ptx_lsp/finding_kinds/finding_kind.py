"""A kind of finding, and how it is described."""

from __future__ import annotations

from textwrap import wrap

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final, Literal, TypeAlias

    Filter: TypeAlias = Literal["", "race", "uninitialised", "out-of-bounds", "divergence", "other"]
    Severity: TypeAlias = Literal["error", "note"]

_WIDTH: Final = 96
_SETTING: Final = (
    "In a block of 64 threads: `%r1` is `%tid.x`, `%r2` the address of element `%r1` of `tile`, an array of"
    " 64 words in shared memory, `%rd1` that of a buffer, and `%rd2` that of its element `%r1`."
)


class FindingKind(NamedTuple):
    """A kind of finding of `ptx-run`, of the debugger and of the other commands that run kernels.

    `example` has it at the line with a comment; `use_instead` does not have it. Statements are those of a
    kernel as `setting` describes, functions come before a blank line; with `$` they are commands.
    `filter` is the group of findings that the debugger ignores together, "" if it always stops.
    """

    name: str
    summary: str
    example: str
    use_instead: str
    filter: Filter = ""
    severity: Severity = "error"
    stops: bool = False
    """Whether the kernel always stops there, also without `--check`."""
    setting: str = _SETTING

    @property
    def is_command(self) -> bool:
        """Whether the examples are commands."""
        return self.example.startswith("$ ")

    @property
    def title(self) -> str:
        """A phrase for it, to stand after its name."""
        if self.stops:
            return "error that stops a kernel"
        return "note of ptx-run" if self.severity == "note" else "finding of ptx-run --check"

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """The headings of its description, with their lines."""
        lines = self.example.strip("\n").splitlines()
        yield "Example", lines if self.is_command else [*wrap(self.setting, _WIDTH), "", *lines]
        yield "Use instead", self.use_instead.strip("\n").splitlines()

    def lines(self) -> Iterator[str]:
        """Its description as plain text."""
        yield f"{self.name} ({self.title})"
        yield from wrap(self.summary, _WIDTH)
        for heading, lines in self.sections():
            yield from ("", heading, *(f"    {line}".rstrip() for line in lines))
