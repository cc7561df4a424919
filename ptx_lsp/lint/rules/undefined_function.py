"""The rule `undefined-function`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.calls.aliases import aliases
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import FunctionName

_PROVIDED = frozenset({"vprintf", "malloc", "free", "__assertfail", "__profile"})
_PROVIDED_PREFIX = "__cuda_syscall"
"""Functions that ptxas or the driver has."""


@module_rule("undefined-function", code="E105")
def undefined_function(module: Module) -> Iterator[Finding]:
    """A kernel or function that is declared without `.extern` and never defined.

    ## What it does
    Reports declarations without a body, at module level and in bodies, of names that the file neither
    defines nor aliases.

    ## Why it matters
    Without `.extern`, the definition must be in the same file: ptxas rejects the file even with
    `--compile-only`, without a line number.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .func helper();
    .entry kernel()
    {
        call helper;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .extern .func helper();
    .entry kernel()
    {
        call helper;
        ret;
    }
    ```

    ## Fix safety
    The fix adds `.extern` if there is no other linkage. It is not applied by default: the definition may
    have been forgotten, and with `.extern` the program requires another file.
    """
    for name, known in module.names.items():
        symbols = [symbol for _, symbol in known]
        declared = [symbol for symbol in symbols if isinstance(symbol, FunctionName)]
        if not declared or len(declared) < len(symbols) or not name:
            continue  # an alias is a definition, and what is no function has another error
        if any(one.is_definition or one.linkage == ".extern" for one in declared):
            continue
        if name in _PROVIDED or name.startswith(_PROVIDED_PREFIX):
            continue
        if name not in aliases(module) and not _is_broken(module, declared[0]):
            yield _finding(declared[0])


def _is_broken(module: Module, symbol: FunctionName) -> bool:
    """Whether there is a syntax error, for which its body may not have been found."""
    function = module.function_at(module.span(symbol.place).start)
    return function is None or bool(function.item.problems)


def _finding(symbol: FunctionName) -> Finding:
    message = (
        f"the {symbol.kind} `{symbol.name}` is declared but never defined, and is not `.extern`"
    )
    kind, place = symbol.node.kind, symbol.place
    remedy = None
    if not symbol.linkage:
        where = Place(place.owner, kind.start, kind.start)
        replacement = Replacement(where, ".extern ")
        remedy = FixProposal("Declare it `.extern`", (replacement,), safe=False)
    return Finding(place, message, fix=remedy)
