"""Inline values: the registers on the lines up to where the kernel stands."""

from __future__ import annotations

import pytest

from ptx_lsp.ide.annotations.inline_values import inline_values
from ptx_lsp.model.module import Module
from ptx_lsp.text import Span

TEXT = """\
.version 8.0
.target sm_80
.func before() { .reg .b32 %r<2>; mov.b32 %r1, 1; ret; }
.visible .entry here(.param .u64 p)
{
	.reg .pred %p;
	.reg .b32 %r<4>;
	.reg .v2 .b32 %v;
	mov.u32 %r0, %tid.x; mov.u32 %r1, WARP_SZ;
	mad.lo.u32 %r2, %r1, %r1, %r0;
	@!%p ld.param.u32 %r3, [p];
	mov.b32 %r1, %v.x;
	add.u32 %r1, %r1, %nothing;
	ret;
}
"""
LINES: dict[int, list[str]] = {
    8: ["%r0", "%tid.x", "%r1"], 9: ["%r2", "%r1", "%r0"], 10: ["%p", "%r3"], 11: ["%r1", "%v"], 12: ["%r1"],
}


def shown(first: int, last: int, stopped: int) -> dict[int, list[str]]:
    """The names by their lines, of these lines, when the kernel stands at a line."""
    module = Module.parse(TEXT)
    source = module.document.source
    span = Span(source.line_span(first).start, source.line_span(last).end)
    found: dict[int, list[str]] = {}
    for one in inline_values(module, span, source.line_span(stopped).start + 1):
        assert source.data[one.span.start : one.span.end].decode().startswith(one.name)
        found.setdefault(source.line_of(one.span.start), []).append(one.name)
    return found


@pytest.mark.parametrize("stopped", [8, 9, 10, 11, 12, 13])
def test_lines_up_to_where_the_kernel_stands(stopped: int) -> None:
    assert shown(0, 14, stopped) == {line: names for line, names in LINES.items() if line <= stopped}


def test_lines_that_are_asked_for() -> None:
    assert shown(9, 10, 13) == {9: LINES[9], 10: LINES[10]}


def test_no_function_no_values() -> None:
    assert shown(0, 14, 1) == {}
    assert shown(0, 14, 2) == {2: ["%r1"]}
