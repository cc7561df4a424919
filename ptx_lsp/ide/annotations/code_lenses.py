"""Lines above kernels and functions that show metrics and references."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.ide.cursor.kernel_metrics import (
    MANY,
    NOTHING_KNOWN,
    KnownFigures,
    dynamic_shared_text,
    kernel_metrics,
    limiters_text,
    percent_text,
    registers_text,
)
from ptx_lsp.ide.cursor.occurrences import occurrences
from ptx_lsp.ide.cursor.symbol_at import SymbolReference
from ptx_lsp.ide.hover.function import function_named
from ptx_lsp.lint.results.report import Kernel
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span

LensSort: TypeAlias = Literal["figures", "references", "preview", "debug"]


class Lens(NamedTuple):
    """A line above `span`, the name of the function `name`, or its launch comment at `line` (from 1). Its
    text is computed later (`title`).
    """

    span: Span
    sort: LensSort
    name: str
    line: int = 0


def code_lenses(module: Module) -> tuple[Lens, ...]:
    """Metrics for each kernel and references for each function, only at definitions. A kernel with a launch
    comment (`// ptx-run: ...`) also has its preview, and can be debugged, also as its other comments say.
    """
    launched: set[str] = set()
    found: list[Lens] = []
    for one in _comments(module):
        if one.entry in launched:
            found.append(Lens(module.document.source.line_span(one.line - 1), "debug", one.entry, one.line))
        launched.add(one.entry)
    for function in module.functions:
        if function.symbol.is_definition and function.name:
            span = module.span(function.symbol.place)
            found.append(Lens(span, "figures" if function.is_kernel else "references", function.name))
            if function.name in launched:
                found.append(Lens(span, "preview", function.name))
                found.append(Lens(span, "debug", function.name))
    return tuple(found)


def title(module: Module, lens: Lens, known: KnownFigures = NOTHING_KNOWN) -> str:
    """The text of a lens; empty if its function no longer exists or nothing is known."""
    symbol = module.definition(lens.name)
    function = function_named(module, symbol) if symbol is not None else None
    if function is None:
        return ""
    if lens.sort == "preview":
        return next((_launch(one) for one in _comments(module) if one.entry == lens.name), "")
    if lens.sort == "debug":
        return "Debug"
    if lens.sort == "references":
        count = len(references_of(module, function))
        return f"{count} reference{'s' if count != 1 else ''}"
    count = len(function.body.instructions)
    if count > MANY:
        measured = known.measured.registers_text(known.measured.applied_to(Kernel(lens.name, 0, None)))
        return " | ".join(filter(None, (measured, f"{count} instructions")))
    return figures_in_words(kernel_metrics(function, known), known)


def _comments(module: Module) -> tuple[LaunchComment, ...]:
    return launch_comments(module) if "ptx-run:" in module.document.source.text else ()


def _launch(comment: LaunchComment) -> str:
    if comment.problem:
        return f"Run: {comment.problem}"
    sizes = (("grid", comment.grid), ("block", comment.block), ("cluster", comment.cluster))
    return "Run: " + ", ".join(f"{name} {', '.join(map(str, one))}" for name, one in sizes if one)


def references_of(module: Module, function: Function) -> tuple[Span, ...]:
    """The references to a function."""
    symbol = function.symbol
    name = nodes.Name(symbol.place.start, symbol.place.end, symbol.name)
    found = occurrences(module, SymbolReference(name, module.span(symbol.place), symbol, None))
    return tuple(one.span for one in found if one.use != "declaration")


def figures_in_words(row: Kernel, known: KnownFigures = NOTHING_KNOWN) -> str:
    """`estimated: about 30 registers (26 to 34) | 75 % occupancy, limited by registers | 2 of 9 branches...`.
    """
    found = row.occupancy
    estimate = registers_text(row)
    parts = [known.measured.registers_text(row) or (estimate and f"estimated: {estimate}")]
    if found.percent is not None and not found.blocks_per_sm:
        parts.append(f"cannot be launched: {limiters_text(row)}")
    elif found.percent is not None:
        best = " at best" if row.threads_source == "best" else ""
        parts.append(f"{percent_text(row)} occupancy{best}, limited by {limiters_text(row)}")
    parts.append(dynamic_shared_text(row))
    branches = row.branches
    every = sum(one or 0 for one in (branches.uniform, branches.divergent, branches.unknown))
    if every:
        parts.append(f"{branches.divergent} of {every} branches divergent")
    return " | ".join(part for part in parts if part)
