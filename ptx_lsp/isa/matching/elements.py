"""Elements in braces, as ptxas checks them: first individually, then as one type that all elements share.

Learnt by giving ptxas 13.5 every pair of kinds of elements in 30 instructions (docs/ptxas.md, "Braces"):

1. Registers in one pair of braces have the same size; a predicate counts as 32 bits there.
2. They have the same kind: integers, floats, `.f16x2` and predicates do not mix. `.bN` and special registers
   go with each of them, and after the first such element ptxas no longer checks (`{%f, %b, %u}`). Constants
   are integers or floats, `0f...` of 32 and all others of 64 bits.
3. Elements of one type are judged as such, those of several as the bits of the registers' size. After a
   constant, elements are not checked against the size if the register is an integer or a float is required.
4. The index of an array texture is an integer, regardless of the coordinates after it.
5. Integers stand for a float of their size, but in fragments of matrices.
6. `ldmatrix` takes predicates.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile

from ptx_lsp.isa.schema.operand import AccessMode, Argument, Operand
from ptx_lsp.isa.types import TYPES, Kind, Type
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_CONSTANTS: Final = {"integer": TYPES[".u64"], "float": TYPES[".f64"], "single": TYPES[".f32"]}
_FLOATS: Final = ("float", "single")
_WITH_FRAGMENTS: Final = ("mma", "wgmma")
_TAKES_PREDICATES: Final = "ldmatrix"
_ANYTHING: Final = Argument("unknown")


class Elements(NamedTuple):
    """`problem` says why they cannot stand in one pair of braces; else each of `parts` is what an instruction
    has to accept at its place.
    """

    parts: tuple[Argument, ...]
    problem: str = ""


def elements(parts: tuple[Argument, ...], wanted: Operand, opcode: str) -> Elements:
    """The elements of a vector of `parts`, the first of which is `wanted`, in an instruction called `opcode`.
    """
    type = wanted.type if isinstance(wanted.type, str) else ""
    return _elements(parts, type, wanted.after_index, wanted.access, opcode)


@lru_cache(maxsize=1 << 12)
def _elements(
    parts: tuple[Argument, ...], wanted: str, after_index: bool, access: AccessMode, opcode: str
) -> Elements:
    if all(part.kind == "special" and part.type == ".pred" for part in parts):
        return Elements(parts)
    parts = tuple(map(_element, parts))
    if opcode == _TAKES_PREDICATES:
        parts = tuple(part._replace(type=".b32") if part.type == ".pred" else part for part in parts)
    types = [_type(part) for part in parts if part.kind != "sink"]
    known = [type for type in types if type is not None]
    if len(known) < len(types):
        return Elements(parts)
    behind_index = after_index and wanted == ".b32"
    problem = _different_sizes(parts) or ("" if behind_index else _different_kinds(known))
    if problem:
        return Elements(parts, problem)
    is_fragment = opcode in _WITH_FRAGMENTS
    shared = _shared(parts, known)
    if shared is None:
        is_double = wanted == ".f64" and access == "read" and parts[0].kind == "integer"
        return Elements((_ANYTHING,) * len(parts) if is_double and not is_fragment else parts)
    first = parts[0].kind
    if is_fragment:
        pass
    elif first == "integer" or (first in _FLOATS and _takes_float(wanted)):
        shared = _ANYTHING
    elif shared.type and TYPES[shared.type].is_integer:
        shared = shared._replace(type=f"{shared.type}|.f{TYPES[shared.type].width}")
    taken = ("register", *_CONSTANTS) if access == "read" else ("register",)
    return Elements(tuple(shared if part.kind in taken else part for part in parts))


def _element(part: Argument) -> Argument:
    """ptxas takes a special register for any register of its size, even where one is written."""
    type = TYPES.get(part.type.partition("|")[0]) if part.kind == "special" else None
    if type is None or part.parts:
        return part
    return Argument("register", ".b32" if type.kind is Kind.PREDICATE else f".b{type.width}")


def _type(part: Argument) -> Type | None:
    return TYPES.get(part.type) if part.kind == "register" else _CONSTANTS.get(part.kind)


def _width(register: Argument) -> int:
    type = TYPES[register.type]
    return 32 if type.kind is Kind.PREDICATE else type.width


def _different_sizes(parts: tuple[Argument, ...]) -> str:
    by_width = {_width(part): part for part in parts if part.kind == "register"}
    if len(by_width) < 2:
        return ""
    one, other, *_ = by_width.values()
    return (
        f"the elements of a vector must have the same size: `{one.type}` and `{other.type}` differ"
    )


def _different_kinds(types: list[Type]) -> str:
    typed = takewhile(lambda type: type.kind is not Kind.BITS, types)
    by_kind = {_kind(type): type for type in typed}
    if len(by_kind) < 2:
        return ""
    one, other, *_ = by_kind.values()
    return (
        f"the elements of a vector must be of the same kind: `{one.name}` and `{other.name}` "
        f"differ; `.b{max(one.width, other.width)}` fits both"
    )


def _kind(type: Type) -> Kind:
    return Kind.UNSIGNED if type.is_integer else type.kind


def _takes_float(wanted: str) -> bool:
    return not {".f32", ".f64"}.isdisjoint(wanted.split("|"))


def _shared(parts: tuple[Argument, ...], types: list[Type]) -> Argument | None:
    """What each element is judged as; None where all are constants of one type, judged as they are."""
    registers = [part for part in parts if part.kind == "register"]
    if len(set(types)) == 1 and not (registers and any(part.kind == "integer" for part in parts)):
        return registers[0] if registers else None
    return Argument("register", f".b{_width(registers[0])}") if registers else _ANYTHING
