"""Bits of integers: counting, finding, reversing, fields (PTX ISA, "Integer Arithmetic Instructions")."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation
from ptx_lsp.isa.schema.operand import reads, writes

_BYTE = reads(".u32")._replace(low=0, high=255)
"""A position or a number of bits: of a register its low byte counts."""


@instruction(
    "popc",
    section="integer-arithmetic-instructions-popc",
    summary="Counts the bits that are one.",
    syntax="""
        popc.type d, a;
        .type = { .b32, .b64 };
    """,
    operands={"d": writes(".u32")},
    since=[("", "2.0", 20)],
    example="popc.b32 %r1, %r2;",
)
def popc(op: Operation, a: Lanes) -> Lanes:
    return op.ones(a)


@instruction(
    "clz",
    section="integer-arithmetic-instructions-clz",
    summary="Counts the zero bits above the highest bit that is one.",
    syntax="""
        clz.type d, a;
        .type = { .b32, .b64 };
    """,
    operands={"d": writes(".u32")},
    since=[("", "2.0", 20)],
    example="clz.b32 %r1, %r2;",
)
def clz(op: Operation, a: Lanes) -> Lanes:
    return op.width - 1 - op.highest(a)


@instruction(
    "bfind",
    section="integer-arithmetic-instructions-bfind",
    summary="The position of the highest bit that is not a copy of the sign; all ones if none."
    " With .shiftamt, how far to shift left to bring it to the top.",
    syntax="""
        bfind.type          d, a;
        bfind.shiftamt.type d, a;
        .type = { .u32, .u64, .s32, .s64 };
    """,
    operands={"d": writes(".u32")},
    since=[("", "2.0", 20)],
    example="bfind.u32 %r1, %r2;",
)
def bfind(op: Operation, a: Lanes) -> Lanes:
    at = op.highest(op.select(a < 0, ~a, a))
    return op.select(at < 0, at, op.width - 1 - at) if op.has(".shiftamt") else at


@instruction(
    "fns",
    section="integer-arithmetic-instructions-fns",
    summary="Finds the position of the n-th one bit of a mask, counting from a base position.",
    syntax="fns.b32 d, mask, base, offset;",
    operands={"mask": reads(".b32"), "base": reads(".b32|.u32|.s32"), "offset": reads(".b32")},
    since=[("", "6.0", 30)],
    example="fns.b32 %r1, 0xaaaaaaaa, 3, 1;",
)
def fns(op: Operation, mask: Lanes, base: Lanes, offset: Lanes) -> Lanes:
    number = ((offset & 0xFFFFFFFF) ^ (1 << 31)) - (1 << 31)
    start = base & 31
    upwards = (mask >> start) << start
    downwards = mask & ((2 << start) - 1)
    found = op.select(number, -1, op.select((mask >> start) & 1, start, -1))
    for bit in range(32):
        passed = op.select(number < 0, op.ones(downwards >> bit), op.ones(upwards & ((2 << bit) - 1)))
        other = op.select(number, passed ^ abs(number), 1)
        found = op.select((mask >> bit) & 1, op.select(other, found, bit), found)
    return found


@instruction(
    "brev",
    section="integer-arithmetic-instructions-brev",
    summary="Reverses the order of the bits.",
    syntax="""
        brev.type d, a;
        .type = { .b32, .b64 };
    """,
    since=[("", "2.0", 20)],
    example="brev.b32 %r1, %r2;",
)
def brev(op: Operation, a: Lanes) -> Lanes:
    result = a & 0
    for bit in range(op.width):
        result = result | (((a >> bit) & 1) << (op.width - 1 - bit))
    return result


@instruction(
    "bfe",
    section="integer-arithmetic-instructions-bfe",
    summary="Extracts c bits of a from position b on, and extends them by zeros or by the sign.",
    syntax="""
        bfe.type d, a, b, c;
        .type = { .u32, .u64, .s32, .s64 };
    """,
    operands={"b": _BYTE, "c": _BYTE},
    since=[("", "2.0", 20)],
    example="bfe.u32 %r1, %r2, 8, 4;",
)
def bfe(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    start, length = b & 0xFF, c & 0xFF
    top = op.width - 1
    bits = (a >> start) & ((1 << op.select(length < op.width, length, op.width)) - 1)
    if not op.signed:
        return bits
    last = start + length - 1
    sign = (a >> op.select(last < top, op.select(last < 0, 0, last), top)) & 1
    filled = op.select(length < op.width, -1 << op.select(length < op.width, length, 0), 0)
    return op.select(length, op.select(sign, bits | filled, bits), 0)


@instruction(
    "bfi",
    section="integer-arithmetic-instructions-bfi",
    summary="Replaces d bits of b, from position c on, by the low bits of a.",
    syntax="""
        bfi.type f, a, b, c, d;
        .type = { .b32, .b64 };
    """,
    operands={"f": writes(), "c": _BYTE, "d": _BYTE},
    since=[("", "2.0", 20)],
    example="bfi.b32 %r1, %r2, %r3, 8, 4;",
)
def bfi(op: Operation, a: Lanes, b: Lanes, c: Lanes, d: Lanes) -> Lanes:
    start, length = c & 0xFF, d & 0xFF
    ones = (1 << op.select(length < op.width, length, op.width)) - 1
    mask = ones << op.select(start < op.width, start, op.width)
    return (b & ~mask) | ((a << op.select(start < op.width, start, op.width)) & mask)


@instruction(
    "szext",
    section="integer-arithmetic-instructions-szext",
    summary="Extends the low b bits of a by zeros or by their sign."
    " A width above 31 is clamped to 32 or wraps.",
    syntax="""
        szext.mode.type d, a, b;
        .mode = { .clamp, .wrap };
        .type = { .u32, .s32 };
    """,
    operands={"b": reads(".u32")},
    since=[("", "7.6", 70)],
    example="szext.clamp.s32 %r1, %r2, 8;",
)
def szext(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    length = b & 31 if op.has(".wrap") else op.select(b < 32, b, 32)
    bits = a & ((1 << length) - 1)
    if not op.signed:
        return bits
    top = op.select(length, length - 1, 0)
    return op.select((bits >> top) & 1, bits | (-1 << length), bits)


@instruction(
    "bmsk",
    section="integer-arithmetic-instructions-bmsk",
    summary="Makes a mask of b one bits that starts at position a."
    " Values above 31 are clamped to 32 or wrap.",
    syntax="""
        bmsk.mode.b32 d, a, b;
        .mode = { .clamp, .wrap };
    """,
    operands={"d": writes(".u32"), "a": reads(".u32"), "b": reads(".u32")},
    since=[("", "7.6", 70)],
    example="bmsk.clamp.b32 %r1, 4, %r2;",
)
def bmsk(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    start = a & 31 if op.has(".wrap") else op.select(a < 32, a, 32)
    length = b & 31 if op.has(".wrap") else op.select(b < 32, b, 32)
    return ((1 << length) - 1) << start
