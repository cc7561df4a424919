"""A block of inline assembly with the PTX file made of it, and findings about it."""

from __future__ import annotations

from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.virtual_module import VirtualModule
from ptx_lsp.lint.diagnostic import Fix, Related, Severity
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from ptx_lsp.model.place import Place


class CheckedBlock(NamedTuple):
    """A block, and its PTX for one target."""

    block: Block
    virtual: VirtualModule
    module: Module

    @property
    def function(self) -> Function:
        """The function whose body the block is."""
        return self.module.functions[0]

    def span_of(self, place: Place) -> Span | None:
        """A place in the PTX, relative to the start of the block in the host; None outside of the block."""
        return self.host_span(self.module.span(place))

    def host_span(self, span: Span) -> Span | None:
        """A range of bytes of the PTX file, relative to the start of the block in the host."""
        inside = self.virtual.inside(span)
        return self.block.text.host_span(inside) if inside is not None else None


class BlockFinding(NamedTuple):
    """One problem of a block. Places are relative to the start of the block in the host."""

    span: Span
    message: str
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    severity: Severity | None = None
    """The severity, if it differs from the rule's own."""
