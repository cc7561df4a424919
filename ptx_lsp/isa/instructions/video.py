"""Video instructions: arithmetic on bytes and half-words of 32-bit registers.

PTX ISA, sections "Scalar Video Instructions" and "SIMD Video Instructions".
"""

from __future__ import annotations

from ptx_lsp.isa.instructions.video_meaning import (
    compared,
    compared_parts,
    multiplied,
    scalar,
    shifted,
    simd,
)
from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import reads, writes

_WORDS = {
    "d": writes(".u32"),
    "a": reads(".atype"),
    "b": reads(".btype"),
    "c": reads(".dtype"),
}
_SELECTORS = """
    .dsel = .asel = .bsel = { .b0, .b1, .b2, .b3, .h0, .h1 };
"""
_TYPES = ".dtype = .atype = .btype = { .u32, .s32 };"
_COMPARISONS = ".cmp = { .eq, .ne, .lt, .le, .gt, .ge };"
_SECOND = ".op2 = { .add, .min, .max };"
_PARTS = "A selector such as .b0 or .h1 after an operand selects that byte or half-word of it."
_MERGE = (
    "With c, the result is merged into c at the byte or half-word that a selector after d names; or .add, "
    ".min and .max combine it with c."
)

for _name, _does in (
    ("vadd", "Adds a and b"),
    ("vsub", "Subtracts b from a"),
    ("vabsdiff", "The absolute difference of a and b"),
    ("vmin", "The smaller of a and b"),
    ("vmax", "The larger of a and b"),
):
    instruction(
        _name,
        section="scalar-video-instructions-vadd-vsub-vabsdiff-vmin-vmax",
        summary=f"{_does}, which may be words, bytes or half-words; with c, merges or accumulates.",
        syntax=f"""
            {_name}.dtype.atype.btype{{.sat}}     d, a{{.asel}}, b{{.bsel}};
            {_name}.dtype.atype.btype{{.sat}}     d{{.dsel}}, a{{.asel}}, b{{.bsel}}, c;
            {_name}.dtype.atype.btype{{.sat}}.op2 d, a{{.asel}}, b{{.bsel}}, c;
            {_TYPES} {_SECOND} {_SELECTORS}
        """,
        operands=_WORDS,
        since=[("", "2.0", 20)],
        notes=[_PARTS, _MERGE],
        example=f"{_name}.s32.u32.s32.sat %r1, %r2.b0, %r3.h0;",
    )(scalar(_name))

for _name, _does in (
    ("vshl", "Shifts a left by b bits"),
    ("vshr", "Shifts a right by b bits, filling with the sign of a signed a"),
):
    instruction(
        _name,
        section="scalar-video-instructions-vshl-vshr",
        summary=f"{_does}, which may be words, bytes or half-words; b above 32 is clamped or wraps.",
        syntax=f"""
            {_name}.dtype.atype.u32{{.sat}}.mode     d, a{{.asel}}, b{{.bsel}};
            {_name}.dtype.atype.u32{{.sat}}.mode     d{{.dsel}}, a{{.asel}}, b{{.bsel}}, c;
            {_name}.dtype.atype.u32{{.sat}}.mode.op2 d, a{{.asel}}, b{{.bsel}}, c;
            .dtype = .atype = {{ .u32, .s32 }};
            .mode  = {{ .clamp, .wrap }};
            {_SECOND} {_SELECTORS}
        """,
        operands={**_WORDS, "b": reads(".u32")},
        since=[("", "2.0", 20)],
        notes=[_PARTS, _MERGE],
        example=f"{_name}.u32.u32.u32.wrap %r1, %r2, %r3.h1;",
    )(shifted(_name))

instruction(
    "vmad",
    section="scalar-video-instructions-vmad",
    summary="Multiplies a and b, which may be words, bytes or half-words, adds c (and 1 with .po),"
    " and may shift the sum right by 7 or 15 bits.",
    syntax=f"""
        vmad.dtype.atype.btype{{.sat}}{{.scale}}    d, {{-}}a{{.asel}}, {{-}}b{{.bsel}}, {{-}}c;
        vmad.dtype.atype.btype.po{{.sat}}{{.scale}} d, a{{.asel}}, b{{.bsel}}, c;
        .scale = {{ .shr7, .shr15 }};
        {_TYPES} {_SELECTORS}
    """,
    operands={**_WORDS, "c": reads(".u32")},
    unless=[
        ("+a:negated !+b:negated +c:negated", "either the product a*b or c can be negated"),
        ("!+a:negated +b:negated +c:negated", "either the product a*b or c can be negated"),
    ],
    since=[("", "2.0", 20)],
    notes=[_PARTS],
    example="vmad.s32.s32.u32.sat %r1, %r2, %r3, -%r4;",
)(multiplied)

instruction(
    "vset",
    section="scalar-video-instructions-vset",
    summary="Compares a and b, which may be words, bytes or half-words: 1 or 0; with c, merges or"
    " accumulates.",
    syntax=f"""
        vset.atype.btype.cmp     d, a{{.asel}}, b{{.bsel}};
        vset.atype.btype.cmp     d{{.dsel}}, a{{.asel}}, b{{.bsel}}, c;
        vset.atype.btype.cmp.op2 d, a{{.asel}}, b{{.bsel}}, c;
        .atype = .btype = {{ .u32, .s32 }};
        {_COMPARISONS} {_SECOND} {_SELECTORS}
    """,
    operands={**_WORDS, "c": reads(".u32")},
    since=[("", "2.0", 20)],
    notes=[_PARTS, _MERGE],
    example="vset.u32.u32.ne %r1, %r2, %r3.h1;",
)(compared)

_PACKED = {name: reads(".u32", immediate=False) for name in "abc"} | {"d": writes(".u32")}
_PAIRS = """
    .mask = { .h0, .h1, .h10 };
    .asel = .bsel = { .h[0-3][0-3] };
"""
_QUADS = """
    .mask = { .b0, .b1, .b10, .b2, .b20, .b21, .b210, .b3, .b30, .b31, .b310, .b32, .b320, .b321,
              .b3210 };
    .asel = .bsel = { .b[0-7][0-7][0-7][0-7] };
"""
_CHOOSE = (
    "A selector after a or b takes parts of a (the low numbers) and of b (the high numbers); one after d "
    "selects the results to keep, and the rest comes from c. .add adds them up to c."
)

for _count, _parts, _selectors in (("2", "two half-words", _PAIRS), ("4", "four bytes", _QUADS)):
    for _name, _does in (
        ("vadd", f"Adds the {_parts} of a and b"),
        ("vsub", f"Subtracts the {_parts} of b from those of a"),
        ("vavrg", f"The averages of the {_parts} of a and b"),
        ("vabsdiff", f"The absolute differences of the {_parts} of a and b"),
        ("vmin", f"The smaller ones of the {_parts} of a and b"),
        ("vmax", f"The larger ones of the {_parts} of a and b"),
    ):
        instruction(
            _name + _count,
            section="simd-video-instructions-"
            + "-".join(one + _count for one in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")),
            summary=f"{_does}; merges the results into c, or with .add sums them up.",
            syntax=f"""
                {_name}{_count}.dtype.atype.btype{{.sat}} d{{.mask}}, a{{.asel}}, b{{.bsel}}, c;
                {_name}{_count}.dtype.atype.btype.add     d{{.mask}}, a{{.asel}}, b{{.bsel}}, c;
                {_TYPES} {_selectors}
            """,
            operands=_PACKED,
            since=[("", "3.0", 30)],
            notes=[_CHOOSE],
            example=f"{_name}{_count}.s32.s32.u32.sat %r1, %r2, %r3, %r1;",
        )(simd(_name, int(_count)))
    instruction(
        "vset" + _count,
        section="simd-video-instructions-vset" + _count,
        summary=f"Compares the {_parts} of a and b: 1 or 0 each; merges the results into c, or with"
        " .add counts them.",
        syntax=f"""
            vset{_count}.atype.btype.cmp     d{{.mask}}, a{{.asel}}, b{{.bsel}}, c;
            vset{_count}.atype.btype.cmp.add d{{.mask}}, a{{.asel}}, b{{.bsel}}, c;
            .atype = .btype = {{ .u32, .s32 }};
            {_COMPARISONS} {_selectors}
        """,
        operands=_PACKED,
        since=[("", "3.0", 30)],
        notes=[_CHOOSE],
        example=f"vset{_count}.u32.u32.ne.add %r1, %r2, %r3, %r4;",
    )(compared_parts(int(_count)))
