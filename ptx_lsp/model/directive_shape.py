"""The shape of a function's directives: its head, declarations and other directives without plain names and
without the numbers of registers. Functions of one shape have the same findings about their directives, so
where nothing was found in one of them, nothing is looked for in the others.
"""

from __future__ import annotations

from ptx_lsp.isa import special_registers
from ptx_lsp.model.body import Directive
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final, TypeAlias

_Key: TypeAlias = tuple[object, ...]

_MOST: Final = 100_000
"""Directives in the shapes that a module remembers."""
_PECULIAR: Final = frozenset({"_", "WARP_SZ", "function_name", "inlined_at"})
"""The names that declarations have to avoid, or that mean something."""
_LONGEST_COUNT: Final = 9
"""The digits of the number of registers in a declaration that is no part of the shape."""


class DirectiveShape:
    """The shape of some functions in modules with one version and target."""

    __slots__ = ("features", "quiet")

    def __init__(self) -> None:
        self.quiet = set[object]()
        """The passes over directives that find nothing in a function of this shape."""
        self.features = 0
        """What such functions have because of their directives (`function_wakes.py`)."""


class DirectiveShapes:
    """The shapes of the functions of a module, and of its other versions with the same header."""

    __slots__ = ("_known", "_size")

    def __init__(self) -> None:
        self._known: dict[_Key, DirectiveShape] = {}
        self._size = 0

    def of(self, node: nodes.Function, directives: tuple[Directive, ...]) -> DirectiveShape | None:
        """The shape of a function with these `Body.directives`. None if their meaning depends on more, such
        as on names that they use.
        """
        key = _key(node, directives)
        if key is None:
            return None
        found = self._known.get(key)
        if found is None:
            self._size += len(key)
            if self._size > _MOST:
                self._known.clear()
                self._size = len(key)
            found = self._known.setdefault(key, DirectiveShape())
        return found


def _key(node: nodes.Function, directives: tuple[Directive, ...]) -> _Key | None:
    if node.attributes or node.dimensions or node.name is None:
        return None
    name = node.name.text
    if name in _PECULIAR or (name.startswith("%") and special_registers.find(name) is not None):
        return None
    found: list[object] = [node.kind.text, node.body is None]
    found += [word.text for word in node.linkage]
    if node.directives:
        head = _directives(node.directives)
        if head is None:
            return None
        found.append(head)
    for declarations in (node.returns, node.parameters):
        found.append(None)
        for one in declarations or ():
            part = _declaration(one)
            if part is None:
                return None
            found.append(part)
        found.append(declarations is None)
    return tuple(found) if _append_body(found, directives) else None


def _append_body(found: list[object], directives: tuple[Directive, ...]) -> bool:
    """False if there is no key. The same declaration of registers, or directive, any number of times is as
    good as once.
    """
    again = set[_Key]()
    for statement, is_labelled in directives:
        part: _Key | None = None
        is_repeatable = True
        if isinstance(statement, nodes.Declaration):
            part = _declaration(statement)
            is_repeatable = statement.space is not None and statement.space.text == ".reg"
        elif isinstance(statement, nodes.Directive):
            part = _directive(statement)
        elif isinstance(statement, nodes.Location):
            part = tuple([attribute.name.text for attribute in statement.attributes])
        elif isinstance(statement, nodes.CallPrototype):
            part = _prototype(statement)
        if part is None:
            return False
        part = (type(statement), is_labelled, part)
        if is_repeatable:
            if part in again:
                continue
            again.add(part)
        found.append(part)
    return True


def _prototype(node: nodes.CallPrototype) -> _Key | None:
    returns, parameters = _declarations(node.returns), _declarations(node.parameters)
    directives = _directives(node.directives)
    if returns is None or parameters is None or directives is None:
        return None
    return (returns, parameters, directives)


def _declarations(declarations: tuple[nodes.Declaration, ...] | None) -> _Key | None:
    if declarations is None:
        return ("none",)
    found: list[object] = []
    for one in declarations:
        part = _declaration(one)
        if part is None:
            return None
        found.append(part)
    return tuple(found)


def _declaration(node: nodes.Declaration) -> _Key | None:
    if node.attributes or node.linkage or node.bank is not None or node.type_name is not None:
        return None
    space = "" if node.space is None else node.space.text
    modifiers = node.modifiers
    if len(modifiers) == 1:
        found: list[object] = [space, modifiers[0].text]
    else:
        found = [space, *[word.text for word in modifiers]]
    alignment = node.alignment
    if alignment is not None:
        if not isinstance(alignment, nodes.Number):
            return None
        before = [word for word in modifiers if word.start < alignment.start]
        found += (".align", alignment.text, len(before))
    for declarator in node.declarators:
        count = declarator.range
        if count is not None and not (space == ".reg" and _is_plain_count(count)):
            return None
        if declarator.initializer is not None:
            return None
        name = declarator.name.text
        found.append(name if name in _PECULIAR else "")
        for size in declarator.dimensions:
            if size is None:
                found.append("[]")
            elif isinstance(size, nodes.Number):
                found.append(size.text)
            else:
                return None
    return tuple(found)


def _is_plain_count(count: nodes.Number | nodes.Missing) -> bool:
    if not isinstance(count, nodes.Number):
        return False
    text = count.text
    return len(text) <= _LONGEST_COUNT and text.isdecimal() and text[0] != "0"


def _directives(directives: tuple[nodes.Directive, ...]) -> _Key | None:
    found: list[object] = []
    for one in directives:
        part = _directive(one)
        if part is None:
            return None
        found.append(part)
    return tuple(found)


def _directive(node: nodes.Directive) -> _Key | None:
    if node.linkage:
        return None
    found: list[object] = [node.name.text]
    for argument in node.arguments:
        if not isinstance(argument, nodes.Number | nodes.String):
            return None
        found.append(argument.text)
    return tuple(found)
