"""The rule `unused-label`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.facts import fact
from ptx_lsp.lint.diagnostic import Finding, FixProposal
from ptx_lsp.lint.fixes.deletion_edits import deletion
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions, having
from ptx_lsp.model.instructions.uses import names_elsewhere, unused
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import Label
from ptx_lsp.syntax import nodes


@module_rule("unused-label", code="W204", tag="unnecessary")
def unused_label(module: Module) -> Iterator[Finding]:
    """A label that is never used.

    ## What it does
    Reports labels of instructions that are not used by any branch, list of targets or debug information.
    Labels that begin with `$` are not reported, because compilers number their blocks and lines with
    them.

    ## Why it matters
    A branch may be missing, or lead to the wrong label.

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
    The fix removes the label. A branch to it may be missing instead, so it is not applied by default.
    """
    elsewhere = names_elsewhere(module)
    for label, whole in collect_over_functions(_without_use, module, _LABELLED):
        if label.name not in elsewhere:
            remedy = FixProposal(f"Remove `{label.name}:`", (deletion(whole),), safe=False)
            yield Finding(label.place, f"label `{label.name}` is never used", fix=remedy)


_LABELLED = having(lambda function: function.body.labels)


@fact
def _without_use(function: Function) -> tuple[tuple[Label, Place], ...]:
    """The labels that nothing in their function refers to, each with the place of its statement."""
    if not is_well_formed(function):
        return ()
    labels = unused(function, function.body.labels)
    found = {label.place.start: label for label in labels if not label.name.startswith("$")}
    if not found:
        return ()
    return tuple(
        (found[node.name.start], function.place(node))
        for node in function.body.statements
        if isinstance(node, nodes.Label) and node.name.start in found
    )
