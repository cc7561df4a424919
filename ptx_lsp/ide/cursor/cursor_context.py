"""The syntactic context of the cursor: the function, the statement, and the nodes around an offset."""

from __future__ import annotations

from bisect import bisect_right

from ptx_lsp.ide.cursor.tokens import Token, token_at
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.nodes import Node
from ptx_lsp.syntax.walk import children
from ptx_lsp.text import Span


class CursorContext(NamedTuple):
    """The context of an offset. `path` leads from the statement to the innermost node. Nodes have stable
    offsets (`ptx_lsp.syntax.stable_offsets`).
    """

    module: Module
    offset: int
    item: Item
    function: Function | None
    path: tuple[Node, ...]

    @property
    def node(self) -> Node:
        """The innermost node."""
        return self.path[-1]

    @property
    def statement(self) -> Node:
        """The innermost statement: in the head of a function, that is the function."""
        return self.path[0]

    def span(self, node: Node) -> Span:
        """The range of a node of this item in the file."""
        return self.item.span(node)

    def text(self, node: Node) -> str:
        """The text of a node of this item."""
        return self.module.document.source.part(*self.span(node))

    def parent(self, node: Node) -> Node | None:
        """The node of the path that directly contains `node`."""
        index = next(index for index, one in enumerate(self.path) if one is node)
        return self.path[index - 1] if index else None

    def token(self) -> Token | None:
        """The token at the offset, limited to the statement."""
        start, end = self.span(self.statement)
        node = self.statement
        if isinstance(node, nodes.Function) and node.body is not None:
            end = self.item.offset(node.body.start)
        return token_at(self.module.document.source, start, end, self.offset)


def cursor_context(module: Module, offset: int) -> CursorContext | None:
    """The context at `offset`; None outside all statements.

    Between two adjacent tokens, it is the second one.
    """
    item = item_at(module, offset)
    if item is None:
        return None
    function = module.function_of(item)
    statement: Node = item.node
    if function is not None:
        statement = _statement_in(function, offset) or item.node
    start, end = item.span(statement)
    if not start <= offset <= end:
        return None
    return CursorContext(module, offset, item, function, tuple(_path(item, statement, offset)))


def item_at(module: Module, offset: int) -> Item | None:
    """The innermost top-level statement that contains `offset`, or ends there."""
    items = module.document.items
    index = items.last_before(offset)
    while index >= 0:
        item = items[index]
        if offset < item.end or (offset == item.end and item.alone):
            return item
        if item.alone:
            return None
        index -= 1  # an inner one has already ended
    return None


def function_at(module: Module, offset: int) -> Function | None:
    """The function that contains `offset`; at the end of the file, one whose `}` is missing."""
    item = item_at(module, offset)
    if item is not None:
        return module.function_of(item)
    last = module.document.items.last_before(offset)
    function = module.function_of(module.document.items[last]) if last >= 0 else None
    is_open = function is not None and function.item.is_unclosed and function is module.functions[-1]
    return function if is_open else None


def statement_before(function: Function, offset: int) -> nodes.Statement | None:
    """The last statement of the body that begins at or before `offset` of the file."""
    statements = function.body.statements
    index = bisect_right(statements, offset, key=lambda one: function.item.offset(one.start)) - 1
    return statements[index] if index >= 0 else None


def blocks_at(function: Function, offset: int) -> list[nodes.Block]:
    """The blocks around `offset`, the body first; braces are not part of their block."""
    found: list[nodes.Block] = []
    item, block = function.item, function.node.body
    while block is not None:
        start, end = item.span(block)
        if not start < offset <= end:
            break
        found.append(block)
        inner = _statement_among(function, block.statements, offset)
        block = inner if isinstance(inner, nodes.Block) else None
    return found


def _statement_in(function: Function, offset: int) -> nodes.Statement | None:
    """The innermost statement of the body around `offset`, or the statement that ends there."""
    found: nodes.Statement | None = None
    statements = function.node.body.statements if function.node.body is not None else ()
    while True:
        inner = _statement_among(function, statements, offset)
        if inner is None:
            return found
        found = inner
        if not isinstance(inner, nodes.Block):
            return found
        statements = inner.statements


def _statement_among(
    function: Function, statements: tuple[nodes.Statement, ...], offset: int
) -> nodes.Statement | None:
    item = function.item
    index = bisect_right(statements, offset, key=lambda one: item.offset(one.start)) - 1
    found = statements[index] if index >= 0 else None
    return found if found is not None and offset <= item.span(found).end else None


def _path(item: Item, node: Node, offset: int) -> list[Node]:
    path = [node]
    while not isinstance(path[-1], nodes.Block):
        inner: Node | None = None
        for child in children(path[-1]):
            start, end = item.span(child)
            if start <= offset < end:
                inner = child
                break
            if end == offset > start:
                inner = child
        if inner is None:
            break
        path.append(inner)
    return path

