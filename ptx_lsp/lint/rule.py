"""Defines, finds and documents rules.

A rule is one file in `rules/`: a generator of findings over a function or over a module. Its docstring is its
documentation: a first line, then the sections *What it does*, *Why it matters*, *Example*, *Use instead* and
*Fix safety*. The two code blocks are run as tests.

What wakes a rule is data (`function_wakes.py`): it runs only for functions that have it. By default, a rule
always runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps

from ptx_lsp.facts import directive_fact, fact
from ptx_lsp.lint.diagnostic import Finding, Severity, Tag
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import ALWAYS, FunctionWake, collect_over_functions, woken_by
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import collect_over_instructions
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock


class Rule(NamedTuple):
    """`name` identifies a rule; `code` groups it: E1xx ptxas rejects, W2xx suspect, P3xx slow, S4xx style.

    Exactly one of `on_function`, `on_module`, `on_block` and `on_comments` is set. A function's findings are
    cached until that function, or a declaration that it uses, changes.
    """

    name: str
    code: str
    severity: Severity
    docstring: str
    on_function: Callable[[Function], Iterator[Finding]] | None = None
    on_module: Callable[[Module], Iterator[Finding]] | None = None
    on_block: Callable[[CheckedBlock], Iterator[BlockFinding]] | None = None
    """A check of a block of inline assembly in another language."""
    on_comments: bool = False
    """A check of the comments that suppress findings: `suppression.py` runs it after all other rules."""
    tag: Tag | None = None
    wake: FunctionWake = ALWAYS
    """The features that a function must have for a rule with `on_function` to run, or some function for a
    rule with `on_module` to find something.
    """
    words: tuple[str, ...] = ()
    """If there are some, one of them must occur in the text of a file for the rule to find something."""
    about_directives: bool = False
    """Whether a rule with `on_function` depends only on the inputs of a `directive_fact`."""

    @property
    def module(self) -> str:
        """The name of its file, without the ending."""
        return self.name.replace("-", "_")

    @property
    def documentation(self) -> str:
        """The docstring without its indentation."""
        from inspect import cleandoc  # slow to import

        return cleandoc(self.docstring)

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.partition("\n")[0]


_SEVERITY: dict[str, Severity] = {"E": "error", "W": "warning", "P": "info", "S": "hint"}


def function_rule(
    name: str,
    code: str,
    severity: Severity | None = None,
    tag: Tag | None = None,
    wake: FunctionWake = ALWAYS,
    words: tuple[str, ...] = (),
) -> Callable[[Callable[[Function], Iterator[Finding]]], Rule]:
    """Registers the decorated generator as a rule that checks one function at a time, if `wake` wakes it. A
    `severity` is given if the rule is milder than others of its series; hints run only on request.
    """

    def decorate(check: Callable[[Function], Iterator[Finding]]) -> Rule:
        own = severity or _SEVERITY[code[0]]
        return Rule(
            name, code, own, check.__doc__ or "", on_function=check, tag=tag, wake=wake, words=words
        )

    return decorate


def directive_rule(
    name: str, code: str, tag: Tag | None = None, words: tuple[str, ...] = ()
) -> Callable[[Callable[[Function], Iterator[Finding]]], Rule]:
    """Registers the decorated generator as a rule about the directives of one function. It may depend on the
    inputs of a `ptx_lsp.facts.directive_fact`.
    """

    def decorate(check: Callable[[Function], Iterator[Finding]]) -> Rule:
        return function_rule(name, code, tag=tag, words=words)(check)._replace(about_directives=True)

    return decorate


def instruction_rule(
    name: str, code: str, wake: InstructionWake
) -> Callable[[Callable[[Function, nodes.Instruction], Iterator[Finding]]], Rule]:
    """Registers the decorated generator as a rule that checks the instructions of a function that satisfy
    `wake`, one at a time. It may depend on the inputs of a `ptx_lsp.facts.instruction_fact`.
    """

    def decorate(check: Callable[[Function, nodes.Instruction], Iterator[Finding]]) -> Rule:
        findings = collect_over_instructions(wake)(check)
        rule = function_rule(name, code, wake=woken_by(wake))(lambda function: iter(findings(function)))
        return rule._replace(docstring=check.__doc__ or "")

    return decorate


def module_rule(
    name: str,
    code: str,
    tag: Tag | None = None,
    wake: FunctionWake = ALWAYS,
    words: tuple[str, ...] = (),
) -> Callable[[Callable[[Module], Iterator[Finding]]], Rule]:
    """Registers the decorated generator as a rule that checks a whole file. It finds nothing in one where no
    function has what `wake` requires.
    """

    def decorate(check: Callable[[Module], Iterator[Finding]]) -> Rule:
        own = _SEVERITY[code[0]]
        return Rule(
            name, code, own, check.__doc__ or "", on_module=check, tag=tag, wake=wake, words=words
        )

    return decorate


def block_rule(
    name: str, code: str, severity: Severity | None = None
) -> Callable[[Callable[[CheckedBlock], Iterator[BlockFinding]]], Rule]:
    """Registers the decorated generator as a rule that checks one block of inline assembly at a time."""

    def decorate(check: Callable[[CheckedBlock], Iterator[BlockFinding]]) -> Rule:
        return Rule(name, code, severity or _SEVERITY[code[0]], check.__doc__ or "", on_block=check)

    return decorate


def each_function(
    wake: FunctionWake = ALWAYS,
) -> Callable[[Callable[[Function], Iterable[Finding]]], Callable[[Module], Iterator[Finding]]]:
    """Turns the decorated generator over functions into one over a module, for module rules. It runs only for
    functions that wake it, and again only for those that an edit touched. It may depend on the inputs of a
    `function_rule`.
    """

    def decorate(
        check: Callable[[Function], Iterable[Finding]]
    ) -> Callable[[Module], Iterator[Finding]]:
        kept = fact(_findings(check))
        return lambda module: collect_over_functions(kept, module, wake)

    return decorate


def each_functions_directives(
    check: Callable[[Function], Iterable[Finding]]
) -> Callable[[Module], Iterator[Finding]]:
    """Like `each_function`, for rules about directives. It may depend on the inputs of a `directive_fact`."""
    kept = directive_fact(_findings(check))
    return lambda module: collect_over_functions(kept, module)


def _findings(
    check: Callable[[Function], Iterable[Finding]]
) -> Callable[[Function], tuple[Finding, ...]]:
    @wraps(check)
    def found(function: Function) -> tuple[Finding, ...]:
        return tuple(check(function))

    return found
