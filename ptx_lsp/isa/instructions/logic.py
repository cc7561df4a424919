"""Logic and shifts (PTX ISA, section "Logic and Shift Instructions")."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation
from ptx_lsp.isa.schema.operand import immediate, predicate, reads, writes

_BITS = ".type = { .b16, .b32, .b64 };"
_BITS_OR_PREDICATE = ".type = { .pred, .b16, .b32, .b64 };"


@instruction(
    "and",
    section="logic-and-shift-instructions-and",
    summary="Ands two values bit by bit, or two predicates.",
    syntax=f"and.type d, a, b; {_BITS_OR_PREDICATE}",
    since=[("", "1.0", 10)],
    example="and.b32 %r1, %r2, 0xff;",
)
def conjunction(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return a & b


@instruction(
    "or",
    section="logic-and-shift-instructions-or",
    summary="Ors two values bit by bit, or two predicates.",
    syntax=f"or.type d, a, b; {_BITS_OR_PREDICATE}",
    since=[("", "1.0", 10)],
    example="or.b32 %r1, %r2, %r3;",
)
def disjunction(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return a | b


@instruction(
    "xor",
    section="logic-and-shift-instructions-xor",
    summary="Exclusive or of two values bit by bit, or of two predicates.",
    syntax=f"xor.type d, a, b; {_BITS_OR_PREDICATE}",
    since=[("", "1.0", 10)],
    example="xor.b32 %r1, %r2, %r3;",
)
def xor(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return a ^ b


@instruction(
    "not",
    section="logic-and-shift-instructions-not",
    summary="Inverts every bit of a value, or a predicate.",
    syntax=f"not.type d, a; {_BITS_OR_PREDICATE}",
    since=[("", "1.0", 10)],
    example="not.b32 %r1, %r2;",
)
def complement(op: Operation, a: Lanes) -> Lanes:
    return ~a


@instruction(
    "cnot",
    section="logic-and-shift-instructions-cnot",
    summary="Gives 1 if the value is zero, else 0, as `!` does in C.",
    syntax=f"cnot.type d, a; {_BITS}",
    since=[("", "1.0", 10)],
    example="cnot.b32 %r1, %r2;",
)
def cnot(op: Operation, a: Lanes) -> Lanes:
    return op.select(a, a & 0, 1)


_TABLE = immediate()
_TABLE_NOTE = "The manual limits the table to 0..255; ptxas takes any integer and uses its low 8 bits."


@instruction(
    "lop3",
    section="logic-and-shift-instructions-lop3",
    summary="Any logical function of three values, bit by bit. The constant is its truth table:"
    " apply the function to 0xF0, 0xCC and 0xAA to get it.",
    syntax="lop3.b32 d, a, b, c, table;",
    operands={"d": writes(sink=True), "table": _TABLE},
    since=[("", "4.3", 50)],
    notes=[_TABLE_NOTE],
    example="lop3.b32 %r1, %r2, %r3, %r4, 0x96;",
)
def lop3(op: Operation, a: Lanes, b: Lanes, c: Lanes, table: Lanes) -> Lanes:
    result = a & 0
    for row in range(8):
        term = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        result = result | (term & -((table >> row) & 1))
    return result


@instruction(
    "lop3",
    section="logic-and-shift-instructions-lop3",
    summary="Any logical function of three values, bit by bit, and whether its result is not zero,"
    " combined with a predicate.",
    syntax="""
        lop3.BoolOp.b32 d|p, a, b, c, table, q;
        .BoolOp = { .or, .and };
    """,
    operands={
        "d": writes(sink=True),
        "p": predicate("write"),
        "table": _TABLE,
        "q": predicate(),
    },
    since=[("", "8.2", 70)],
    notes=[_TABLE_NOTE],
    example="lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x3f, %p2;",
)
def lop3_test(
    op: Operation, a: Lanes, b: Lanes, c: Lanes, table: Lanes, q: Lanes
) -> tuple[Lanes, Lanes]:
    result = op.wrap(lop3(op, a, b, c, table))
    some = op.select(result, (a & 0) + 1, 0)
    return result, some | q if op.has(".or") else some & q


@instruction(
    "shf",
    section="logic-and-shift-instructions-shf",
    summary="Shifts the 64-bit value of b (high) and a (low), and keeps the high half (.l)"
    " or the low half (.r). With a and b the same it rotates.",
    syntax="""
        shf.dir.mode.b32 d, a, b, c;
        .dir  = { .l, .r };
        .mode = { .clamp, .wrap };
    """,
    operands={"c": reads(".u32")},
    since=[("", "3.1", 32)],
    fixed_order_modifiers=1,
    example="shf.l.wrap.b32 %r1, %r2, %r3, 8;",
)
def shf(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    amount = c & 31 if op.has(".wrap") else op.select(c < 32, c, 32)
    both = (b << 32) | (a & 0xFFFFFFFF)
    return (both << amount) >> 32 if op.has(".l") else both >> amount


@instruction(
    "shl",
    section="logic-and-shift-instructions-shl",
    summary="Shifts left and fills with zeros. A shift by the width or more gives 0.",
    syntax=f"shl.type d, a, b; {_BITS}",
    operands={"b": reads(".u32")},
    since=[("", "1.0", 10)],
    example="shl.b32 %r1, %r2, 4;",
)
def shl(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return a << op.select(b < op.width, b, op.width)


@instruction(
    "shr",
    section="logic-and-shift-instructions-shr",
    summary="Shifts right and fills with the sign (signed types) or with zeros."
    " A shift by the width or more leaves nothing but the filling.",
    syntax="""
        shr.type d, a, b;
        .type = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64 };
    """,
    operands={"b": reads(".u32")},
    since=[("", "1.0", 10)],
    example="shr.s32 %r1, %r2, 31;",
)
def shr(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    return a >> op.select(b < op.width, b, op.width)
