"""What stands in real files is among the suggestions when it is about to be typed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptx_lsp.ide.completion.completion import completion
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span
from tests.oracle import corpus

FILES = [path for path in corpus.files() if path.stat().st_size < 20_000]
_MOST = 12


def suggested(text: str, start: int, stop: int, end: int) -> list[str]:
    """Behind `start` there is nothing, up to `end`, where the statement ends; from `stop` to `start` a word
    has been begun.
    """
    module = Module.parse(text[:start] + text[end:])
    found = completion(module, start)
    if found is None:
        return []
    assert found.span == (stop, start)
    return [one.label for one in found.suggestions]


def instructions(
    module: Module, chance: random.Random
) -> Iterator[tuple[Span, nodes.Instruction]]:
    """Some of a file, with where they are."""
    every = [
        (function.span(one), one)
        for function in module.functions
        for one in function.body.instructions
    ]
    yield from chance.sample(every, min(_MOST, len(every)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_stands_there_is_suggested(path: Path) -> None:
    text = path.read_text()
    assert text.isascii()
    module = Module.parse(text)
    missing: list[str] = []
    for (start, end), node in instructions(module, random.Random(path.name)):
        line = text[start:end]
        opcode = start + line.index(node.opcode.text)
        words = node.opcode.text.split(".")
        if words[0] not in suggested(text, opcode, opcode, end):
            missing.append(f"{line}: the opcode")
        at = opcode + len(words[0])
        for word in words[1:]:
            if f".{word}" not in suggested(text, at + 1, at, end):
                missing.append(f"{line}: .{word}")
            at += 1 + len(word)
        at = start
        for operand in node.operands:
            for name in _names(operand):
                at = text.index(name, max(at, opcode + len(node.opcode.text)))
                is_used = re.search(rf"{re.escape(name)}(?![\w$])", text[:start] + text[end:])
                if is_used and name not in suggested(text, at + len(name) - 1, at, end):
                    missing.append(f"{line}: {name}")
                at += len(name)
    assert missing == []


def _names(operand: nodes.Operand) -> list[str]:
    match operand:
        case nodes.Name(text=text):
            return [text]
        case nodes.Address(items=items) | nodes.Vector(items=items):
            return [name for item in items for name in _names(item)]
        case nodes.Binary(left=left):
            return _names(left)
        case _:
            return []
