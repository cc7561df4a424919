"""Our values as those of the protocol. Nothing else builds them."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from ptx_lsp.lint.diagnostic import Diagnostic, Severity
from ptx_lsp.text import ColumnUnit, Position, Source, Span

_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}


class Converter:
    """Turns byte offsets of one text into positions that count columns in `unit`, and back."""

    def __init__(self, uri: str, source: Source, unit: ColumnUnit) -> None:
        self.uri = uri
        self.source = source
        self.unit: ColumnUnit = unit

    def offset(self, position: types.Position) -> int:
        """A position beyond its line or the text is that of the end."""
        return self.source.offset(Position(position.line, position.character), self.unit)

    def span(self, range: types.Range) -> Span:
        start = self.offset(range.start)
        return Span(start, max(start, self.offset(range.end)))

    def position(self, offset: int) -> types.Position:
        return types.Position(*self.source.position(offset, self.unit))

    def range(self, span: Span) -> types.Range:
        return types.Range(self.position(span.start), self.position(span.end))

    def location(self, span: Span) -> types.Location:
        return types.Location(self.uri, self.range(span))

    def diagnostics(self, found: Sequence[Diagnostic]) -> list[types.Diagnostic]:
        return [self.diagnostic(one) for one in found]

    def diagnostic(self, found: Diagnostic) -> types.Diagnostic:
        related = [
            types.DiagnosticRelatedInformation(self.location(one.span), one.message)
            for one in found.related
        ]
        return types.Diagnostic(
            self.range(found.span),
            found.message,
            _SEVERITIES[found.severity],
            code=found.rule,
            source=found.source,
            related_information=related or None,
        )
