"""Hover text for names: registers, labels, variables, parameters, prototypes."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.facts import is_computed
from ptx_lsp.ide.cursor.cursor_context import CursorContext, statement_before
from ptx_lsp.ide.cursor.kernel_metrics import NOTHING_KNOWN, KnownFigures
from ptx_lsp.ide.cursor.live_range import live_lines, shown
from ptx_lsp.ide.cursor.markdown import code, fenced, listed, paragraphs
from ptx_lsp.ide.cursor.occurrences import Occurrence, is_range, occurrences
from ptx_lsp.ide.cursor.symbol_at import SymbolReference
from ptx_lsp.ide.cursor.uniformity_text import register_uniformity
from ptx_lsp.ide.hover.function import function_text, predefined_text
from ptx_lsp.isa.spaces import SPACES
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import (
    address_alignment,
    offset_bytes,
    size_bytes,
)
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import (
    AggregateName,
    AliasName,
    FunctionName,
    Label,
    Predefined,
    Prototype,
    Register,
    TargetTable,
    Variable,
)
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span

_SOON = 1000
"""Functions up to this number of instructions are analysed for a hover; larger ones must already be analysed.
"""


def symbol_text(
    place: CursorContext,
    found: SymbolReference,
    known: KnownFigures = NOTHING_KNOWN,
    *,
    is_fragment: bool = False,
) -> str:
    """The text for a name in the file; of a fragment of a function, without lines and uniformity."""
    module = place.module
    symbol = found.symbol
    match symbol:
        case Register():
            return _register(place, found, symbol, is_fragment)
        case Variable():
            return _variable(module, found, symbol)
        case Label():
            return _label(module, found, symbol, is_fragment)
        case Prototype() | TargetTable() | AggregateName():
            return _declared(module, found, symbol)
        case FunctionName():
            return function_text(module, symbol, known)
        case AliasName():
            aliasee = symbol.node.aliasee
            name = aliasee.text if isinstance(aliasee, nodes.Name) else ""
            real = module.definition(name)
            head = f"{code(symbol.name)} is an alias of {code(name)}."
            return paragraphs([head, function_text(module, real, known) if real is not None else ""])
        case Predefined():
            return predefined_text(module, symbol.name)


# -- registers ------------------------------------------------------------------------------------


def _register(
    place: CursorContext, found: SymbolReference, symbol: Register, is_fragment: bool
) -> str:
    module = place.module
    everywhere = occurrences(module, found)
    used = [one for one in everywhere if one.use != "declaration"]
    writes = [one for one in used if one.use in ("write", "both")]
    reads = [one for one in used if one.use in ("read", "both")]
    vector = f".v{symbol.vector} " if symbol.vector > 1 else ""
    lines = [_counted(module, reads, writes, with_lines=not is_fragment)]
    if symbol.is_parameter:
        lines.insert(0, "parameter in a register")
    if not is_range(symbol) and found.function is not None and found.is_local and not is_fragment:
        lines += _flow(place, found, found.function, symbol, used)
    type = TYPES.get(symbol.type)
    head = f".reg {vector}{symbol.type} {symbol.name}"
    if is_range(symbol):
        head = f".reg {vector}{symbol.type} {_range_text(symbol.declarator)}"
    return paragraphs([fenced(head), type.summary if type is not None else "", listed(lines)])


def _counted(
    module: Module, reads: list[Occurrence], writes: list[Occurrence], *, with_lines: bool
) -> str:
    if not reads and not writes:
        return "never used"
    where = f" ({_lines(module, [one.span for one in writes])})" if writes and with_lines else ""
    written = f"written {_times(len(writes))}{where}" if writes else "never written"
    return f"{written}, {f'read {_times(len(reads))}' if reads else 'never read'}"


def _flow(
    place: CursorContext, found: SymbolReference, function: Function, symbol: Register, used: list[Occurrence]
) -> Iterator[str]:
    """Where a register is live, and its uniformity at this place."""
    is_small = len(function.body.instructions) <= _SOON
    if not (is_small or is_computed(uniformity, function)):
        return
    statements = [statement_before(function, one.span.start) for one in used]
    instructions = [one for one in statements if isinstance(one, nodes.Instruction)]
    lines = live_lines(function, symbol, instructions)
    if lines:
        yield f"live on lines {shown(lines)}"
    elif used:
        yield "its value is never used"
    statement = place.statement
    here = next((one for one in used if one.span == found.span), None)
    if isinstance(statement, nodes.Instruction) and here is not None:
        written = here.use == "write"
        yield from register_uniformity(function, symbol, statement, written)


def _range_text(declarator: nodes.Declarator) -> str:
    count = declarator.range
    return f"{declarator.name.text}<{count.text if isinstance(count, nodes.Number) else '?'}>"


# -- memory ---------------------------------------------------------------------------------------


def _variable(module: Module, found: SymbolReference, symbol: Variable) -> str:
    space = SPACES.get(symbol.space)
    size, alignment = size_bytes(symbol), address_alignment(symbol)
    lines: list[str] = []
    if symbol.is_parameter and found.function is not None:
        offset = offset_bytes(found.function, symbol)
        if offset is not None:
            lines.append(f"offset {offset} (0x{offset:x}) among the parameters")
    if size is not None:
        lines.append(f"size {size} byte{'s' if size != 1 else ''}")
    elif symbol.is_unsized:
        lines.append("size not specified in this declaration")
    if alignment is not None:
        lines.append(f"aligned to {alignment} byte{'s' if alignment != 1 else ''}")
    used = [one for one in occurrences(module, found) if one.use != "declaration"]
    lines.append(f"used {_times(len(used))}" if used else "never used")
    return paragraphs([
        fenced(_declaration(module, symbol)),
        _in_space(symbol, space.summary if space is not None else ""),
        listed(lines),
    ])


def _in_space(symbol: Variable, summary: str) -> str:
    if symbol.is_parameter:
        return ""
    return f"{code(symbol.space)} {summary}" if summary else ""


def _declaration(module: Module, symbol: Variable) -> str:
    """The declaration as written, without its other names and with a long initial value shortened."""
    node, declarator = symbol.declaration, symbol.declarator
    owner, source = symbol.place.owner, module.document.source
    own = module.span(Place.of(owner, declarator))
    first = node.declarators[0] if node.declarators else declarator
    words = source.decoded(
        module.span(Place.of(owner, node)).start, module.span(Place.of(owner, first)).start
    )
    value_start = own.end
    if declarator.initializer is not None:
        value_start = module.span(Place.of(owner, declarator.initializer)).start
    text = words + source.decoded(own.start, value_start)
    if declarator.initializer is not None:
        value = source.decoded(value_start, own.end)
        text += value if len(value) <= 100 else f"{value[:100]}..."
    return " ".join(text.split())


# -- labels ---------------------------------------------------------------------------------------


def _label(module: Module, found: SymbolReference, symbol: Label, is_fragment: bool) -> str:
    function = found.function if not is_fragment else None
    used = [one for one in occurrences(module, found) if one.use != "declaration"]
    lines = [f"used {_times(len(used))}" if used else "never used"]
    if function is not None and (
        len(function.body.instructions) <= _SOON or is_computed(cfg, function)
    ):
        graph = cfg(function)
        block = next((one for one in graph.blocks if symbol.name in one.labels), None)
        if block is not None:
            lines += _predecessors(function, block.predecessors)
    return paragraphs([f"label {code(symbol.name)}", listed(lines)])


def _predecessors(function: Function, numbers: tuple[int, ...]) -> Iterator[str]:
    """The places from which control reaches a label, each with its line."""
    graph = cfg(function)
    if not numbers:
        yield "unreachable"
    source = function.module.document.source
    for number in numbers[:_MOST]:
        block = graph.blocks[number]
        if block.end <= block.first:
            continue
        node = function.body.instructions[block.end - 1]
        span = function.span(node)
        text = " ".join(source.decoded(*span).split())
        yield f"from line {source.line_of(span.start) + 1}: {code(text[:80])}"
    if len(numbers) > _MOST:
        yield f"and from {len(numbers) - _MOST} more places"


_MOST = 6


def _declared(
    module: Module, found: SymbolReference, symbol: Prototype | TargetTable | AggregateName
) -> str:
    text = module.document.source.decoded(*module.span(Place.of(symbol.place.owner, symbol.node)))
    used = [one for one in occurrences(module, found) if one.use != "declaration"]
    return paragraphs([
        f"{symbol.kind} {code(symbol.name)}",
        fenced(" ".join(text[:400].split())),
        listed([f"used {_times(len(used))}" if used else "never used"]),
    ])


def _lines(module: Module, spans: list[Span]) -> str:
    """`line 7`, `lines 7, 9 and 3 more`."""
    source = module.document.source
    numbers = sorted({source.line_of(span.start) + 1 for span in spans})
    text = ", ".join(map(str, numbers[:_MOST]))
    more = f" and {len(numbers) - _MOST} more" if len(numbers) > _MOST else ""
    return f"line{'s' if len(numbers) > 1 else ''} {text}{more}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
