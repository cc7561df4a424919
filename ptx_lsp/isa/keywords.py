"""Words and marks of PTX that are not in the other tables: guards, braces, options of `.target`."""

from __future__ import annotations

from typing import Final

from ptx_lsp.isa.removed_opcodes import REMOVED
from ptx_lsp.isa.target import OPTIONS
from ptx_lsp.named_tuple import NamedTuple


class Keyword(NamedTuple):
    """A word or mark: what kind of thing it is, what it means, and an example."""

    kind: str
    summary: str
    example: str


GUARD: Final = Keyword(
    "guard",
    "Only the threads whose predicate is true execute what follows, an instruction or a block in braces; with"
    " `!`, those whose predicate is false.",
    "@!%p1 add.s32 %r1, %r2, 1;",
)
BLOCK: Final = Keyword(
    "block",
    "Statements in braces. Registers, variables and labels declared there are known up to the closing brace.",
    "{ .reg .b32 %t; mov.b32 %t, %r1; }",
)
VECTOR: Final = Keyword(
    "vector",
    "Elements in braces, the first at the lowest address or in the lowest bits. In a destination `_` discards"
    " an element, where the instruction allows it.",
    "ld.global.v2.f32 {%f1, _}, [%rd1];",
)
WARP_SIZE: Final = Keyword(
    "constant",
    "The number of threads in a warp, 32. It can be used wherever a whole number can, also in expressions; "
    "the name is reserved.",
    "mov.u32 %r1, 2*WARP_SZ;",
)
_V3: Final = Keyword(
    "vector length",
    "A vector of three elements, of PTX 1.x: ptxas accepts none. Use `.v4`, or three variables.",
    ".global .v4 .f32 position;",
)
OPTION_SUMMARIES: Final = {
    "texmode_unified": "Textures and samplers are one: `tex` takes a texture alone. This is the default.",
    "texmode_independent": "Textures and samplers are apart: `tex` takes a texture and a `.samplerref`.",
    "debug": "The file has debugging information for DWARF; ptxas then does not optimise.",
    "map_f64_to_f32": "Instructions of `.f64` compute in `.f32`, for targets below sm_13, which lack `.f64`.",
}
"""The meaning of the options of `.target`."""


def explanations(name: str) -> tuple[Keyword, ...]:
    """The meaning of `name` outside instructions and directives: `@!p`, `{}`, `.v3`, an option of `.target`,
    an instruction that was removed.
    """
    if name in OPTIONS:
        target = "sm_10" if name == "map_f64_to_f32" else "sm_90"
        return (Keyword("option of .target", OPTION_SUMMARIES[name], f".target {target}, {name}"),)
    if name in REMOVED:
        return (Keyword("removed instruction", f"It was removed from PTX; {REMOVED[name]}.", ""),)
    if name == "WARP_SZ":
        return (WARP_SIZE,)
    if name == ".v3":
        return (_V3,)
    if name.startswith("@"):
        return (GUARD,)
    return (BLOCK, VECTOR) if name in ("{", "}", "{}") else ()
