"""The rule `unsupported-directive`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.facts import directive_fact
from ptx_lsp.isa.directives import Directive, find
from ptx_lsp.isa.target import effective, has
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.lint.unmet_requirements import raise_version
from ptx_lsp.model.directives.directives import Use, directives_of, directives_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.place import Place
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes


@module_rule("unsupported-directive", code="E136")
def unsupported_directive(module: Module) -> Iterator[Finding]:
    """A directive that the file's `.version` or `.target` does not support.

    ## What it does
    Reports directives that require a later version of PTX or a later target, and directives that this
    version has removed.

    ## Why it matters
    ptxas rejects them.

    ## Example
    ```ptx
    .version 6.3
    .target sm_70
    .address_size 64
    .func stop() .noreturn
    {
        trap;
    }
    ```

    ## Use instead
    ```ptx
    .version 6.4
    .target sm_70
    .address_size 64
    .func stop() .noreturn
    {
        trap;
    }
    ```

    ## Fix safety
    If a newer `.version` is sufficient, the fix writes the lowest one. Older drivers may not support it,
    so it is not applied by default. If a directive has been renamed, the fix writes the new name.
    """
    version, target = module.version, module.target
    if version is None or target is None:
        return
    reported: set[str] = set()
    outside = _in_vain(module, directives_outside(module))
    inside = collect_over_functions(_in_function, module)
    for place, row, message in (*outside, *inside):
        if row.kind == "debugging" and row.name in reported:
            continue
        reported.add(row.name)
        remedy = None
        least = row.since.version
        if effective(version) < least and message.endswith(f"the file declares {version}"):
            remedy = raise_version(module, least)
        if row.name == ".tex" and version >= (row.removed or version):
            message += "; write `.global .texref`, without `.u32`"
        if row.successor and version >= (row.removed or version):
            message += f"; write `{row.successor}`"
            remedy = FixProposal(f"Write `{row.successor}`", (Replacement(place, row.successor),))
        yield Finding(place, message, fix=remedy and remedy._replace(safe=False))


class _Unmet(NamedTuple):
    place: Place
    row: Directive
    message: str


@directive_fact
def _in_function(function: Function) -> tuple[_Unmet, ...]:
    return tuple(_in_vain(module_of(function), directives_of(function)))


def _in_vain(module: Module, uses: Iterable[Use]) -> Iterator[_Unmet]:
    for use in uses:
        if use.is_param_in_body or use.is_nameless:
            continue  # the rule `needs-version`; ptxas asks for no version
        for word in (use.name, *use.linkage, *_attributes(use.node)):
            row = find(word.text)
            if row is None or not row.is_accepted or (word is use.name and use.where not in row.places):
                continue
            message = _unmet(module, row)
            if message is not None:
                yield _Unmet(Place.of(use.owner, word), row, message)


def _attributes(node: nodes.Statement) -> list[nodes.Name]:
    if isinstance(node, nodes.Declaration | nodes.Function):
        return [attribute.name for attribute in node.attributes]
    return []


def _unmet(module: Module, row: Directive) -> str | None:
    version, target = module.version, module.target
    assert version is not None
    assert target is not None
    if effective(version) < row.since.version:
        return f"`{row.name}` requires PTX ISA {row.since.version}; the file declares {version}"
    if row.since.targets and not any(has(target, feature) for feature in row.since.targets):
        return f"`{row.name}` requires {row.since.targets[0]} or higher; the target is {target}"
    if row.removed is not None and version >= row.removed:
        return f"`{row.name}` was removed in PTX ISA {row.removed}"
    return None
