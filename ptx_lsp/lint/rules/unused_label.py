"""The rule `unused-label`."""

from __future__ import annotations

from collections.abc import Iterator

from analyses.certainty import is_certain
from ptx_lsp.facts import fact, of_all
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Label
from ptx_lsp.model.uses import names_elsewhere, unused


@module_rule("unused-label", code="W204", tag="unnecessary")
def unused_label(module: Module) -> Iterator[Finding]:
    """A label that nothing refers to.

    ## What it does
    Reports labels of instructions that no branch, no list of targets and no debug information names. Those
    that begin with `$` are left alone: compilers number their blocks and lines with them.

    ## Why it matters
    A branch may be missing, or go somewhere else by mistake.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
    done:
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
    There is no fix: a branch to it may be what is missing.
    """
    elsewhere = names_elsewhere(module)
    for label in of_all(_without_use, module):
        if label.name not in elsewhere:
            yield Finding(label.place, f"nothing refers to the label `{label.name}`")


@fact
def _without_use(function: Function) -> tuple[Label, ...]:
    """The labels that nothing in their function refers to."""
    if not is_certain(function):
        return ()
    labels = unused(function, function.body.labels)
    return tuple([label for label in labels if not label.name.startswith("$")])
