"""Atomic operations and reductions in memory (PTX ISA, "Parallel Synchronization and
Communication Instructions").
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import GENERIC, GENERIC_OR_GLOBAL, address, reads, writes

_SHARED = ".shared|.shared::cta|.shared::cluster"

_PREFIX = "NAME{.sem}{.scope}{.space}"
_VECTOR = "NAME{.sem}{.scope}{.global}"
_OPERANDS = "TARGET, b{, cache-policy}"

_SYNTAX = f"""
    {_PREFIX}.op{{.level::cache_hint}}.type {_OPERANDS};
    .op = {{ .and, .or, .xor }};
    .type = {{ .b32, .b64 }};
    .scope = {{ .cta, .cluster, .gpu, .sys }};
    .space = {{ .global, .shared{{::cta, ::cluster}} }};
    .level::cache_hint = {{ .L2::cache_hint }};
    -----
    {_PREFIX}.add{{.level::cache_hint}}.type {_OPERANDS};
    .type = {{ .u32, .s32, .u64, .f32, .f64 }};
    -----
    {_PREFIX}.op{{.level::cache_hint}}.u32 {_OPERANDS};
    .op = {{ .inc, .dec }};
    -----
    {_PREFIX}.op{{.level::cache_hint}}.type {_OPERANDS};
    .op = {{ .min, .max }};
    .type = {{ .u32, .s32, .u64, .s64 }};
    -----
    {_PREFIX}.add.noftz{{.level::cache_hint}}.type {_OPERANDS};
    .type = {{ .f16, .f16x2, .bf16, .bf16x2, .f32 }};
    -----
    {_VECTOR}.add{{.noftz}}{{.level::cache_hint}}.vec.f32 {_OPERANDS};
    .vec = {{ .v2, .v4 }};
    -----
    {_VECTOR}.op.noftz{{.level::cache_hint}}.vec.type {_OPERANDS};
    .op = {{ .add, .min, .max }};
    .vec = {{ .v2, .v4, .v8 }};
    .type = {{ .f16, .bf16 }};
    -----
    {_VECTOR}.op.noftz{{.level::cache_hint}}.vec.type {_OPERANDS};
    .op = {{ .add, .min, .max }};
    .vec = {{ .v2, .v4 }};
    .type = {{ .f16x2, .bf16x2 }};
"""

_SINCE = [
    ("space=", "2.0", 20),
    (_SHARED, "1.2", 12),
    (".shared::cta", "7.8", 12),
    (".shared::cluster", "7.8", 90),
    (".b64|.u64|.s64", "1.2", 12),
    (f".b64|.u64|.s64 {_SHARED}", "2.0", 20),
    (".and|.or|.xor|.min|.max .b64|.u64|.s64", "3.1", 32),
    (".f32", "2.0", 20),
    (".f64", "5.0", 60),
    (".f16x2", "6.2", 60),
    (".f16", "6.3", 70),
    (".bf16|.bf16x2", "7.8", 90),
    (".v2|.v4|.v8", "8.1", 90),
    (".noftz .f32", "9.4", 90),
    (".cta|.gpu|.sys", "5.0", 60),
    (".cluster", "7.8", 90),
    (".relaxed|.release", "6.0", 70),
    (".L2::cache_hint", "7.4", 80),
]

_UNLESS = [
    (".L2::cache_hint !+cache-policy", ".L2::cache_hint requires a cache policy as the last operand"),
    ("!.L2::cache_hint +cache-policy", "a cache policy requires .L2::cache_hint"),
    (f".L2::cache_hint {_SHARED}", "hints to the caches are for global memory"),
]

_SPACE = {".global": ".global", _SHARED: ".shared", "": GENERIC}
_ADDRESS = address(_SPACE, access="both", pointer=GENERIC_OR_GLOBAL)

instruction(
    "atom",
    section="parallel-synchronization-and-communication-instructions-atom",
    summary="Replaces a value in memory by the result of an operation with b, in one step that"
    " no other atomic operation divides, and returns the old value.",
    syntax=f"""
        {_SYNTAX.replace("NAME", "atom").replace("TARGET", "d, [a]{.unified}")}
        .sem = {{ .relaxed, .acquire, .release, .acq_rel }};
        -----
        atom{{.sem}}{{.scope}}{{.space}}.exch{{.level::cache_hint}}.type
            d, [a]{{.unified}}, b{{, cache-policy}};
        .type = {{ .b32, .b64, .b128 }};
        -----
        atom{{.sem}}{{.scope}}{{.space}}.cas.type d, [a]{{.unified}}, b, c;
        .type = {{ .b16, .b32, .b64, .b128 }};
        -----
        atom{{.sem}}{{.scope}}{{.space}}.bitwise.b32 d, [a]{{.unified}}, b, ignored;
        atom{{.sem}}{{.scope}}{{.space}}.exch.wide d, [a]{{.unified}}, b, ignored;
        .bitwise = {{ .and, .or, .xor }};
        .wide = {{ .b32, .b128 }};
    """,
    operands={
        "d": writes(count=".vec", sink=True, discarded=True),
        "a": _ADDRESS,
        "b": reads(count=".vec"),
        "c": reads(),
        "ignored": reads(immediate=False, also=("single",)),
        "cache-policy": reads(".b64"),
    },
    unless=[
        *_UNLESS,
        (f"+a:suffix {_SHARED}", ".unified is for addresses of global memory"),
    ],
    since=[
        ("", "1.0", 11),
        *_SINCE,
        (".acquire|.acq_rel", "6.0", 70),
        (".b16", "6.3", 70),
        (".b128", "8.3", 90),
        (".b128 .sys", "8.4", 90),
    ],
    notes=[
        "ptxas takes atom.global from PTX ISA 1.0; the manual says 1.1.",
        "ptxas takes a third value after .exch and the bitwise operations, and ignores it.",
    ],
    example="atom.global.add.u32 %u32_1, [%u64_1], 1;",
)

instruction(
    "red",
    section="parallel-synchronization-and-communication-instructions-red",
    summary="Replaces a value in memory by the result of an operation with b, in one step that"
    " no other atomic operation divides; returns nothing.",
    syntax=f"""
        {_SYNTAX.replace("NAME", "red").replace("TARGET", "[a]")}
        .sem = {{ .relaxed, .release }};
    """,
    operands={
        "a": address(_SPACE, access="both", pointer=GENERIC_OR_GLOBAL, also=("sink",)),
        "b": reads(count=".vec"),
        "cache-policy": reads(".b64"),
    },
    unless=_UNLESS,
    since=[("", "1.2", 11), *_SINCE],
    notes=[
        "An example of the manual has red with .acquire, which ptxas refuses.",
        "ptxas takes `_` for the address, too.",
    ],
    example="red.global.add.f32 [%u64_1], %f32_1;",
)
