"""Statements, lines and tokens that no other pass knows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ptx_lsp.ide.cursor.tokens import tokens
from ptx_lsp.reduce.program import Program
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span

_MOST_STEPS = 2000
"""Tokens of a text with more are deleted several at a time."""
_KNOWN = (nodes.Instruction, nodes.Label, nodes.Block, nodes.Declaration)


@reduction_pass("other statements", "deletion", 80)
def other_statements(program: Program) -> Iterator[Step]:
    """Deletes aliases, structures, and text that is not a statement."""
    for node, span in program.statements():
        if not isinstance(node, _KNOWN):
            yield (program.delete(span),)


@reduction_pass("lines", "deletion", 90)
def lines(program: Program) -> Iterator[Step]:
    """Deletes each line, the last first."""
    source = program.module.document.source
    for line in reversed(range(source.line_count)):
        span = source.line_span(line)
        if span.start < span.end:
            yield (program.delete(span),)


@reduction_pass("tokens", "simplification", 95)
def single_tokens(program: Program) -> Iterator[Step]:
    """Deletes each token, and each pair of neighbours."""
    found = list(tokens(program.module.document.source.text))
    count = -(-len(found) // _MOST_STEPS)
    spans = [
        Span(found[at].start, found[min(at + count, len(found)) - 1].end)
        for at in range(0, len(found), count or 1)
    ]
    for span in spans:
        yield (program.delete(span),)
    for one, other in pairwise(spans):
        yield (program.delete(Span(one.start, other.end)),)
