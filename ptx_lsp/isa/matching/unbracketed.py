"""Addresses of PTX 1.0 and 1.1, which stand without brackets, too: `ld.global.u32 d, a+4;`.

ptxas 13.5 takes them of `ld`, `st`, `atom` and `tex` up to `.version 1.1`, with brackets and without.
"""

from __future__ import annotations

from ptx_lsp.isa.matching.fit import Problem
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.isa.target import Version
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

BRACKETS_SINCE: Final = Version(1, 2)
_PLACES: Final = {"ld": 1, "st": 0, "atom": 1, "tex": 1}
"""By opcode, which operand is the address. That of `tex` has two parts."""
_UNCHECKED: Final = {"ld": (".f32", ".f64", ".pred"), "st": (".f32", ".f64")}
"""The types of registers that ptxas takes for addresses, though only without brackets; so it takes `1.0`."""


def bracketed(spelling: str, arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The operands as they would stand today, with brackets around the address."""
    opcode, *modifiers = spelling.split(".")
    place = _PLACES.get(opcode, len(arguments))
    if place >= len(arguments):
        return arguments
    base = arguments[place]
    if base.kind == "integer" and "local" not in modifiers:
        return arguments  # only local memory has addresses that are numbers
    parts = 2 if opcode == "tex" else 1
    if base.kind == "offset" and parts == 1:
        base = base._replace(kind="variable" if base.space else "register")
    if opcode in _UNCHECKED and (base.kind == "float" or base.type in _UNCHECKED[opcode]):
        base = Argument("unknown")
    elif base.kind not in ("register", "variable", "integer", "element") or base.negated:
        return arguments
    address = Argument("address", parts=(base, *arguments[place + 1 : place + parts]))
    return (*arguments[:place], address, *arguments[place + parts :])


def coordinate_problems(spelling: str, arguments: tuple[Argument, ...]) -> tuple[Problem, ...]:
    """In these versions `tex` takes four coordinates in braces, for any geometry, or one without."""
    if not spelling.startswith("tex.") or len(arguments) < 2 or len(arguments[1].parts) != 2:
        return ()
    coordinates = arguments[1].parts[1]
    if coordinates.kind != "vector" or len(coordinates.parts) == 4:
        return ()
    given = len(coordinates.parts)
    return (
        Problem(
            "operand",
            1,
            f"up to PTX ISA 1.1, the coordinates must be a vector of 4 elements, not {given}",
        ),
    )
