"""Findings together with what ptxas says about the same text."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.lint.configuration.selection import PTXAS, Rules
from ptx_lsp.lint.configuration.suppression import Suppressions
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.ptxas_messages import merge_messages
from ptx_lsp.lint.results.debug_lines import SourceLocations
from ptx_lsp.model.module import Module
from ptx_lsp.ptxas import Message
from ptx_lsp.server.publisher import worst


def with_messages(
    found: list[Diagnostic], messages: Sequence[Message], module: Module, rules: Rules
) -> list[Diagnostic]:
    """The findings in a module, and the messages that none of them covers, unless these are turned off."""
    if not messages or PTXAS not in rules.names:
        return found
    source, origins = module.document.source, SourceLocations(module)
    _, added = merge_messages(
        found, messages, source, Suppressions(source), lambda offset: next(iter(origins.of(offset)[1]), None)
    )
    return worst(sorted([*found, *rules.judged(added)], key=lambda one: one.span), source)
