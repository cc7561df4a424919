"""Facts about the machine code of an instruction that follow from its shape: whether its result may share the
virtual registers of its operands, and the most registers that it needs besides them.
"""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_MOST_OF_ATOMIC: Final = 3
"""See `atomic_expansion`."""
_WIDTHS: Final = {"u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32, "u64": 64, "s64": 64}
_WORD: Final = 32
_MODIFIED_BY: Final = {
    "neg": frozenset({"add", "sub", "fma", "min", "max", "mul", "setp", "rcp", "ex2", "sin", "cos"}),
    "abs": frozenset({"add", "sub", "min", "max", "setp", "rcp", "lg2", "sqrt", "rsqrt"}),
    "not": frozenset({"and", "or", "xor"}),
}
_ROOTS: Final = {
    ("div", False): 3, ("sqrt", False): 4, ("rcp", False): 3, ("rsqrt", False): 4,
    ("div", True): 6, ("sqrt", True): 6, ("rcp", True): 3, ("rsqrt", True): 4,
}  # fmt: skip
"""The temporary registers of divisions and roots with a slow path, by opcode and whether for `f64`."""
_SLOW_ROOTS: Final = {
    ("div", False): 7, ("sqrt", False): 6, ("rcp", False): 5, ("rsqrt", False): 5,
    ("div", True): 14, ("sqrt", True): 11, ("rcp", True): 10, ("rsqrt", True): 9,
}  # fmt: skip
"""What the slow path needs besides the registers that are live across it, if these are few."""
_SLOW_DIVISION: Final = 9
_SLOW_SIGNED_DIVISION: Final = 12
_NEEDING: Final = frozenset({"atom", "red", "st", "div", "rem", "sqrt", "rcp", "rsqrt", "mul", "mad"})
"""The opcodes of instructions that may need registers besides their operands."""
_USED_BY_DIVISION: Final = 24
"""The registers used because of a division of 64-bit integers."""
SLOW_PATH: Final = 8
"""The bit of an additional register count from which on it has that of the slow path."""
_INTEGER_NEGATION: Final = frozenset({"add", "sub"})


class Coalescing:
    """How the result of an instruction may share virtual registers: numbers, since an `Enum` is slow."""

    NONE: Final = 0
    MOVED: Final = 1
    """A copy, a pack, an unpack, or a constant."""
    PARAMETER: Final = 2
    """Read from the constant bank."""
    GENERIC: Final = 3
    """An address in the generic space."""
    WIDENED: Final = 4
    NARROWED: Final = 5
    OFFSET: Final = 6
    """A register and a constant, folded into addresses."""
    SCALED: Final = 7
    """An index that is scaled when it is added to an address."""
    MODIFIED: Final = 8
    """Negated, complemented or absolute, by an operand modifier of the instructions that read it."""
    HALF: Final = 9
    """The upper half, shifted down, or the half that a mask leaves."""
    PACKED: Final = 10
    """Converted by the instruction that packs it."""
    EXTENDED: Final = 11
    """Extended with its sign, by the load that it comes from."""


_COPIES: Final = {
    "add.s64": Coalescing.OFFSET,
    "add.u64": Coalescing.OFFSET,
    "add.s32": Coalescing.OFFSET,
    "add.u32": Coalescing.OFFSET,
    "shl.b64": Coalescing.SCALED,
    "shr.u64": Coalescing.HALF,
    "and.b64": Coalescing.HALF,
    "cvt.rn.f16.f32": Coalescing.PACKED,
    "cvt.rn.bf16.f32": Coalescing.PACKED,
}


@lru_cache(maxsize=1 << 15)
def coalescing(shape: Shape) -> int:
    """How the results of the instructions of a shape may share virtual registers."""
    match shape.opcode:
        case "mov":
            return Coalescing.MOVED
        case "cvta":
            return Coalescing.GENERIC
        case "ld" if ".param" in shape.spelling:
            return Coalescing.PARAMETER
        case "mul" if shape.spelling.startswith("mul.wide"):
            return Coalescing.SCALED
        case "cvt" | "add" | "and" | "shl" | "shr" if shape.spelling in _COPIES:
            return _COPIES[shape.spelling]
        case "cvt":
            return _of_conversion(shape.spelling)
        case "neg" | "abs" | "not" if modifiable_by(shape.spelling):
            return Coalescing.MODIFIED
        case _:
            return Coalescing.NONE


def _of_conversion(spelling: str) -> int:
    """How a conversion between integers may share virtual registers."""
    to, _, of = spelling.removeprefix("cvt.").partition(".")
    if to not in _WIDTHS or of not in _WIDTHS:
        return Coalescing.NONE
    if _WIDTHS[to] > _WORD:
        return Coalescing.WIDENED if _WIDTHS[of] <= _WORD else Coalescing.NONE
    is_extended = of.startswith("s") and _WIDTHS[of] < _WIDTHS[to]
    return Coalescing.EXTENDED if is_extended else Coalescing.NARROWED


@lru_cache(maxsize=4096)
def modifiable_by(spelling: str) -> frozenset[str]:
    """The opcodes of which an operand may be the result of `neg`, `abs` or `not` at no cost."""
    opcode, _, type = spelling.partition(".")
    if opcode == "neg" and type.startswith("s"):
        return _INTEGER_NEGATION if type == "s32" else frozenset()
    if (opcode == "abs" and type.startswith("s")) or type in ("b64", "pred"):
        return frozenset()
    return _MODIFIED_BY[opcode]


@lru_cache(maxsize=1 << 15)
def most_additional_registers(shape: Shape) -> int:
    """The most registers that an instruction of a shape needs besides its operands."""
    if shape.opcode not in _NEEDING:
        return 0
    if shape.opcode in ("atom", "red"):
        return _MOST_OF_ATOMIC
    scratch = max(scratch_registers(shape.spelling, by_constant) for by_constant in (False, True))
    return max(scratch, slow_path_scratch(shape.spelling)) + _most_constants(shape)


def _most_constants(shape: Shape) -> int:
    """The most registers for constants that a store cannot encode."""
    if shape.opcode != "st" or len(shape.arguments) < 2:
        return 0
    return max(1, len(shape.arguments[1].parts)) * (2 if "64" in shape.spelling else 1)


@lru_cache(maxsize=4096)
def scratch_registers(spelling: str, by_constant: bool) -> int:
    """The temporary registers of the machine code sequence that implements an instruction."""
    opcode = spelling.partition(".")[0]
    match opcode:
        case "div" | "rem" if ".f" not in spelling:
            return _of_integer_division(opcode, spelling, by_constant)
        case "div" | "sqrt" | "rcp" | "rsqrt" if has_slow_path(spelling):
            return _ROOTS[opcode, ".f64" in spelling]
        case "div":
            return 1
        case "mul" | "mad" if ".hi" in spelling and "64" in spelling:
            return 2
        case _:
            return 0


def _of_integer_division(opcode: str, spelling: str, by_constant: bool) -> int:
    is_signed = ".s" in spelling
    if "64" in spelling:
        return 6 if by_constant else 1
    if "16" in spelling:
        return 1 if by_constant else 6
    if by_constant:
        return 1
    return (5 if opcode == "div" else 4) if is_signed else 2


@lru_cache(maxsize=4096)
def slow_path_scratch(spelling: str) -> int:
    """The registers that the slow path of an instruction needs besides those that are live across it, if
    these are few.
    """
    if not has_slow_path(spelling):
        return 0
    opcode = spelling.partition(".")[0]
    if ".f" in spelling:
        return _SLOW_ROOTS[opcode, ".f64" in spelling]
    if "64" not in spelling:
        return 0
    return _SLOW_SIGNED_DIVISION if ".s" in spelling else _SLOW_DIVISION


@lru_cache(maxsize=4096)
def has_slow_path(spelling: str) -> bool:
    """Whether ptxas implements an instruction by a `CALL` of a function of its own, perhaps only for
    some operands.
    """
    opcode = spelling.partition(".")[0]
    match opcode:
        case "div" | "rem":
            return "64" in spelling or "16" in spelling or (".f32" in spelling and ".rn" in spelling)
        case "sqrt" | "rcp":
            return ".approx" not in spelling
        case "rsqrt":
            return ".f64" in spelling and ".ftz" not in spelling
        case _:
            return False


@lru_cache(maxsize=4096)
def used_by_slow_path(spelling: str) -> int:
    """The registers used because of a slow path, however few values are live; 0 without one."""
    is_division = ".f" not in spelling and "64" in spelling and has_slow_path(spelling)
    return _USED_BY_DIVISION if is_division else slow_path_registers(spelling)


@lru_cache(maxsize=4096)
def slow_path_registers(spelling: str) -> int:
    """The registers live at the `CALL` of a slow path, however few values are live across it; 0 without one.
    Measured with one value, for sm_75 to sm_120.
    """
    if not has_slow_path(spelling):
        return 0
    opcode = spelling.partition(".")[0]
    if ".f64" in spelling:
        return 22 if opcode == "div" else 16
    if ".f32" in spelling:
        return 10 if opcode == "sqrt" else 16
    return 19 if "64" in spelling and (".s" in spelling or opcode == "rem") else 16
