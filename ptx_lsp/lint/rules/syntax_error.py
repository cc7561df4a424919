"""The rule `syntax-error`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.directives import find
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.fixes.deletion_edits import deletion
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.directives.directives import directives_of, outside, unknown_directives
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions, having
from ptx_lsp.model.instructions.missing_semicolons import missing_semicolons
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place, anchor
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.problem import SyntaxProblem
from ptx_lsp.text import Source

_SPACE = lazy_pattern(r"(?s)(?:[ \t\n\f\r\x1a]+|//[^\n]*|/\*.*?\*/)*")
_BLANK = lazy_pattern(r"\s*")
_TOKEN = lazy_pattern(r"[A-Za-z0-9_$%.:]+|\"[^\"\n]*\"?|\S")
_OPERATORS = "+-*/%~!&|^<>=?("
_LONGEST = 30
_UNDECLARED = having(lambda function: function.undeclared)


@module_rule("syntax-error", code="E100")
def syntax_error(module: Module) -> Iterator[Finding]:
    """Text that is not valid PTX.

    ## What it does
    Reports each syntax error, at most one per statement, at the token that does not fit (or at the
    statement itself if a `}` or the end of the file follows).

    ## Why it matters
    ptxas stops at the first syntax error and does not check the rest of the file.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<2>;
        mov.b32 %r0, 1
        mov.b32 %r1, %r0;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<2>;
        mov.b32 %r0, 1;
        mov.b32 %r1, %r0;
        ret;
    }
    ```

    ## Fix safety
    If exactly one token is missing, the fix inserts it; it also removes a `;` that follows another.
    Neither changes the meaning of the file.
    """
    source = module.document.source
    unknown = _unknown_directives(module)
    after_strays = {id(run.brace) for run in outside(module)}
    for item in module.document.items.broken():
        if id(item) in after_strays:
            continue  # the rule `outside-function` tells of it
        reported: set[int] = set()
        for problem in dict.fromkeys(item.problems):  # each open block lacks its `}` at the same place
            if any(start < problem.start <= end for start, end in unknown.get(id(anchor(item.node)), ())):
                continue  # the shape of a directive that PTX does not have is not known either
            text = source.data[slice(*item.span(problem))]
            if not text.isascii() or b"\0" in text:
                continue  # the rule `not-ptx`
            is_function = isinstance(item.node, nodes.Function)
            function = module.function_at(item.start) if is_function else None
            if problem.expected == "`}`" and function is not None:
                finding, at = _unclosed(function, problem, source)
            else:
                finding, at = _finding(item, problem, source.text)
            if at not in reported:
                reported.add(at)
                yield finding


    for one in collect_over_functions(missing_semicolons, module, _UNDECLARED):
        message = f"expected `;` before {_shown(one.opcode)}"
        remedy = FixProposal("Insert `;`", (Replacement(one.gap, ";"),))
        yield Finding(one.place, message, ((one.gap, "`;` is missing from an instruction"),), remedy)


def _unknown_directives(module: Module) -> dict[int, list[tuple[int, int]]]:
    """By their top-level statement."""
    found: dict[int, list[tuple[int, int]]] = {}
    for use in unknown_directives(module):
        found.setdefault(id(use.owner), []).append((use.node.start, use.node.end))
    return found


def _unclosed(
    function: Function, problem: SyntaxProblem, source: Source
) -> tuple[Finding, int]:
    """A missing `}`: reported at the first thing that cannot stand in a body, else at the end of the file."""
    item, text = function.item, source.text
    opening = _opening(function, source)
    related = ((function.place(opening), "this `{` is not closed"),) if opening else ()
    finding, at = _finding(item, problem, text)
    for use in directives_of(function):
        start = item.offset(use.name.start)
        if start < at and use.where == "body" and (use.row is None or "body" not in use.row.places):
            message = f"expected `}}` before `{use.name.text}`"
            return Finding(use.place, message, related), start
    if at < len(text):
        return finding._replace(related=related or finding.related), at
    size = len(text)
    message = (
        "unclosed block: expected `}` before the end of the file" if opening else finding.message
    )
    return Finding(Place(None, size, size), message, related, finding.fix), size


def _opening(function: Function, source: Source) -> nodes.Missing | None:
    """The `{` that most likely lacks its `}`: the innermost whose `}` stands further left than its own
    line, else that of the body.
    """
    body = function.node.body
    if body is None:
        return None
    found = body
    pending = list(reversed(body.statements))
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.Block):
            start, end = function.span(node)
            if _indentation(source, end - 1) < _indentation(source, start):
                found = node
            pending.extend(reversed(node.statements))
    return nodes.Missing(found.start, found.start + 1)


def _indentation(source: Source, offset: int) -> int:
    """The column where the line that holds `offset` begins to have text."""
    _, begin = source.lines.at(offset)
    blank = _BLANK.match(source.text, begin, offset + 1)
    return len(blank[0].expandtabs(8)) if blank is not None else 0


def _finding(item: Item, problem: SyntaxProblem, text: str) -> tuple[Finding, int]:
    """The finding, and the offset of the token that it speaks of."""
    start, end = item.span(problem)
    if start < end:
        if text.startswith("/*", start):
            message = "unterminated comment: `*/` is missing"
            return Finding(Place(anchor(item.node), problem.start, problem.start + 2), message), len(text)
        shown = _shown(text[start:end])
        wanted = _number(item, problem, text[start]) or f"expected {problem.expected}"
        message = f"unexpected {shown}; {wanted}"
        place = Place.of(item.node, problem)
        remedy = FixProposal(f"Remove {shown}", (deletion(place),)) if problem.token == "" else None
        return Finding(place, message, fix=remedy), start
    at = _passed(text, start)
    token = _TOKEN.match(text, at)
    place = Place.of(item.node, problem)
    what = f"{problem.expected} is missing from {problem.within}"
    related: tuple[tuple[Place, str], ...] = ()
    if token is None or token[0] == "}":
        message = what
    else:
        message = f"expected {problem.expected} before {_shown(token[0])}"
        related = ((place, what),)
        place = Place(None, at, token.end())
    remedy = None
    if problem.token is not None:
        where = Place(anchor(item.node), problem.start, problem.start)
        remedy = FixProposal(f"Insert `{problem.token}`", (Replacement(where, problem.token),))
    return Finding(place, message, related, remedy), at


def _number(item: Item, problem: SyntaxProblem, first: str) -> str:
    """What a directive of numbers takes in the place of an expression; "" elsewhere."""
    if not isinstance(item.node, nodes.Function) or first not in _OPERATORS:
        return ""
    before = [one for one in item.node.directives if one.end <= problem.start]
    row = find(before[-1].name.text) if before else None
    if row is None or row.arguments is None or row.arguments.kind != "number" or row.arguments.most == 0:
        return ""
    return f"`{row.name}` takes an unsigned whole number, not an expression"


def _passed(text: str, start: int) -> int:
    """The offset of the token at or after `start`."""
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _shown(text: str) -> str:
    line = text.strip().split("\n", 1)[0].rstrip()
    return f"`{line}`" if len(line) <= _LONGEST else f"`{line[:_LONGEST]}...`"
