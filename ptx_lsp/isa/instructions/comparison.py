"""Comparison and selection (PTX ISA, "Comparison and Selection Instructions").

`.f16` and `.bf16` have their rows in `half_comparison`.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation, Real
from ptx_lsp.isa.schema.operand import predicate, reads, writes

_SECTION = "comparison-and-selection-instructions"
BOOLEAN = ".BoolOp = { .and, .or, .xor };"
INTEGER_ORDER = ".CmpOp = { .eq, .ne, .lt, .le, .gt, .ge, .lo, .ls, .hi, .hs };"
INTEGERS = "{ .u16, .u32, .u64, .s16, .s32, .s64, .b16, .b32, .b64 }"
FLOAT_ORDER = """.CmpOp = { .eq, .ne, .lt, .le, .gt, .ge, .equ, .neu, .ltu, .leu, .gtu, .geu,
                   .num, .nan };"""
_ALL = "{ .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64 }"

ORDER_RULES = [
    (
        ".lo|.ls|.hi|.hs type=.s16|.s32|.s64",
        "`.lo` to `.hs` compare unsigned integers: signed ones take `.lt` `.le` `.gt` `.ge`",
    ),
    (
        ".lt|.le|.gt|.ge|.lo|.ls|.hi|.hs type=.b16|.b32|.b64",
        "untyped bits have no order: only `.eq` and `.ne` compare them",
    ),
]
_NO_FLUSH = (".ftz type=.f64", "`.ftz` is for `.f32` comparisons alone")
_FLUSH = (".ftz", "1.4", 10)

ONE = 0x3F800000
"""The bits of 1.0 as `.f32`."""

_PREDICATES = {
    "p": predicate("write", sink=True),
    "q": predicate("write", sink=True),
    "c": predicate(),
}
_RESULT = {"d": writes(".dtype"), "c": predicate()}


def compared(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    """1 where the comparison of two integers holds, else 0."""
    match op.slot("CmpOp"):
        case ".eq":
            return op.select(a ^ b, a & 0, 1)
        case ".ne":
            return op.select(a ^ b, (a & 0) + 1, 0)
        case ".lt" | ".lo":
            return a < b
        case ".le" | ".ls":
            return a <= b
        case ".gt" | ".hi":
            return b < a
        case _:
            return b <= a


def compared_floats(op: Operation, a: Real, b: Real) -> Lanes:
    """1 where the comparison of two floats holds, else 0; those that end in u hold for a NaN, too."""
    unordered = op.unordered(a, b)
    match op.slot("CmpOp"):
        case ".eq" | ".equ":
            holds = op.equal(a, b)
        case ".ne" | ".neu":
            holds = op.equal(a, b) ^ 1
            return holds if op.slot("CmpOp") == ".neu" else holds & (unordered ^ 1)
        case ".lt" | ".ltu":
            holds = a < b
        case ".le" | ".leu":
            holds = a <= b
        case ".gt" | ".gtu":
            holds = b < a
        case ".ge" | ".geu":
            holds = b <= a
        case ".num":
            return unordered ^ 1
        case _:
            return unordered
    return holds | unordered if op.slot("CmpOp").endswith("u") else holds


def combined(op: Operation, holds: Lanes, c: Lanes | None) -> Lanes:
    """The result of a comparison, combined with the predicate c where there is one."""
    if c is None:
        return holds
    match op.slot("BoolOp"):
        case ".and":
            return holds & c
        case ".or":
            return holds | c
        case _:
            return holds ^ c


_GUARD_NOTE = (
    "ptxas 13.5 converts the result outside the guard: where that is false, `@%p1 set` to a float, or to more"
    " bits than are compared, converts the old value of d."
)


@instruction(
    "set",
    section=f"{_SECTION}-set",
    summary="Compares two integers and writes all ones where it holds, else 0."
    " The comparison may be combined with a predicate.",
    syntax=f"""
        set.CmpOp.dtype.type        d, a, b;
        set.CmpOp.BoolOp.dtype.type d, a, b, {{!}}c;
        {INTEGER_ORDER} {BOOLEAN}
        .dtype = {{ .u32, .s32 }};
        .type  = {INTEGERS};
    """,
    operands=_RESULT,
    unless=ORDER_RULES,
    since=[("", "1.0", 10)],
    example="set.lt.u32.s32 %r1, %r2, %r3;",
)
def set_integer(op: Operation, a: Lanes, b: Lanes, c: Lanes | None = None) -> Lanes:
    return -combined(op, compared(op, a, b), c)


@instruction(
    "set",
    section=f"{_SECTION}-set",
    summary="Compares two integers and writes 1.0 where it holds, else 0.0."
    " The comparison may be combined with a predicate.",
    syntax=f"""
        set.CmpOp.f32.type        d, a, b;
        set.CmpOp.BoolOp.f32.type d, a, b, {{!}}c;
        {INTEGER_ORDER} {BOOLEAN}
        .type = {INTEGERS};
    """,
    operands={"d": writes(".f32"), "c": predicate()},
    unless=ORDER_RULES,
    since=[("", "1.0", 10)],
    notes=[_GUARD_NOTE],
    example="set.eq.f32.s32 %f1, %r2, 0;",
)
def set_float_of_integers(
    op: Operation, a: Lanes, b: Lanes, c: Lanes | None = None
) -> Lanes:
    return op.select(combined(op, compared(op, a, b), c), ONE, 0)


@instruction(
    "set",
    section=f"{_SECTION}-set",
    summary="Compares two floats and writes all ones (or 1.0) where it holds, else 0."
    " The comparison may be combined with a predicate.",
    syntax=f"""
        set.CmpOp{{.ftz}}.dtype.type        d, a, b;
        set.CmpOp.BoolOp{{.ftz}}.dtype.type d, a, b, {{!}}c;
        {FLOAT_ORDER} {BOOLEAN}
        .dtype = {{ .u32, .s32, .f32 }};
        .type  = {{ .f32, .f64 }};
    """,
    operands=_RESULT,
    unless=[_NO_FLUSH],
    since=[("", "1.0", 10), _FLUSH],
    notes=[_GUARD_NOTE],
    example="set.gt.u32.f32 %r1, %f1, 0f00000000;",
)
def set_float(op: Operation, a: Real, b: Real, c: Lanes | None = None) -> Lanes:
    holds = combined(op, compared_floats(op, a, b), c)
    return op.select(holds, ONE, 0) if op.slot("dtype") == ".f32" else -holds


@instruction(
    "setp",
    section=f"{_SECTION}-setp",
    summary="Compares two integers and writes the answer to a predicate, and its opposite to a"
    " second one; both may be combined with a predicate c.",
    syntax=f"""
        setp.CmpOp.type        p{{|q}}, a, b;
        setp.CmpOp.BoolOp.type p{{|q}}, a, b, {{!}}c;
        {INTEGER_ORDER} {BOOLEAN}
        .type = {INTEGERS};
    """,
    operands=_PREDICATES,
    unless=ORDER_RULES,
    since=[("", "1.0", 10)],
    example="setp.lt.s32 %p1, %r1, %r2;",
)
def setp(op: Operation, a: Lanes, b: Lanes, c: Lanes | None = None) -> tuple[Lanes, Lanes]:
    holds = compared(op, a, b)
    return combined(op, holds, c), combined(op, holds ^ 1, c)


@instruction(
    "setp",
    section=f"{_SECTION}-setp",
    summary="Compares two floats and writes the answer to a predicate, and its opposite to a"
    " second one. With NaN, .eq to .ge are false, .equ to .geu true.",
    syntax=f"""
        setp.CmpOp{{.ftz}}.type        p{{|q}}, a, b;
        setp.CmpOp.BoolOp{{.ftz}}.type p{{|q}}, a, b, {{!}}c;
        {FLOAT_ORDER} {BOOLEAN}
        .type = {{ .f32, .f64 }};
    """,
    operands=_PREDICATES,
    unless=[_NO_FLUSH],
    since=[("", "1.0", 10), _FLUSH],
    example="setp.gtu.f32 %p1, %f1, %f2;",
)
def setp_float(
    op: Operation, a: Real, b: Real, c: Lanes | None = None
) -> tuple[Lanes, Lanes]:
    holds = compared_floats(op, a, b)
    return combined(op, holds, c), combined(op, holds ^ 1, c)


@instruction(
    "selp",
    section=f"{_SECTION}-selp",
    summary="Copies a where the predicate c is true, else b.",
    syntax=f"selp.type d, a, b, c; .type = {_ALL};",
    operands={"c": predicate()},
    since=[("", "1.0", 10)],
    example="selp.b32 %r1, %r2, 0, %p1;",
)
def selp(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return op.select(c, a, b)


@instruction(
    "slct",
    section=f"{_SECTION}-slct",
    summary="Copies a where the integer c is not negative, else b.",
    syntax=f"slct.dtype.s32 d, a, b, c; .dtype = {_ALL};",
    operands={
        "d": writes(".dtype"),
        "a": reads(".dtype"),
        "b": reads(".dtype"),
        "c": reads(".s32"),
    },
    since=[("", "1.0", 10)],
    example="slct.u32.s32 %r1, %r2, %r3, %r4;",
)
def slct(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    return op.select(c < 0, b, a)


@instruction(
    "slct",
    section=f"{_SECTION}-slct",
    summary="Copies a where the float c is not negative, else (or if c is NaN) b.",
    syntax=f"slct{{.ftz}}.dtype.f32 d, a, b, c; .dtype = {_ALL};",
    operands={
        "d": writes(".dtype"),
        "a": reads(".dtype"),
        "b": reads(".dtype"),
        "c": reads(".f32"),
    },
    since=[("", "1.0", 10), _FLUSH],
    example="slct.u32.f32 %r1, %r2, %r3, %f4;",
)
def slct_float(op: Operation, a: Lanes, b: Lanes, c: Real) -> Lanes:
    return op.select(op.real(a & 0) <= c, a, b)
