"""Control flow: branches, calls and returns (PTX ISA, section "Control Flow Instructions")."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import name, reads, writes

_UNIFORM_NOTE = ".uni promises that all active threads of the warp go the same way."

instruction(
    "bra",
    section="control-flow-instructions-bra",
    summary="Continues at a label; under a guard predicate, only the threads where it is true.",
    syntax="bra{.uni} target;",
    operands={"target": name("label", what="a label")},
    since=[("", "1.0", 10)],
    notes=[_UNIFORM_NOTE],
    example="bra.uni L1;",
)

instruction(
    "brx.idx",
    section="control-flow-instructions-brx-idx",
    summary="Continues at the label with number index, counted from 0, in a .branchtargets list."
    " An index beyond the list is undefined.",
    syntax="brx.idx{.uni} index, targets;",
    operands={
        "index": reads(".u32"),
        "targets": name("label", what="the label of a .branchtargets list"),
    },
    since=[("", "6.0", 30)],
    notes=[_UNIFORM_NOTE],
    example="brx.idx %r1, L2;",
)

instruction(
    "call",
    section="control-flow-instructions-call",
    summary="Calls a function by its name, or through its address in a register together with"
    " the list or the prototype of what may be called.",
    syntax="""
        call{.uni} func;
        call{.uni} func, (params);
        call{.uni} (ret), func;
        call{.uni} (ret), func, (params);
        call{.uni} pointer, targets;
        call{.uni} pointer, (params), targets;
        call{.uni} (ret), pointer, targets;
        call{.uni} (ret), pointer, (params), targets;
    """,
    operands={
        "func": name("function", what="the name of a function"),
        "pointer": reads(".u64|.u32", immediate=False),
        "targets": name(
            "label",
            "variable",
            what="the label of a .calltargets list or a .callprototype, or a table of functions",
        ),
        "ret": writes(".b32", sink=True),
        "params": reads(".b32", also=("variable", "special")),
    },
    since=[("", "1.0", 10), ("+pointer", "2.1", 20)],
    notes=[_UNIFORM_NOTE],
    example="call (%r1), f3, (%r2);",
)

instruction(
    "ret",
    section="control-flow-instructions-ret",
    summary="Returns from a function to its caller; in a kernel, ends the thread.",
    syntax="ret{.uni};",
    since=[("", "1.0", 10)],
    notes=[_UNIFORM_NOTE],
    example="ret;",
)

instruction(
    "exit",
    section="control-flow-instructions-exit",
    summary="Ends the thread. Barriers no longer wait for it.",
    syntax="exit;",
    since=[("", "1.0", 10)],
    example="exit;",
)
