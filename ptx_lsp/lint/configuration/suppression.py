"""Comments that suppress findings.

1. `// ptx-lint: ignore[rule, ...]` after code applies to its line. Alone in a line, or with other comments,
   it applies to that line and the next one with code. `/* ... */` does the same.
2. `// ptx-lint: ignore-file[rule, ...]` applies to the whole file, at any position.
3. A rule is a name, a code, the prefix of a code, or `ALL`. Without brackets it applies to all rules. The
   text after the brackets is the reason, for people.
4. A finding of several lines is suppressed in its first or last line.
5. In languages with other comments than `//`, such as `#`, these count as well.

Looking for comments is one search for `ptx-lint:`, so a file without any costs nothing more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.configuration.rule_index import rule_index
from ptx_lsp.lint.configuration.selection import (
    EVERY,
    OUTSIDE,
    UnknownRuleError,
    did_you_mean,
    matching,
)
from ptx_lsp.lint.diagnostic import Diagnostic, Fix
from ptx_lsp.lint.registry import rules_of
from ptx_lsp.lint.rule import Rule
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.text import Edit, Source, Span

if TYPE_CHECKING:
    import re

_MARK = b"ptx-lint:"
_WORDS = ("ignore", "ignore-file")
_SLASHES = b"//"
_COMMENT = lazy_pattern(
    rb"(?P<open>//|/\*|[#;]|^[ \t]*\*?)[ \t]*ptx-lint:[ \t]*(?P<word>[\w-]+)"
    rb"[ \t]*(?:\[(?P<rules>[^\]\r\n]*)\])?"
)
_SEPARATOR = lazy_pattern(r"[,\s]+")
_OPENING = lazy_pattern(rb"//|/\*")
_OTHER_MARKS = (b"#", b";")
_STRING = lazy_pattern(rb'"(?:[^"\\\r\n]|\\.)*"')
"""A whole one: in the last line of a literal of several lines, the quote that ends it opens none."""


class Suppression(NamedTuple):
    """One comment. `span` is that of `ptx-lint: ...` with the brackets."""

    span: Span
    word: str
    rules: tuple[str, ...]
    """The rules as written; empty means every rule."""
    line: int | None
    """The line that it applies to, from 0; None for all lines, or for none if `word` is unknown."""


class Suppressions:
    """The comments of one text, and which of them have suppressed something."""

    def __init__(self, source: Source, mark: bytes = _SLASHES) -> None:
        """`mark` begins the comments of the language."""
        self.source = source
        self._mark = mark
        self.found = tuple(_found(source, mark))
        self._used: set[tuple[Suppression, str]] = set()
        self._of_file = [one for one in self.found if one.word == "ignore-file"]
        self._of_line: dict[int | None, list[Suppression]] = {}
        for one in self.found:
            if one.word == "ignore":  # its own line, too: a finding may be at a line without code
                for line in {one.line, source.line_of(one.span.start)}:
                    self._of_line.setdefault(line, []).append(one)

    def silence(self, rule: str, code: str, span: Span) -> bool:
        """Whether a finding is suppressed; records the comment."""
        if not self.found:
            return False
        first, last = self.source.line_of(span.start), self.source.line_of(max(span.start, span.end - 1))
        return self.silence_lines(rule, code, first, last)

    def silence_lines(self, rule: str, code: str, first: int, last: int) -> bool:
        """Whether a finding from one line to another, both from 0, is suppressed; records the comment."""
        found = [pair for one in self._at(first, last) for pair in _naming(one, rule, code)]
        self._used.update(found)
        return bool(found)

    def _at(self, first: int, last: int) -> Iterator[Suppression]:
        """The comments that count in two lines."""
        yield from self._of_file
        for line in {first, last}:
            yield from self._of_line.get(line, ())

    def kept(self, diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """The diagnostics that no comment suppresses."""
        if not self.found:
            return iter(diagnostics)
        return (one for one in diagnostics if not self.silence(one.rule, one.code, one.span))

    def unused(self, ran: Collection[str]) -> Iterator[Diagnostic]:
        """The findings about comments that suppress nothing; called after all other rules.

        Rules that did not run (`ran` has the names of those that did) do not count as unused.
        """
        if self.found:
            rules = [one.module for one in rule_index() if one.on_comments and one.name in ran]
            for rule in rules_of(rules):
                yield from self._unused(rule, ran)

    def _unused(self, rule: Rule, ran: Collection[str]) -> Iterator[Diagnostic]:
        for one in self.found:
            message, left = self._fault(one, ran)
            if message is None or self._is_excused(one, rule):
                continue
            edit = _without(one, left, self.source, self._mark)
            what = "Remove the comment" if not left else f"Keep only {_ticked(left)}"
            fix = Fix(what, (edit,), safe=True)
            yield Diagnostic(
                rule.name, rule.code, rule.severity, message, one.span, fix=fix, tag=rule.tag
            )

    def _is_excused(self, one: Suppression, rule: Rule) -> bool:
        """Whether a comment suppresses a finding about itself: by name, or by another comment that covers all
        rules.
        """
        line = self.source.line_of(one.span.start)
        return any(
            _naming(other, rule.name, rule.code)
            for other in self._at(line, line)
            if other is not one or other.rules
        )

    def _fault(self, one: Suppression, ran: Collection[str]) -> tuple[str | None, list[str]]:
        """The error in a comment, and the rules that it may keep."""
        if one.word not in _WORDS:
            near = did_you_mean(one.word, _WORDS) or "; expected `ignore` or `ignore-file`"
            return f"`ptx-lint: {one.word}` is not a ptx-lint comment{near}", []
        if not one.rules:
            used = (one, "") in self._used
            return (None if used else "this comment suppresses nothing"), []
        unused: list[str] = []
        for word in one.rules:
            try:
                named = matching(rule_index(), word)
            except UnknownRuleError as error:
                left = [other for other in one.rules if other != word]
                return str(error), left
            outside = all(name in OUTSIDE or name not in ran for name in named)
            if (one, word) not in self._used and not outside:
                unused.append(word)
        if not unused:
            return None, []
        where = "this file" if one.word == "ignore-file" else "that line"
        left = [word for word in one.rules if word not in unused]
        return f"{_ticked(unused)} reports nothing in {where}", left


def suppressed(
    diagnostics: Iterable[Diagnostic],
    source: Source,
    ran: Collection[str],
    mark: bytes = _SLASHES,
) -> list[Diagnostic]:
    """The diagnostics that no comment suppresses, and those about comments that suppress nothing, in order.

    `ran` are the names of the rules that were run.
    """
    comments = Suppressions(source, mark)
    kept = [*comments.kept(diagnostics), *comments.unused(ran)]
    return sorted(kept, key=lambda d: (d.span, d.code, d.message))


def insertion(
    source: Source, line: int, names: Iterable[str], mark: bytes = _SLASHES
) -> Edit | None:
    """Inserts a comment that suppresses the rules `names` in a line, counted from 0, after `mark`. None if no
    comment can be in the line.
    """
    for one in _found(source, mark):
        if one.word == "ignore" and one.line == line and one.rules:
            everything = dict.fromkeys((*one.rules, *names))
            return Edit(*one.span, f"ptx-lint: ignore[{', '.join(everything)}]".encode())
    comment = f"ptx-lint: ignore[{', '.join(dict.fromkeys(names))}]"
    at = _before_code(source, line) if mark == _SLASHES else None
    if at is not None:
        return Edit(at, at, f"/* {comment} */ ".encode())
    start, end = source.line_span(line)
    if mark != _SLASHES and source.data.endswith(b"\\", start, end):
        return None  # the line continues, and what is no block comment would hide that
    return Edit(end, end, b"  %b %b" % (mark, comment.encode()))


def _before_code(source: Source, line: int) -> int | None:
    """The position for a comment inside a line that cannot end with one: a block comment continues after
    it, or the line itself does, as with `\\` in a macro. None for other lines.
    """
    start, end = source.line_span(line)
    if _is_in_comment(source, end):
        if _is_in_comment(source, start):
            close = source.data.find(b"*/", start, end)
            if close < 0:
                return None
            start = close + 2
        text = source.data[start:end]
        return end - len(text.lstrip())
    return end - 1 if source.data.endswith(b"\\", start, end) else None


def _naming(one: Suppression, rule: str, code: str) -> list[tuple[Suppression, str]]:
    """The words of a comment that refer to a rule."""
    words = one.rules or ("",)
    return [(one, word) for word in words if word in (rule, EVERY) or code.startswith(word)]


def _found(source: Source, mark: bytes) -> Iterator[Suppression]:
    data = source.data
    at = data.find(_MARK)
    while at >= 0:
        line = source.line_of(at)
        start, end = source.line_span(line)
        text = data[start:end]
        strings = [match.span() for match in _strings(text)]
        for match in _COMMENT.finditer(text):
            inside = match.start("word")
            if any(first <= inside < last for first, last in strings):
                continue
            if match["open"] in _OTHER_MARKS and match["open"] != mark:
                continue
            yield _suppression(source, line, match, mark)
        at = data.find(_MARK, end)


def _strings(text: bytes) -> Iterator[re.Match[bytes]]:
    """The strings of one line, up to its first comment."""
    opening = _OPENING.search(text)
    for match in _STRING.finditer(text):
        if opening is not None and opening.start() < match.start():
            return
        yield match
        if opening is not None and opening.start() < match.end():
            opening = _OPENING.search(text, match.end())


def _suppression(source: Source, line: int, match: re.Match[bytes], mark: bytes) -> Suppression:
    start = source.line_span(line).start
    word = match["word"].decode()
    listed = (match["rules"] or b"").decode("utf-8", "replace")
    rules = tuple(name for name in _SEPARATOR.split(listed) if name)
    first = match.group().index(_MARK) + match.start()
    span = Span(start + first, start + match.end())
    silenced = _silenced(source, line, match.start(), mark) if word == "ignore" else None
    return Suppression(span, word, rules, silenced)


def _silenced(source: Source, line: int, column: int, mark: bytes) -> int:
    """The line itself if it has code, else the next one with code."""
    start, end = source.line_span(line)
    before = source.data[start : start + column]
    if _has_code(before):
        return line
    behind = source.data[start + column : end]
    if behind.startswith(b"/*") and b"*/" in behind:
        if _has_code(behind.partition(b"*/")[2]):
            return line
    elif not behind.startswith((_SLASHES, mark)):  # a comment of several lines: after its end
        close = source.data.find(b"*/", start + column)
        if close >= 0:
            line = source.line_of(close)
            if _has_code(source.data[close + 2 : source.line_span(line).end]):
                return line
    for later in range(line + 1, min(source.line_count, line + 1 + _FAR)):
        start, end = source.line_span(later)
        if _has_code(source.data[start:end]) and not source.data[start:end].lstrip().startswith(mark):
            return later
    return line


_FAR = 200
"""The maximum number of comment lines between a comment and its code."""


def _has_code(text: bytes) -> bool:
    """Whether a line, or a part of one, has more than blanks and comments."""
    at = len(text) - len(text.lstrip())
    while text.startswith(b"/*", at):
        close = text.find(b"*/", at + 2)
        if close < 0:
            return False
        at = close + 2
        while text[at : at + 1].isspace():
            at += 1
    return at < len(text) and not text.startswith((b"//", b"*"), at)


def _without(one: Suppression, left: list[str], source: Source, mark: bytes) -> Edit:
    """Takes the comment away, or the rules that are not in `left`."""
    if left:
        return Edit(*one.span, f"ptx-lint: {one.word}[{', '.join(left)}]".encode())
    line = source.line_of(one.span.start)
    start, end = source.line_span(line)
    text, column = source.data[start:end], one.span.start - start
    opening = max(text.rfind(one, 0, column) for one in (_SLASHES, b"/*", mark))
    if opening < 0:  # within a comment of several lines
        return Edit(one.span.start, end, b"")
    first, last = start + opening, end
    if text.startswith(b"/*", opening):
        close = source.data.find(b"*/", one.span.end)
        if not 0 <= close < end:
            return Edit(*one.span, b"")
        last = close + 2
    while first > start and source.data[first - 1] in b" \t":
        first -= 1
    if first == start and not source.data[last:end].strip() and line + 1 < source.line_count:
        return Edit(start, source.line_start(line + 1), b"")
    return Edit(first, last, b"")


def _is_in_comment(source: Source, offset: int) -> bool:
    """Whether a block comment seems to have begun before `offset` and to end after it."""
    return source.data.rfind(b"/*", 0, offset) > source.data.rfind(b"*/", 0, offset)


def _ticked(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
