"""The rule `debug-directive`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.directives import find
from ptx_lsp.isa.types import TYPES
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import each_function, module_rule
from ptx_lsp.model.directives.debugging import (
    ATTRIBUTED,
    files,
    function_names,
    has_syntax_errors,
    is_placed_earlier,
    sections,
    unplaced,
)
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions
from ptx_lsp.model.instructions.constants import whole_number
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import overflows


@module_rule("debug-directive", code="E141", words=(".file", ".loc", ".section"))
def debug_directive(module: Module) -> Iterator[Finding]:
    """A `.file`, `.loc` or `.section` that conflicts with the others, or a number in it that is too large.

    ## What it does
    Reports an index of two `.file` directives, a label that is defined twice in sections, a
    `function_name` of `.loc` that is not a label of a section, an `inlined_at` position that no earlier
    `.loc` has, sections named like a directive or type, and numbers that are too large for ptxas.

    ## Why it matters
    ptxas rejects them, although they do not affect execution.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .file 1 "matmul.cu"
    .file 1 "tile.cuh"
    .entry kernel()
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .file 1 "matmul.cu"
    .file 2 "tile.cuh"
    .entry kernel()
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: which one was intended is unknown.
    """
    yield from _of_files(module)
    yield from _of_sections(module)
    if b".loc" in module.document.source.data:
        yield from _numbers(module)
    yield from _of_function_names(module)
    for one in collect_over_functions(unplaced, module, ATTRIBUTED):
        if not is_placed_earlier(module, one):
            shown = " ".join(map(str, one.position))
            message = f"`inlined_at` refers to a position that no earlier `.loc` has: {shown}"
            yield Finding(one.place, message)


def _of_function_names(module: Module) -> Iterator[Finding]:
    labels = {label.text for _, node in sections(module) for label in node.labels} | {".debug_str"}
    found = collect_over_functions(function_names, module, ATTRIBUTED)
    unknown = [one for one in found if one.name not in labels]
    if unknown and not has_syntax_errors(module):  # behind one a section may be hidden
        for one in unknown:
            message = (
                f"`{one.name}` is not a label of a `.section`, as the name of a function must be"
            )
            yield Finding(one.place, message)


def _of_files(module: Module) -> Iterator[Finding]:
    known: dict[int, Place] = {}
    for item, node in files(module):
        index = None if isinstance(node.number, nodes.Missing) else whole_number(node.number)
        place = Place.of(item.node, node.number)
        if index is None:
            continue
        if index in known:
            message = f"another `.file` already has the index {index}"
            yield Finding(place, message, ((known[index], "the first `.file` with this index"),))
        known.setdefault(index, place)
        for number, bits in ((node.number, 32), *((number, 64) for number in node.numbers)):
            yield from _overflow(number, Place.of(item.node, number), bits)


def _of_sections(module: Module) -> Iterator[Finding]:
    known: dict[str, Place] = {}
    for item, node in sections(module):
        name = node.name
        if name is not None and (find(name.text) is not None or name.text in TYPES):
            message = (
                f"`{name.text}` is a PTX keyword, which is not allowed as the name of a section"
            )
            yield Finding(Place.of(item.node, name), message)
        for label in node.labels:
            place = Place.of(item.node, label)
            if label.text in known:
                message = f"the label `{label.text}` is already defined in a section"
                yield Finding(place, message, ((known[label.text], "the first definition"),))
            known.setdefault(label.text, place)


_LONG = lazy_pattern(rb"\.loc[\s\w]*?\w{9}")
_LONG_IN_ATTRIBUTES = lazy_pattern(rb"(?:inlined_at|\+)[\s\w]*?\w{9}")
"""Shorter numbers are never too large. A pattern that begins with a literal is searched much faster."""


@each_function()
def _numbers(function: Function) -> Iterator[Finding]:
    if not _may_overflow(function):
        return
    for node in function.body.statements:
        if isinstance(node, nodes.Location):
            own = ((number, 32) for number in (node.file, node.line, node.column))
            for number, bits in (*own, *_values(node)):
                yield from _overflow(number, function.place(number), bits)


def _may_overflow(function: Function) -> bool:
    data, start, end = function.module.document.source.data, function.item.start, function.item.end
    if _LONG.search(data, start, end) is not None:
        return True
    has_attributes = any(isinstance(one.node, nodes.Location) for one in function.body.directives)
    return has_attributes and _LONG_IN_ATTRIBUTES.search(data, start, end) is not None


def _values(node: nodes.Location) -> Iterator[tuple[nodes.Number, int]]:
    """The numbers of the attributes, each with how many bits it may have."""
    for attribute in node.attributes:
        bits = 32 if attribute.name.text == "inlined_at" else 64
        yield from ((value, bits) for value in attribute.values if isinstance(value, nodes.Number))


def _overflow(number: nodes.Expression, place: Place, bits: int) -> Iterator[Finding]:
    if isinstance(number, nodes.Number) and number.kind == "integer" and overflows(number.text, bits):
        yield Finding(place, f"the number does not fit in {bits} bits")
