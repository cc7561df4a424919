"""The rule `split-opcode`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx_lsp.isa.dotted_names import name_of
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import instruction_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.features import SPACED
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.syntax import nodes

_GAP = lazy_pattern(r"(?:[\s\x1a]|//[^\n]*|/\*.*?\*/|#[^\n]*)+", re.DOTALL)
_WAKE = InstructionWake(features=SPACED)


@instruction_rule("split-opcode", code="E191", wake=_WAKE)
def split_opcode(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    """White space or a comment inside an opcode, as in `mul .lo.s32`.

    ## What it does
    Reports white space and comments inside opcodes that contain dots: `mul.lo`, `cp.async.wait_all`,
    `bar.warp.sync`. They are allowed before the dot of a modifier: `mul.lo .s32`.

    ## Why it matters
    ptxas reads the first word as the whole opcode, and rejects it or its modifiers.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r;
        mov.b32 %r, 1;
        mul .lo.s32 %r, %r, 3;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r;
        mov.b32 %r, 1;
        mul.lo.s32 %r, %r, 3;
        ret;
    }
    ```

    ## Fix safety
    The fix removes white space. Comments have no fix.
    """
    opcode = instruction.opcode
    if opcode.end - opcode.start == len(opcode.text) or "." not in opcode.text:
        return
    text = function.text(opcode)
    gap = _GAP.search(text)
    name = name_of(opcode.text)
    if gap is None or gap.start() >= len(name):
        return
    place = function.part(opcode.start + gap.start(), opcode.start + gap.end())
    is_blank = gap[0].strip(" \t\r\n\f\x1a") == ""
    remedy = FixProposal(f"Write `{name}`", (Replacement(place, ""),)) if is_blank else None
    yield Finding(
        place, f"the opcode `{name}` must not contain white space or comments", fix=remedy
    )
