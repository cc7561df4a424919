"""The requirements of a file: the lowest `.version`, the lowest target, and the demands that cause them.

1. A demand is a spelling with the alternatives that provide it: each is a version and possibly targets.
2. The lowest version for a target is a maximum: of the version of the target itself and, per demand, of the
   lowest version among the alternatives on this target.
3. The lowest target is the first without a suffix that supports every demand. If none does, the result is the
   targets with a suffix that do.

Removals in newer versions or targets are ignored; the rule `removed-form` reports them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ptx_lsp.facts import collect_over_results, fact
from ptx_lsp.isa import directives as isa
from ptx_lsp.isa import special_registers
from ptx_lsp.isa.features import ATTRIBUTES, FEATURES, TYPES, Feature
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.isa.pragmas import PRAGMAS
from ptx_lsp.isa.target import (
    OLDEST,
    OPTIONS,
    TARGETS,
    Requirement,
    Target,
    Version,
    has,
    parse_target,
)
from ptx_lsp.isa.types import OPAQUE
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.model.directives.declarations import Declared, declarations
from ptx_lsp.model.directives.directives import Use, directives
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.instructions.uses import SpecialUse, special_uses
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Owner, Place
from ptx_lsp.model.symbols import AliasName, FunctionName
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    import re
    from typing import Final

Ways = tuple[Requirement, ...]


class Demand(NamedTuple):
    """A feature that some versions or targets lack, with `what` as written. One of `ways` suffices."""

    place: Place
    what: str
    ways: Ways

    def version(self, target: Target) -> Version | None:
        """The lowest version that supports it on `target`; None if none does."""
        return _version(self.ways, target)


class Requirements:
    """All demands of a file. The demands of its functions come last."""

    def __init__(self, demands: tuple[Demand, ...]) -> None:
        self.demands: Final = demands

    def version(self, target: Target) -> Version | None:
        """The lowest version for `target`; None if no version supports every demand there."""
        least = TARGETS[target]
        for ways in self._distinct:
            version = _version(ways, target)
            if version is None:
                return None
            least = max(least, version)
        return least

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The lowest target without a suffix. If there is none, all targets with one, the oldest first. Empty
        if the demands exclude each other.
        """
        possible = [target for target in TARGETS if self.version(target) is not None]
        plain = [target for target in possible if not target.suffix]
        return (min(plain),) if plain else tuple(possible)

    def deciding_version(self, target: Target) -> tuple[Demand, ...]:
        """The demands that determine the lowest version for `target`, without the target's own. If there is
        no such version, the demands that the target does not support.
        """
        version = self.version(target)
        return tuple(demand for demand in self.demands if demand.version(target) == version)

    @cached_property
    def deciding_target(self) -> tuple[Demand, ...]:
        """The demands that lower targets, or targets without a suffix, do not support."""
        excluded = [target for target in TARGETS if not target.suffix]
        if self.targets and not self.targets[0].suffix:
            excluded = [target for target in excluded if target < self.targets[0]][-1:]
            return tuple(d for d in self.demands if any(d.version(t) is None for t in excluded))
        special = [d for d in self.demands if all(d.version(t) is None for t in excluded)]
        having = [t for t in TARGETS if all(_version(w, t) for w in {d.ways for d in special})]
        narrowed = {w for w in self._distinct if any(_version(w, t) is None for t in having)}
        narrowed.update(demand.ways for demand in special)
        return tuple(demand for demand in self.demands if demand.ways in narrowed)

    @cached_property
    def _distinct(self) -> tuple[Ways, ...]:
        return tuple({demand.ways: None for demand in self.demands})


def requirements(module: Module) -> Requirements:
    """The requirements of `module`."""
    return Requirements(tuple(_of_module(module)))


@fact
def demands(function: Function) -> tuple[Demand, ...]:
    """The demands of a function's instructions, and of the special registers that they name."""
    found = [*_of_instructions(function), *special_register_demands(function)]
    return tuple(sorted(found, key=lambda demand: function.module.span(demand.place)))


@collect_over_results(special_uses)
def special_register_demands(function: Function, use: SpecialUse) -> Iterator[Demand]:
    """The demands of the special registers that the instructions of a function name, one per use."""
    row = special_registers.find(use.name.text)
    if row is not None:
        yield from _demand(function.place(use.name), use.name.text, row.requirement)


def part_demands(module: Module, use: Use) -> Iterator[Demand]:
    """The demands of the parts of a directive, besides the directive itself."""
    match use.node:
        case nodes.Function() as node if use.name is node.kind:
            if node.kind.text == ".entry":
                if node.body is None:
                    yield from _feature(use.place, "kernel prototype")
                for parameter in node.parameters[-1:] if node.parameters else ():
                    last = parameter.declarators[-1].name if parameter.declarators else parameter
                    place = _reported(module, Place.of(use.owner, last))
                    yield from _feature(place, "kernel parameter")
            yield from _attributes(use.owner, node.attributes)
        case nodes.File(path=path, end=end) if path.end < end:
            yield from _feature(use.place, "time of a file")
        case nodes.Directive(name=nodes.Name(text=".pragma"), arguments=arguments) if (
            use.where == "body"  # ptxas rejects the words elsewhere that it accepts in bodies
        ):
            for value in arguments:
                yield from _of_pragma(use.owner, value)
        case nodes.Section(labels=labels) as node if use.where == "module":
            for label in labels:
                yield from _feature(Place.of(use.owner, label), "label in a section")
            yield from _of_section(module, node)
        case nodes.Location(attributes=attributes):
            for attribute in attributes:
                if attribute.name.text == "inlined_at":
                    yield from _feature(Place.of(use.owner, attribute.name), "inlined_at")
        case _:
            pass


def declaration_demands(module: Module, declared: Declared) -> Iterator[Demand]:
    """The demands of the types, attributes and initial values of a declaration, besides its state space."""
    node = declared.node
    pointed = ""
    for word in node.modifiers:
        if pointed == ".ptr" and word.text in OPAQUE:
            yield from _feature(declared.place(word), "pointer to an opaque type")
            continue
        pointed = word.text
        since = TYPES.get(word.text)
        is_nameless_texture = word.text in OPAQUE and not node.declarators
        if since is not None and not is_nameless_texture:
            if word.text != ".b128" or not declared.of_prototype:
                yield from _demand(declared.place(word), word.text, since)
        elif word.text == ".ptr":
            yield from _word(declared.owner, word)
    yield from _attributes(declared.owner, node.attributes)
    for declarator in node.declarators:
        place = declared.place(declarator.name)
        if declared.space == ".param" and declared.where in ("parameter", "return"):
            unsized = None in declarator.dimensions
            place = _reported(module, place)
            yield from _feature(place, "unsized parameter" if unsized else "parameter in memory")
        elif declared.space == ".param" and declared.where == "body" and not _is_own(module, declared):
            yield from _feature(place, "`.param` variable in a body")
        if declarator.initializer is not None:
            found = _of_value(module, declared, declarator.initializer)
            yield from {demand.what: demand for demand in found}.values()


def _of_module(module: Module) -> Iterator[Demand]:
    for use in directives(module):
        yield from _of_directive(use)
        yield from part_demands(module, use)
    for declared in declarations(module):
        yield from declaration_demands(module, declared)
    for function in module.functions:
        yield from demands(function)


def _of_instructions(function: Function) -> Iterator[Demand]:
    known: dict[Shape, tuple[Ways, ...]] = {}
    for one, shape in zip(function.body.instructions, shapes(function), strict=True):
        needs = known.get(shape)
        if needs is None:
            match = shape.match
            needs = tuple(need.ways for need in match.needs) if match is not None else ()
            needs = known[shape] = tuple(ways for ways in needs if not _is_met_everywhere(ways))
        for ways in needs:
            yield Demand(function.place(one.opcode), shape.spelling, ways)


def _of_directive(use: Use) -> Iterator[Demand]:
    row = use.row
    if row is not None and row.is_accepted and use.where in row.places and not use.is_param_in_body:
        yield from _demand(use.place, row.name, row.since)
    for word in use.linkage:
        yield from _word(use.owner, word)
    for name in use.node.names if isinstance(use.node, nodes.Target) else ():
        if parse_target(name.text) is None and name.text in OPTIONS:
            since = Requirement(OPTIONS[name.text], ())
            yield from _demand(Place.of(use.owner, name), name.text, since)


def _of_pragma(owner: Owner, value: nodes.Expression) -> Iterator[Demand]:
    word = value.text.strip('"').partition(" ")[0] if isinstance(value, nodes.String) else ""
    if word in PRAGMAS:
        yield from _demand(Place.of(owner, value), word, PRAGMAS[word].since)


_SIGN = lazy_pattern(rb"[-+]")
_BLANKS = b" \t\n\r\f\v"
_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.%"
_COMMENT = lazy_pattern(rb"(?s)//[^\n]*|/\*.*?\*/")
_DATA = lazy_pattern(
    rb"(?P<negative>(?:\.b(?:8|16|32|64)|,)\s*-\s*\d)"
    rb"|(?P<label>(?<![\w$.%])[.%]?[A-Za-z_$][\w$]*\s*)(?P<sign>[+-])\s*[\w$.%]+"
)


def _of_section(module: Module, node: nodes.Section) -> Iterator[Demand]:
    """The nodes contain no section data, which may take megabytes."""
    start, end = module.span(Place.of(node, node))
    text = module.document.source.data[start:end]
    if b"-" not in text and b"+" not in text:  # most: the patterns take longer
        return
    if b"/" in text:
        text = _COMMENT.sub(lambda found: b" " * len(found[0]), text)
    for found in _signed(text):
        feature: Feature = "negative number in a section"
        if found["label"]:
            is_sum = found["sign"] == b"+"
            feature = (
                "label and offset in a section" if is_sum else "distance of labels in a section"
            )
        start, end = node.start + found.start(), node.start + found.end()
        yield from _feature(Place(node, start, end), feature)


def _signed(text: bytes) -> Iterator[re.Match[bytes]]:
    """The matches of `_DATA`. None begins before the word or comma in front of its sign: the text up to there
    is passed over, which is much faster.
    """
    sign, position = _SIGN.search(text), 0
    while sign is not None:
        before = text[position : sign.start()].rstrip(_BLANKS)
        word = before.rstrip(_WORD) if not before.endswith(b",") else before[:-1]
        found = _DATA.search(text, position + len(word))
        if found is None:
            return
        yield found
        position = found.end()
        sign = _SIGN.search(text, position)


def _of_value(module: Module, declared: Declared, value: nodes.Expression) -> Iterator[Demand]:
    match value:
        case nodes.InitializerList(items=items):
            for item in items:
                if not isinstance(item, nodes.Number):
                    yield from _of_value(module, declared, item)
        case nodes.Binary(left=left, right=right):
            yield from _of_value(module, declared, left)
            yield from _of_value(module, declared, right)
        case nodes.Relocation(operator=operator, values=values):
            is_mask = isinstance(operator, nodes.Number)
            feature: Feature = "mask of an address" if is_mask else "generic()"
            yield from _feature(declared.place(operator), feature)
            for inner in values:
                for demand in _of_value(module, declared, inner):
                    if demand.what != "address in an initial value":  # which these include
                        yield demand
        case nodes.Name(text=name) if name != "WARP_SZ":
            symbols = [symbol for _, symbol in module.names.get(name, ())]
            where: Feature = "address in an initial value"
            if any(isinstance(s, FunctionName) and s.is_kernel for s in symbols):
                where = "kernel in an initial value"
            elif any(isinstance(s, FunctionName | AliasName) for s in symbols):
                where = "function in an initial value"
            yield from _feature(declared.place(value), where)
        case _:
            pass


_BETWEEN = lazy_pattern(rb"(?s)(?:[\s\x1a]|//[^\n]*|/\*.*?\*/)*")


def _reported(module: Module, place: Place) -> Place:
    """The name of a parameter, or what follows it where that is on another line: ptxas names its line."""
    _, end = module.span(place)
    between = _between(module.document.source.data, end)
    if b"\n" not in between:
        return place
    after = place.end + len(between)
    return Place(place.owner, after, after + 1)


def _between(data: bytes, start: int) -> bytes:
    """The spaces and comments at `start`."""
    ahead = data[start : start + 8]
    rest = ahead.lstrip(b" \t\n\v\f\r\x1a")
    if rest and not rest.startswith(b"/"):
        return ahead[: len(ahead) - len(rest)]
    found = _BETWEEN.match(data, start)
    return found[0] if found is not None else b""


def _is_own(module: Module, declared: Declared) -> bool:
    """Whether this is how PTX 1.0 to 1.3 declare the parameters of a kernel: in its body."""
    owner = declared.owner
    is_kernel = isinstance(owner, nodes.Name) and owner.text == ".entry"
    return is_kernel and module.version is not None and module.version < (1, 4)


def _attributes(
    owner: Owner, attributes: tuple[nodes.Attribute, ...]
) -> Iterator[Demand]:
    for attribute in attributes:
        name = attribute.name
        if name.text in ATTRIBUTES:
            yield from _demand(Place.of(owner, name), name.text, ATTRIBUTES[name.text])


def _word(owner: Owner, word: nodes.Name) -> Iterator[Demand]:
    row = isa.find(word.text)
    if row is not None:
        yield from _demand(Place.of(owner, word), row.name, row.since)


def _feature(place: Place, feature: Feature) -> Iterator[Demand]:
    yield from _demand(place, feature, FEATURES[feature])


def _demand(place: Place, what: str, since: Requirement) -> Iterator[Demand]:
    if not _is_met_everywhere((since,)):
        yield Demand(place, what, (since,))


def _is_met_everywhere(ways: Ways) -> bool:
    return any(way.version <= OLDEST and not way.targets for way in ways)


def _version(ways: Ways, target: Target) -> Version | None:
    possible = [
        way.version
        for way in ways
        if not way.targets or any(has(target, feature) for feature in way.targets)
    ]
    return min(possible, default=None)
