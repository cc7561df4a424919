"""The rule `unreachable-code`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.control_flow.cfg import EXITS, JUMPS, Cfg, cfg
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function

_LEAVING = JUMPS | EXITS


@function_rule("unreachable-code", code="W231", tag="unnecessary")
def unreachable_code(function: Function) -> Iterator[Finding]:
    """Unreachable instructions.

    ## What it does
    Reports the first of the instructions that follow an unguarded `bra`, `ret`, `exit`, `trap`, or a
    call to a function that does not return, if no branch leads to them. A lone `ret`, `exit`, `trap` or
    `bra` is not reported, because compilers emit one after a call that does not return.

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
    reported_to = 0
    for block in graph.blocks:
        if block.number in graph.reached or block.first < reported_to:
            continue
        end = _end(graph, block.number)
        reported_to = end
        if all(step.opcode in _LEAVING for step in all_steps[block.first : end]):
            continue
        place = function.place(all_steps[block.first].node.opcode)
        related = ()
        if block.first:
            before = function.place(all_steps[block.first - 1].node.opcode)
            related = ((before, "control does not continue past this statement"),)
        yield Finding(place, "unreachable code", related)


def _end(graph: Cfg, number: int) -> int:
    """The step at which the unreached blocks from `number` on end."""
    while number < graph.exit and number not in graph.reached:
        number += 1
    return graph.blocks[number].first
