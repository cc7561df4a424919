"""No feature fails on any text, and after edits each gives what it gives of a fresh file."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from ptx_lsp.ide.annotations.code_lenses import code_lenses, title
from ptx_lsp.ide.annotations.inlay_hints import Shown, inlay_hints
from ptx_lsp.ide.annotations.inline_values import inline_values
from ptx_lsp.ide.completion.completion import completion, documentation
from ptx_lsp.ide.completion.signature import signature_help
from ptx_lsp.ide.editing.formatting import formatting, formatting_on_type
from ptx_lsp.ide.editing.linked_editing import linked_editing
from ptx_lsp.ide.editing.rename import RenameError, rename
from ptx_lsp.ide.highlighting.encoded_tokens import flat, token_pieces
from ptx_lsp.ide.highlighting.semantic_tokens import semantic_tokens
from ptx_lsp.ide.hover.hover import hover
from ptx_lsp.ide.hover.links import links
from ptx_lsp.ide.navigation.call_hierarchy import incoming, outgoing, prepare_calls
from ptx_lsp.ide.navigation.definition import declarations_at, definitions, type_definitions
from ptx_lsp.ide.navigation.folding import folding
from ptx_lsp.ide.navigation.references import references
from ptx_lsp.ide.navigation.selection import selection
from ptx_lsp.ide.navigation.symbols import document_symbols, workspace_symbols
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source, Span
from tests.oracle import corpus
from tests.properties.test_damaged import DAMAGES
from tests.properties.test_edits import TOKENS
from tests.strength import seeds

TEXTS = [text for path in corpus.files() if len(text := path.read_text()) < 12_000]


def renamed(module: Module, offset: int) -> object:
    try:
        return rename(module, offset, "%fresh_name")
    except RenameError as error:
        return str(error)


def completed(module: Module, offset: int) -> object:
    """Without registers: those of a range that an edit took the last use of are still suggested."""
    found = completion(module, offset)
    if found is None:
        return None
    others = [one for one in found.suggestions if one.sort != "register"]
    return others, [documentation(module, one.key) for one in others[:3]]


def calls_at(module: Module, offset: int) -> object:
    found = prepare_calls(module, offset)
    return found and (incoming(module, found.name), outgoing(module, found.name))


AT_OFFSET: dict[str, Callable[[Module, int], object]] = {
    "hover": hover,
    "definition": definitions,
    "declaration": declarations_at,
    "type definition": type_definitions,
    "references": lambda module, offset: [(o.span, o.use) for o in references(module, offset)],
    "linked editing": linked_editing,
    "rename": renamed,
    "completion": completed,
    "signature": signature_help,
    "selection": selection,
    "calls": calls_at,
    "tokens of a part": lambda module, at: list(semantic_tokens(module, Span(at, at + 200))),
    "hints of a part": lambda module, offset: inlay_hints(module, Span(offset, offset + 200)),
    "inline values": lambda module, offset: inline_values(module, Span(0, offset + 200), offset),
    "formatting while typing": formatting_on_type,
}
WHOLE: dict[str, Callable[[Module], object]] = {
    "tokens": lambda module: flat(token_pieces(module, "utf-16")),
    "outline": document_symbols,
    "names": lambda module: workspace_symbols(module, "l"),
    "folding": folding,
    "links": links,
    "hints": lambda module: inlay_hints(module, shown=Shown(types="all")),
    "lenses": lambda module: [title(module, lens) for lens in code_lenses(module)],
    "formatting": formatting,
}


@pytest.mark.parametrize("seed", seeds(6, 25))
def test_damaged_files(seed: int) -> None:
    chance = random.Random(seed)
    lines = chance.choice(TEXTS).split("\n")
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(lines))
        lines[at] = chance.choice(DAMAGES)(chance, lines[at])
    module = Module.parse("\n".join(lines))
    size = len(module.document.source.data)
    for feature in WHOLE.values():
        feature(module)
    for offset in (0, size, *(chance.randint(0, size) for _ in range(40))):
        for feature in AT_OFFSET.values():
            feature(module, offset)


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_text_cut_off_while_typing(seed: int) -> None:
    chance = random.Random(seed)
    text = chance.choice(TEXTS)
    for _ in range(8):
        end = chance.randint(0, len(text))
        module = Module.parse(text[:end])
        at = len(module.document.source.data)
        for feature in AT_OFFSET.values():
            feature(module, at)


@pytest.mark.parametrize("seed", seeds(8, 30))
def test_any_bytes(seed: int) -> None:
    chance = random.Random(seed)
    parts = [chance.choice((*TOKENS, chance.randbytes(3), b".entry k() {", b"}")) for _ in range(60)]
    module = Module(Document.parse(Source(chance.choice((b"", b" ")).join(parts))))
    size = len(module.document.source.data)
    for feature in WHOLE.values():
        feature(module)
    for offset in (0, size, *(chance.randint(0, size) for _ in range(25))):
        for feature in AT_OFFSET.values():
            feature(module, offset)


@pytest.mark.parametrize("seed", seeds(6, 25))
def test_edited_is_as_read_anew(seed: int) -> None:
    chance = random.Random(seed)
    document = Document.parse(Source.of(chance.choice(TEXTS)))
    module = Module(document)
    for _ in range(5):
        size = len(document.source.data)
        for feature in WHOLE.values():  # what is kept of this must not be kept too long
            feature(module)
        start = chance.randint(0, size)
        end = min(size, start + chance.choice((0, 0, 1, 5, 30)))
        document = document.edited(Edit(start, end, chance.choice((*TOKENS, b"", b"\n", b" ", b"// x\n"))))
        module = Module(document, module)
        fresh = Module(Document.parse(document.source))
        for name, feature in WHOLE.items():
            assert feature(module) == feature(fresh), name
        size = len(document.source.data)
        for offset in (start, *(chance.randint(0, size) for _ in range(8))):
            for name, feature in AT_OFFSET.items():
                assert feature(module, min(offset, size)) == feature(fresh, min(offset, size)), name
