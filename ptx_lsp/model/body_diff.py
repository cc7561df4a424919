"""Updates the body of a function after an edit: only the changed range is resolved again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ptx_lsp.model.body import Body, directives_among, instruction_names, is_directive, predefined
from ptx_lsp.model.scope import Scope
from ptx_lsp.model.symbols import Label, Predefined, Symbol
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item

_PLAIN = (
    nodes.Instruction, nodes.Label, nodes.Location, nodes.Directive, nodes.DwarfLine, nodes.Junk
)
_TABLES = (nodes.TargetList, nodes.CallPrototype)


class InstructionRangeEdit(NamedTuple):
    """The instructions from `first` to `old_end` were replaced by those from `first` to `end`."""

    first: int
    old_end: int
    end: int

    @property
    def growth(self) -> int:
        """The number of instructions by which the body has grown."""
        return self.end - self.old_end

    def then(self, other: InstructionRangeEdit) -> InstructionRangeEdit:
        """Both edits in sequence, as one edit that covers them."""
        first = min(self.first, other.first)
        behind = max(self.end, other.old_end)
        return InstructionRangeEdit(first, behind - self.growth, behind + other.growth)


def edited_body(old: Body, was: Item, item: Item) -> tuple[Body, InstructionRangeEdit] | None:
    """The body of the function `item`, which was the function of `old` before an edit of its body at `was`;
    None if it must be resolved completely.
    """
    node = item.node
    if not isinstance(node, nodes.Function) or old.node.kind is not node.kind:
        return None
    if old.node.body is None or node.body is None:
        return None
    region = _region(old.node.body, node.body)
    if region is None:
        return None
    if not region.removed and not region.added and was.problems == item.problems:
        return old.within(node), InstructionRangeEdit(0, 0, 0)
    return _BodyUpdate(old, was, item, node, region).run()


class _Region(NamedTuple):
    """The statements of `block` from `first` on that were `removed`, and their replacements. `around` are the
    enclosing blocks before and after the edit, without the body itself.
    """

    around: tuple[tuple[nodes.Block, nodes.Block], ...]
    block: nodes.Block
    first: int
    removed: tuple[nodes.Statement, ...]
    added: tuple[nodes.Statement, ...]


def _region(old: nodes.Block, new: nodes.Block) -> _Region | None:
    around: list[tuple[nodes.Block, nodes.Block]] = []
    while True:
        before, after = old.statements, new.statements
        first = _common_prefix(before, after)
        last = _common_prefix(before[first:][::-1], after[first:][::-1])
        removed, added = before[first : len(before) - last], after[first : len(after) - last]
        match removed, added:
            case (nodes.Block() as one,), (nodes.Block() as other,) if _have_same_head(one, other):
                old, new = one, other
                around.append((one, other))
            case _:
                break
    if not all(isinstance(one, _PLAIN) for one in (*removed, *added)):
        return None
    following = before[first + len(removed) : first + len(removed) + 1]
    if any(isinstance(one, _TABLES) for one in following):
        return None  # the label before it, if any, is its name
    return _Region(tuple(around), old, first, removed, added)


def _have_same_head(one: nodes.Block, other: nodes.Block) -> bool:
    return one.start == other.start and one.end == other.end and nodes.is_same(one.guard, other.guard)


def _common_prefix(one: Sequence[nodes.Statement], other: Sequence[nodes.Statement]) -> int:
    """The number of equal leading statements."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    return bisect_left(range(most), True, key=lambda n: one[: n + 1] != other[: n + 1])


class _BodyUpdate:
    """`at` is the index of the region's first statement among all statements, `behind` the index of the first
    statement after it.
    """

    def __init__(
        self, old: Body, was: Item, item: Item, node: nodes.Function, region: _Region
    ) -> None:
        self.old = old
        self.was = was
        self.item = item
        self.region = region
        self.at = self.position()
        self.behind = self.at + len(region.removed)
        self.new = old.copy(node)

    def position(self) -> int:
        block, first, removed = self.region.block, self.region.first, self.region.removed
        if removed:
            return self.index(self.was.offset(removed[0].start))
        if first:
            return self.index(self.was.span(block.statements[first - 1]).end)
        return self.index(self.was.offset(block.start) + 1)

    def index(self, offset: int) -> int:
        """The index of the first statement that begins at or after byte `offset` of the old text."""
        return bisect_left(self.old.statements, offset, key=lambda one: self.was.offset(one.start))

    def run(self) -> tuple[Body, InstructionRangeEdit] | None:
        old, new, region = self.old, self.new, self.region
        for one, other in region.around:
            new.statements[self.index(self.was.offset(one.start))] = other
        new.statements[self.at : self.behind] = region.added
        if not self.without_labels():
            return None
        self.forget()
        before = self.instructions_before()
        gone = sum(type(one) is nodes.Instruction for one in region.removed)
        kept = new.instructions[before + gone :]
        del new.instructions[before:]
        scope = self.scope()
        for statement in region.added:
            new.resolve_plain(statement, scope)
        end = len(new.instructions)
        new.instructions.extend(kept)
        if not self.is_sound():
            return None
        new.resolve_pending()
        around = (*region.removed, *region.added, *old.statements[self.behind : self.behind + 1])
        if any(map(is_directive, around)):  # otherwise they belong to `old`
            new.directives = tuple(directives_among(new.statements))
        return new, InstructionRangeEdit(before, before + gone, end)

    def instructions_before(self) -> int:
        """The number of instructions before the region."""
        statements = self.old.statements
        start = self.was.offset(statements[self.at].start) if self.at < len(statements) else None
        if start is None:
            return len(self.old.instructions)
        return bisect_left(
            self.old.instructions, start, key=lambda one: self.was.offset(one.start)
        )

    def scope(self) -> Scope:
        """The scope of the block that contains the region."""
        if self.region.block is self.old.node.body:
            return self.new.scope
        scopes, start = self.new.scopes, self.was.offset(self.region.block.start)
        return scopes[bisect_left(scopes, start, lo=1, key=lambda one: self.was.offset(one.start))]

    # -- labels ---------------------------------------------------------------------------------

    def without_labels(self) -> bool:
        """Removes the deleted labels. Returns False if an added or removed label resolves a name elsewhere.
        """
        region, new = self.region, self.new
        names = {one.name.text for one in region.added if isinstance(one, nodes.Label)}
        gone = [one for one in region.removed if isinstance(one, nodes.Label)]
        labels = [self.old.symbols.get(one.name.start) for one in gone]
        if not names and not gone:
            return True
        known = {id(label) for label in labels}
        if not all(isinstance(label, Label) for label in labels) or len(known) < len(gone):
            return False
        names.update(one.name.text for one in gone)
        if any(one.name.text in names for one in self.old.duplicates):
            return False
        if any(name in self.old.free or predefined(name) is not None for name in names):
            return False
        named = list(self.old.symbols.values()) if gone else []
        if any(label is not None and named.count(label) > 1 for label in labels):
            return False  # outside its own statement
        new.copy_scopes()
        new.labels = [label for label in new.labels if id(label) not in known]
        scope = self.scope()
        for one in gone:
            scope.names.pop(one.name.text, None)
        return not any(inner.find_here(name) for inner in new.scopes for name in names)

    # -- names ----------------------------------------------------------------------------------

    def forget(self) -> None:
        """Removes the symbols of the names in the removed statements."""
        gone = {name.start for one in self.region.removed for name in _names(one)}
        texts = {name.text for one in self.region.removed for name in _names(one)}
        new = self.new
        for start in gone:
            new.symbols.pop(start, None)
        for text in texts & new.free.keys():
            uses = [use for use in new.free[text] if use.name.start not in gone]
            if uses:
                new.free[text] = uses
            else:
                del new.free[text]
        for text in texts & new.forward.keys():
            names = [name for name in new.forward[text] if name.start not in gone]
            if names:
                new.forward[text] = names
            else:
                del new.forward[text]

    def is_sound(self) -> bool:
        """Whether no added name refers to a later declaration: labels are visible everywhere, unless another
        symbol of that name is already visible. Records the names that are labels.
        """
        own = {one.name.start for one in self.region.added if isinstance(one, nodes.Label)}
        for statement in self.region.added:
            for name in _names(statement):
                symbol = self.new.symbols.get(name.start)
                if symbol is None or isinstance(symbol, Predefined) or symbol.place.start in own:
                    continue
                is_later = self.item.offset(symbol.place.start) > self.item.offset(name.start)
                if not is_later:
                    continue
                if not self.is_plain_label(symbol, name.text):
                    return False
                self.new.forward.setdefault(name.text, []).append(name)
        return True

    def is_plain_label(self, symbol: Symbol, name: str) -> bool:
        """Whether a label is the only symbol called `name`."""
        return isinstance(symbol, Label) and not any(
            found is not symbol
            for scope in self.new.scopes
            if (found := scope.find_here(name)) is not None
        )


def _names(statement: nodes.Statement) -> Iterator[nodes.Name]:
    match statement:
        case nodes.Instruction():
            yield from instruction_names(statement)
        case nodes.Label(name=name):
            yield name
        case _:
            pass
