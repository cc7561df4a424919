"""The rule `directive-argument`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.directives import Arguments
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.directives import Use, directives_of
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.constants import whole_number
from ptx_lsp.model.place import Located
from ptx_lsp.syntax import nodes


@directive_rule("directive-argument", code="E181")
def directive_argument(function: Function) -> Iterator[Finding]:
    """An invalid argument of a directive in the header of a kernel or function.

    ## What it does
    Reports missing and extra arguments of `.maxntid`, `.maxnreg`, `.abi_preserve` and so on, arguments
    that are not whole numbers, zero where the number must be positive, numbers that are too large, and
    unknown names of languages.

    ## Why it matters
    ptxas rejects them, and for a 0 often names the following line.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .maxntid 256, 0
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .maxntid 256, 1
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended argument is unknown.
    """
    version = function.module.version
    for use in directives_of(function):
        row = use.row
        if row is None or row.arguments is None or use.where not in row.places:
            continue
        if row.kind not in ("performance", "function") or _is_broken(function, use):
            continue
        wanted = row.arguments
        if row.deprecated is not None and version is not None and version >= row.deprecated:
            wanted = wanted._replace(positive=False)  # the rule `deprecated-directive`: it has no effect
        if wanted.largest_in_call is not None and use.where == "call prototype":
            wanted = wanted._replace(largest=wanted.largest_in_call)
        problem = _problem(use, wanted)
        if problem is not None:
            yield Finding(function.place(problem[0]), problem[1])


def _is_broken(function: Function, use: Use) -> bool:
    """Whether there is a syntax error in the directive or right behind it."""
    return function.item.is_broken_between(use.node.start, use.node.end + 1)


def _problem(use: Use, wanted: Arguments) -> tuple[Located, str] | None:
    given, name = use.arguments, f"`{use.name.text}`"
    if len(given) < wanted.least:
        what = "a string" if wanted.kind == "string" else "a number"
        return use.name, f"{name} requires {what}"
    if wanted.most is not None and len(given) > wanted.most:
        most = f"at most {wanted.most} argument{'' if wanted.most == 1 else 's'}"
        return given[wanted.most], f"{name} takes {most if wanted.most else 'no argument'}"
    for argument in given:
        message = _about(argument, wanted, name)
        if message is not None:
            return argument, message
    return None


def _about(argument: nodes.Expression, wanted: Arguments, name: str) -> str | None:
    if isinstance(argument, nodes.Missing):
        return None  # the rule `syntax-error`
    if wanted.kind == "string" and isinstance(argument, nodes.String):
        if not wanted.names or argument.text[1:-1] in wanted.names:
            return None
        listed = ", ".join(f'`"{known}"`' for known in wanted.names)
        return f"`{argument.text}` is not a valid argument of {name}; expected {listed}"
    value = whole_number(argument)
    if value is None:
        number = isinstance(argument, nodes.Number) and argument.kind == "integer"
        return None if number else f"{name} takes an unsigned whole number, not an expression"
    if wanted.positive and value == 0:
        return f"{name} must be positive, not 0"
    if value > wanted.largest:
        return f"{name} must be at most {wanted.largest}, not {value}"
    return None
