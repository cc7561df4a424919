"""Lints the inline PTX of one file in another language."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from ptx_lsp.cli.inputs import InputError
from ptx_lsp.cli.settings import Settings
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import MissingGrammarError, language_named
from ptx_lsp.isa.target import Target, parse_target
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.configuration.suppression import Suppressions, suppressed
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.fixes.fix_application import apply_to, text_edited
from ptx_lsp.lint.inline.block_linter import BlockLinter
from ptx_lsp.lint.results.fingerprint import add_fingerprints
from ptx_lsp.lint.results.report import FileReport, by_place, reported
from ptx_lsp.text import Edit, Source


def check_host(path: str, source: Source, settings: Settings) -> FileReport:
    """The report of one file, whose language the settings name. Raises InputError."""
    assert settings.language is not None
    language, off = language_named(settings.language), frozenset(settings.inline_off)
    linter = _linter(settings.rules, settings.targets, settings.build_targets)
    try:
        document = HostDocument(source, language, off)
    except MissingGrammarError as error:
        raise InputError(str(error)) from error
    fixed: tuple[str, ...] = ()
    if settings.fix and document.blocks:
        document, fixed = _mended(document, linter, settings)
    source = document.source
    comments = Suppressions(source, language.comment.encode())
    found = list(reported(comments.kept(linter.diagnostics(document)), source))
    if document.blocks:
        unused = comments.unused(settings.rules.names)
        found = sorted([*found, *reported(settings.rules.judged(unused), source)], key=by_place)
    add_fingerprints(found)
    return FileReport(
        path,
        targets=settings.targets,
        diagnostics=tuple(found),
        fixed=fixed,
        text=source.data if fixed else None,
        language=language.name,
        blocks=len(document.blocks),
    )


@lru_cache(maxsize=4)
def _linter(rules: Rules, targets: tuple[str, ...], build_targets: tuple[str, ...]) -> BlockLinter:
    """One for all files of a run, as many have the same blocks."""
    return BlockLinter(rules, _parsed(targets), _parsed(build_targets))


def _parsed(names: Collection[str]) -> list[Target]:
    return [target for name in names if (target := parse_target(name)) is not None]


def _mended(
    document: HostDocument, linter: BlockLinter, settings: Settings
) -> tuple[HostDocument, tuple[str, ...]]:
    """The document after the fixes of what is found and not silenced."""

    def judge(document: HostDocument) -> list[Diagnostic]:
        mark = document.language.comment.encode()
        return list(suppressed(linter.diagnostics(document), document.source, settings.rules.names, mark))

    def edited(document: HostDocument, edits: Collection[Edit]) -> HostDocument:
        return HostDocument(text_edited(document.source, edits), document.language, document.off)

    def faults(document: HostDocument) -> int:
        return sum(one.rule == "syntax-error" for one in linter.diagnostics(document))

    return apply_to(document, judge, edited, faults, settings.fix == "unsafe")
