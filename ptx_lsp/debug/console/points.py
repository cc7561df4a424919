"""The breakpoints, watchpoints and catchpoints that the user has set, with their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from ptx_lsp.debug.breakpoints import Access, DataBreakpoint, LineBreakpoint
from ptx_lsp.debug.debuggee import Debuggee
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.memory import Reference
from ptx_lsp.debug.problems import FILTERS
from ptx_lsp.debug.request_error import RequestError

Kind = Literal["breakpoint", "watchpoint", "catchpoint"]
_OWNER = " console"


@dataclass
class Point:
    """A place or an event at which the kernel stops."""

    number: int
    kind: Kind
    text: str
    """The place, the expression or the kind of problem."""
    lines: tuple[int, ...] = ()
    shown: int | None = None
    """The line of the file where a client shows it."""
    path: str = ""
    access: Access = "write"
    place: Reference | None = None
    size: int = 1
    type: str = ""
    register: tuple[int, Lane] | None = None
    condition: str = ""
    is_temporary: bool = False
    is_enabled: bool = True
    hits: int = 0
    ignored: int = 0
    """How many hits are ignored."""
    counted: list[int] = field(default_factory=list[int])
    """The instructions before which it was hit, of those that are ignored."""
    last: str = ""
    """The value that was seen last."""

    @property
    def heading(self) -> str:
        """Its kind and number, as in `Breakpoint 1`."""
        kind = {"read": "Read watchpoint", "readWrite": "Access (read/write) watchpoint"}.get(self.access)
        if self.kind == "watchpoint":
            return f"{kind or 'Watchpoint'} {self.number}"
        temporary = "Temporary breakpoint" if self.is_temporary else "Breakpoint"
        return f"{temporary if self.kind == 'breakpoint' else 'Catchpoint'} {self.number}"


@dataclass
class Points:
    """All that were set, by number. The engine has those that are enabled."""

    debuggee: Debuggee
    by_number: dict[int, Point] = field(default_factory=dict[int, Point])
    latest: int | None = None

    def add(self, point: Point) -> None:
        """Sets a point; the number is that of the engine."""
        self.by_number[point.number] = point
        self.latest = point.number
        self.apply()
        self._report(point, "new")

    def next_number(self) -> int:
        """The number of a new point."""
        return self.debuggee.breakpoints.next_number()

    def chosen(self, text: str) -> list[Point]:
        """The points that numbers and ranges such as `1 3-5` name; all for an empty text. Raises
        RequestError.
        """
        if not text.strip():
            return list(self.by_number.values())
        found: list[Point] = []
        for word in text.replace(",", " ").split():
            first, dash, last = word.partition("-")
            if not (first.isdecimal() and (not dash or last.isdecimal())) or len(word) > _MOST_DIGITS:
                raise RequestError(f"Bad breakpoint argument: '{word}'")
            numbers = [
                one for one in self.by_number if int(first) <= one <= int(last or first)
            ]
            if not numbers:
                raise RequestError(f"No breakpoint number {word}.")
            found += [self.by_number[one] for one in numbers]
        return found

    def delete(self, points: Iterable[Point]) -> None:
        """Removes points."""
        for point in points:
            if self.by_number.pop(point.number, None) is not None:
                self._report(point, "removed")
        self.apply()

    def change(self, points: Iterable[Point]) -> None:
        """Makes changes of points take effect."""
        self.apply()
        for point in points:
            self._report(point, "changed")

    def release(self, path: str, lines: Iterable[int | None]) -> None:
        """Gives up the breakpoints of lines that a client sets itself from now on."""
        for point in list(self.by_number.values()):
            if point.kind == "breakpoint" and point.path == path and point.shown in set(lines):
                del self.by_number[point.number]
        self.apply()

    def apply(self) -> None:
        """Gives the engine those that are enabled."""
        breakpoints = self.debuggee.breakpoints
        enabled = [one for one in self.by_number.values() if one.is_enabled]
        breakpoints.replace_lines(_OWNER, [
            LineBreakpoint(
                one.number, one.condition, _count(one), hits=one.counted, lines=frozenset(one.lines)
            )
            for one in enabled if one.kind == "breakpoint"
        ])
        breakpoints.replace_data(_OWNER, [
            DataBreakpoint(
                one.number, one.condition, _count(one), hits=one.counted, access=one.access, place=one.place,
                size=one.size, register=one.register,
            )
            for one in enabled if one.kind == "watchpoint"
        ])

    def catch(self, enabled: Iterable[Point]) -> None:
        """Stops at the problems of these catchpoints alone; at all if there are none."""
        wanted = {one.text for one in enabled}
        self.debuggee.breakpoints.ignored = frozenset(
            kind for name, (_, kinds) in FILTERS.items() if wanted and name not in wanted for kind in kinds
        )

    def _report(self, point: Point, reason: str) -> None:
        if point.kind == "catchpoint":
            self.catch(one for one in self.by_number.values() if one.kind == "catchpoint" and one.is_enabled)
        if point.path:
            self.debuggee.breakpoint_changed(reason, point.number, point.path, point.shown)


def _count(point: Point) -> str:
    return f"> {point.ignored}" if point.ignored else ""


_MOST_DIGITS = 12
