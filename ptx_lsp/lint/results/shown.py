"""The findings of a file that reports for people show: those that are severe enough, grouped by their cause,
with demangled names.
"""

from __future__ import annotations

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.results.grouping import Group, grouped
from ptx_lsp.lint.results.report import FileReport, Reported, is_shown

_MANGLED = lazy_pattern(r"`(_[ZR][\w$.]+)`")


def visible(file: FileReport, least: Severity) -> tuple[Reported, ...]:
    """The findings of a file with at least this severity."""
    return tuple([one for one in file.diagnostics if is_shown(one, least)])


def groups(file: FileReport, least: Severity) -> list[Group]:
    """The findings that are shown, grouped, with demangled names."""
    found = visible(file, least)
    return _demangled(grouped(found)) if found else []


def _demangled(found: list[Group]) -> list[Group]:
    names = {name for one in found for text in _texts(one.first) for name in _MANGLED.findall(text)}
    if not names:
        return found
    from ptx_lsp.demangler import demangled

    plain = demangled(names)

    def readable(text: str) -> str:
        return _MANGLED.sub(lambda name: f"`{plain.get(name[1], name[1])}`", text)

    def with_names(one: Reported) -> Reported:
        return one._replace(
            message=readable(one.message),
            related=tuple([mark._replace(message=readable(mark.message)) for mark in one.related]),
        )

    return [one._replace(first=with_names(one.first)) for one in found]


def _texts(found: Reported) -> list[str]:
    texts = [found.message, *(mark.message for mark in found.related)]
    return [text for text in texts if "`_" in text]
