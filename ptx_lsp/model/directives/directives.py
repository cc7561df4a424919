"""Every directive of a module, with its kind of place."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.facts import directive_fact, module_fact
from ptx_lsp.isa.directives import Directive, Where, find
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Owner, Place, anchor
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item


class Use(NamedTuple):
    """A directive and its place. `name` includes the dot; `owner` identifies the top-level statement
    (`Place`).
    """

    owner: Owner
    name: nodes.Name
    where: Where
    node: nodes.Statement | nodes.Function
    linkage: tuple[nodes.Name, ...] = ()
    labelled: bool = False
    """Whether a label directly precedes it."""

    @property
    def row(self) -> Directive | None:
        """The table row of the directive; None if PTX has no such directive."""
        return find(self.name.text)

    @property
    def place(self) -> Place:
        return Place.of(self.owner, self.name)

    @property
    def is_param_in_body(self) -> bool:
        """Whether this is a `.param` in a body. Kernels of PTX 1.0 to 1.3 have their parameters there; from
        PTX 2.0 on, calls pass it.
        """
        return self.where == "body" and self.name.text == ".param"

    @property
    def is_nameless(self) -> bool:
        """Whether this declares nothing (`.tex .u32;`); ptxas only requires a type."""
        return isinstance(self.node, nodes.Declaration) and not self.node.declarators

    @property
    def arguments(self) -> tuple[nodes.Expression, ...]:
        return self.node.arguments if isinstance(self.node, nodes.Directive) else ()


def directives(module: Module) -> Iterator[Use]:
    """All directives except register declarations, in text order. A `.loc` in a body is included only if it
    has attributes: it is allowed everywhere and needs no check.
    """
    functions = iter(module.functions)
    for item in module.document.items:
        if isinstance(item.node, nodes.Function):
            yield from directives_of(next(functions))
        else:
            yield from _named(item.node, item.node, "module", labelled=False)


@module_fact
def directives_outside(module: Module) -> tuple[Use, ...]:
    """The directives outside functions."""
    return tuple([
        use
        for item in module.outside
        for use in _named(item.node, item.node, "module", labelled=False)
    ])


@directive_fact
def directives_of(function: Function) -> tuple[Use, ...]:
    """The directives of one function, its own `.entry` or `.func` first."""
    return tuple(_of_function(function))


def unknown_directives(module: Module) -> Iterator[Use]:
    """The directives that PTX does not have."""
    yield from (use for use in directives_outside(module) if use.row is None)
    yield from collect_over_functions(_unknown_in, module)


@directive_fact
def _unknown_in(function: Function) -> tuple[Use, ...]:
    return tuple(use for use in directives_of(function) if use.row is None)


def target_directives(module: Module) -> Iterator[Use]:
    """Every `.target`, including misplaced ones."""
    yield from (use for use in directives_outside(module) if isinstance(use.node, nodes.Target))
    yield from collect_over_functions(_targets_in, module)


@directive_fact
def _targets_in(function: Function) -> tuple[Use, ...]:
    return tuple(use for use in directives_of(function) if isinstance(use.node, nodes.Target))


class Outside(NamedTuple):
    """Statements at module level that belong in a body, and the stray `}` after them, if any."""

    items: list[Item]
    brace: Item | None
    function: Item | None
    """The function directly before them, which may have ended too early."""


def outside(module: Module) -> Iterator[Outside]:
    """The runs of such statements."""
    if not any(isinstance(item.node, _BODY_ONLY) for item in module.outside):
        return
    run: list[Item] = []
    before: Item | None = None
    for item in (*module.document.items, None):
        if item is not None and (isinstance(item.node, _BODY_ONLY) or (run and _continues(item.node))):
            run.append(item)
            continue
        if run:
            brace = item if item is not None and isinstance(item.node, nodes.Junk) else None
            yield Outside(run, brace, before)
            run = []
        if item is not None and not isinstance(item.node, nodes.Location):
            before = item if isinstance(item.node, nodes.Function) else None


_BODY_ONLY = (nodes.Instruction, nodes.Label, nodes.Block)


def _continues(node: nodes.Statement) -> bool:
    match node:
        case nodes.Location() | nodes.CallPrototype() | nodes.TargetList():
            return True
        case nodes.Declaration(space=nodes.Name(text=".reg" | ".local" | ".param")):
            return True
        case _:
            return False


def _of_function(function: Function) -> Iterator[Use]:
    node, owner = function.node, anchor(function.node)
    kernel = node.kind.text == ".entry"
    where: Where = "kernel" if kernel else "function"
    if node.body is None:
        where = "kernel prototype" if kernel else "function prototype"
    yield Use(owner, node.kind, "module", node, node.linkage)
    for directive in node.directives:
        yield Use(owner, directive.name, where, directive)
    for statement, is_labelled in function.body.directives:
        yield from _named(owner, statement, "body", is_labelled)


def _named(
    owner: Owner, node: nodes.Statement, where: Where, labelled: bool
) -> Iterator[Use]:
    match node:
        case nodes.Directive(name=name, linkage=linkage):
            yield Use(owner, name, where, node, linkage, labelled)
        case nodes.TargetList(kind=name) | nodes.Aggregate(kind=name):
            yield Use(owner, name, where, node, labelled=labelled)
        case nodes.Declaration(space=nodes.Name() as space, linkage=linkage):
            if space.text != ".reg" or where != "body" or linkage:
                yield Use(owner, space, where, node, linkage, labelled)
        case _:
            spelling = _WORDS.get(type(node))
            if spelling is not None:
                name = nodes.Name(node.start, node.start + len(spelling), spelling)
                yield Use(owner, name, where, node, labelled=labelled)
    match node:
        case nodes.CallPrototype():
            for directive in node.directives:
                yield Use(owner, directive.name, "call prototype", directive)
        case nodes.Section():
            for word in node.types:
                yield Use(owner, word, "section", node)
        case _:
            pass


_WORDS: dict[type[nodes.Statement], str] = {
    nodes.Version: ".version",
    nodes.Target: ".target",
    nodes.AddressSize: ".address_size",
    nodes.File: ".file",
    nodes.Location: ".loc",
    nodes.Section: ".section",
    nodes.Alias: ".alias",
    nodes.CallPrototype: ".callprototype",
    nodes.DwarfLine: "@@DWARF",
}
