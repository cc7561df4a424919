"""The rule `outside-function`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.directives.directives import outside
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item


@module_rule("outside-function", code="E134")
def outside_function(module: Module) -> Iterator[Finding]:
    """An instruction, label or block outside any function.

    ## What it does
    Reports the first of consecutive statements that belong in a body but are outside one. Most often a
    preceding `}` is unmatched, which the finding shows as well.

    ## Why it matters
    ptxas reports a syntax error and stops.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        bar.sync 0;
    }
    ret;
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        bar.sync 0;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: which `}` is wrong is unknown.
    """
    for run in outside(module):
        first = run.items[0]
        message = f"{_shown(first.node)} is outside any function"
        related: tuple[tuple[Place, str], ...] = ()
        if run.function is not None and isinstance(run.function.node, nodes.Function):
            node = run.function.node
            name = f"`{node.name.text}`" if node.name else "the function"
            related = ((Place(node, node.end - 1, node.end), f"{name} ends here"),)
            if run.brace is not None:
                message += "; the preceding `}` is unmatched"
        yield Finding(_place(first), message, related)


def _shown(node: nodes.Statement) -> str:
    match node:
        case nodes.Instruction(opcode=opcode):
            return f"`{opcode.text}`"
        case nodes.Label(name=name):
            return f"the label `{name.text}`"
        case _:
            return "a block"


def _place(item: Item) -> Place:
    """Its first word."""
    match item.node:
        case nodes.Instruction(guard=nodes.Guard() as guard):
            return Place.of(item.node, guard)
        case nodes.Instruction(opcode=part) | nodes.Label(name=part):
            return Place.of(item.node, part)
        case _:
            return Place(item.node, 0, 1)
