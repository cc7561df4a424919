"""A PTX file that has one block of inline assembly as the body of a function.

Operands are registers with their names in the block. Before the block, those that it may read are loaded;
after it, those that it may write are stored. ptxas takes `%0` and `$0` as names of registers, so it can
judge the file, too.
"""

from __future__ import annotations

from ptx_lsp.embedded import BLOCK
from ptx_lsp.embedded.block import Block
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from typing import Final

_AT: Final = "$__address"
_PARAMETER: Final = "$__parameter"


class VirtualModule(NamedTuple):
    """The text of a file with a block in it, which begins at `start`. Same blocks have the same text."""

    data: bytes
    start: int
    end: int

    def inside(self, span: Span) -> Span | None:
        """A range in the block, for one in the file; None if none of it is in the block."""
        if span.start > self.end or span.end < self.start or span.start < self.start == span.end:
            return None
        return Span(max(span.start, self.start) - self.start, min(span.end, self.end) - self.start)


def virtual_module(block: Block, version: str, target: str) -> VirtualModule:
    """The file of a block for a `.version` and a `.target`."""
    registers: dict[str, list[str]] = {}
    loads: list[str] = []
    stores: list[str] = []
    tied = {one.tied_to for one in block.operands}
    for operand in block.operands:
        if operand.type is None:
            continue
        type = _register_type(block, operand.type, target)
        registers.setdefault(type, []).append(operand.name)
        is_predicate = operand.type == ".pred"
        if operand.access != "write" or operand.name in tied:
            load = f"ld.volatile{type} {operand.name}, [{_AT}];\n"
            loads.append(f"setp.ne.b64 {operand.name}, {_AT}, 0;\n" if is_predicate else load)
        if operand.access != "read":
            store = f"st.volatile{type} [{_AT}], {operand.name};\n"
            stores.append(
                f"@{operand.name} st.volatile.b64 [{_AT}], {_AT};\n" if is_predicate else store
            )
    head = (
        f".version {version}\n.target {target}\n.address_size 64\n"
        f".visible .func {BLOCK}(.param .b64 {_PARAMETER})\n{{\n.reg .b64 {_AT};\n"
        + "".join(f".reg {type} {', '.join(names)};\n" for type, names in registers.items())
        + f"ld.param.b64 {_AT}, [{_PARAMETER}];\n"
        + "".join(loads)
    ).encode()
    tail = ("\n" + "".join(stores) + "ret;\n}\n").encode()
    text = block.text.data
    return VirtualModule(head + text + tail, len(head), len(head) + len(text))


def _register_type(block: Block, type: str, target: str) -> str:
    """The type of the register that holds an operand. nvcc 13.5 passes a `float` in a `.f32` register up to
    sm_90, and in a `.b32` register from sm_100 on. Recent versions of LLVM always do the latter.
    """
    number = target.removeprefix("sm_").rstrip("af")
    is_typed = block.language in ("cuda", "cpp") and number.isdecimal() and int(number) < 100
    return type if is_typed else _UNTYPED.get(type, type)


_UNTYPED: Final = {".f32": ".b32", ".f64": ".b64"}
