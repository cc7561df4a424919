"""Texts with a `<CURSOR>` in them."""

from __future__ import annotations

from ptx_lsp.model.module import Module
from ptx_lsp.text import Edit, Source

HEADER = ".version 8.5\n.target sm_90\n.address_size 64\n"
REGISTERS = """.reg .b16 %h<8>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
.reg .f32 %f<8>;
.reg .f64 %fd<8>;
.reg .pred %p<8>;
"""


def at_cursor(text: str) -> tuple[Module, int]:
    """The module and the offset of `<CURSOR>`, which is taken out; see `completed`."""
    whole = completed(text)
    offset = whole.encode().index(b"<CURSOR>")
    return Module.parse(whole.replace("<CURSOR>", "", 1)), offset


def completed(text: str) -> str:
    """Statements become the body of a kernel that declares some registers, definitions a file."""
    if ".version" in text:
        return text
    if ".entry" in text or ".func" in text or ".section" in text:
        return HEADER + text
    return f"{HEADER}.visible .entry kernel(.param .u64 out, .param .u32 n)\n{{\n{REGISTERS}{text}\n}}\n"


def edited(module: Module, edits: tuple[Edit, ...]) -> str:
    """The text after all edits, which must not overlap."""
    source: Source = module.document.source
    for edit in sorted(edits, reverse=True):
        source = source.edited(edit)
    return source.data.decode()


def body(text: str) -> str:
    """What a test gave of a completed text."""
    start = text.index(REGISTERS) + len(REGISTERS)
    return text[start:].rsplit("\n}\n", 1)[0]


def inner(module: Module, start: int, end: int) -> str:
    return module.document.source.decoded(start, end)
