"""A block of inline assembly: its PTX, its operands, and where they stand in the host."""

from __future__ import annotations

from ptx_lsp.embedded.mapped_text import MappedText
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal
from ptx_lsp.text import Edit, Span

if TYPE_CHECKING:
    from typing import TypeAlias

Access: TypeAlias = Literal["read", "write", "both"]
"""How the block accesses an operand, according to its declaration."""


class Guard(NamedTuple):
    """The targets, such as `sm_90a`, for which a block is `certain` to be compiled, and those for which it is
    `possible`, as that depends on something unknown.
    """

    certain: frozenset[str]
    possible: frozenset[str]


class HostType(NamedTuple):
    """A type of the host."""

    name: str
    register: str
    """The PTX type of the registers that hold it; empty if none can."""


class Operand(NamedTuple):
    """An operand of a block."""

    name: str
    """Its name in the PTX of the block, such as `%0`."""
    type: str | None
    """The PTX type of its register; None for a constant, or if the constraint is unknown."""
    access: Access
    constraint: str
    """As written, such as `=r`."""
    constraint_span: Span
    expression: str
    """The expression that the host passes, as written; empty if it does not stand at the block."""
    expression_span: Span
    early_clobber: bool = False
    value: str | None = None
    """The text of a constant operand, if it is known."""
    tied_to: str | None = None
    """The name of the output whose register an input shares."""
    symbol: str = ""
    """Its symbolic name, such as `x` of `%[x]`; its references are replaced by `name`."""

    host_type: HostType | None = None
    """The type of the expression, if it is evident."""

    def constraint_at(self, index: int) -> int | None:
        """The place in the host of a character of the constraint; None if it is not written in one piece."""
        quotes = self.constraint_span.end - self.constraint_span.start - len(self.constraint)
        return self.constraint_span.start + quotes // 2 + index if quotes in (0, 2) else None


class Clobber(NamedTuple):
    """Something that a block declares to change besides its outputs, such as `memory`."""

    name: str
    span: Span


class Block(NamedTuple):
    """One block of inline assembly. All places in the host are relative to `start`, so that an edit elsewhere
    does not change them.
    """

    host: str
    """The name of the host."""
    language: str
    """The name of the language of the file."""
    start: int
    """Where the construct begins."""
    length: int
    """The length of the construct."""
    keyword: Span
    """The word that makes it inline assembly, such as `asm`: where findings about the whole block stand."""
    text: MappedText
    """Its PTX. Operands have their names."""
    template: Span
    """From the first literal of the template to the last, in the host."""
    operands: tuple[Operand, ...] = ()
    clobbers: tuple[Clobber, ...] = ()
    is_volatile: bool = False
    has_operands: bool = True
    """Whether the host replaces operands in the template."""
    guard: Guard | None = None
    """The targets for which it is compiled, if something restricts them."""
    target: str | None = None
    """The target that the host itself names."""
    operands_known: bool = True
    """Whether `operands` are all there are. Otherwise any name may be an operand."""
    missing_commas: tuple[Span, ...] = ()
    """Empty ranges where a comma is missing between operands."""
    memory_edit: Edit | None = None
    """An edit after which it clobbers memory, if the host can say so."""
    volatile_edit: Edit | None = None
    """An edit after which it is volatile, if the host can say so."""
    is_ptx: bool = False
    """Whether the host says that it is PTX; otherwise it may be assembly of another machine."""
    outer_names: frozenset[str] = frozenset()
    """The registers that other blocks of the file may declare for it."""
    shares_braces: bool = False
    """Whether its braces may have their counterparts in other blocks."""
    is_enclosed: bool = False
    """Whether it may stand in a scope that other blocks open and close."""
    is_context_free: bool = True
    """Whether it depends on nothing but its own characters."""

    orders_memory: bool = False
    """Whether the compiler moves no memory accesses across it, with or without the clobber `memory`."""

    @property
    def span(self) -> Span:
        """The whole construct in the host."""
        return Span(self.start, self.start + self.length)

    @property
    def clobbers_memory(self) -> bool:
        return self.orders_memory or any(one.name == "memory" for one in self.clobbers)

    def operand(self, name: str) -> Operand | None:
        """The operand with a name, such as `%0`."""
        return next((one for one in self.operands if one.name == name), None)


def relative(block: Block) -> Block:
    """A block whose places were counted from the beginning of the text, with places relative to its start."""
    by = -block.start
    return block._replace(
        keyword=block.keyword.shifted(by),
        text=block.text.shifted(by),
        template=block.template.shifted(by),
        operands=tuple(
            one._replace(
                constraint_span=one.constraint_span.shifted(by),
                expression_span=one.expression_span.shifted(by),
            )
            for one in block.operands
        ),
        clobbers=tuple(one._replace(span=one.span.shifted(by)) for one in block.clobbers),
        missing_commas=tuple(one.shifted(by) for one in block.missing_commas),
        memory_edit=_shifted(block.memory_edit, by),
        volatile_edit=_shifted(block.volatile_edit, by),
    )


def _shifted(edit: Edit | None, by: int) -> Edit | None:
    return edit._replace(start=edit.start + by, end=edit.end + by) if edit is not None else None


def through(block: Block, outer: MappedText) -> Block:
    """A block in a text that is itself embedded, with its places in the host of that text."""

    def place(span: Span) -> Span:
        return outer.host_span(span.shifted(block.start))

    whole = outer.host_span(block.span)
    moved = block._replace(
        start=whole.start,
        length=whole.end - whole.start,
        keyword=place(block.keyword),
        text=block.text.shifted(block.start).through(outer),
        template=place(block.template),
        operands=tuple(
            one._replace(
                constraint_span=place(one.constraint_span),
                expression_span=place(one.expression_span),
            )
            for one in block.operands
        ),
        clobbers=tuple(one._replace(span=place(one.span)) for one in block.clobbers),
    )
    return relative(moved)
