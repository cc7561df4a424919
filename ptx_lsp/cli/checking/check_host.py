"""Lints the inline PTX of one file in another language."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.cli.settings import Settings
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import Language
from ptx_lsp.isa.target import parse_target
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.configuration.suppression import Suppressions
from ptx_lsp.lint.inline.block_linter import BlockLinter
from ptx_lsp.lint.results.fingerprint import add_fingerprints
from ptx_lsp.lint.results.report import FileReport, reported
from ptx_lsp.text import Source


def check_host(path: str, source: Source, language: Language, settings: Settings) -> FileReport:
    """The report of one file. Raises MissingGrammarError."""
    document = HostDocument(source, language)
    linter = _linter(settings.rules, settings.targets)
    comments = Suppressions(source)
    found = list(reported(comments.kept(linter.diagnostics(document)), source))
    add_fingerprints(found)
    return FileReport(path, None, None, settings.targets, tuple(found), language=language.name)


@lru_cache(maxsize=4)
def _linter(rules: Rules, targets: tuple[str, ...]) -> BlockLinter:
    """One for all files of a run, as many have the same blocks."""
    return BlockLinter(rules, [one for name in targets if (one := parse_target(name)) is not None])
