"""The values that the names of a Python module have where they are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from ptx_lsp.named_tuple import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

BindingKind: TypeAlias = Literal["value", "added", "other"]
_SCOPES = ("class_definition", "function_definition", "lambda", "module")


class Binding(NamedTuple):
    """A place that binds a name: `=` with a value, `+=` with what is added, or something else."""

    kind: BindingKind
    value: Node
    statement: Node


class PythonNames:
    """The names of a module. The bindings of a scope are collected when one of its names is asked for."""

    def __init__(self) -> None:
        self._scopes: dict[int, dict[bytes, list[Binding]]] = {}

    def reaching(self, name: Node) -> tuple[Binding, ...]:
        """The bindings that the value of a name may come from, in their order."""
        text = name.text or b""
        scope = _scope_of(name)
        is_local = True
        while scope is not None:
            bindings = self._bindings(scope).get(text)
            if bindings:
                return tuple(_reaching(bindings, name)) if is_local else tuple(bindings)
            scope = _scope_of(scope)
            is_local = False
        return ()

    def value(self, name: Node) -> Node | None:
        """The only value that a name may have."""
        found = self.reaching(name)
        return found[0].value if len(found) == 1 and found[0].kind == "value" else None

    def _bindings(self, scope: Node) -> dict[bytes, list[Binding]]:
        found = self._scopes.get(scope.id)
        if found is None:
            found = self._scopes[scope.id] = dict[bytes, list[Binding]]()
            for name, binding in _bound(scope):
                found.setdefault(name, []).append(binding)
        return found


def _scope_of(node: Node) -> Node | None:
    above = node.parent
    while above is not None and above.type not in _SCOPES:
        above = above.parent
    return above


def _bound(scope: Node) -> Iterator[tuple[bytes, Binding]]:
    """The names that a scope binds, in the order of the text."""
    parameters = scope.child_by_field_name("parameters")
    if parameters is not None:
        yield from _targets(parameters, scope)
    body = scope if scope.type == "module" else scope.child_by_field_name("body")
    stack = [body] if body is not None else []
    while stack:
        node = stack.pop()
        if node is not body and node.type in _SCOPES:
            yield from _targets(node.child_by_field_name("name"), node)
            continue
        yield from _bound_by(node)
        stack.extend(reversed(node.named_children))


def _bound_by(node: Node) -> Iterator[tuple[bytes, Binding]]:
    match node.type:
        case "assignment" | "augmented_assignment":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is None or right is None:
                return
            if left.type != "identifier":
                yield from _targets(left, node)
            elif node.type == "assignment":
                yield left.text or b"", Binding("value", right, _statement(node))
            else:
                operator = node.child_by_field_name("operator")
                is_addition = operator is not None and operator.text == b"+="
                kind = "added" if is_addition else "other"
                yield left.text or b"", Binding(kind, right, _statement(node))
        case "for_statement" | "for_in_clause":
            yield from _targets(node.child_by_field_name("left"), node)
        case (
            "as_pattern_target" | "import_statement" | "import_from_statement" | "delete_statement"
        ):
            yield from _targets(node, node)
        case "named_expression":
            yield from _targets(node.child_by_field_name("name"), node)
        case _:
            pass


def _targets(node: Node | None, statement: Node) -> Iterator[tuple[bytes, Binding]]:
    """Every name in a target counts as bound."""
    stack = [node] if node is not None else []
    while stack:
        one = stack.pop()
        if one.type == "identifier":
            yield one.text or b"", Binding("other", one, statement)
        elif one.type not in ("attribute", "subscript"):
            stack.extend(one.named_children)


def _statement(node: Node) -> Node:
    above = node.parent
    return above if above is not None and above.type == "expression_statement" else node


def _reaching(bindings: list[Binding], use: Node) -> list[Binding]:
    """Those of the bindings in the scope of `use` that may reach it, as far as the order shows."""
    above: list[Node] = []
    node: Node | None = use
    while node is not None:
        above.append(node)
        node = node.parent
    ids = {one.id: one for one in above}
    found: list[Binding] = []
    for binding in reversed(bindings):
        statement = binding.statement
        if statement.id in ids:
            if binding.kind == "other" and not statement.type.endswith("assignment"):
                found.append(binding)  # a parameter, or the variable of a loop
            continue
        if statement.start_byte >= use.start_byte:
            continue
        common = statement.parent
        is_direct = True
        while common is not None and common.id not in ids:
            common = common.parent
            is_direct = False
        if common is not None and _is_branching(common):
            continue  # in another branch
        found.append(binding)
        if is_direct and binding.kind != "added":
            break
    return found[::-1]


def _is_branching(node: Node) -> bool:
    if node.type == "if_statement":
        return True
    above = node.parent
    return node.type == "block" and above is not None and above.type == "match_statement"
