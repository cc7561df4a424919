"""Blocks of inline assembly that are calls of Python functions with a template and, often, constraints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from ptx_lsp.embedded.block import Block, Operand, relative
from ptx_lsp.embedded.host import HostText
from ptx_lsp.embedded.llvm_constraints import (
    REGISTER_TYPES,
    Constraints,
    Passed,
    constraints,
    llvm_template,
)
from ptx_lsp.embedded.mapped_text import MappedText
from ptx_lsp.embedded.python_literals import unwritable
from ptx_lsp.embedded.python_strings import Alternative, PythonStrings
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Node

NO_CONSTRAINTS: Final = Constraints((), (), False)


class Call(NamedTuple):
    """A call with its arguments by position and by name."""

    node: Node
    name: Node
    """The last part of the function's name."""
    positional: tuple[Node, ...]
    named: dict[str, Node]

    @property
    def start(self) -> int:
        return self.node.start_byte

    def argument(self, position: int, *names: str) -> Node | None:
        """The argument at a position or with one of the names."""
        for name in names:
            if name in self.named:
                return self.named[name]
        before = self.positional[: position + 1]
        if any(one.type in ("list_splat", "dictionary_splat") for one in before):
            return None
        return before[position] if len(before) > position else None


def calls(text: HostText, names: re.Pattern[bytes]) -> Iterator[Call]:
    """The calls of functions whose name `names` matches."""
    if text.tree is None:
        return
    root = text.tree.root_node
    for match in names.finditer(text.source.data):
        name = root.descendant_for_byte_range(*match.span())
        if name is None or name.type != "identifier" or name.end_byte != match.end():
            continue
        function = (
            name.parent if name.parent is not None and name.parent.type == "attribute" else name
        )
        node = function.parent
        if (
            node is not None
            and node.type == "call"
            and node.child_by_field_name("function") == function
        ):
            yield _call(node, name)


def _call(node: Node, name: Node) -> Call:
    arguments = node.child_by_field_name("arguments")
    positional: list[Node] = []
    named: dict[str, Node] = {}
    for one in arguments.named_children if arguments is not None else ():
        if one.type == "keyword_argument":
            key, value = one.child_by_field_name("name"), one.child_by_field_name("value")
            if key is not None and value is not None:
                named[(key.text or b"").decode()] = value
        elif one.type != "comment":
            positional.append(one)
    return Call(node, name, tuple(positional), named)


class Draft(NamedTuple):
    """The parts of a block whose template is known."""

    call: Call
    """The call of the function of the host, or of one that passes its arguments on to that."""
    inner: Call
    """The call of the function of the host."""
    text: MappedText
    """The template as written."""
    constraints: MappedText | None
    """The constraints as written; None if there are none, or not known."""

    def argument(self, position: int, *names: str) -> Node | None:
        """An argument of the function of the host."""
        node = self.inner.argument(position, *names)
        return _passed_on(self.call, self.inner, node)


Reader: TypeAlias = Callable[[PythonStrings, Draft], "Block | None"]


def blocks(
    text: HostText,
    host: str,
    names: re.Pattern[bytes],
    template: Callable[[Call], Node | None],
    constraint_string: Callable[[Call], Node | None],
    reader: Reader,
) -> Iterator[Block]:
    """The blocks of the calls of functions: one for each text that the template may be."""
    strings = PythonStrings(text.source.data)
    seen: set[tuple[Span, bytes]] = set()
    for inner in calls(text, names):
        known = text.known.get((host, inner.start))
        if known is not None and _is_of(known, inner):
            yield known
            continue
        node = template(inner)
        if node is None:
            continue
        for call in (inner, *_forwarding(text, inner, node)):
            others = _passed_on(call, inner, constraint_string(inner))
            for draft in _drafts(strings, call, inner, _passed_on(call, inner, node), others):
                key = (
                    _extent(draft.text),
                    draft.constraints.data if draft.constraints is not None else b"",
                )
                if key not in seen and (block := reader(strings, draft)) is not None:
                    seen.add(key)
                    yield block


def _is_of(block: Block, call: Call) -> bool:
    """Whether a block from before an edit is that of a call. In a call with an error it might be another."""
    is_same_name = block.start + block.keyword.start == call.name.start_byte
    return is_same_name and block.span.end == call.node.end_byte and not call.node.has_error


def _drafts(
    strings: PythonStrings,
    call: Call,
    inner: Call,
    template: Node | None,
    constraint_string: Node | None,
) -> Iterator[Draft]:
    if template is None:
        return
    described = strings.alternatives(constraint_string) if constraint_string is not None else []
    for one in strings.alternatives(template):
        read = strings.text(one.parts)
        if read is not None and read.data.strip():
            said = _suiting(one, described)
            written = strings.text(said.parts, has_statements=False) if said is not None else None
            yield Draft(call, inner, read, written)


def _forwarding(text: HostText, call: Call, template: Node) -> Iterator[Call]:
    """The calls of the function around `call` that has the template as a parameter."""
    function = _function_around(call)
    if function is None or template.type != "identifier":
        return
    name = function.child_by_field_name("name")
    if name is None or name.text is None or template.text not in _parameters(function):
        return
    word = re.compile(rb"\b%b\b" % re.escape(name.text))
    for one in (*calls(text, word), *_partial_calls(text, word)):
        if _function_around(one) != function:
            yield one


def _partial_calls(text: HostText, names: re.Pattern[bytes]) -> Iterator[Call]:
    """The calls of `partial` for functions, with the arguments of these."""
    for call in calls(text, _PARTIAL):
        function, *positional = call.positional or (call.name,)
        if function != call.name and names.fullmatch(function.text or b""):
            yield Call(call.node, function, tuple(positional), call.named)


_PARTIAL = lazy_pattern(rb"\bpartial\b(?=\s*\()")


def _passed_on(call: Call, inner: Call, node: Node | None) -> Node | None:
    """What `call` passes for an argument of `inner`, which is in the function called."""
    if call == inner or node is None or node.type != "identifier":
        return node
    function = _function_around(inner)
    parameters = _parameters(function) if function is not None else []
    if node.text not in parameters:
        return node
    return call.argument(parameters.index(node.text), node.text.decode())


def _function_around(call: Call) -> Node | None:
    node = call.node.parent
    while node is not None and node.type not in ("function_definition", "class_definition"):
        node = node.parent
    return node if node is not None and node.type == "function_definition" else None


def _parameters(function: Node) -> list[bytes]:
    """The names of the parameters of a function."""
    parameters = function.child_by_field_name("parameters")
    found: list[bytes] = []
    for one in parameters.named_children if parameters is not None else ():
        name = one.child_by_field_name("name") or (one.named_children or [one])[0]
        if name.type == "identifier" and name.text is not None:
            found.append(name.text)
    return found


def _extent(text: MappedText) -> Span:
    return Span(
        min(piece.host.start for piece in text.pieces), max(piece.host.end for piece in text.pieces)
    )


def _suiting(template: Alternative, described: list[Alternative]) -> Alternative | None:
    """The constraints that belong to a template: those bound in the same branch, or the only ones."""
    if len(described) > 1 and template.block is not None:
        described = [one for one in described if one.block == template.block]
    return described[0] if len(described) == 1 else None


def llvm_operands(strings: PythonStrings, draft: Draft, inputs: Node | None) -> Constraints:
    """The operands of a block with constraints of LLVM, which are passed the elements of a list."""
    if draft.constraints is None:
        return NO_CONSTRAINTS
    found = elements(strings, inputs)
    count = sum(one.access != "write" for one in constraints(draft.constraints).operands)
    return constraints(
        draft.constraints, found if found is not None and len(found) == count else None
    )


def elements(strings: PythonStrings, node: Node | None) -> list[Passed] | None:
    """The elements of a list that is written at the call or bound to a name; None if they are unknown."""
    found = element_nodes(strings, node)
    return None if found is None else [passed(one) for one in found]


def element_nodes(strings: PythonStrings, node: Node | None) -> list[Node] | None:
    """The expressions in a list that is written at the call or bound to a name; None if they are unknown."""
    if node is not None and node.type == "identifier":
        node = strings.names.value(node)
    if node is None or node.type not in ("list", "tuple"):
        return None
    inner = [one for one in node.named_children if one.type != "comment"]
    return None if any(one.type == "list_splat" for one in inner) else inner


def passed(node: Node) -> Passed:
    """An expression that is passed."""
    return Passed(
        (node.text or b"").decode("utf-8", "replace"), Span(node.start_byte, node.end_byte)
    )


def is_nvptx(found: Constraints) -> bool:
    """Whether the constraints may be those of NVPTX."""
    return all(
        one.type is not None or _letters(one) in _OTHER or "_hole" in one.constraint or one.tied_to
        for one in found.operands
    )


_OTHER: Final = frozenset((*REGISTER_TYPES, "i", "m", "n", "s", "X", ""))


def _letters(operand: Operand) -> str:
    return operand.constraint.strip("=+&%*# ").split("|")[0]


def llvm_block(host: str, draft: Draft, found: Constraints, is_volatile: bool) -> Block | None:
    """The block of a template in LLVM's syntax; None if its constraints are those of another machine."""
    if not is_nvptx(found):
        return None
    text = llvm_template(draft.text, found.operands)
    return block_of(host, draft, text, found, is_volatile)


def block_of(
    host: str, draft: Draft, text: MappedText, found: Constraints, is_volatile: bool
) -> Block | None:
    """The block of a call."""
    if not text.pieces:
        return None
    call, template = draft.call.node, _extent(draft.text)
    if draft.call != draft.inner:
        found = _at_call(found, call)
    spans = [template, *(one.constraint_span for one in found.operands)]
    spans += [one.expression_span for one in found.operands]
    spans += [one.span for one in found.clobbers]
    start = min(call.start_byte, *(one.start for one in spans))
    end = max(call.end_byte, *(one.end for one in spans))
    made = Block(
        host,
        "python",
        start,
        end - start,
        Span(draft.call.name.start_byte, draft.call.name.end_byte),
        text,
        template,
        found.operands,
        found.clobbers,
        is_volatile,
        operands_known=found.are_known,
        orders_memory=is_volatile,  # LLVM assumes that a call without attributes accesses all memory
        is_context_free=_is_context_free(draft, start, end),
    )
    return relative(made)


def _is_context_free(draft: Draft, start: int, end: int) -> bool:
    """Whether everything is written in the call."""
    call = draft.call.node
    return (
        start == call.start_byte
        and end == call.end_byte
        and not call.has_error
        and draft.constraints is not None
        and not any(
            piece.kind == "hole" or piece.encode is unwritable
            for piece in (*draft.text.pieces, *draft.constraints.pieces)
        )
    )


def _at_call(found: Constraints, call: Node) -> Constraints:
    """Operands without the places that are in another function."""

    def place(span: Span) -> Span:
        is_inside = call.start_byte <= span.start and span.end <= call.end_byte
        return span if is_inside else Span(call.start_byte, call.start_byte)

    operands = tuple(
        one._replace(
            constraint_span=place(one.constraint_span),
            expression=one.expression if place(one.expression_span) == one.expression_span else "",
            expression_span=place(one.expression_span),
        )
        for one in found.operands
    )
    clobbers = tuple(one._replace(span=place(one.span)) for one in found.clobbers)
    return found._replace(operands=operands, clobbers=clobbers)


def flag(draft: Draft, default: bool, position: int, *names: str) -> bool:
    """The value of a flag; True if it is unknown."""
    node = draft.argument(position, *names)
    if node is None:
        return default
    return node.type not in ("false", "none")
