"""The stack of a thread (PTX ISA, section "Stack Manipulation Instructions")."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import immediate, reads

instruction(
    "stacksave",
    section="stack-manipulation-instructions-stacksave",
    summary="Copies the stack pointer into a register, for a later stackrestore.",
    syntax="""
        stacksave.type d;
        .type = { .u32, .u64 };
    """,
    since=[("", "7.3", 52)],
    example="stacksave.u64 %rd1;",
)

instruction(
    "stackrestore",
    section="stack-manipulation-instructions-stackrestore",
    summary="Sets the stack pointer to what a stacksave has saved: frees what was allocated since.",
    syntax="""
        stackrestore.type a;
        .type = { .u32, .u64 };
    """,
    operands={"a": reads(immediate=False)},
    since=[("", "7.3", 52)],
    example="stackrestore.u64 %rd1;",
)

instruction(
    "alloca",
    section="stack-manipulation-instructions-alloca",
    summary="Allocates size bytes of local memory on the stack until the function returns."
    " The alignment is a power of two, 8 where it is left out.",
    syntax="""
        alloca.type ptr, size{, alignment};
        .type = { .u32, .u64 };
    """,
    operands={"alignment": immediate(values=tuple(1 << power for power in range(24)))},
    since=[("", "7.3", 52)],
    example="alloca.u64 %rd1, %rd2, 16;",
)
