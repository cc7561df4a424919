"""From the tree-sitter tree of one top-level statement to typed nodes and problems.

The tree is walked once, by `node.children`; each grammar node has one method named after it. Comments
and preprocessor lines may stand anywhere, and are passed over.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from tree_sitter import Node

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.problem import SyntaxProblem
from ptx_lsp.syntax.shape import operand_problems

_NUMBERS = frozenset({"integer", "float", "exact_float", "malformed_number"})
PASSED = frozenset({"comment", "preprocessor_line"})
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_MODIFIER = re.compile(r"\.[\w$]+")
_CLOSING = {"[": "]", "(": ")", "{": "}"}

MOST_NESTED_BLOCKS = 1990
"""Deeper, ptxas 13.5 says `memory exhausted`."""
_MOST_NUMBERED = 10_000
_MOST_NESTED_OPERANDS = 100
"""Deeper, an operand is not looked into: it is one `nodes.Nested`."""


class Lowered(NamedTuple):
    """A top-level statement, what is wrong in it, and the functions that a missing `}` put in it."""

    start: int
    end: int
    node: nodes.Statement
    problems: tuple[SyntaxProblem, ...]


def lower(node: Node, text: str) -> Iterator[Lowered]:
    """The statement at `node`, then those nested in it that belong to the top level.

    `text` has one character for each byte of the file.
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
    """Statements that follow each other in a block, and what is wrong in them; None where what they are
    says something of the blocks around them. Offsets count from `base`.
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


class _Lowering:
    def __init__(self, text: str, base: int) -> None:
        self.text = text
        self.base = base
        self.problems: list[SyntaxProblem] = []
        self.nested: list[Node] = []
        self.unclosed = False
        self.depth = 0
        self._methods: dict[str, Callable[[Node], nodes.Statement]] = {
            "instruction": self.instruction,
            "label": self.label,
            "block": self.block,
            "declaration": self.declaration,
            "function": self.function,
            "directive": self.directive,
            "pragma": self.directive,
            "location": self.location,
            "file": self.file,
            "version": self.version,
            "target": self.target,
            "address_size": self.address_size,
            "section": self.section,
            "alias": self.alias,
            "call_prototype": self.call_prototype,
            "target_list": self.target_list,
            "aggregate": self.aggregate,
            "junk_statement": self.junk_statement,
            "stray_brace": self.stray_brace,
            "dwarf_line": self.dwarf_line,
            "empty_statement": self.empty_statement,
        }

    # -- statements -----------------------------------------------------------------------------

    def statement(self, node: Node) -> nodes.Statement:
        return self._methods.get(node.type, self.unknown)(node)

    def instruction(self, node: Node) -> nodes.Statement:
        base = self.base
        guard: nodes.Guard | None = None
        opcode: nodes.Opcode | None = None
        operands: list[nodes.Operand] = []
        for child in node.children:
            kind = child.type
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
            elif kind == "block":  # at the top level; `block` sees to those inside
                return self.block(child, self.guarded_block(node))
            elif kind == "missing":
                previous = child.prev_sibling
                if previous is not None and previous.type == ",":
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
        return nodes.Instruction(start, end, guard, opcode, tuple(operands))

    def opcode(self, node: Node) -> nodes.Opcode:
        start, end = node.start_byte, node.end_byte
        text = self.text[start:end]
        if (node.child_count > 1 and not text.isprintable()) or " " in text:
            text = "".join(self.text[c.start_byte : c.end_byte] for c in _parts(node))
        return nodes.Opcode(start - self.base, end - self.base, sys.intern(text))

    def guard(self, node: Node) -> nodes.Guard:
        predicate: nodes.Expression | None = None
        negated = False
        for child in _parts(node):
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
        """A prototype may stand in a body; a body there means that a `}` is missing before it."""
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
        self.problems.append(
            SyntaxProblem(start, start + 1, "one instruction, not a block,", "a guard")
        )
        return self.guard(node.children[0])

    def label(self, node: Node) -> nodes.Label:
        start, end = self._span(node)
        return nodes.Label(start, end, self.name(node.children[0]))

    def statements(self, found: Iterable[Node]) -> tuple[nodes.Statement, ...]:
        """Those of some children of a block."""
        statements: list[nodes.Statement] = []
        for node in found:
            inner = self._inside_block(node)
            if isinstance(inner, _OpenBlock):
                inner = self.block(inner.node, inner.guard)
            if inner is not None:
                statements.append(inner)
        return tuple(statements)

    def block(self, node: Node, guard: nodes.Guard | None = None) -> nodes.Block:
        """Without recursion: blocks may be nested thousands deep."""
        open_blocks = [_OpenBlock(node, guard, iter(node.children), [])]
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
        if kind == "block":
            return _OpenBlock(node, None, iter(node.children), [])
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
            return _OpenBlock(inner, guard, iter(inner.children), [])
        return self.statement(node)

    def junk_statement(self, node: Node) -> nodes.Statement:
        start, end = self._span(node)
        self.junk(node.children[0], "a label, an opcode or a directive", "a statement")
        return nodes.Junk(start, end)

    def stray_brace(self, node: Node) -> nodes.Statement:
        start, end = self._span(node)
        self.problems.append(
            SyntaxProblem(start, end, "a directive, for no block is open here,", "the module")
        )
        return nodes.Junk(start, end)

    def dwarf_line(self, node: Node) -> nodes.Statement:
        return nodes.DwarfLine(*self._span(node))

    def empty_statement(self, node: Node) -> nodes.Statement:
        start, end = self._span(node)
        self.problems.append(
            SyntaxProblem(start, end, "a statement, and none is empty,", "a block")
        )
        return nodes.Junk(start, end)

    def unknown(self, node: Node) -> nodes.Statement:
        """Tree-sitter's own error recovery, which the scanner leaves nothing to do."""
        start, end = self._span(node)
        self.problems.append(SyntaxProblem(start, end, "a statement", "the module"))
        return nodes.Junk(start, end)

    # -- declarations ---------------------------------------------------------------------------

    def declaration(self, node: Node) -> nodes.Declaration:
        """Also of a parameter, and of a field of a structure."""
        linkage: list[nodes.Name] = []
        modifiers: list[nodes.Name] = []
        declarators: list[nodes.Declarator] = []
        attributes: list[nodes.Attribute] = []
        leading: list[nodes.Expression | None] = []
        space: nodes.Name | None = None
        bank: nodes.Expression | None = None
        type_name: nodes.Name | None = None
        alignment: nodes.Number | nodes.Missing | None = None
        misplaced = False
        within = "a parameter" if node.type == "parameter" else "a declaration"
        for child in _parts(node):
            match child.type:
                case "linkage":
                    linkage.append(self.name(child))
                case "space":
                    space = self.name(child.children[0])
                    if child.child_count > 1:
                        bank = self.dimension(child.children[-1])
                case "modifier" if type_name is not None:
                    word = self.name(child)
                    if not misplaced:
                        wanted = "`,` or `)`" if node.type == "parameter" else "a name"
                        self.problems.append(SyntaxProblem(word.start, word.end, wanted, within))
                    misplaced = True
                case "modifier":
                    modifiers.append(self.name(child))
                case "dimension":
                    if not leading:  # `.f32[4] v` of PTX 1.x
                        first, last = self._span(child)
                        self.problems.append(SyntaxProblem(first, last, "a name", within))
                    leading.append(self.dimension(child))
                case "alignment":
                    alignment = self.number(child.children[-1], "an alignment in bytes", within)
                case "attribute":
                    attributes.extend(self.attribute(child))
                case "type_name":
                    type_name = self.name(child)
                case "declarator":
                    declarators.append(self.declarator(child, leading))
                case "missing":
                    # ptxas takes `.reg .b32;`, which declares nothing
                    if not (leading or (modifiers and self._follows(child, ";"))):
                        self._missing_in_list(child, "a name", within, bool(declarators))
                case "junk" if declarators or not leading:
                    self.junk(child, "`,` or `;`" if declarators else "a name", within)
                case _:
                    pass
        start, end = self._span(node)
        if type_name is not None and modifiers and declarators and not misplaced:
            # after a type comes the name: what seems a structure is a name without its comma
            second = declarators[0]
            self.problems.append(SyntaxProblem(second.start, second.end, "`,` or `;`", within))
            first = nodes.Declarator(type_name.start, type_name.end, type_name, None, (), None)
            declarators.insert(0, first)
            type_name = None
        if node.type == "parameter" and not declarators:
            self.problems.append(SyntaxProblem(end, end, "a name", within))
        return nodes.Declaration(
            start, end, tuple(linkage), space, bank, tuple(modifiers), type_name, alignment,
            tuple(attributes), tuple(declarators),
        )

    def declarator(
        self, node: Node, leading: list[nodes.Expression | None]
    ) -> nodes.Declarator:
        name: nodes.Name | None = None
        count: nodes.Number | nodes.Missing | None = None
        dimensions = list(leading)
        initializer: nodes.Expression | None = None
        for child in _parts(node):
            match child.type:
                case "identifier" if name is None:
                    name = self.name(child)
                case "range":
                    count = self.range(child)
                case "dimension":
                    dimensions.append(self.dimension(child))
                case "=":
                    pass
                case "missing":
                    initializer = self.missing(child, "a value", "an initialiser")
                case _:
                    initializer = self.operand(child)
        start, end = self._span(node)
        assert name is not None  # the grammar's first part
        return nodes.Declarator(start, end, name, count, tuple(dimensions), initializer)

    def range(self, node: Node) -> nodes.Number | nodes.Missing:
        parts = list(_parts(node))
        if parts[-1].type == "missing" and len(parts) == 3:
            self.missing(parts[-1], "`>`", "a register range", ">")
        return self.number(parts[1], "how many registers", "a register range")

    def dimension(self, node: Node) -> nodes.Expression | None:
        size: nodes.Expression | None = None
        for child in _parts(node):
            if child.type == "missing":
                self.missing(child, "`]`", "a dimension", "]")
            elif child.type not in "[]":
                size = self.operand(child)
                if not isinstance(size, nodes.Name | nodes.Number):
                    self.problems.append(
                        SyntaxProblem(size.start, size.end, "one number, not an expression,", "a size")
                    )
        return size

    def initializer_list(self, node: Node) -> nodes.InitializerList:
        start, end = self._span(node)
        items = self._items(node, "a value", "an initialiser")
        return nodes.InitializerList(start, end, self._operands(items))

    def field_value(self, node: Node) -> nodes.FieldValue:
        start, end = self._span(node)
        name, _, value = _parts(node)
        if value.type == "missing":
            return nodes.FieldValue(
                start, end, self.name(name), self.missing(value, "a value", "an initialiser")
            )
        return nodes.FieldValue(start, end, self.name(name), self.operand(value))

    def attribute(self, node: Node) -> Iterator[nodes.Attribute]:
        for child in _parts(node):
            if child.type == "missing":
                self.missing(child, "`(`, an attribute or `)`", "an attribute list")
            if child.type != "attribute_value":
                continue
            name: nodes.Name | None = None
            values: list[nodes.Expression] = []
            for part in _parts(child):
                if part.type == "modifier":
                    name = self.name(part)
                elif part.type == "missing":
                    self.missing(part, "a value or `)`", "an attribute")
                elif part.type not in "(,)":
                    values.append(self.operand(part))
            assert name is not None
            start, end = self._span(child)
            yield nodes.Attribute(start, end, name, tuple(values))

    def aggregate(self, node: Node) -> nodes.Aggregate:
        name: nodes.Name | None = None
        fields: list[nodes.Declaration | nodes.Aggregate] = []
        parts = list(_parts(node))
        for child in parts[1:]:
            match child.type:
                case "identifier":
                    name = self.name(child)
                case "field":
                    fields.append(self.declaration(child))
                case "aggregate" if self.depth < _MOST_NESTED_OPERANDS:
                    self.depth += 1
                    fields.append(self.aggregate(child))
                    self.depth -= 1
                case "missing" | "missing_brace":
                    self.missing(child, "`{` and fields, or `}`", "a structure")
                case "junk":
                    self.junk(child, "a field or `}`", "a structure")
                case _:
                    pass
        start, end = self._span(node)
        return nodes.Aggregate(start, end, self.name(parts[0]), name, tuple(fields))

    # -- functions ------------------------------------------------------------------------------

    def function(self, node: Node) -> nodes.Function:
        linkage: list[nodes.Name] = []
        attributes: list[nodes.Attribute] = []
        directives: list[nodes.Directive] = []
        dimensions: list[nodes.Expression | None] = []
        kind: nodes.Name | None = None
        name: nodes.Name | None = None
        named = False
        returns: tuple[nodes.Declaration, ...] | None = None
        parameters: tuple[nodes.Declaration, ...] | None = None
        body: nodes.Block | None = None
        for child in _parts(node):
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
                    dimensions.append(self.dimension(child))
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
        for child in _parts(node):
            match child.type:
                case "identifier":
                    named = True
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
        parts = list(_parts(node))
        for child in parts[1:]:
            if child.type == "identifier":
                names.append(self.name(child))
            elif child.type == "range":
                names[-1:] = _numbered(names[-1], self.range(child))
            elif child.type == "missing":
                self._missing_in_list(child, "a name", "a list of targets", bool(names))
            elif child.type == "junk":
                self.junk(child, "`,` or `;`", "a list of targets")
        start, end = self._span(node)
        return nodes.TargetList(start, end, self.name(parts[0]), tuple(names))

    def alias(self, node: Node) -> nodes.Alias:
        names: list[nodes.Name | nodes.Missing] = []
        for child in list(_parts(node))[1:]:
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

    # -- directives -----------------------------------------------------------------------------

    def directive(self, node: Node) -> nodes.Directive:
        linkage: list[nodes.Name] = []
        arguments: list[nodes.Expression] = []
        name: nodes.Name | None = None
        for child in _parts(node):
            match child.type:
                case "linkage":
                    linkage.append(self.name(child))
                case "modifier" | ".pragma":
                    name = self.name(child)
                case "missing":
                    more = node.type != "pragma" or child.next_sibling is not None or not arguments
                    wanted = ("an argument", None) if more else ("`;`", ";")
                    self.missing(child, wanted[0], "a directive", wanted[1])
                case "junk":
                    self.junk(child, "`;`", "a directive")
                case "," | ";":
                    pass
                case _:
                    arguments.append(self.operand(child))
        start, end = self._span(node)
        if name is None:
            name = linkage[-1]
        return nodes.Directive(start, end, tuple(linkage), name, tuple(arguments))

    def version(self, node: Node) -> nodes.Version:
        start, end = self._span(node)
        number = self.number(node.children[-1], "a version number such as `8.5`", "`.version`")
        return nodes.Version(start, end, number)

    def target(self, node: Node) -> nodes.Target:
        names: list[nodes.Name] = []
        for child in _parts(node):
            if child.type == "identifier":
                names.append(self.name(child))
            elif child.type == "missing":
                self.missing(child, "a target such as `sm_90`", "`.target`")
        start, end = self._span(node)
        return nodes.Target(start, end, tuple(names))

    def address_size(self, node: Node) -> nodes.AddressSize:
        start, end = self._span(node)
        bits = self.number(node.children[-1], "`64` or `32`", "`.address_size`")
        return nodes.AddressSize(start, end, bits)

    def file(self, node: Node) -> nodes.File:
        start, end = self._span(node)
        parts = list(_parts(node))
        index = self.number(parts[1], "a file index", "`.file`")
        path: nodes.String | nodes.Missing
        if parts[2].type == "missing":
            path = self.missing(parts[2], "a path in quotes", "`.file`")
        else:
            path = nodes.String(*self._span(parts[2]), self._text(parts[2]))
        return nodes.File(start, end, index, path)

    def location(self, node: Node) -> nodes.Location:
        start, end = self._span(node)
        numbers: list[nodes.Number | nodes.Missing] = []
        attributes: list[nodes.Name] = []
        for child in node.children:
            if child.type == "location_attribute":
                attributes.extend(
                    self.name(part) for part in _parts(child) if part.type == "identifier"
                )
            elif child.type in _NUMBERS or (child.type == "missing" and len(numbers) < 3):
                numbers.append(
                    self.number(child, "a file index, a line and a column", "`.loc`")
                )
            elif child.type == "missing":
                self.missing(child, "`function_name` or `inlined_at`", "`.loc`")
        return nodes.Location(
            start, end, numbers[0], numbers[1], numbers[2], tuple(attributes)
        )

    def section(self, node: Node) -> nodes.Section:
        name: nodes.Name | None = None
        labels: list[nodes.Name] = []
        types: dict[str, nodes.Name] = {}
        for child in node.children:
            match child.type:
                case "data":
                    word = _MODIFIER.match(self.text, child.start_byte)
                    if word is not None and word[0] not in types:
                        start, end = word.start() - self.base, word.end() - self.base
                        types[word[0]] = nodes.Name(start, end, word[0])
                case "modifier" | "identifier" | "string":
                    name = self.name(child)
                case "label":
                    self.section_label(child)
                    labels.append(self.name(child.children[0]))
                case "missing" | "missing_brace":
                    wanted = "`}`" if child.type == "missing_brace" else "a name and `{`"
                    self.missing(child, wanted, "a section")
                case "junk":
                    self.junk(child, "data such as `.b8 1`", "a section")
                case _:
                    pass
        start, end = self._span(node)
        return nodes.Section(start, end, name, tuple(labels), tuple(types.values()))

    def section_label(self, node: Node) -> None:
        last = node.children[-1]
        if last.type == "missing":
            self.missing(last, "`:`", "a label", ":")

    # -- operands -------------------------------------------------------------------------------

    def operand(self, node: Node) -> nodes.Operand:
        kind = node.type
        if kind == "identifier" or kind == "modifier":
            return self.name(node)
        if kind in _NUMBERS:
            return self.number(node, "a number", "an operand")
        if kind == "string":
            return nodes.String(*self._span(node), self._text(node))
        if kind == "missing":
            return self.missing(node, "an operand", "an expression")
        if self.depth == _MOST_NESTED_OPERANDS:
            return nodes.Nested(*self._span(node))
        self.depth += 1
        try:
            return self.compound(node)
        finally:
            self.depth -= 1

    def compound(self, node: Node) -> nodes.Operand:
        start, end = self._span(node)
        match node.type:
            case "address":
                return self.address(node)
            case "vector":
                items = self._items(node, "an operand", "a vector")
                return nodes.Vector(start, end, self._operands(items))
            case "group":
                items = self._items(node, "an operand", "a list in parentheses")
                return nodes.Group(start, end, self._operands(items))
            case "field_value":
                return self.field_value(node)
            case "initializer_list":
                return self.initializer_list(node)
            case _:
                return self.expression(node)

    def address(self, node: Node) -> nodes.Address:
        start, end = self._span(node)
        last = node.children[-1]
        suffix = self.name(last) if last.type == "modifier" and node.child_count > 3 else None
        items = self._items(node, "an address", "an address", skip=last if suffix else None)
        return nodes.Address(start, end, self._operands(items), suffix)

    def expression(self, node: Node) -> nodes.Expression:
        start, end = self._span(node)
        parts = list(_parts(node))
        match node.type:
            case "member":
                components = tuple(self.name(part) for part in parts[1:])
                return nodes.Member(start, end, self.operand(parts[0]), components)
            case "element":
                return self.element(node, parts)
            case "pair":
                right = parts[2]
                second = (
                    self.missing(right, "a name", "a pair of destinations")
                    if right.type == "missing"
                    else self.name(right)
                )
                first = self.operand(parts[0])
                assert isinstance(first, nodes.Name | nodes.Vector)
                return nodes.Pair(start, end, first, second)
            case "unary_expression":
                return nodes.Unary(start, end, self._text(parts[0]), self.operand(parts[1]))
            case "binary_expression":
                # left-associative chains are deep, not wide: no recursion along them
                chain: list[tuple[Node, Node, Node]] = []
                left = node
                while left.type == "binary_expression":
                    inner = list(_parts(left))
                    chain.append((left, inner[1], inner[2]))
                    left = inner[0]
                value = self.operand(left)
                for whole, operator, right in reversed(chain):
                    whole_start, whole_end = self._span(whole)
                    value = nodes.Binary(
                        whole_start, whole_end, self._text(operator), value, self.operand(right)
                    )
                return value
            case "conditional_expression":
                if parts[3].type == "missing":
                    self.missing(parts[3], "`:`", "a `?` expression", ":")
                a, b, c = (self.operand(parts[i]) for i in (0, 2, 4))
                return nodes.Conditional(start, end, a, b, c)
            case "cast_expression":
                if parts[2].type == "missing":
                    self.missing(parts[2], "`)`", "a cast", ")")
                return nodes.Cast(start, end, self.name(parts[1]), self.operand(parts[3]))
            case "relocation":
                operator = self.operand(parts[0])
                assert isinstance(operator, nodes.Name | nodes.Number)
                items = self._items(node, "a name", "a relocation", skip=parts[0])
                return nodes.Relocation(start, end, operator, self._operands(items))
            case _:
                self.problems.append(SyntaxProblem(start, end, "an operand", "an instruction"))
                return nodes.Missing(start, end)

    def element(self, node: Node, parts: list[Node]) -> nodes.Element:
        start, end = self._span(node)
        indices: list[nodes.Expression] = []
        for before, part in pairwise(parts):
            if part.type == "missing" and before.type != "[":
                self.missing(part, "`]`", "an index", "]")
            elif part.type not in "[]":
                indices.append(self.operand(part))
        return nodes.Element(start, end, self.name(parts[0]), tuple(indices))

    # -- leaves ---------------------------------------------------------------------------------

    def name(self, node: Node) -> nodes.Name:
        start, end = node.start_byte, node.end_byte
        return nodes.Name(start - self.base, end - self.base, sys.intern(self.text[start:end]))

    def number(self, node: Node, wanted: str, within: str) -> nodes.Number | nodes.Missing:
        if node.type == "missing":
            return self.missing(node, wanted, within)
        start, end = self._span(node)
        if node.type == "malformed_number":
            self.problems.append(SyntaxProblem(start, end, "a well-formed number", within))
        return nodes.Number(start, end, self._text(node), node.type)

    def missing(
        self, node: Node, expected: str, within: str, token: str | None = None
    ) -> nodes.Missing:
        start, end = self._span(node)
        self.problems.append(SyntaxProblem(start, start, expected, within, token))
        return nodes.Missing(start, end)

    def junk(self, node: Node, expected: str, within: str) -> None:
        start, end = node.start_byte, node.end_byte
        blank = _BLANK.match(self.text, start, end)
        if blank is not None and blank.end() < end:
            start = blank.end()
            end = start + len(self.text[start:end].rstrip(" \t\r\n\f\v"))
        self.problems.append(
            SyntaxProblem(start - self.base, end - self.base, expected, within)
        )

    # -- parts ----------------------------------------------------------------------------------

    def _items(
        self, node: Node, wanted: str, within: str, skip: Node | None = None
    ) -> Iterator[Node | nodes.Missing]:
        """The items between brackets; the closing one is missed where it is absent."""
        parts = [part for part in _parts(node) if skip is None or part.id != skip.id]
        closing = _CLOSING[parts[0].type]
        for index, part in enumerate(parts[1:], 1):
            if part.type == "missing":
                if parts[index - 1].type == "," or index < len(parts) - 1:
                    yield self.missing(part, wanted, within)
                else:
                    self.missing(part, f"`{closing}`", within, closing)
            elif part.type != "," and (part.type != closing or index < len(parts) - 1):
                yield part

    def _operands(self, items: Iterator[Node | nodes.Missing]) -> tuple[nodes.Operand, ...]:
        return tuple(
            item if isinstance(item, nodes.Missing) else self.operand(item) for item in items
        )

    def _missing_in_list(self, node: Node, wanted: str, within: str, some: bool) -> None:
        """In a list that `;` ends: an item where one had to come, else the `;`."""
        previous = node.prev_sibling
        if some and (previous is None or previous.type != ","):
            self.missing(node, "`;`", within, ";")
        else:
            self.missing(node, wanted, within)

    def _follows(self, node: Node, mark: str) -> bool:
        """Whether `mark` is the next thing in the text at `node`."""
        blank = _BLANK.match(self.text, node.start_byte)
        return blank is not None and self.text.startswith(mark, blank.end())

    def _span(self, node: Node) -> tuple[int, int]:
        return node.start_byte - self.base, node.end_byte - self.base

    def _text(self, node: Node) -> str:
        return self.text[node.start_byte : node.end_byte]


def _numbered(name: nodes.Name, count: nodes.Number | nodes.Missing) -> list[nodes.Name]:
    """`L<3>` stands for `L0`, `L1` and `L2`."""
    number = count.text if isinstance(count, nodes.Number) else ""
    total = min(int(number), _MOST_NUMBERED) if number.isdecimal() else 0
    return [nodes.Name(name.start, name.end, f"{name.text}{index}") for index in range(total)]


def _parts(node: Node) -> Iterator[Node]:
    """The children that are neither comments nor preprocessor lines."""
    return (child for child in node.children if child.type not in PASSED)
