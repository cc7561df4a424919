"""Converts our values to protocol types. Only this module builds them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import PurePath

from lsprotocol import types
from pygls.uris import from_fs_path

from ptx_lsp.ide.cursor.access import Use
from ptx_lsp.ide.cursor.occurrences import Occurrence
from ptx_lsp.ide.hover.links import Link
from ptx_lsp.ide.navigation.symbols import SymbolSort
from ptx_lsp.lint.diagnostic import Diagnostic, Related, Severity, Tag
from ptx_lsp.server.client import Client
from ptx_lsp.server.containers.member_uri import path_of
from ptx_lsp.server.json import Json, JsonText
from ptx_lsp.text import ColumnUnit, Edit, Position, Source, Span

_ORIGIN = "the source line"
_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}

_TAGS: dict[Tag, types.DiagnosticTag] = {
    "unnecessary": types.DiagnosticTag.Unnecessary,
    "deprecated": types.DiagnosticTag.Deprecated,
}

_HIGHLIGHTS: dict[Use, types.DocumentHighlightKind] = {
    "declaration": types.DocumentHighlightKind.Text,
    "read": types.DocumentHighlightKind.Read,
    "write": types.DocumentHighlightKind.Write,
    "both": types.DocumentHighlightKind.Write,
    "other": types.DocumentHighlightKind.Text,
}

SYMBOL_KINDS: dict[SymbolSort, types.SymbolKind] = {
    "kernel": types.SymbolKind.Function,
    "function": types.SymbolKind.Function,
    "variable": types.SymbolKind.Variable,
    "constant": types.SymbolKind.Constant,
    "register": types.SymbolKind.Variable,
    "parameter": types.SymbolKind.Field,
    "label": types.SymbolKind.Key,
    "structure": types.SymbolKind.Struct,
    "section": types.SymbolKind.Namespace,
    "alias": types.SymbolKind.Function,
    "file": types.SymbolKind.File,
}


class Converter:
    """Converts byte offsets of one text to positions in the client's unit, and back."""

    def __init__(self, uri: str, source: Source, client: Client) -> None:
        self.uri = uri
        self.source = source
        self.client = client
        self.unit: ColumnUnit = client.unit

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one beyond its line or the text counts as the end."""
        return self.source.offset(Position(position.line, position.character), self.unit)

    def offset_at(self, line: int, column: int) -> int:
        return self.source.offset(Position(max(0, line), max(0, column)), self.unit)

    def span(self, range: types.Range) -> Span:
        start = self.offset(range.start)
        return Span(start, max(start, self.offset(range.end)))

    def position(self, offset: int) -> types.Position:
        return types.Position(*self.source.position(offset, self.unit))

    def range(self, span: Span) -> types.Range:
        return types.Range(self.position(span.start), self.position(span.end))

    def json_range(self, span: Span) -> Json:
        """A range for requests beyond LSP."""
        first, last = (self.source.position(offset, self.unit) for offset in span)
        return {
            "start": {"line": first.line, "character": first.column},
            "end": {"line": last.line, "character": last.column},
        }

    def has(self, span: Span) -> bool:
        """Whether a range is in the client's text. Blocks of inline assembly have some outside of it."""
        return True

    def is_editable(self, span: Span) -> bool:
        """Whether text can be replaced there."""
        return True

    def written(self, offset: int, text: str) -> str | None:
        """PTX, written so that the client's text has it at an offset; None if that is impossible."""
        return text

    def location(self, span: Span) -> types.Location:
        return types.Location(self.uri, self.range(span))

    def locations(self, spans: Iterable[Span]) -> list[types.Location]:
        return [self.location(span) for span in spans if self.has(span)]

    def markup(self, markdown: str) -> types.MarkupContent:
        """Markdown if the client supports it, else plain text."""
        if self.client.markdown:
            return types.MarkupContent(types.MarkupKind.Markdown, markdown)
        return types.MarkupContent(types.MarkupKind.PlainText, plain(markdown))

    # -- edits ----------------------------------------------------------------------------------

    def text_edit(self, edit: Edit) -> types.TextEdit:
        new = edit.replacement.decode("utf-8", "replace")
        return types.TextEdit(self.range(Span(edit.start, edit.end)), new)

    def text_edits(self, edits: Iterable[Edit]) -> list[types.TextEdit]:
        return [self.text_edit(edit) for edit in edits]

    def json_edits(self, edits: Sequence[Edit]) -> JsonText:
        """Edits in order, of which there may be some in every line, and most insert the same texts."""
        offsets = chain.from_iterable([(edit.start, edit.end) for edit in edits])
        positions = self.source.positions(offsets, self.unit)
        texts = {
            text: json.dumps(text.decode("utf-8", "replace")) for text in {edit.replacement for edit in edits}
        }
        found = [
            f'{{"range":{{"start":{{"line":{first},"character":{start}}},'
            f'"end":{{"line":{last},"character":{end}}}}},"newText":{texts[edit.replacement]}}}'
            for edit, (first, start), (last, end) in zip(edits, positions, positions, strict=True)
        ]
        return JsonText(f"[{','.join(found)}]")

    def workspace_edit(self, edits: Iterable[Edit], version: int | None) -> types.WorkspaceEdit:
        """Edits of version `version` of this file."""
        return workspace_edit(self.client, {self.uri: (version, self.text_edits(edits))})

    # -- places ---------------------------------------------------------------------------------

    def highlight(self, found: Occurrence) -> types.DocumentHighlight:
        return types.DocumentHighlight(self.range(found.span), _HIGHLIGHTS[found.use])

    def link(self, found: Link) -> types.DocumentLink | None:
        """A link to a file relative to this one if the path is relative; None if that is unknown."""
        target = self.uri_of(found.path)
        return types.DocumentLink(self.range(found.span), target) if target is not None else None

    def uri_of(self, name: str) -> str | None:
        """The URI of a file that the text names; a relative name is relative to the text's own file."""
        path = PurePath(name)
        if not path.is_absolute():
            own = path_of(self.uri)
            if own is None:
                return None
            path = PurePath(own).parent / path
        return from_fs_path(str(path))

    # -- findings -------------------------------------------------------------------------------

    def diagnostics(self, found: Sequence[Diagnostic]) -> list[types.Diagnostic]:
        return [self.diagnostic(one) for one in found]

    def diagnostic(self, found: Diagnostic) -> types.Diagnostic:
        related = [
            types.DiagnosticRelatedInformation(self.location(one.span), one.message)
            for one in found.related
        ]
        origin = self._origin(found)
        if origin is not None:
            uri, line, column = origin
            place = types.Position(line, column)
            location = types.Location(uri, types.Range(place, place))
            related.append(types.DiagnosticRelatedInformation(location, _ORIGIN))
        return types.Diagnostic(
            self.range(found.span),
            self._message(found),
            _SEVERITIES[found.severity],
            code=found.rule,
            source=found.source,
            tags=[_TAGS[found.tag]] if found.tag is not None and self.client.tags else None,
            related_information=related if related and self.client.related else None,
        )

    def _message(self, found: Diagnostic) -> str:
        """The message, with its related places if the client cannot show them otherwise."""
        if self.client.related:
            return found.message
        lines = [found.message, *map(self._note, found.related)]
        if found.origin is not None:
            lines.append(f"{_ORIGIN}: {found.origin.path}:{found.origin.line}")
        return "\n".join(lines)

    def _origin(self, found: Diagnostic) -> tuple[str, int, int] | None:
        """The source line of a diagnostic: its URI, and the line and column from 0."""
        if found.origin is None or (uri := self.uri_of(found.origin.path)) is None:
            return None
        return uri, found.origin.line - 1, found.origin.column - 1

    def _note(self, related: Related) -> str:
        return f"line {self.source.position(related.span.start).line + 1}: {related.message}"

    def json_diagnostics(self, found: Sequence[Diagnostic]) -> list[Json]:
        """The diagnostics as plain JSON for sending: there may be a thousand at each keystroke."""
        return [self._json_diagnostic(one) for one in found]

    def _json_diagnostic(self, found: Diagnostic) -> Json:
        fields: dict[str, Json] = {
            "range": self.json_range(found.span),
            "message": self._message(found),
            "severity": _SEVERITIES[found.severity].value,
            "code": found.rule,
            "source": found.source,
        }
        if found.tag is not None and self.client.tags:
            fields["tags"] = [_TAGS[found.tag].value]
        origin = self._origin(found)
        if (found.related or origin is not None) and self.client.related:
            related: list[Json] = [
                {
                    "location": {"uri": self.uri, "range": self.json_range(one.span)},
                    "message": one.message,
                }
                for one in found.related
            ]
            if origin is not None:
                uri, line, column = origin
                place: Json = {"line": line, "character": column}
                location: Json = {"uri": uri, "range": {"start": place, "end": place}}
                related.append({"location": location, "message": _ORIGIN})
            fields["relatedInformation"] = related
        return fields


def workspace_edit(
    client: Client, edits: Mapping[str, tuple[int | None, list[types.TextEdit]]]
) -> types.WorkspaceEdit:
    """Edits of several files, by URI, each with the version of the file if the client has it open."""
    if not client.versioned_edits:
        return types.WorkspaceEdit(changes={uri: found for uri, (_, found) in edits.items()})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), found)
            for uri, (version, found) in edits.items()
        ]
    )


def plain(markdown: str) -> str:
    """Markdown as plain text, without fences and markup."""
    lines = [line for line in markdown.splitlines() if not line.startswith("```")]
    return re.sub(r"\*\*([^*]+)\*\*|`([^`]+)`", lambda match: match[1] or match[2], "\n".join(lines))
