"""A module that continues an earlier one knows all that one read anew knows, at the places of now."""

from __future__ import annotations

import random

import pytest

from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

TEXT = """.version 8.5
.target sm_90
.address_size 64
.global .b32 table;
.global .b32 range<3>;
.func helper(.param .b32 a);
.entry first() { .reg .b32 %r<3>; ld.global.u32 %r1, [range1]; call later, (%r1); ret; }
.func later(.param .b32 b) { .reg .b32 %r<3>; st.global.u32 [last], %r0; call helper, (%r1); ret; }
.global .b32 last = table;
.func helper(.param .b32 a) { .reg .b32 %r<3>; st.global.u32 [table], %r1; call later, (%r1); ret; }
.entry second() { .reg .b32 %r<3>; mov.u64 %r1, missing; call helper, (%r1); ret; }
.entry second() { .reg .b32 %r<3>; call later, (%r1); ret; }
.alias helper, later;
"""
PIECES = ["%r1", "%r2, ", " ", "\n", "ret;", "last", "}", "{", ".reg .b32 %q;", "helper", "// x\n", ";", "1"]


@pytest.mark.parametrize("seed", range(40))
def test_after_edits_it_is_as_read_anew(seed: int) -> None:
    chance = random.Random(seed)
    module = Module.parse(TEXT)
    for _ in range(25):
        size = len(module.document.source.data)
        at = chance.randrange(size)
        end = min(size, at + chance.choice([0, 0, 1, 2, 5]))
        edit = Edit(at, end, chance.choice(PIECES).encode())
        module = Module(module.document.edited(edit), module)
        fresh = Module(Document.parse(Source(module.document.source.data)))
        assert _told(module) == _told(fresh)


def _told(module: Module) -> list[object]:
    starts = [item.start for item in module.document.items]
    found: list[object] = [
        (name, start, symbol.kind, module.span(symbol.place))
        for name in (*module.names, "range0", "range2", "range3", "missing")
        for start in starts
        if (symbol := module.find(name, start)) is not None
    ]
    found += [[module.span(one.symbol.place), module.span(one.first.place)] for one in module.repeated]
    found += [name.text for _, name in module.undeclared]
    found += [module.span(variable.place) for variable in module.variables]
    found += [list(module.names), list(module.definitions)]
    return [*found, *map(_told_of, module.functions)]


def _told_of(function: Function) -> list[object]:
    module, item = function.module, function.item
    assert module.function_at(item.start) is function
    return [
        function.name,
        (item.start, item.end),
        module.span(function.symbol.place),
        {name: module.span(symbol.place) for name, symbol in function.linked.items()},
        sorted(item.offset(one.name.start) for one in function.undeclared),
        sorted((item.offset(use.name.start), late.name) for use, late in function.undeclared_late),
        [function.text(one.node) for one in function.body.instructions],
    ]


def test_callers_of_an_edited_function_are_judged_anew() -> None:
    module = Module.parse(TEXT)
    at = TEXT.index("st.global.u32 [last]")
    edited = Module(module.document.edited(Edit(at, at, b"ret; ")), module)
    pairs = zip(edited.functions, module.functions, strict=True)
    changed = [new.name for new, old in pairs if new.environment != old.environment]
    assert changed == ["first", "helper", "second"]  # that with the undeclared name calls another one
