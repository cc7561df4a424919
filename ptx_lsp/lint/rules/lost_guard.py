"""The rule `lost-guard`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import instruction_rule
from ptx_lsp.model.function import Function
from ptx_lsp.syntax import nodes

_FLOATS = frozenset({"f32", "f16", "bf16"})
_WORDS = frozenset({"u32", "s32"})
_HALVES = frozenset({"u16", "s16", "b16", "f16", "bf16"})


@instruction_rule("lost-guard", code="W221")
def lost_guard(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    """A guard that ptxas 13.5 does not obey.

    ## What it does
    Reports guarded `testp`, and guarded `set` whose result is a float (`set.lt.f32.s32`) or wider than the
    16 bits that it compares (`set.lt.u32.u16`).

    ## Why it matters
    In the machine code of ptxas 13.5 the guard is missing. `testp` writes its result whatever the guard says;
    `set` converts the old value of its destination where the guard is false. ptxas says nothing.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .func (.reg .f32 result) kernel(.reg .f32 a, .reg .f32 b, .reg .pred p)
    {
        mov.f32 result, a;
        @p set.lt.f32.f32 result, a, b;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .func (.reg .f32 result) kernel(.reg .f32 a, .reg .f32 b, .reg .pred p)
    {
        .reg .f32 less;
        mov.f32 result, a;
        set.lt.f32.f32 less, a, b;
        @p mov.f32 result, less;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: it needs another register.
    """
    guard = instruction.guard
    if guard is None or not instruction.operands:
        return
    opcode, *modifiers = instruction.opcode.text.split(".")
    if opcode == "testp":
        effect = "the result is always written"
    elif opcode == "set" and _is_converted(modifiers):
        effect = "if the guard is false, the old value of the destination is converted"
    else:
        return
    copied = "mov.pred" if opcode == "testp" else "mov"
    message = (
        f"ptxas 13.5 ignores the guard of `{instruction.opcode.text}`: {effect}; write to "
        f"another register and copy it with a guarded `{copied}`"
    )
    yield Finding(function.place(guard), message)


def _is_converted(modifiers: list[str]) -> bool:
    """Whether ptxas compares into an integer, and converts that."""
    if len(modifiers) < 2:
        return False
    result, compared = modifiers[-2:]
    return result in _FLOATS or (result in _WORDS and compared in _HALVES)
