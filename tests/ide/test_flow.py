"""Control flow graphs for people: where blocks begin, and which parts are drawn as one box."""

from __future__ import annotations

import re

import pytest

from ptx_lsp.ide.panels.flow_groups import block_at, collapsed_groups, flow_view, groups_of
from ptx_lsp.ide.panels.flow_picture import box_name, box_text, picture
from ptx_lsp.lint.results.details import MOST_SHOWN, Flow
from ptx_lsp.lint.results.flow import flow
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
DEBUG = HEAD + """\
.entry k(.param .u64 p)
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
$L__func_begin0:
    mov.u32 %r1, %tid.x;
$L__tmp0:
    mov.u32 %r2, 0;
$again:
$L__tmp1:
    add.u32 %r2, %r2, 1;
$L__tmp2:
    setp.lt.u32 %p1, %r2, 9;
    @%p1 bra $again;
$L__tmp3:
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra $L__tmp5;
$L__tmp4:
    add.u32 %r2, %r2, %r1;
$L__tmp5:
    bra.uni $out;
$out:
    ret;
$L__func_end0:
}
.section .debug_info
{
.b64 $L__tmp2
.b64 $L__func_end0
}
"""
"""`$L__tmp5` has a name for debug information, but a branch goes to it."""
NESTED = HEAD + """\
.entry k()
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;
    mov.u32 %r1, 0;
outer:
    mov.u32 %r2, 0;
inner:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 9;
    @%p1 bra skip;
    add.u32 %r1, %r1, 2;
skip:
    setp.lt.u32 %p2, %r2, 20;
    @%p2 bra inner;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p3, %r1, 9;
    @%p3 bra outer;
    bra.uni a;
a:
    mov.u32 %r3, 1;
    bra.uni b;
b:
    ret;
}
"""


def _flow(text: str) -> Flow:
    return flow(Module(Document.parse(Source(text.encode()))).functions[0])


def _drawn(shown: Flow, *collapsed: str) -> tuple[list[str], set[tuple[int, int]]]:
    """The names of the boxes, and the edges between them."""
    view = flow_view(shown, groups_of(shown), set(collapsed))
    return [box_name(box) for box in view.boxes], {(edge.source, edge.target) for edge in view.edges}


def test_debug_labels_begin_no_block_and_are_not_shown() -> None:
    shown = _flow(DEBUG)
    assert [block.labels for block in shown.blocks] == [
        (), ("$again",), (), (), ("$L__tmp5",), ("$out",), ()
    ]
    assert [(block.first_line, block.last_line) for block in shown.blocks[:2]] == [(9, 11), (14, 17)]
    assert shown.blocks[1].instructions == (
        "add.u32 %r2, %r2, 1", "setp.lt.u32 %p1, %r2, 9", "@%p1 bra $again"
    )


@pytest.mark.parametrize("text", [DEBUG, NESTED])
def test_the_graph_is_that_without_debug_labels(text: str) -> None:
    """Blank lines take the place of the labels that nothing jumps to."""
    plain = re.sub(r"^\$L__(?!tmp5).*:", "", text, flags=re.MULTILINE)
    assert _flow(text) == _flow(plain)


def test_a_label_after_a_jump_begins_a_block_that_nothing_reaches() -> None:
    jump = "    bra.uni $out;\n"
    after = f"{jump}$L__tmp6:\n    mov.u32 %r3, 1;\n$L__tmp7:\n    mov.u32 %r4, 1;\n"
    shown = _flow(DEBUG.replace(jump, after))
    lonely = [block for block in shown.blocks if not block.is_reached]
    assert [block.instructions for block in lonely] == [("mov.u32 %r3, 1", "mov.u32 %r4, 1")]


def test_groups() -> None:
    groups = groups_of(_flow(NESTED))
    assert [(one.key, one.blocks) for one in groups] == [
        ("run:6", (6, 7, 8)), ("loop:outer", (1, 2, 3, 4, 5)), ("loop:inner", (2, 3, 4)),
    ]


def test_a_collapsed_group_is_one_box() -> None:
    shown = _flow(NESTED)
    names, edges = _drawn(shown, "loop:inner")
    assert names == [
        "block 0", "block 1 outer", "loop at block 2 inner", "block 5", "block 6", "block 7 a",
        "block 8 b", "exit",
    ]
    assert {(1, 2), (2, 3), (3, 1)} < edges
    names, edges = _drawn(shown, "loop:inner", "loop:outer", "run:6")
    assert names == ["block 0", "loop at block 1 outer", "blocks 6-8", "exit"]
    assert edges == {(0, 1), (1, 2), (2, 3)}


BRANCHES = HEAD + """\
.entry k()
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    @%p1 bra then;
    mov.u32 %r1, 1;
then:
    @%p2 bra other;
    mov.u32 %r1, 2;
    bra.uni join;
other:
    mov.u32 %r1, 3;
join:
    mov.u32 %r1, 4;
    bra.uni last;
last:
    @%p3 bra ends;
    ret;
ends:
    trap;
}
"""


def test_short_branches() -> None:
    shown = _flow(BRANCHES)
    groups = groups_of(shown)
    assert [(one.key, one.blocks) for one in groups] == [
        ("run:join", (5, 6)), ("branches:0", (0, 1, 2, 3, 4, 5, 6))
    ]
    view = flow_view(shown, groups, {one.key for one in groups})
    assert box_text(view.boxes[0]) == [
        "blocks 0-6, lines 8-21", "7 blocks, 10 instructions", "[3 may diverge]"
    ]
    assert [edge.condition for edge in view.edges if not edge.source] == ["!%p3", "%p3"]


def test_a_single_branch_is_no_group() -> None:
    assert not [one for one in groups_of(_flow(DEBUG)) if one.kind == "branches"]


def test_the_text_of_groups() -> None:
    shown = _flow(NESTED)
    view = flow_view(shown, groups_of(shown), {"loop:outer", "run:6"})
    assert box_text(view.boxes[1]) == [
        "loop at block 1 outer, lines 10-21", "5 blocks, 10 instructions, 1 inner loop"
    ]
    assert box_text(view.boxes[2]) == [
        "blocks 6-8, lines 22-27", "bra.uni a", "mov.u32 %r3, 1", "bra.uni b", "ret"
    ]


@pytest.mark.parametrize("count", range(MOST_SHOWN, MOST_SHOWN + 4))
def test_the_first_and_last_instructions_of_a_long_block(count: int) -> None:
    code = "".join(f"    mov.u32 %r1, {number};\n" for number in range(count - 1))
    shown = _flow(HEAD + ".entry k()\n{\n    .reg .b32 %r1;\n" + code + "    ret;\n}\n")
    _, *lines = box_text(flow_view(shown).boxes[0])
    assert lines[0] == "mov.u32 %r1, 0"
    assert lines[-1] == "ret"
    omitted = count - MOST_SHOWN
    assert len(lines) == (count if omitted < 2 else MOST_SHOWN + 1)
    assert (f"... {omitted} more" in lines) == (omitted > 1)


def _chain(loops: int) -> str:
    """Loops of two blocks, one after the other."""
    code = "".join(
        f"L{n}:\n    setp.eq.u32 %p1, %r1, {n};\n    @%p1 bra L{n + 1};\n"
        f"    add.u32 %r1, %r1, 1;\n    bra.uni L{n};\n"
        for n in range(loops)
    )
    return f"{HEAD}.entry k()\n{{\n    .reg .pred %p1;\n    .reg .b32 %r1;\n{code}L{loops}:\n    ret;\n}}\n"


def test_only_large_graphs_are_collapsed_unasked_and_not_around_the_cursor() -> None:
    small = _flow(_chain(5))
    assert collapsed_groups(small, groups_of(small), "auto", None) == frozenset()
    large = _flow(_chain(100))
    groups = groups_of(large)
    assert len(groups) == 100
    at = next(block for block in large.blocks if block.labels == ("L7",)).first_line
    assert collapsed_groups(large, groups, "auto", at) == {one.key for one in groups} - {"loop:L7"}
    assert collapsed_groups(large, groups, "all", at) == {one.key for one in groups}
    assert collapsed_groups(large, groups, "none", at) == frozenset()


def test_the_block_at_a_line() -> None:
    shown = _flow(DEBUG)
    assert [block_at(shown, line) for line in (1, 9, 10, 12, 14, 17, 18, 29)] == [0, 0, 0, 1, 1, 1, 2, None]


def test_the_work_for_a_layout_grows_with_the_graph() -> None:
    """Twice the blocks have twice the bends, not four times."""
    bends = [sum(map(len, picture(flow_view(_flow(_chain(count)))).paths)) for count in (50, 100)]
    assert bends[1] < 2.2 * bends[0]
