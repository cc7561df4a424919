"""Other versions and targets that support everything that a file uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptx_lsp.isa.target import (
    TARGETS,
    Requirement,
    Target,
    Version,
    effective,
    has,
    parse_target,
    satisfies,
)
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.unmet_requirements import unmet_requirements
from ptx_lsp.model.directives.directives import directives
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit


def target_actions(
    module: Module, here: Sequence[Diagnostic]
) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """A title and edits for each way to meet the requirements in the findings `here`. If a version alone
    suffices, the finding has its own fix.
    """
    version, target = module.version, module.target
    if version is None or target is None or not any(one.rule in _RULES for one in here):
        return
    seen: set[Target] = set()
    for way in _unmet_ways(module, here):
        found = _nearest(target, way)
        if found is None or found in seen or found == target:
            continue
        seen.add(found)
        least = max(way.version, TARGETS[found])
        edits = [*_target_edits(module, found), *_version_edits(module, least)]
        if not edits:
            continue
        raised = f" and `.version` to {least}" if effective(version) < least else ""
        yield f"Change `.target` to {found}{raised}", tuple(edits)


_RULES = ("needs-target", "unsupported-directive")


def _unmet_ways(module: Module, here: Sequence[Diagnostic]) -> Iterator[Requirement]:
    spans = {one.span for one in here if one.rule in _RULES}
    for need in unmet_requirements(module):
        if module.span(need.place) in spans:
            yield from need.ways
    version, target = module.version, module.target
    assert version is not None
    assert target is not None
    for use in directives(module):
        row = use.row
        if row is not None and module.span(use.place) in spans and not satisfies(row.since, version, target):
            yield row.since


def _nearest(target: Target, way: Requirement) -> Target | None:
    """The target that has it and is nearest above the file's own, without a suffix if possible."""
    having = [
        one for one in TARGETS
        if not way.targets or any(has(one, feature) for feature in way.targets)
    ]
    if target in having:
        return target
    higher = [one for one in having if one.number >= target.number] or having
    return min(higher, key=lambda one: (one.suffix != "", one.number, one.suffix), default=None)


def _target_edits(module: Module, target: Target) -> Iterator[Edit]:
    for item in module.document.items:
        if isinstance(item.node, nodes.Target):
            for name in item.node.names:
                if parse_target(name.text) == module.target:
                    yield Edit(*item.span(name), str(target).encode())
            return


def _version_edits(module: Module, least: Version) -> Iterator[Edit]:
    version = module.version
    if version is None or effective(version) >= least:
        return
    for item in module.document.items:
        match item.node:
            case nodes.Version(number=nodes.Number() as number):
                yield Edit(*item.span(number), str(least).encode())
                return
            case _:
                pass
