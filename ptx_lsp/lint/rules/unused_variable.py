"""The rule `unused-variable`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptx_lsp.analyses.well_formed import all_well_formed
from ptx_lsp.facts import fact
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.deletion_edits import delete_variable
from ptx_lsp.lint.rule import each_function, module_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import LINKED, collect_over_functions, having_directives
from ptx_lsp.model.instructions.uses import names_elsewhere, unused
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Variable

_STACK = "__local_depot"
"""The name that NVVM and LLVM give to the stack of a function."""
_OWN = frozenset({".shared", ".local", ".param"})


@module_rule("unused-variable", code="W206", tag="unnecessary")
def unused_variable(module: Module) -> Iterator[Finding]:
    """A variable private to this file that is never used.

    ## What it does
    Reports unused variables in `.shared`, `.local` and `.param`, inside and outside functions. Variables
    in `.global` and `.const` are not reported, because a host program may find them by name, nor is the
    stack that compilers declare (`__local_depot0`).

    ## Why it matters
    It wastes memory, of which `.shared` has little, or another variable was meant somewhere.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 4 .b8 tile[64];
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
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
    The fix removes the declaration. A use of the variable may be missing instead, so it is not applied
    by default.
    """
    if not all_well_formed(module):
        return
    named = names_elsewhere(module) | set(collect_over_functions(_named, module, LINKED))
    for variable in module.variables:
        if not isinstance(variable, Variable) or variable.linkage or variable.space not in _OWN:
            continue
        if not _is_named(variable, named):
            yield _finding(variable)
    yield from _in_functions(module)


@fact
def _named(function: Function) -> tuple[str, ...]:
    """The names of the module that a function uses."""
    return tuple(function.linked)


@each_function(having_directives(lambda function: function.body.variables))
def _in_functions(function: Function) -> Iterator[Finding]:
    for variable in unused(function, function.body.variables):
        if variable.space in _OWN and not variable.name.startswith(_STACK):
            yield _finding(variable)


def _is_named(variable: Variable, names: Collection[str]) -> bool:
    if variable.declarator.range is None:
        return variable.name in names
    return any(name.rstrip("0123456789") == variable.name for name in names)


def _finding(variable: Variable) -> Finding:
    message = f"variable `{variable.name}` is never used"
    return Finding(variable.place, message, fix=delete_variable(variable))
