"""Hover text for kernels, functions and special registers."""

from __future__ import annotations

import re

from ptx_lsp.analyses.occupancy.launch_bounds import launch_bounds
from ptx_lsp.ide.cursor.kernel_metrics import (
    NOTHING_KNOWN,
    KnownFigures,
    dynamic_shared_text,
    is_cached,
    kernel_metrics,
    occupancy_text,
    registers_text,
)
from ptx_lsp.ide.cursor.markdown import code, fenced, listed, paragraphs
from ptx_lsp.ide.cursor.needs_met import met_in_words
from ptx_lsp.ide.cursor.occurrences import occurrences
from ptx_lsp.ide.cursor.symbol_at import SymbolReference
from ptx_lsp.ide.hover.launch import launch_text
from ptx_lsp.isa import special_registers
from ptx_lsp.lint.results.report import Kernel
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import FunctionName
from ptx_lsp.syntax import nodes

_LONGEST = 1200
_SOON = 1000
"""The metrics of kernels up to this number of instructions are computed for a hover; for larger ones, they
must already be cached.
"""


def function_text(
    module: Module, symbol: FunctionName, known: KnownFigures = NOTHING_KNOWN
) -> str:
    """The text for a kernel or function, for any use of its name."""
    found = module.definition(symbol.name) or symbol
    function = function_named(module, found)
    return paragraphs([
        fenced(signature(module, found)),
        listed(_lines(module, found, function, known)),
        launch_text(module, found.name) if found.is_kernel else "",
    ])


def function_named(module: Module, symbol: FunctionName) -> Function | None:
    """The function that a symbol names."""
    return next((one for one in module.functions if one.symbol is symbol), None)


def signature(module: Module, symbol: FunctionName) -> str:
    """The head of a function as written, with each run of blanks and comments as one blank."""
    node = symbol.node
    owner = symbol.place.owner
    start, end = module.span(Place.of(owner, node))
    if node.body is not None:
        end = module.span(Place.of(owner, node.body)).start
    text = module.document.source.decoded(start, end)
    plain = " ".join(re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL).split()).rstrip(" ;")
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}..."


def _lines(
    module: Module, symbol: FunctionName, function: Function | None, known: KnownFigures
) -> list[str]:
    name = nodes.Name(symbol.place.start, symbol.place.end, symbol.name)
    span = module.span(symbol.place)
    used = [
        one for one in occurrences(module, SymbolReference(name, span, symbol, None))
        if one.use != "declaration"
    ] if symbol.name else []
    lines: list[str] = []
    if not symbol.is_definition:
        lines.append("declaration only; defined in another file")
    if function is not None and symbol.is_definition:
        count = len(function.body.instructions)
        lines.append(f"{count} instruction{'s' if count != 1 else ''}")
        is_small = count <= _SOON
        if symbol.is_kernel and (is_small or is_cached(function)):
            lines += kernel_lines(kernel_metrics(function, known), function, known)
    if not symbol.is_kernel or used:
        lines.append(f"used {len(used)} times" if len(used) != 1 else "used once")
    return lines


def kernel_lines(
    row: Kernel, function: Function, known: KnownFigures = NOTHING_KNOWN
) -> list[str]:
    """The metrics of a kernel, one per line, each labelled with its kind."""
    used, registers = known.measured.registers_text(row), registers_text(row)
    lines = [f"measured: {used}" if used else "", f"estimated: {registers}" if registers else ""]
    lines.append(occupancy_text(row))
    if row.registers.peak_live is not None:
        lines.append(f"at most {row.registers.peak_live} registers live at once in the PTX")
    memory = [
        f"{size} bytes of {what}"
        for size, what in (
            (row.shared_bytes, "static shared memory"), (row.local_bytes, "local memory"),
            (row.parameter_bytes, "parameters"),
        )
        if size
    ]
    lines.append(", ".join(memory))
    lines.append(dynamic_shared_text(row))
    lines.append(_bounds(function))
    branches = row.branches
    if branches.uniform is not None and (branches.uniform or branches.divergent or branches.unknown):
        lines.append(
            f"branches: {branches.uniform} uniform, {branches.divergent} divergent, "
            f"{branches.unknown} unknown"
        )
    return [line for line in lines if line]


def _bounds(function: Function) -> str:
    """The launch bounds, and the directives that ptxas ignores."""
    found = launch_bounds(function)
    if found is None:
        return ""
    parts: list[str] = []
    if found.threads_per_block:
        exact = "exactly" if found.threads_source == "reqntid" else "at most"
        parts.append(f"{exact} {found.threads_per_block} threads per block")
    if found.blocks_asked:
        parts.append(f"at least {found.blocks_asked} resident blocks")
    if found.limit_source != "target":
        parts.append(f"at most {found.register_limit} registers (from {found.limit_source})")
    parts += [f"ptxas ignores {one}" for one in found.ignored]
    return f"launch bounds: {', '.join(parts)}" if parts else ""


def predefined_text(module: Module, name: str) -> str:
    """The text for a special register or `WARP_SZ`."""
    row = special_registers.find(name)
    if row is None:
        return f"{code(name)}: the number of threads in a warp, 32, as a constant."
    vector = f".v{row.vector} " if row.vector > 1 else ""
    lines = [met_in_words(module, (row.requirement,)), f"Example: {code(row.example)}"]
    return paragraphs([
        f"**{name}** (special register, `{vector}{row.type}`): {row.summary}",
        listed(filter(None, lines)),
    ])
