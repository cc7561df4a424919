"""The rule `unknown-target`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.target import (
    EXCLUDES,
    HAS_F64,
    OPTIONS,
    TARGETS,
    Target,
    Version,
    known_targets,
    parse_target,
)
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.fixes.similar_names import similar_name
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.lint.unmet_requirements import raise_version
from ptx_lsp.model.directives.debugging import has_syntax_errors
from ptx_lsp.model.directives.directives import target_directives
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Owner, Place
from ptx_lsp.syntax import nodes


@module_rule("unknown-target", code="E132")
def unknown_target(module: Module) -> Iterator[Finding]:
    """A `.target` that does not exist, or not in the file's version of PTX.

    ## What it does
    Reports unknown architectures and options, architectures that are newer than the file's `.version`, a
    `.target` without an architecture, and `debug` in a file without debugging data.

    ## Why it matters
    ptxas rejects the file.

    ## Example
    ```ptx
    .version 7.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 7.8
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        ret;
    }
    ```

    ## Fix safety
    The fix raises a version that is too old to the first one that supports the target. Older drivers may
    not support it, so it is not applied by default.
    """
    is_header_only = _is_header_only(module)
    for use in target_directives(module):
        if isinstance(use.node, nodes.Target) and use.node.names:
            yield from _names(module, use.owner, use.node, is_header_only=is_header_only)


def _names(
    module: Module, owner: Owner, node: nodes.Target, *, is_header_only: bool
) -> Iterator[Finding]:
    first = node.names[0]
    if first.text in OPTIONS:
        message = f"expected an architecture, such as `sm_90`, before `{first.text}`"
        yield Finding(Place.of(owner, first), message)
        return
    seen: dict[str, nodes.Name] = {}
    last: Target | None = None
    for name in node.names:
        place = Place.of(owner, name)
        target = parse_target(name.text)
        if target is not None and target in TARGETS:
            last = target
            least = TARGETS[target]
            if not is_header_only:  # ptxas does not look at it otherwise
                yield from _too_old(module, place, name.text, least)
        elif name.text in OPTIONS:
            yield from _too_old(module, place, name.text, OPTIONS[name.text])
            yield from _conflicts(owner, name, seen, last)
            yield from _without_data(module, place, name.text)
            seen[name.text] = name
        else:
            yield _unknown(place, name.text)


def _too_old(module: Module, place: Place, name: str, least: Version) -> Iterator[Finding]:
    version = module.version
    if version is not None and version < least:
        message = f"`{name}` requires PTX ISA {least}; the file declares {version}"
        remedy = raise_version(module, least)
        yield Finding(place, message, fix=remedy and remedy._replace(safe=False))


def _conflicts(
    owner: Owner, name: nodes.Name, seen: dict[str, nodes.Name], target: Target | None
) -> Iterator[Finding]:
    """`target` is the last architecture that stands before the option."""
    place = Place.of(owner, name)
    other = seen.get(EXCLUDES.get(name.text, ""))
    if other is not None:
        related = ((Place.of(owner, other), f"`{other.text}` is requested here"),)
        yield Finding(place, f"`{name.text}` conflicts with `{other.text}`", related)
    if name.text == "map_f64_to_f32" and target is not None and target.number >= HAS_F64:
        message = (
            "`map_f64_to_f32` requires a target below sm_13, which lacks `.f64`; the "
            f"target is {target}"
        )
        yield Finding(place, message)


def _without_data(module: Module, place: Place, name: str) -> Iterator[Finding]:
    if name == "debug" and _lacks_debugging_data(module):
        message = "`debug` requires debugging data, but the file has no `.section` with any"
        yield Finding(place, message)


def _unknown(place: Place, name: str) -> Finding:
    known = [str(target) for target in known_targets()]
    guess = similar_name(name.lower(), [*known, *OPTIONS])
    message = f"`{name}` is not a PTX target"
    if guess is None:
        return Finding(place, message)
    remedy = FixProposal(f"Write `{guess}`", (Replacement(place, guess),), safe=False)
    return Finding(place, f"{message}; did you mean `{guess}`?", fix=remedy)


def _is_header_only(module: Module) -> bool:
    return all(
        isinstance(item.node, nodes.Version | nodes.Target | nodes.AddressSize)
        for item in module.document.items
    )


def _lacks_debugging_data(module: Module) -> bool:
    """ptxas asks at the end of a file that it could read; behind a syntax error a section may be hidden."""
    found = any(isinstance(item.node, nodes.Section) for item in module.outside)
    return not found and not has_syntax_errors(module)
