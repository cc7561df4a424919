"""The names that `.alias` gives to functions."""

from __future__ import annotations

from ptx_lsp.facts import directive_fact, module_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes


@module_fact
def aliases(module: Module) -> dict[str, str]:
    """The function that each alias of a file names; "" if it is missing."""
    outside = (item.node for item in module.outside)
    every = (*outside, *collect_over_functions(_aliases_in, module))
    return {
        node.name.text: node.aliasee.text if isinstance(node.aliasee, nodes.Name) else ""
        for node in every
        if isinstance(node, nodes.Alias) and isinstance(node.name, nodes.Name)
    }


@directive_fact
def _aliases_in(function: Function) -> tuple[nodes.Alias, ...]:
    return tuple(node for node, _ in function.body.directives if isinstance(node, nodes.Alias))
