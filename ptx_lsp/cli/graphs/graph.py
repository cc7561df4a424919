"""`--cfg`: the control flow graph of one kernel or function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ptx_lsp.cli.arguments import Options, UsageError
from ptx_lsp.cli.graphs.flow_dot import dot
from ptx_lsp.cli.graphs.flow_svg import flow_svg
from ptx_lsp.cli.inputs import Input, InputError, read
from ptx_lsp.cli.kernel_names import kernel_names
from ptx_lsp.ide.panels.layered_layout import TooLargeError
from ptx_lsp.isa.target import parse_target
from ptx_lsp.lint.configuration.selection import did_you_mean
from ptx_lsp.lint.results.flow import flow
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.symbol_lookup import names_for, shown_names, spellings
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source


def graph(inputs: Sequence[Input], options: Options) -> Iterator[str]:
    """The lines of the graph that `options.cfg` names, in the requested format.

    Raises UsageError if not exactly one file defines it, if a file cannot be read, or if it is too large.
    """
    wanted = options.cfg or ""
    found: list[tuple[str, Function]] = []
    names: set[str] = set()
    unread: list[str] = []
    for one in inputs:
        try:
            data = read(one)
        except InputError as error:
            if one.container is None:
                raise UsageError(f"{one.path}: {error}") from error
            unread.append(f"; {one.path}: {error}")
            continue
        if one.container is not None and wanted.encode() not in data:  # a library has thousands of members
            known = kernel_names(data)
            names.update(known)
            if not names_for(wanted, known):
                continue
        functions = _functions(data, options.target)
        names.update(functions)
        found += [(one.path, functions[name]) for name in names_for(wanted, functions)]
    if not found:
        near = did_you_mean(wanted, spellings(names))
        raise UsageError(f"no input defines `{wanted}`{near}{''.join(unread)}")
    if len(found) > 1:
        named = list(dict.fromkeys(one.name for _, one in found))
        if len(named) > 1:
            raise UsageError(f"`{wanted}` is ambiguous: {shown_names(named)}")
        raise UsageError(f"`{wanted}` is defined in {found[0][0]} and {found[1][0]}; pass only one")
    drawn = flow(found[0][1])
    if _format(options) == "dot":
        return dot(drawn)
    try:
        return iter(list(flow_svg(drawn)))
    except TooLargeError as error:
        raise UsageError(f"`{wanted}` is too large to draw ({error}); use --format dot") from error


def _format(options: Options) -> str:
    """The format from --format, else from the extension of --output."""
    if options.format in ("dot", "svg"):
        return options.format
    if options.format != "full":
        raise UsageError(f"--cfg supports the formats dot and svg, not {options.format}")
    return "svg" if options.output and Path(options.output).suffix == ".svg" else "dot"


def _functions(data: bytes, target: str | None) -> Mapping[str, Function]:
    document = Document.read(Source(data))
    return Module(document, None, parse_target(target) if target else None).definitions
