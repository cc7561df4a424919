"""How a rule is written, found and documented.

A rule is one file in `rules/`: a generator of findings over a function or over a module. Its docstring
is its documentation: a first line, then the sections *What it does*, *Why it matters*, *Example*, *Use
instead* and *Fix safety*. The two code blocks are run as tests.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import NamedTuple

from ptx_lsp.facts import collect_over_functions, collect_over_instructions, directive_fact, fact
from ptx_lsp.lint.diagnostic import Finding, Severity, Tag
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes


class Rule(NamedTuple):
    """`name` identifies a rule; `code` groups it: E1xx ptxas rejects, W2xx suspect, P3xx slow, S4xx style.

    Just one of `on_function`, `on_module` and `on_comments` is there. A function's findings are kept until
    that function, or a declaration that it uses, changes.
    """

    name: str
    code: str
    severity: Severity
    documentation: str
    on_function: Callable[[Function], Iterator[Finding]] | None = None
    on_module: Callable[[Module], Iterator[Finding]] | None = None
    on_comments: bool = False
    """About the comments that silence findings: `suppression.py` finds them when all else is known."""
    tag: Tag | None = None

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.partition("\n")[0]


_SEVERITY: dict[str, Severity] = {"E": "error", "W": "warning", "P": "info", "S": "hint"}


def function_rule(
    name: str, code: str, severity: Severity | None = None, tag: Tag | None = None
) -> Callable[[Callable[[Function], Iterator[Finding]]], Rule]:
    """Makes the decorated generator a rule that looks at one function at a time. A severity of its own is
    for rules that are milder than others with such a code; hints run only where they are asked for.
    """

    def decorate(check: Callable[[Function], Iterator[Finding]]) -> Rule:
        own = severity or _SEVERITY[code[0]]
        return Rule(name, code, own, inspect.getdoc(check) or "", on_function=check, tag=tag)

    return decorate


def instruction_rule(
    name: str, code: str
) -> Callable[[Callable[[Function, nodes.Instruction], Iterator[Finding]]], Rule]:
    """Makes the decorated generator a rule that looks at one instruction of a function at a time; what it may
    depend on says `ptx_lsp.facts.instruction_fact`.
    """

    def decorate(check: Callable[[Function, nodes.Instruction], Iterator[Finding]]) -> Rule:
        findings = collect_over_instructions(check)
        rule = function_rule(name, code)(lambda function: iter(findings(function)))
        return rule._replace(documentation=inspect.getdoc(check) or "")

    return decorate


def module_rule(
    name: str, code: str, tag: Tag | None = None
) -> Callable[[Callable[[Module], Iterator[Finding]]], Rule]:
    """Makes the decorated generator a rule that looks at a whole file."""

    def decorate(check: Callable[[Module], Iterator[Finding]]) -> Rule:
        own = _SEVERITY[code[0]]
        return Rule(name, code, own, inspect.getdoc(check) or "", on_module=check, tag=tag)

    return decorate


def each_function(
    check: Callable[[Function], Iterable[Finding]]
) -> Callable[[Module], Iterator[Finding]]:
    """For rules that look at a module: makes the decorated generator one over all of its functions. It runs
    anew for those only that an edit touched, as it may depend on nothing else than a `function_rule` may.
    """

    kept = fact(_findings(check))
    return lambda module: collect_over_functions(kept, module)


def each_functions_directives(
    check: Callable[[Function], Iterable[Finding]]
) -> Callable[[Module], Iterator[Finding]]:
    """The same for rules about directives. It may depend on what a `directive_fact` may depend on."""
    kept = directive_fact(_findings(check))
    return lambda module: collect_over_functions(kept, module)


def _findings(
    check: Callable[[Function], Iterable[Finding]]
) -> Callable[[Function], tuple[Finding, ...]]:
    @wraps(check)
    def found(function: Function) -> tuple[Finding, ...]:
        return tuple(check(function))

    return found
