"""Real compiler output has no errors: what ptxas accepts, we accept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tree_sitter import Node, Tree

from ptx_lsp import ptxas
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source
from tests.oracle import corpus

_BROKEN = frozenset({"ERROR", "missing", "missing_brace", "junk", "junk_statement", "stray_brace"})


@pytest.mark.parametrize("path", [*corpus.files(), *corpus.external()], ids=lambda p: p.name)
def test_accepted_file_has_no_error(path: Path) -> None:
    document = Document.parse(Source(path.read_bytes()))
    assert not list(_broken(document.tree))
    source = document.source
    assert not [
        f"{source.line_of(found.span.start) + 1}: {found.rule}: {found.message}"
        for found in LintSession(Module(document)).diagnostics
        if found.severity == "error"
    ]


@pytest.mark.parametrize("path", corpus.files(), ids=lambda p: p.name)
def test_ptxas_accepts_the_corpus_today(path: Path) -> None:
    tool = ptxas.find()
    if tool is None:
        pytest.skip("no ptxas at hand")
    arch = corpus.judging_architecture(path.read_text())
    report = ptxas.judge(path.read_bytes(), ptxas=tool, arch=arch)
    assert report.accepted, report.messages


def _broken(tree: Tree) -> Iterator[Node]:
    """The nodes that stand for something wrong."""
    cursor = tree.walk()
    while True:
        node = cursor.node
        assert node is not None
        if node.is_missing or node.type in _BROKEN:
            yield node
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return
