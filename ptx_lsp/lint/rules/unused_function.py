"""The rule `unused-function`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.well_formed import all_well_formed
from ptx_lsp.facts import fact
from ptx_lsp.lint.diagnostic import Finding, FixProposal
from ptx_lsp.lint.fixes.deletion_edits import deletion
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import LINKED, collect_over_functions, having_directives
from ptx_lsp.model.instructions.uses import names_elsewhere
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import FunctionName


@module_rule("unused-function", code="W205", tag="unnecessary", words=("func",))
def unused_function(module: Module) -> Iterator[Finding]:
    """A function private to this file that is never called.

    ## What it does
    Reports a `.func` with a body and without `.visible`, `.extern` or `.weak` that is not used in the
    file: not in a call, a list of targets, an initial value or an alias.

    ## Why it matters
    Without `.visible`, other files cannot call it, so it never runs.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .func helper()
    {
        bar.sync 0;
        ret;
    }
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
    .func helper()
    {
        bar.sync 0;
        ret;
    }
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        st.global.b32 [%d], 1;
        call helper;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: a call may be missing, or `.visible`. The editor offers to remove the function,
    unless it is also declared elsewhere.
    """
    if not all_well_formed(module):
        return
    named = names_elsewhere(module) | set(collect_over_functions(_named, module, LINKED))
    for symbol in collect_over_functions(_of_this_file, module, _OF_THIS_FILE):
        if symbol.name in named:
            continue
        every = list(_declarations(module, symbol.name))
        if any(other.linkage for other in every):
            continue
        message = (
            f"`{symbol.name}` is never called, and other files cannot call it without `.visible`"
        )
        whole = Place.of(symbol.node, symbol.node)
        remedy = FixProposal(f"Remove `{symbol.name}`", (deletion(whole),), safe=False)
        yield Finding(symbol.place, message, alternatives=(remedy,) if len(every) == 1 else ())


@fact
def _named(function: Function) -> tuple[str, ...]:
    """The names of the module that a function uses besides its own."""
    return tuple(name for name in function.linked if name != function.name)


def _is_of_this_file(function: Function) -> bool:
    """Whether no other file can call it."""
    symbol = function.symbol
    return symbol.is_definition and not symbol.is_kernel and not symbol.linkage


_OF_THIS_FILE = having_directives(_is_of_this_file)


@fact
def _of_this_file(function: Function) -> tuple[FunctionName, ...]:
    return (function.symbol,) if _is_of_this_file(function) else ()


def _declarations(module: Module, name: str) -> Iterator[FunctionName]:
    """Every declaration of a function of this name."""
    for _, symbol in module.names.get(name, ()):
        if isinstance(symbol, FunctionName):
            yield symbol
