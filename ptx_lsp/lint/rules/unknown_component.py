"""The rule `unknown-component`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa import special_registers
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.line import operand_or_line
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.components import WrongComponent, wrong_components
from ptx_lsp.model.function import Function
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import Register, Variable

_OF_PTX_1 = frozenset({".0", ".1", ".2"})


@function_rule("unknown-component", code="E171")
def unknown_component(function: Function) -> Iterator[Finding]:
    """A component, such as `.x`, of something that has none of that name.

    ## What it does
    Reports `name.x` where the name is no vector, components that vectors do not have, and selectors that
    are none of `.b0` to `.b3`, `.h0` and `.h1`. A register that is called as a special register hides it:
    where `%tid` is declared, `%tid.x` is a component of that register.

    ## Why it matters
    ptxas rejects it, with `Unknown video selector` or `Unknown field`.

    ## Example
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel()
    {
        .reg .u32 %tid;
        mov.u32 %tid, %tid.x;
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
    There is no fix: what was meant cannot be told.
    """
    for wrong in wrong_components(function):
        word = wrong.member.components[0]
        if word.text in _OF_PTX_1:
            continue  # the rule `legacy-syntax`
        place, exact = operand_or_line(function, wrong.instruction, word)
        yield Finding(place, _message(wrong), (*exact, *_declaration(wrong)))


def _message(wrong: WrongComponent) -> str:
    name, word = wrong.symbol.name, wrong.member.components[0].text
    match wrong.of:
        case "vector":
            return f"`{name}` has no component `{word}`; those of a vector are `.x`, `.y`, `.z`, `.w`"
        case "register" if special_registers.find(name) is not None:
            return (
                f"`{name}` is here a register of this function, which hides the special register,"
                f" and has no component `{word}`"
            )
        case "register":
            return f"`{name}` is no vector and has no component `{word}`"
        case _:
            return f"`{name}` has no components, so none called `{word}`"


def _declaration(wrong: WrongComponent) -> Iterator[tuple[Place, str]]:
    if isinstance(wrong.symbol, Register | Variable):
        yield wrong.symbol.place, f"`{wrong.symbol.name}` is declared here"
