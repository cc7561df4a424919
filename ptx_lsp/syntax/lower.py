"""Lowers the tree-sitter tree of one top-level statement to typed nodes and problems.

The tree is walked once, by `node.children`; each grammar node has one method named after it. Comments and
preprocessor lines are allowed anywhere, and are ignored.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax._scanner import Scanner
from ptx_lsp.syntax.literals import integer, overflows
from ptx_lsp.syntax.lower_directives import Directives
from ptx_lsp.syntax.lower_leaves import PASSED, children_of, parts_of
from ptx_lsp.syntax.problem import SyntaxProblem
from ptx_lsp.syntax.validation import operand_problems

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_NESTED_BLOCKS = 1990
"""With deeper nesting, ptxas 13.5 reports `memory exhausted`."""
_MOST_NUMBERED = 10_000
_SCANNED = frozenset({"instruction", "label", "location", "declaration", "pragma"})
_BANK = lazy_pattern(r"\[\d+\]")


class Lowered(NamedTuple):
    """A top-level statement, its problems, and the functions that a missing `}` placed inside it."""

    start: int
    end: int
    node: nodes.Statement
    problems: tuple[SyntaxProblem, ...]


def lower(node: Node, text: str) -> Iterator[Lowered]:
    """The statement at `node`, then the statements nested in it that belong to the top level.

    `text` has one character per byte of the file.
    """
    pending = [node]
    while pending:
        top = pending.pop()
        lowering = _Lowering(text, top.start_byte)
        statement = lowering.statement(top)
        yield Lowered(top.start_byte, top.end_byte, statement, tuple(lowering.problems))
        pending.extend(reversed(lowering.nested))


def lower_statements(
    found: Iterable[Node], text: str, base: int
) -> tuple[tuple[nodes.Statement, ...], tuple[SyntaxProblem, ...]] | None:
    """Consecutive statements of a block, and their problems; None if they affect the enclosing blocks.
    Offsets count from `base`.
    """
    lowering = _Lowering(text, base)
    statements = lowering.statements(found)
    if lowering.nested or lowering.unclosed:
        return None
    return statements, tuple(lowering.problems)


class _OpenBlock(NamedTuple):
    node: Node
    guard: nodes.Guard | None
    children: Iterator[Node]
    statements: list[nodes.Statement]


class _Lowering(Directives):
    def __init__(self, text: str, base: int) -> None:
        super().__init__(text, base)
        self.nested: list[Node] = []
        self.unclosed = False
        self.scanner = Scanner(text if text.isascii() else "", base)  # it copies any other

    # -- statements -----------------------------------------------------------------------------

    def statement(self, node: Node) -> nodes.Statement:
        return _METHODS.get(node.type, _Lowering.unknown)(self, node)

    def instruction(self, node: Node) -> nodes.Statement:
        base = self.base
        guard: nodes.Guard | None = None
        opcode: nodes.Opcode | None = None
        operands: list[nodes.Operand] = []
        kind = ""
        for child in node.children:
            previous, kind = kind, child.type
            if kind == "identifier":
                start, end = child.start_byte, child.end_byte
                operands.append(
                    nodes.Name(start - base, end - base, sys.intern(self.text[start:end]))
                )
            elif kind == "," or kind == ";" or kind in PASSED:
                continue
            elif kind == "opcode":
                opcode = self.opcode(child)
            elif kind == "guard":
                guard = self.guard(child)
            elif kind == "block":  # at the top level; `block` handles functions inside it
                return self.block(child, self.guarded_block(node))
            elif kind == "missing":
                if previous == ",":  # to ask for the sibling takes as long as blocks are nested
                    operands.append(self.missing(child, "an operand", "an instruction"))
                else:
                    self.missing(child, "`;`", "an instruction", ";")
            elif kind == "junk":
                self.junk(child, "`,` or `;`" if operands else "an operand or `;`", "an instruction")
            else:
                operand = self.operand(child)
                self.problems.extend(operand_problems(operand, "an instruction"))
                operands.append(operand)
        start, end = node.start_byte - base, node.end_byte - base
        if opcode is None:
            opcode = nodes.Opcode(end, end, "")
        elif opcode.start == start:
            start = opcode.start  # one number in place of two equal ones
        return nodes.Instruction(start, end, guard, opcode, tuple(operands))

    def opcode(self, node: Node) -> nodes.Opcode:
        start, end = node.start_byte, node.end_byte
        text = self.text[start:end]
        if " " in text or "/" in text or (node.child_count > 1 and not text.isprintable()):
            text = "".join(self.text[c.start_byte : c.end_byte] for c in parts_of(node))
        bank: nodes.Name | None = None
        if "[" in text:
            bank = next(self.name(c) for c in parts_of(node) if self.text[c.end_byte - 1] == "]")
            text = _BANK.sub("", text)
        return nodes.Opcode(start - self.base, end - self.base, sys.intern(text), bank)

    def guard(self, node: Node) -> nodes.Guard:
        predicate: nodes.Expression | None = None
        negated = False
        for child in parts_of(node):
            if child.type == "!":
                negated = True
            elif child.type == "missing":
                predicate = self.missing(child, "a predicate", "a guard")
            elif child.type != "@":
                predicate = self.operand(child)
                if isinstance(predicate, nodes.Member):
                    word = predicate.components[0]
                    self.problems.append(SyntaxProblem(word.start, word.end, "an opcode", "a guard"))
        start, end = self._span(node)
        return nodes.Guard(start, end, negated, predicate or nodes.Missing(end, end))

    def nested_function(self, node: Node) -> None:
        """A prototype is allowed in a body. A function with a body there means that a `}` is missing before
        it.
        """
        self.nested.append(node)
        prototype = any(child.type == ".func" for child in node.children) and not any(
            child.type == "block" for child in node.children
        )
        if not prototype and not self.unclosed:
            self.unclosed = True
            start = node.start_byte - self.base
            self.problems.append(SyntaxProblem(start, start, "`}`", "a function body"))

    def guarded_block(self, node: Node) -> nodes.Guard:
        start = node.children[-1].start_byte - self.base
        self.problems.append(SyntaxProblem(start, start + 1, "a single instruction", "a guard"))
        return self.guard(node.children[0])

    def label(self, node: Node) -> nodes.Label:
        start, end = self._span(node)
        return nodes.Label(start, end, self.name(node.children[0]))

    def statements(self, found: Iterable[Node]) -> tuple[nodes.Statement, ...]:
        """The statements among some children of a block."""
        statements: list[nodes.Statement] = []
        for node in found:
            inner = self._inside_block(node)
            if isinstance(inner, _OpenBlock):
                inner = self.block(inner.node, inner.guard)
            if inner is not None:
                statements.append(inner)
        return tuple(statements)

    def block(self, node: Node, guard: nodes.Guard | None = None) -> nodes.Block:
        """Not recursive: blocks may be nested thousands deep."""
        open_blocks = [_OpenBlock(node, guard, children_of(node), [])]
        while True:
            block = open_blocks[-1]
            for child in block.children:
                inner = self._inside_block(child)
                if isinstance(inner, _OpenBlock):
                    open_blocks.append(inner)
                    break
                if inner is not None:
                    block.statements.append(inner)
            else:
                open_blocks.pop()
                start, end = self._span(block.node)
                closed = nodes.Block(start, end, block.guard, tuple(block.statements))
                if not open_blocks:
                    return closed
                if len(open_blocks) == MOST_NESTED_BLOCKS:
                    expected = f"a `}}` (ptxas takes {MOST_NESTED_BLOCKS} nested blocks)"
                    self.problems.append(SyntaxProblem(start, start + 1, expected, "a block"))
                open_blocks[-1].statements.append(closed)

    def _inside_block(self, node: Node) -> nodes.Statement | _OpenBlock | None:
        kind = node.type
        if kind in _SCANNED:
            found = self.scanner.statement(node.start_byte)
            if found is not None and self.scanner.end == node.end_byte:
                return found
        if kind == "block":
            return _OpenBlock(node, None, children_of(node), [])
        if kind == "{" or kind == "}" or kind in PASSED:
            return None
        if kind == "function":
            self.nested_function(node)
            return None
        if kind == "missing_brace":
            if not self.unclosed:
                self.missing(node, "`}`", "a block", "}")
            return None
        if kind == "instruction" and node.children[-1].type == "block":
            guard = self.guarded_block(node)
            inner = node.children[-1]
            return _OpenBlock(inner, guard, children_of(inner), [])
        return self.statement(node)

    def junk_statement(self, node: Node) -> nodes.Statement:
        start, end = self._span(node)
        self.junk(node.children[0], "a label, an opcode or a directive", "a statement")
        return nodes.Junk(start, end)

    def stray_brace(self, node: Node) -> nodes.Statement:
        start, end = self._span(node)
        self.problems.append(
            SyntaxProblem(start, end, "a directive (no block is open)", "the module")
        )
        return nodes.Junk(start, end)

    def dwarf_line(self, node: Node) -> nodes.Statement:
        return nodes.DwarfLine(*self._span(node))

    def empty_statement(self, node: Node) -> nodes.Statement:
        start, end = self._span(node)
        self.problems.append(
            SyntaxProblem(start, end, "a statement (it cannot be empty)", "a block", token="")
        )
        return nodes.Junk(start, end)

    def unknown(self, node: Node) -> nodes.Statement:
        """Tree-sitter's own error recovery, which the scanner makes unnecessary."""
        start, end = self._span(node)
        self.problems.append(SyntaxProblem(start, end, "a statement", "the module"))
        return nodes.Junk(start, end)

    # -- functions ------------------------------------------------------------------------------

    def function(self, node: Node) -> nodes.Function:
        linkage: list[nodes.Name] = []
        attributes: list[nodes.Attribute] = []
        directives: list[nodes.Directive] = []
        dimensions: list[nodes.Dimension] = []
        kind: nodes.Name | None = None
        name: nodes.Name | None = None
        named = False
        returns: tuple[nodes.Declaration, ...] | None = None
        parameters: tuple[nodes.Declaration, ...] | None = None
        body: nodes.Block | None = None
        for child in parts_of(node):
            match child.type:
                case "linkage":
                    linkage.append(self.name(child))
                case ".entry" | ".func":
                    kind = self.name(child)
                case "attribute":
                    attributes.extend(self.attribute(child))
                case "identifier":
                    name, named = self.name(child), True
                case "parameter_list" if named:
                    parameters = self.parameters(child)
                case "parameter_list":
                    returns = self.parameters(child)
                case "dimension":
                    dimensions.append(nodes.Dimension(*self._span(child), self.dimension(child)))
                case "function_directive" | "pragma":
                    directives.append(self.directive(child))
                case "block":
                    body = self.block(child)
                case "missing" if named:
                    if kind is None or kind.text == ".entry":  # a `.func` needs no `;`
                        self.missing(child, "`{` or `;`", "a function header", ";")
                case "missing":
                    named = True
                    self.missing(child, "a name", "a function header")
                case "junk":
                    self.junk(child, "parameters, a directive, `{` or `;`", "a function header")
                case _:
                    pass
        start, end = self._span(node)
        assert kind is not None
        return nodes.Function(
            start, end, tuple(linkage), kind, tuple(attributes), returns, name, tuple(dimensions),
            parameters, tuple(directives), body,
        )

    def parameters(self, node: Node) -> tuple[nodes.Declaration, ...]:
        found = self._items(node, "a parameter", "a parameter list")
        return tuple(self.declaration(n) for n in found if not isinstance(n, nodes.Missing))

    def call_prototype(self, node: Node) -> nodes.CallPrototype:
        named = False
        returns: tuple[nodes.Declaration, ...] | None = None
        parameters: tuple[nodes.Declaration, ...] = ()
        directives: list[nodes.Directive] = []
        for child in parts_of(node):
            match child.type:
                case "identifier":
                    named = True
                    name = self.name(child)
                    if name.text != "_":
                        self.problems.append(SyntaxProblem(name.start, name.end, "`_`", "a call prototype"))
                case "parameter_list" if named:
                    parameters = self.parameters(child)
                case "parameter_list":
                    returns = self.parameters(child)
                case "function_directive":
                    directives.append(self.directive(child))
                case "missing" if named:
                    self.missing(child, "`;`", "a call prototype", ";")
                case "missing":
                    named = True
                    self.missing(child, "`_`", "a call prototype", "_")
                case "junk":
                    self.junk(child, "parameters or `;`", "a call prototype")
                case _:
                    pass
        start, end = self._span(node)
        return nodes.CallPrototype(start, end, returns, parameters, tuple(directives))

    def target_list(self, node: Node) -> nodes.TargetList:
        names: list[nodes.Name] = []
        parts = list(parts_of(node))
        for before, child in pairwise(parts):
            if child.type == "identifier":
                names.append(self.name(child))
                if names[-1].text == "_":
                    start, end = self._span(child)
                    self.problems.append(SyntaxProblem(start, end, "a name", "a list of targets"))
            elif child.type == "range":
                count = self.range(child)
                names[-1:] = _numbered(names[-1], count)
                if isinstance(count, nodes.Number) and overflows(count.text, 32):
                    wanted = "a number of 32 bits"
                    problem = SyntaxProblem(count.start, count.end, wanted, "a list of targets")
                    self.problems.append(problem)
            elif child.type == "missing":
                self._missing_in_list(child, before.type, "a name", "a list of targets", bool(names))
            elif child.type == "junk":
                self.junk(child, "`,` or `;`", "a list of targets")
        start, end = self._span(node)
        return nodes.TargetList(start, end, self.name(parts[0]), tuple(names))

    def alias(self, node: Node) -> nodes.Alias:
        names: list[nodes.Name | nodes.Missing] = []
        for child in list(parts_of(node))[1:]:
            if child.type == "identifier":
                names.append(self.name(child))
            elif child.type == "missing":
                wanted = "`,`" if len(names) == 1 else "a name" if len(names) < 2 else "`;`"
                missing = self.missing(child, wanted, "an alias")
                if wanted == "a name":
                    names.append(missing)
            elif child.type == "junk":
                self.junk(child, "`;`", "an alias")
        start, end = self._span(node)
        names += [nodes.Missing(end, end)] * (2 - len(names))
        return nodes.Alias(start, end, names[0], names[1])


def _numbered(name: nodes.Name, count: nodes.Number | nodes.Missing) -> list[nodes.Name]:
    """`L<3>` expands to `L0`, `L1` and `L2`."""
    number = integer(count.text) if isinstance(count, nodes.Number) else None
    total = min((number or 0) % 2**32, _MOST_NUMBERED)
    return [nodes.Name(name.start, name.end, f"{name.text}{index}") for index in range(total)]


_METHODS: dict[str, Callable[[_Lowering, Node], nodes.Statement]] = {
    "instruction": _Lowering.instruction,
    "label": _Lowering.label,
    "block": _Lowering.block,
    "declaration": _Lowering.declaration,
    "function": _Lowering.function,
    "directive": _Lowering.directive,
    "pragma": _Lowering.directive,
    "location": _Lowering.location,
    "intermediate_location": _Lowering.intermediate_location,
    "file": _Lowering.file,
    "version": _Lowering.version,
    "target": _Lowering.target,
    "address_size": _Lowering.address_size,
    "section": _Lowering.section,
    "alias": _Lowering.alias,
    "call_prototype": _Lowering.call_prototype,
    "target_list": _Lowering.target_list,
    "aggregate": _Lowering.aggregate,
    "junk_statement": _Lowering.junk_statement,
    "stray_brace": _Lowering.stray_brace,
    "dwarf_line": _Lowering.dwarf_line,
    "empty_statement": _Lowering.empty_statement,
}
"""Methods by the kind of grammar node. Stored in each `_Lowering`, they would create a reference cycle that
also holds the text.
"""
