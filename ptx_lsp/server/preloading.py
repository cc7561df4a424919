"""Loads what the first file would load: the table of instructions, and modules imported when needed.

They stay until the process ends. If they were created while a file is read or analysed, they would lie
between its objects, and keep their memory after the file was closed.
"""

from __future__ import annotations

from ptx_lsp.ide.cursor.kernel_metrics import kernel_metrics
from ptx_lsp.isa.schema.table import load_all
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source

_TEXT = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra done;
    ld.global.u32 %r2, [%rd2];
    st.global.u32 [%rd2], %r2;
done:
    ret;
}
"""


def preload() -> None:
    """Analyses a small kernel, then parses all rows of the table."""
    module = Module(Document.read(Source(_TEXT)))
    LintSession(module)
    for function in module.functions:
        kernel_metrics(function)
    module.dispose(module)
    load_all()
