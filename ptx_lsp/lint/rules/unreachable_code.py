"""The rule `unreachable-code`."""

from __future__ import annotations

from collections.abc import Container, Iterator

from ptx_lsp.analyses.control_flow.cfg import EXITS, JUMPS, BasicBlock, Cfg, cfg
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import INLINE_ASSEMBLY_END, Function
from ptx_lsp.model.symbols import Label, TargetTable
from ptx_lsp.syntax import nodes

_INLINE_ASSEMBLY_BEGIN = "// begin inline asm"
_LEAVING = JUMPS | EXITS


@function_rule("unreachable-code", code="W231", tag="unnecessary")
def unreachable_code(function: Function) -> Iterator[Finding]:
    """Unreachable instructions.

    ## What it does
    Reports the first of the instructions that follow an unguarded `bra`, `ret`, `exit`, `trap`, or a
    call to a function that does not return, if no branch leads to them. A lone `ret`, `exit`, `trap` or
    `bra` is not reported, because compilers emit one after a call that does not return. Neither is what
    follows `trap` or `exit` at the end of a block of inline assembly (`// end inline asm`), and what that
    code leads to: the compiler does not know that the block ends the thread.

    ## Why it matters
    The code is never executed: either it is unnecessary, or a branch to it is missing.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        ret;
        st.global.b32 [%d], 1;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        st.global.b32 [%d], 1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: either the code or the preceding branch may be wrong.
    """
    if not is_well_formed(function):
        return
    graph = cfg(function)
    if len(graph.reached) == len(graph.blocks):
        return
    all_steps = instructions(function).instructions
    excused = graph.reached | _after_inline_assembly(function, graph)
    reported_to = 0
    for block in graph.blocks:
        if block.number in excused or block.first < reported_to:
            continue
        end = _end(graph, block.number, excused)
        reported_to = end
        if all(step.opcode in _LEAVING for step in all_steps[block.first : end]):
            continue
        place = function.place(all_steps[block.first].node.opcode)
        related = ()
        if block.first:
            before = function.place(all_steps[block.first - 1].node.opcode)
            related = ((before, "control does not continue past this statement"),)
        yield Finding(place, "unreachable code", related)


def _end(graph: Cfg, number: int, excused: Container[int]) -> int:
    """The step at which the blocks from `number` on end that are not `excused`."""
    while number < graph.exit and number not in excused:
        number += 1
    return graph.blocks[number].first


def _after_inline_assembly(function: Function, graph: Cfg) -> set[int]:
    """The blocks that follow inline assembly that ends the thread, and those that they lead to."""
    waiting = [
        block.number for block in graph.blocks[: graph.exit]
        if block.number not in graph.reached and _follows_inline_assembly(function, block.first)
    ]  # fmt: skip
    found = set(waiting)
    while waiting:
        block = graph.blocks[waiting.pop()]
        following = {*block.successors, *_targets(function, graph, block)} - graph.reached - found
        found |= following
        waiting += following
    return found


def _targets(function: Function, graph: Cfg, block: BasicBlock) -> Iterator[int]:
    """The blocks that the jumps inside a block go to: unreachable code between two labels is one block."""
    for node in function.body.instructions[block.first : block.end]:
        name = node.operands[-1] if node.operands else None
        symbol = function.resolve(name) if isinstance(name, nodes.Name) else None
        listed = symbol.node.names if isinstance(symbol, TargetTable) else ()
        for label in (symbol, *map(function.resolve, listed)):
            if isinstance(label, Label) and label.place.start in graph.labelled:
                yield graph.labelled[label.place.start]


def _follows_inline_assembly(function: Function, number: int) -> bool:
    """Whether the instruction before an instruction is the last one of a block of inline assembly."""
    if not number:
        return False
    before, after = (function.body.instructions[at] for at in (number - 1, number))
    start, end = function.span(before).end, function.span(after).start
    between = function.module.document.source.part(start, end)
    return INLINE_ASSEMBLY_END in between.partition(_INLINE_ASSEMBLY_BEGIN)[0]
