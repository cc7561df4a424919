"""Extended-precision arithmetic (PTX ISA, "Extended-Precision Integer Arithmetic Instructions").

The condition code register holds one carry bit. `.cc` writes it, the `c` of addc, subc and madc
reads it. Nothing else does, and it does not survive a call.

Subtraction adds the complement: `sub.cc` computes a + ~b + 1 and `subc` a + ~b + carry, so that the bit is 1
where there is no borrow. The manual has a borrow there; what ptxas generates and folds is this, and it shows
where chains mix additions with subtractions.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation

READ_CARRY = ("addc", "subc", "madc")
"""The opcodes that read the condition code."""
_TYPES = ".type = { .u32, .s32, .u64, .s64 };"
_SHORT = ".short = { .u16, .s16 };"
_SHORT_NOTE = "ptxas takes 16-bit types without .cc, which the manual does not have."
_WIDE_CARRY = (".u64|.s64", "4.3", 20)
_BORROW_NOTE = (
    "The manual says that the condition code holds the borrow; ptxas keeps the carry of a + ~b, which is its"
    " opposite: after `sub.cc` of 1 and 2, `addc` of 0 and 0 is 0."
)


@instruction(
    "add",
    section="extended-precision-arithmetic-instructions-add-cc",
    summary="Adds two integers and writes the carry to the condition code.",
    syntax=f"add.cc.type d, a, b; {_TYPES}",
    since=[("", "1.2", 10), _WIDE_CARRY],
    notes=["ptxas takes it for every target; the manual says sm_20."],
    example="add.cc.u32 %r1, %r2, %r3;",
)
def add_cc(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return _sum(op, _bits(op, a) + _bits(op, b))


@instruction(
    "addc",
    section="extended-precision-arithmetic-instructions-addc",
    summary="Adds two integers and the carry; with .cc also writes the new carry.",
    syntax=f"""
        addc{{.cc}}.type d, a, b;
        addc{{.sat}}.s32 d, a, b;
        addc.short     d, a, b;
        {_TYPES}
        {_SHORT}
    """,
    since=[("", "1.2", 10), (".cc .u64|.s64", "4.3", 20)],
    notes=[
        "ptxas takes it for every target; the manual says sm_20.",
        "ptxas takes .sat for .s32, which the manual does not have.",
        "ptxas takes 64-bit types without .cc from PTX ISA 1.2; the manual says 4.3.",
        _SHORT_NOTE,
    ],
    example="addc.u32 %r1, %r2, %r3;",
)
def addc(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return _sum(op, _bits(op, a) + _bits(op, b) + op.carry())


@instruction(
    "sub",
    section="extended-precision-arithmetic-instructions-sub-cc",
    summary="Computes a + ~b + 1, which is a - b, and writes its carry (0: a borrow) to the condition code.",
    syntax=f"sub.cc.type d, a, b; {_TYPES}",
    since=[("", "1.3", 10), _WIDE_CARRY],
    notes=["The manual says PTX ISA 1.2 and sm_20; ptxas takes it from 1.3, for every target.", _BORROW_NOTE],
    example="sub.cc.u32 %r1, %r2, %r3;",
)
def sub_cc(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return _sum(op, _bits(op, a) + _complement(op, b) + 1)


@instruction(
    "subc",
    section="extended-precision-arithmetic-instructions-subc",
    summary="Computes a + ~b + carry: a - b, less 1 after a borrow; with .cc also writes the new carry.",
    syntax=f"""
        subc{{.cc}}.type d, a, b;
        subc{{.sat}}.s32 d, a, b;
        subc.short     d, a, b;
        {_TYPES}
        {_SHORT}
    """,
    since=[("", "1.3", 10), (".cc .u64|.s64", "4.3", 20)],
    notes=[
        "The manual says PTX ISA 1.2 and sm_20; ptxas takes it from 1.3, for every target.",
        "ptxas takes .sat for .s32, which the manual does not have.",
        "ptxas takes 64-bit types without .cc from PTX ISA 1.3; the manual says 4.3.",
        _SHORT_NOTE,
        _BORROW_NOTE,
    ],
    example="subc.u32 %r1, %r2, %r3;",
)
def subc(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return _sum(op, _bits(op, a) + _complement(op, b) + op.carry())


@instruction(
    "mad",
    section="extended-precision-arithmetic-instructions-mad-cc",
    summary="Multiplies a by b, adds c to a half of the product, and writes the carry.",
    syntax=f"mad.mode.cc.type d, a, b, c; .mode = {{ .hi, .lo }}; {_TYPES}",
    since=[("", "3.0", 20), _WIDE_CARRY],
    fixed_order_modifiers=1,
    example="mad.lo.cc.u32 %r1, %r2, %r3, %r4;",
)
def mad_cc(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return _sum(op, _half(op, a * b) + _bits(op, c))


@instruction(
    "madc",
    section="extended-precision-arithmetic-instructions-madc",
    summary="Multiplies a by b, adds c and the carry to a half of the product.",
    syntax=f"""
        madc.mode{{.cc}}.type d, a, b, c;
        madc.mode.short     d, a, b, c;
        .mode = {{ .hi, .lo }};
        {_TYPES}
        {_SHORT}
    """,
    since=[("", "3.0", 20), (".cc .u64|.s64", "4.3", 20)],
    fixed_order_modifiers=1,
    notes=["ptxas takes 64-bit types from PTX ISA 3.0; the manual says 4.3.", _SHORT_NOTE],
    example="madc.hi.u32 %r1, %r2, %r3, %r4;",
)
def madc(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return _sum(op, _half(op, a * b) + _bits(op, c) + op.carry())


def _half(op: Operation, product: Lanes) -> Lanes:
    return _bits(op, op.wrap(product >> op.width if op.has(".hi") else product))


def _bits(op: Operation, value: Lanes) -> Lanes:
    """The bits of an integer: the carry is that of unsigned numbers, whatever the type."""
    return value & ((1 << op.width) - 1) if op.signed and not op.has(".sat") else value


def _complement(op: Operation, value: Lanes) -> Lanes:
    """~value, as `_bits` has the value."""
    return -1 - value if op.has(".sat") else (1 << op.width) - 1 - _bits(op, value)


def _sum(op: Operation, total: Lanes) -> Lanes:
    """Keeps the carry out of the top bit; `.sat` stops at the limits instead."""
    op.set_carry((total >> op.width) & 1)
    return op.clamp(total) if op.has(".sat") else op.wrap(total)
