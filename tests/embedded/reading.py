"""Reads blocks of inline assembly, and checks the maps of their text."""

from __future__ import annotations

from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import language_of
from ptx_lsp.isa.target import parse_target
from ptx_lsp.lint.configuration.selection import chosen
from ptx_lsp.lint.inline.block_linter import BlockLinter, check_block
from ptx_lsp.lint.inline.translation import host_edits
from ptx_lsp.text import Edit, Source

INSERTED = ("x", '"', "\\", "{", "}", "\n", "%", "$", "'", "`", "\t")
"""What languages escape in one way or another."""


def read(text: str | bytes, suffix: str) -> HostDocument:
    """The document of a file with this suffix."""
    language = language_of(f"file{suffix}")
    assert language is not None
    return HostDocument(Source(text.encode() if isinstance(text, str) else text), language)


def block_in(text: str, suffix: str) -> Block:
    """The only block of a text."""
    (block,) = read(text, suffix).blocks
    return block


def operands_of(block: Block) -> list[tuple[str, str | None, str, str]]:
    """Name, type, access and expression of each operand."""
    return [(one.name, one.type, one.access, one.expression) for one in block.operands]


def findings(text: str, suffix: str) -> list[tuple[str, str, str]]:
    """Severity and rule of each finding, and the text where it stands."""
    document = read(text, suffix)
    return [
        (one.severity, one.rule, document.source.data[slice(*one.span)].decode())
        for one in BlockLinter(chosen(())).diagnostics(document)
    ]


def wrong(text: str, suffix: str) -> set[str]:
    """The names and modifiers that are wrong."""
    rules = ("undeclared-name", "wrong-modifier")
    return {
        where
        for severity, rule, where in findings(text, suffix)
        if (severity, rule in rules) == ("error", True)
    }


def check_places(document: HostDocument) -> None:
    """Every byte of the text of a block has its place in the host, which leads back to it."""
    for block in document.blocks:
        written = document.source.data[block.start : block.span.end]
        text, before = block.text, 0
        assert block.keyword.start >= 0
        assert block.keyword.end <= block.length
        for index, piece in enumerate(text.pieces):
            assert 0 <= piece.host.start <= piece.host.end <= block.length
            assert before <= piece.host.start, "pieces in the order of the host"
            before = piece.host.end
            following = (
                text.pieces[index + 1].start if index + 1 < len(text.pieces) else len(text.data)
            )
            if piece.kind == "same":
                assert written[slice(*piece.host)] == text.data[piece.start : following]
            for offset in range(piece.start, following):
                back = text.offset_at(text.host_offset(offset))
                assert back == offset if piece.kind == "same" else back is not None
        for operand in block.operands:
            assert written[slice(*operand.expression_span)].decode().strip() == operand.expression
            assert 0 <= operand.constraint_span.start <= operand.constraint_span.end <= block.length


def check_edits(text: str, suffix: str) -> int:
    """Inserts characters before each byte of each block, and deletes each byte: afterwards the edited text is
    read. Returns the number of edits that can be written.
    """
    document = read(text, suffix)
    target = parse_target("sm_90a")
    assert target is not None
    written = 0
    for number, block in enumerate(document.blocks):
        checked = check_block(block, target)
        data = block.text.data
        edits = [
            Edit(place, place, inserted.encode())
            for place in range(len(data) + 1)
            for inserted in INSERTED
        ]
        edits += [Edit(place, place + 1, b"") for place in range(len(data))]
        for edit in edits:
            found = host_edits(checked, edit)
            if found is None:
                continue
            host = text.encode()
            for one in sorted(found, key=lambda one: -one.start):
                host = (
                    host[: block.start + one.start]
                    + one.replacement
                    + host[block.start + one.end :]
                )
            expected = data[: edit.start] + edit.replacement + data[edit.end :]
            again = read(host, suffix).blocks
            assert len(again) == len(document.blocks), host
            assert (again[number].text.data, edit) == (expected, edit), host
            written += 1
    return written
