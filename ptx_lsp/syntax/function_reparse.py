"""Block reparsing: after an edit inside one function body, only that function is parsed again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.incremental_lowering import lower_incrementally
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.parsing import apply_edit, changed_range, parse
from ptx_lsp.text import Edit

if TYPE_CHECKING:
    from tree_sitter import Node, Tree


def reparse_function(item: Item, edit: Edit, before: bytes, after: bytes) -> Item | None:
    """A function after an edit in its body, from its text before and after. None if the edit is not in its
    body, or may affect the text outside.
    """
    body = item.node.body if isinstance(item.node, nodes.Function) else None
    if body is None or not item.alone or item.is_unclosed:
        return None
    start, end = item.span(body)
    if not start < edit.start <= edit.end < end:
        return None
    here = Edit(edit.start - item.start, edit.end - item.start, edit.replacement)
    old = item.tree or _function_tree(before)
    if old is None:
        return None
    stop = here.start + len(here.replacement)
    old = apply_edit(old, here, _point(before, here.start), _point(before, here.end), _point(after, stop))
    new = _function_tree(after, old)
    if new is None:
        return None
    node = new.root_node.children[0]
    text = after.decode("latin-1")
    found = lower_incrementally(item.moved(-item.start), changed_range(here, old, new), node, text)
    if found is None:
        return None
    found.tree = new
    return found.moved(item.start)


def _function_tree(data: bytes, told: Tree | None = None) -> Tree | None:
    """The tree of a function parsed alone; None if it might differ within its file.

    The text after the final `}` makes no difference. The scanner has no state, and looks farther ahead only
    for the end of an unterminated string or comment.
    """
    tree = parse(data, told)
    root = tree.root_node
    node = root.children[0]
    if root.has_error or node.type != "function":
        return None
    if (node.start_byte, node.end_byte) != (0, len(data)):
        return None
    block = node.children[-1]
    closed = block.type == "block" and block.children[-1].type == "}"
    return tree if closed and _ends_string(root, data.rfind(b'"')) else None


def is_closed(tree: Tree, data: bytes) -> bool:
    """Whether the text after these bytes cannot end a string or comment that is open in them."""
    if tree.root_node.has_error or b"\0" in data or data.rfind(b"/*") > data.rfind(b"*/"):
        return False
    return _ends_string(tree.root_node, data.rfind(b'"'))


def _ends_string(root: Node, quote: int) -> bool:
    """Whether the last quote of a text ends a string or is not part of one."""
    if quote < 0:
        return True
    node = root.descendant_for_byte_range(quote, quote + 1)
    while node is not None and node.type not in ("string", "comment", "preprocessor_line"):
        node = node.parent
    return node is not None and (node.type != "string" or node.end_byte == quote + 1 > node.start_byte + 1)


def _point(data: bytes, offset: int) -> tuple[int, int]:
    return data.count(b"\n", 0, offset), offset - data.rfind(b"\n", 0, offset) - 1
