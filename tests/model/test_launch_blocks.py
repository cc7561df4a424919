"""The block sizes of launch comments, also while they are edited."""

from __future__ import annotations

import pytest

from ptx_lsp.analyses.divergence.memory_access import accesses_by_lane
from ptx_lsp.model.launch_blocks import launch_block, launch_blocks
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

TEXT = """// é
.version 8.5
.target sm_80
.address_size 64
// ptx-run: grid=1 block=32,8 in=f32:zeros(1024)
.visible .entry k(.param .u64 .ptr .global in)
{
    .reg .b32 %r<3>;
    .reg .b64 %d<3>;
    ld.param.u64 %d0, [in];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    mad.lo.u32 %r2, %r0, 32, %r1;
    mul.wide.u32 %d1, %r2, 4;
    add.s64 %d2, %d0, %d1;
    st.global.u32 [%d2], %r0;
    ret;
}
"""


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("32", (32, 1, 1)), ("32x8", (32, 8, 1)), ("32,8,2", (32, 8, 2)), ("1024", (1024, 1, 1)),
        ("1025", None), ("0", None), ("-1", None), ("", None), ("x", None), ("8,", None), ("1,1,1,1", None),
        ("99999999999", None), ("3²", None),
    ],
)  # fmt: skip
def test_sizes(text: str, size: tuple[int, int, int] | None) -> None:
    assert launch_block(text) == size


def test_the_kernel_of_a_comment() -> None:
    text = (
        "// ptx-run: block=1\n.entry a() { ret; }\n.entry b() {\n//ptx-run: grid=2 block=2\nret; }\n"
        ".func f() { ret; } // ptx-run: block=3\n.entry d();\n.entry c() { ret; }\n"
        "// ptx-run: entry=e block=5\n.entry e() { ret; }\n// ptx-run: block=6 entry=e\n// ptx-run: block=7\n"
    )
    found = launch_blocks(Document.read(Source.of(text)))
    assert found == {"a": (1, 1, 1), "b": (2, 1, 1), "c": (3, 1, 1)}


def test_edits_of_comments_change_what_depends_on_them() -> None:
    module = Module(Document.parse(Source.of(TEXT)))

    def sectors() -> list[int | None]:
        return [one.sectors for one in accesses_by_lane(module.functions[0])]

    def change(old: str, new: str) -> None:
        nonlocal module
        start = module.document.source.data.index(old.encode())
        edit = Edit(start, start + len(old.encode()), new.encode())
        module = Module(module.document.edited(edit), module)

    assert sectors() == [32]
    kept = module.functions[0].facts
    change("in=f32:zeros(1024)", "in=f32:zeros(2048)")
    assert module.functions[0].facts is kept
    change("block=32,8", "block=8,4")
    assert sectors() == [8]
    change("block=8,4", "block=none")
    assert sectors() == []  # rows may have fewer threads than a warp
    change("block=none", "block=32,8")
    assert sectors() == [32]
    change(".entry k", ".entry another")
    assert sectors() == [32]
    change("// ptx-run", "// pty-run")
    assert sectors() == []
