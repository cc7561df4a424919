"""`--requires`: the lowest version and target of each file, and the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.isa.target import TARGETS, Requirement, Target, describe, parse_target
from ptx_lsp.lint.results.report import Because, Decides, FileReport, Needed
from ptx_lsp.lint.results.style import Style, at_line_start, printable, width
from ptx_lsp.model.directives.requirements import Demand, Requirements, Ways, requirements
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes

_MOST_ROWS = 12
"""Rows of equal reasons; JSON has all."""


def needed(module: Module) -> Needed:
    """The requirements of a file, for its target and at minimum, ready for output."""
    found = requirements(module)
    target = module.target
    version = found.version(target) if target is not None else None
    return Needed(
        str(target) if target is not None else None,
        str(version) if version is not None else None,
        tuple((str(least), str(found.version(least))) for least in found.targets),
        tuple(sorted(_because(module, found, target))),
    )


def report_lines(files: Iterable[FileReport], style: Style, quiet: bool) -> Iterator[str]:
    """The lines of the text report, without line ends; `quiet` omits the tables."""
    for index, file in enumerate(files):
        if file.needed is None:
            continue
        if index and not quiet:
            yield ""
        yield f"{style.paint(at_line_start(file.path), 'bold')}: {_sentence(file.needed)}"
        if not quiet:
            yield from _table(file.needed.because, style)


def _because(module: Module, found: Requirements, target: Target | None) -> Iterator[Because]:
    """The deciding spellings, each once with its first line."""
    by_version = found.deciding_version(target) if target is not None else ()
    if target is not None and found.version(target) == TARGETS[target]:
        by_version = (*_header(module, target), *by_version)
    by: dict[Decides, tuple[Demand, ...]] = {
        "ptx_version": by_version, "target": found.deciding_target
    }
    places: dict[tuple[str, Ways], dict[Place, None]] = {}
    reasons: dict[tuple[str, Ways], dict[Decides, None]] = {}
    for decides, demands in by.items():
        for place, what, ways in demands:
            places.setdefault((what, ways), {})[place] = None
            reasons.setdefault((what, ways), {})[decides] = None
    for (what, ways), where in places.items():
        first = min(_line(module, place) for place in where)
        decided = tuple(reasons[what, ways])
        yield Because(first, what, _in_words(ways), len(where), decided)


def _header(module: Module, target: Target) -> Iterator[Demand]:
    """The target itself requires a version."""
    for item in module.document.items:
        if isinstance(item.node, nodes.Target):
            for name in item.node.names:
                if parse_target(name.text) == target:
                    ways = (Requirement(TARGETS[target], ()),)
                    yield Demand(Place.of(item.node, name), f".target {target}", ways)


def _line(module: Module, place: Place) -> int:
    return module.document.source.line_of(module.span(place).start) + 1


def _in_words(ways: Ways) -> str:
    return ", or ".join(dict.fromkeys(map(str, ways)))


def _sentence(needed: Needed) -> str:
    """`PTX ISA 7.8 for its target sm_90; at least sm_80 (with PTX ISA 7.0)`."""
    own = "it has no valid target"
    if needed.target is not None:
        own = f"not everything is supported on {needed.target}"
        if needed.ptx_version is not None:
            own = f"PTX ISA {needed.ptx_version} for its target {needed.target}"
    if not needed.targets:
        return f"{own}; no target supports everything"
    (name, version), *others = needed.targets
    if not others:
        target = parse_target(name)
        shown = describe(target) if target is not None else name
        return f"{own}; minimum {shown.replace(' or higher', '')} (with PTX ISA {version})"
    return f"{own}; one of {', '.join(f'{name} ({version})' for name, version in needed.targets)}"


def _table(rows: Iterable[Because], style: Style) -> Iterator[str]:
    cells = [("decides", "line", "what", "needs")]
    left_out: dict[tuple[Decides, ...], int] = {}
    for row in rows:
        shown = sum(cell[0] == _WORDS[row.decides] for cell in cells)
        if shown >= _MOST_ROWS:
            left_out[row.decides] = left_out.get(row.decides, 0) + 1
            continue
        often = f" ({row.times} times)" if row.times > 1 else ""
        cells.append((_WORDS[row.decides], str(row.line), f"{printable(row.what)}{often}", row.needs))
    if len(cells) == 1:
        return
    sizes = [max(map(width, column)) for column in zip(*cells, strict=True)]
    for index, (decides, line, what, needs) in enumerate(cells):
        text = f"  {decides:{sizes[0]}}  {line:>{sizes[1]}}  {what:{sizes[2]}}  {needs}"
        yield style.paint(text, "dim") if index == 0 else text
    for decides, count in left_out.items():
        yield f"  {_WORDS[decides]}: {count} more spellings"


_WORDS: dict[tuple[Decides, ...], str] = {
    ("ptx_version",): "version",
    ("target",): "target",
    ("ptx_version", "target"): "both",
}
