"""The rule `unknown-component`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa import special_registers
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import woken_by
from ptx_lsp.model.instructions.arguments import COMPONENTS
from ptx_lsp.model.instructions.components import WrongComponent, wrong_components
from ptx_lsp.model.instructions.features import MEMBER
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import Register, Variable

_OF_PTX_1 = frozenset({".0", ".1", ".2"})


@function_rule("unknown-component", code="E171", wake=woken_by(InstructionWake(features=MEMBER)))
def unknown_component(function: Function) -> Iterator[Finding]:
    """A component, such as `.x`, that the name does not have.

    ## What it does
    Reports `name.x` if the name is not a vector, components that vectors do not have, and selectors
    other than `.b0` to `.b3`, `.h0` and `.h1`. A register with the name of a special register shadows
    it: if `%tid` is declared, `%tid.x` is a component of that register.

    ## Why it matters
    ptxas rejects it with `Unknown vector selector`, `Unknown video selector` or `Unknown field`.

    ## Example
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel()
    {
        .reg .u32 %r1;
        mov.u32 %r1, %tid.X;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel()
    {
        .reg .u32 %r1;
        mov.u32 %r1, %tid.x;
        ret;
    }
    ```

    ## Fix safety
    The fix changes a component to lower case, or removes it from a special register that has a single
    value. Other components have no fix: the intended one is unknown.
    """
    for wrong in wrong_components(function):
        word = wrong.member.components[0]
        if word.text in _OF_PTX_1:
            continue  # the rule `legacy-syntax`
        message, remedy = _judged(function, wrong)
        yield Finding(function.place(word), message, tuple(_declaration(wrong)), remedy)


def _judged(function: Function, wrong: WrongComponent) -> tuple[str, FixProposal | None]:
    name, word = wrong.symbol.name, wrong.member.components[0]
    component = word.text
    match wrong.of:
        case "vector":
            message = f"`{name}` has no component `{component}`"
            lower = component.lower()
            if lower in COMPONENTS:
                remedy = FixProposal(f"Write `{lower}`", (Replacement(function.place(word), lower),))
                return f"{message}; did you mean `{lower}`?", remedy
            return f"{message}; a vector has `.x`, `.y`, `.z` and `.w`", None
        case "special register":
            rest = function.part(wrong.member.object.end, wrong.member.end)
            remedy = FixProposal(f"Delete `{component}`", (Replacement(rest, ""),))
            return f"`{name}` is a single value without components; remove `{component}`", remedy
        case "register" if special_registers.find(name) is not None:
            message = (
                f"`{name}` is a register of this function that shadows the special register, "
                f"and has no component `{component}`"
            )
            return message, None
        case "register":
            return f"`{name}` is not a vector, so it has no component `{component}`", None
        case "other":
            return f"`{name}` has no components, such as `{component}`", None


def _declaration(wrong: WrongComponent) -> Iterator[tuple[Place, str]]:
    if isinstance(wrong.symbol, Register | Variable):
        yield wrong.symbol.place, f"`{wrong.symbol.name}` is declared here"
