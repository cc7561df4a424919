"""Integer arithmetic (PTX ISA, section "Integer Arithmetic Instructions")."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation
from ptx_lsp.isa.schema.operand import reads, writes

_PACKED_8 = (".u8x4|.s8x4", "9.2", "sm_107f sm_120f")
_PACKED_16 = (".u16x2|.s16x2", "8.0", 90)


@instruction(
    "add",
    section="integer-arithmetic-instructions-add",
    summary="Adds two integers. The sum wraps around, or with .sat stops at the limits.",
    syntax="""
        add.type        d, a, b;
        add{.sat}.stype d, a, b;
        .type  = { .u16, .u64, .s16, .s64 };
        .stype = { .u32, .s32, .u16x2, .s16x2, .u8x4, .s8x4 };
    """,
    since=[
        ("", "1.0", 10),
        _PACKED_16,
        _PACKED_8,
        (".sat .u32|.u16x2|.s16x2", "9.2", "sm_107f sm_120f"),
    ],
    example="add.sat.s32 %r1, %r2, -1;",
)
def add(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return op.clamp(a + b) if op.has(".sat") else a + b


@instruction(
    "sub",
    section="integer-arithmetic-instructions-sub",
    summary="Subtracts b from a. The difference wraps around, or with .sat stops at the limits.",
    syntax="""
        sub.type        d, a, b;
        sub{.sat}.stype d, a, b;
        .type  = { .u16, .u32, .u64, .s16, .s64 };
        .stype = { .s32, .u8x4, .s8x4 };
    """,
    since=[("", "1.0", 10), _PACKED_8],
    example="sub.s32 %r1, %r2, 1;",
)
def sub(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return op.clamp(a - b) if op.has(".sat") else a - b


_PRODUCT = writes({".wide": "wide .type", "": ".type"})


@instruction(
    "mul",
    section="integer-arithmetic-instructions-mul",
    summary="Multiplies two integers and keeps the low half, the high half or all of the product.",
    syntax="""
        mul.mode.type d, a, b;
        .mode = { .hi, .lo, .wide };
        .type = { .u16, .u32, .u64, .s16, .s32, .s64 };
    """,
    operands={"d": _PRODUCT},
    unless=[(".wide .u64|.s64", ".wide requires a 16- or 32-bit type; 128-bit products are not supported")],
    since=[("", "1.0", 10)],
    fixed_order_modifiers=1,
    example="mul.wide.u32 %rd1, %r1, 4;",
)
def mul(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    product = a * b
    return product >> op.width if op.has(".hi") else product


@instruction(
    "mad",
    section="integer-arithmetic-instructions-mad",
    summary="Multiplies a by b, keeps a half or all of the product, and adds c.",
    syntax="""
        mad.mode.type  d, a, b, c;
        mad.hi.sat.s32 d, a, b, c;
        .mode = { .hi, .lo, .wide };
        .type = { .u16, .u32, .u64, .s16, .s32, .s64 };
    """,
    operands={"d": _PRODUCT, "c": reads({".wide": "wide .type", "": ""})},
    unless=[(".wide .u64|.s64", ".wide requires a 16- or 32-bit type; 128-bit products are not supported")],
    since=[("", "1.0", 10)],
    fixed_order_modifiers=1,
    example="mad.lo.s32 %r1, %r2, %r3, 7;",
)
def mad(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    product = a * b
    total = (product >> op.width if op.has(".hi") else product) + c
    return op.clamp(total) if op.has(".sat") else total


@instruction(
    "clmad",
    section="integer-arithmetic-instructions-clmad",
    summary="Multiplies without carries (as polynomials over GF(2)) and xors c to a half of it.",
    syntax="""
        clmad.mode.type d, a, b, c;
        .mode = { .hi, .lo };
        .type = { .u64, .s64 };
    """,
    since=[("", "9.3", 80)],
    fixed_order_modifiers=1,
    notes=["ptxas takes .s64 too, which the manual does not have."],
    example="clmad.lo.u64 %rd1, %rd2, %rd3, %rd4;",
)
def clmad(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    factor = a & ((1 << op.width) - 1)
    product = a & 0
    for bit in range(op.width):
        product = product ^ ((factor << bit) * ((b >> bit) & 1))
    return (product >> op.width if op.has(".hi") else product) ^ c


@instruction(
    "mul24",
    section="integer-arithmetic-instructions-mul24",
    summary="Multiplies the low 24 bits of two integers; keeps the low or high 32 of 48 bits.",
    syntax="""
        mul24.mode.type d, a, b;
        .mode = { .hi, .lo };
        .type = { .u32, .s32 };
    """,
    since=[("", "1.0", 10)],
    fixed_order_modifiers=1,
    example="mul24.lo.s32 %r1, %r2, %r3;",
)
def mul24(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return _product24(op, a, b)


@instruction(
    "mad24",
    section="integer-arithmetic-instructions-mad24",
    summary="Multiplies the low 24 bits of a and b, keeps 32 of the 48 bits, and adds c.",
    syntax="""
        mad24.mode.type  d, a, b, c;
        mad24.hi.sat.s32 d, a, b, c;
        .mode = { .hi, .lo };
        .type = { .u32, .s32 };
    """,
    since=[("", "1.0", 10)],
    fixed_order_modifiers=1,
    example="mad24.lo.s32 %r1, %r2, %r3, %r4;",
)
def mad24(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    total = _product24(op, a, b) + c
    return op.clamp(total) if op.has(".sat") else total


def _product24(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    product = _low24(op, a) * _low24(op, b)
    return product >> 16 if op.has(".hi") else product


def _low24(op: Operation, a: Lanes) -> Lanes:
    low = a & 0xFFFFFF
    return (low ^ 0x800000) - 0x800000 if op.signed else low


@instruction(
    "sad",
    section="integer-arithmetic-instructions-sad",
    summary="Adds the absolute difference of a and b to c.",
    syntax="""
        sad.type d, a, b, c;
        .type = { .u16, .u32, .u64, .s16, .s32, .s64 };
    """,
    since=[("", "1.0", 10)],
    example="sad.s32 %r1, %r2, %r3, %r4;",
)
def sad(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return c + abs(a - b)


@instruction(
    "div",
    section="integer-arithmetic-instructions-div",
    summary="Divides a by b and rounds towards zero. Division by zero gives no defined value.",
    syntax="""
        div.type d, a, b;
        .type = { .u16, .u32, .u64, .s16, .s32, .s64 };
    """,
    since=[("", "1.0", 10)],
    example="div.s32 %r1, %r2, 3;",
)
def div(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return op.divide(a, b)


@instruction(
    "rem",
    section="integer-arithmetic-instructions-rem",
    summary="The remainder of a divided by b, with the sign of a.",
    syntax="""
        rem.type d, a, b;
        .type = { .u16, .u32, .u64, .s16, .s32, .s64 };
    """,
    since=[("", "1.0", 10)],
    example="rem.u32 %r1, %r2, 10;",
)
def rem(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return op.remainder(a, b)


@instruction(
    "abs",
    section="integer-arithmetic-instructions-abs",
    summary="The absolute value. The least integer has none and stays itself.",
    syntax="""
        abs.type d, a;
        .type = { .s16, .s32, .s64 };
    """,
    since=[("", "1.0", 10)],
    example="abs.s32 %r1, %r2;",
)
def absolute(op: Operation, a: Lanes) -> Lanes:
    return abs(a)


@instruction(
    "neg",
    section="integer-arithmetic-instructions-neg",
    summary="Changes the sign of an integer.",
    syntax="""
        neg.type d, a;
        .type = { .s16, .s32, .s64, .s8x4 };
    """,
    since=[("", "1.0", 10), _PACKED_8],
    example="neg.s32 %r1, %r2;",
)
def neg(op: Operation, a: Lanes) -> Lanes:
    return -a


_EXTREMES = """
        NAME.atype        d, a, b;
        NAME{.relu}.btype d, a, b;
        .atype = { .u16, .u32, .u64, .u16x2, .s16, .s64, .u8x4 };
        .btype = { .s16x2, .s32, .s8x4 };
"""


@instruction(
    "min",
    section="integer-arithmetic-instructions-min",
    summary="The smaller of two integers; with .relu never below zero.",
    syntax=_EXTREMES.replace("NAME", "min"),
    since=[("", "1.0", 10), _PACKED_16, _PACKED_8, (".relu", "8.0", 90)],
    example="min.s32 %r1, %r2, 0;",
)
def least(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    smaller = op.select(a < b, a, b)
    return op.select(smaller < 0, 0, smaller) if op.has(".relu") else smaller


@instruction(
    "max",
    section="integer-arithmetic-instructions-max",
    summary="The larger of two integers; with .relu never below zero.",
    syntax=_EXTREMES.replace("NAME", "max"),
    since=[("", "1.0", 10), _PACKED_16, _PACKED_8, (".relu", "8.0", 90)],
    example="max.u32 %r1, %r2, %r3;",
)
def greatest(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    larger = op.select(a < b, b, a)
    return op.select(larger < 0, 0, larger) if op.has(".relu") else larger


@instruction(
    "dp4a",
    section="integer-arithmetic-instructions-dp4a",
    summary="Multiplies the four bytes of a by the four bytes of b and adds the products to c.",
    syntax="""
        dp4a.atype.btype d, a, b, c;
        .atype = .btype = { .u32, .s32 };
    """,
    operands={"d": writes(".u32"), "a": reads(".u32"), "b": reads(".u32"), "c": reads(".u32")},
    since=[("", "5.0", 61)],
    example="dp4a.u32.u32 %r1, %r2, %r3, %r4;",
)
def dp4a(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    total = c
    for byte in range(4):
        total = total + _part(op, "atype", a, 8 * byte, 8) * _part(op, "btype", b, 8 * byte, 8)
    return total


@instruction(
    "dp2a",
    section="integer-arithmetic-instructions-dp2a",
    summary="Multiplies the two halves of a by two bytes of b (.lo or .hi) and adds them to c.",
    syntax="""
        dp2a.mode.atype.btype d, a, b, c;
        .mode = { .lo, .hi };
        .atype = .btype = { .u32, .s32 };
    """,
    operands={"d": writes(".u32"), "a": reads(".u32"), "b": reads(".u32"), "c": reads(".u32")},
    since=[("", "5.0", 61)],
    fixed_order_modifiers=1,
    example="dp2a.lo.u32.u32 %r1, %r2, %r3, %r4;",
)
def dp2a(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    first = 16 if op.has(".hi") else 0
    low = _part(op, "atype", a, 0, 16) * _part(op, "btype", b, first, 8)
    high = _part(op, "atype", a, 16, 16) * _part(op, "btype", b, first + 8, 8)
    return c + low + high


def _part(op: Operation, slot: str, value: Lanes, first: int, width: int) -> Lanes:
    """Bits `first` to `first + width` of the value, signed as the slot's type says."""
    part = (value >> first) & ((1 << width) - 1)
    top = 1 << (width - 1)
    return (part ^ top) - top if op.slot(slot) == ".s32" else part
