"""Loads, stores and prefetches (PTX ISA, section "Data Movement and Conversion Instructions")."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import GENERIC, GENERIC_OR_GLOBAL, address, reads, writes

_DEFINITIONS = """
        .level1::eviction_priority = { .L1::evict_normal, .L1::evict_unchanged, .L1::evict_first,
                                       .L1::evict_last, .L1::no_allocate };
        .level2::eviction_priority = { .L2::evict_normal, .L2::evict_first, .L2::evict_last };
        .level::cache_hint = { .L2::cache_hint };
        .level::prefetch_size = { .L2::64B, .L2::128B, .L2::256B };
        .scope = { .cta, .cluster, .gpu, .sys };
        .vec = { .v2, .v4, .v8 };
        .type = { .b8, .b16, .b32, .b64, .b128, .u8, .u16, .u32, .u64,
                  .s8, .s16, .s32, .s64, .f32, .f64 };
"""

_L1 = ".L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate"
_L2 = ".L2::evict_normal|.L2::evict_first|.L2::evict_last"
_PREFETCH = ".L2::64B|.L2::128B|.L2::256B"
_SHARED = ".shared|.shared::cta|.shared::cluster"
_PARAM = ".param|.param::entry|.param::func"
_OTHER_SPACES = f".const|.local|{_PARAM}|{_SHARED}"
_SIZE_32 = ".b32|.u32|.s32|.f32"
_SIZE_64 = ".b64|.u64|.s64|.f64"
_WIDE_8 = f".v8 {_SIZE_32}"
_WIDE_4 = f".v4 {_SIZE_64}"

_LENGTH = {".v2": 2, ".v4": 4, ".v8": 8, "": (0, 1)}
_VALUES = writes(count=_LENGTH, wider=True, sink=True)
_SOURCES = reads(count=_LENGTH, wider=True, also=("sink",))
_SPACE = {".global": ".global", "ss=": GENERIC, "": ".ss"}
_POLICY = reads(".b64")

_NO_POLICY = [
    (".L2::cache_hint !+cache-policy", ".L2::cache_hint requires a cache policy as the last operand"),
    ("!.L2::cache_hint +cache-policy", "a cache policy requires .L2::cache_hint"),
]
_TOO_LONG = [
    (f".v8 {_SIZE_64}|.b128", "a vector holds at most 256 bits"),
    (".v2|.v4 .b128", "a vector holds at most 256 bits"),
]
_GLOBAL_ONLY = [
    (f"{_L1}|{_L2}|{_PREFETCH}|.L2::cache_hint {_OTHER_SPACES}",
     "hints to the caches are for global memory"),
    (f"{_WIDE_8} {_OTHER_SPACES}", "only global memory has vectors of 256 bits"),
    (f"{_WIDE_4} {_OTHER_SPACES}", "only global memory has vectors of 256 bits"),
]
_256_BITS_ONLY = [
    (f"{_L2} !.v4|.v8", "an eviction priority for L2 requires a 256-bit vector"),
    (f"{_L2} .v8 !{_SIZE_32}", "an eviction priority for L2 requires a 256-bit vector"),
    (f"{_L2} .v4 !{_SIZE_64}", "an eviction priority for L2 requires a 256-bit vector"),
]
_ORDERED_SPACES = [
    (f".volatile .const|{_PARAM}", ".volatile is for memory that threads write"),
    (f".relaxed|.acquire|.release .const|.local|{_PARAM}",
     "a memory order is for global and shared memory"),
]
_ONE_VALUE = ("vec= +d:sink", "a load into _ alone loads nothing")

_HINTS_SINCE = [
    (_L1, "7.4", 70),
    (".L2::cache_hint", "7.4", 80),
    (_L2, "8.8", 100),
    (_WIDE_8, "8.8", 100),
    (_WIDE_4, "8.8", 100),
    (".b128", "8.3", 70),
]
_PREFETCH_SINCE = [(".L2::64B|.L2::128B", "7.4", 75), (".L2::256B", "7.4", 80)]
_ORDER_SINCE = [
    ("ss=", "2.0", 20),
    (".volatile", "1.1", 10),
    (".volatile .local", "9.1", 10),
    (".weak|.relaxed|.acquire|.release", "6.0", 70),
    (".cluster", "7.8", 90),
    (".sys .b128", "8.4", 70),
    (".mmio", "8.2", 70),
    (".mmio .acquire|.release", "9.3", 70),
    (".shared::cta", "7.8", 10),
    (".shared::cluster", "7.8", 90),
    (".param::func", "8.3", 20),
]

instruction(
    "ld",
    section="data-movement-and-conversion-instructions-ld",
    summary="Loads a value, or a vector of values, from memory. Without a state space the address"
    " is generic.",
    syntax=f"""
        ld{{.weak}}{{.ss}}{{.cop}}{{.level::cache_hint}}{{.level::prefetch_size}}{{.vec}}.type
            d, [a]{{.unified}}{{, cache-policy}};
        ld{{.weak}}{{.ss}}{{.level1::eviction_priority}}{{.level2::eviction_priority}}\
{{.level::cache_hint}}{{.level::prefetch_size}}{{.vec}}.type
            d, [a]{{.unified}}{{, cache-policy}};
        ld.volatile{{.ss}}{{.level::prefetch_size}}{{.vec}}.type d, [a]{{.unified}};
        ld.order.scope{{.ss}}{{.level1::eviction_priority}}{{.level2::eviction_priority}}\
{{.level::cache_hint}}{{.level::prefetch_size}}{{.vec}}.type
            d, [a]{{.unified}}{{, cache-policy}};
        ld.mmio.order.sys{{.global}}.type d, [a]{{.unified}};
        ld.proxy::readonly{{.global}}{{.level2::eviction_priority}}{{.vec}}.type
            d, [a]{{.unified}};
        .ss = {{ .const, .global, .local, .param{{::entry, ::func}}, .shared{{::cta, ::cluster}} }};
        .cop = {{ .ca, .cg, .cs, .lu, .cv }};
        .order = {{ .relaxed, .acquire }};
        {_DEFINITIONS}
    """,
    operands={
        "d": _VALUES,
        "a": address(_SPACE, pointer=GENERIC_OR_GLOBAL, also=("element",)),
        "cache-policy": _POLICY,
    },
    unless=[
        *_NO_POLICY,
        *_TOO_LONG,
        *_GLOBAL_ONLY,
        *_256_BITS_ONLY,
        *_ORDERED_SPACES,
        _ONE_VALUE,
        (f"+a:suffix {_OTHER_SPACES}", ".unified is for addresses of global memory"),
        (".proxy::readonly .b128", ".proxy::readonly does not load .b128"),
    ],
    since=[
        ("", "1.0", 10),
        (".ca|.cg|.cs|.lu|.cv", "2.0", 20),
        (".param::entry", "8.3", 10),
        *_ORDER_SINCE,
        *_HINTS_SINCE,
        *_PREFETCH_SINCE,
        (".proxy::readonly", "9.4", 90),
    ],
    notes=[
        "ptxas takes .unified for every version and target; the manual says 8.0 and sm_90.",
        "ptxas takes .f64 and .shared::cta for every target, and vectors of eight 8- or 16-bit"
        " values.",
        "ptxas takes .mmio with .acquire (from 9.3), which the manual of 9.1 does not have.",
        "ptxas takes _ in every vector; the manual, in vectors of 256 bits.",
    ],
    example="ld.global.v4.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [%u64_1+16];",
)

instruction(
    "ld",
    section="data-movement-and-conversion-instructions-ld-global-nc",
    summary="Loads global memory that nothing writes while the kernel runs, through the read-only"
    " (non-coherent) cache.",
    syntax=f"""
        ld.global{{.cop}}.nc{{.level::cache_hint}}{{.level::prefetch_size}}{{.vec}}.type
            d, [a]{{.unified}}{{, cache-policy}};
        ld.global.nc{{.level1::eviction_priority}}{{.level2::eviction_priority}}\
{{.level::cache_hint}}{{.level::prefetch_size}}{{.vec}}.type
            d, [a]{{.unified}}{{, cache-policy}};
        ld.global.nc.proxy::readonly{{.level2::eviction_priority}}{{.vec}}.type
            d, [a]{{.unified}};
        .cop = {{ .ca, .cg, .cs }};
        {_DEFINITIONS}
    """,
    operands={
        "d": _VALUES,
        "a": address(".global", pointer=True, also=("element",)),
        "cache-policy": _POLICY,
    },
    unless=[
        *_NO_POLICY,
        *_TOO_LONG,
        *_256_BITS_ONLY,
        _ONE_VALUE,
        (".proxy::readonly .b128", ".proxy::readonly does not load .b128"),
    ],
    since=[
        ("", "3.1", 32),
        *_HINTS_SINCE,
        *_PREFETCH_SINCE,
        (".proxy::readonly", "9.4", 90),
    ],
    example="ld.global.nc.f32 %f32_1, [%u64_1];",
)

instruction(
    "ldu",
    section="data-movement-and-conversion-instructions-ldu",
    summary="Loads global memory from an address that all threads of a warp have in common.",
    syntax=f"""
        ldu{{.ss}}{{.vec}}.type d, [a]{{.unified}};
        {_DEFINITIONS}
        .ss = {{ .global }};
        .vec = {{ .v2, .v4 }};
    """,
    operands={
        "d": writes(count={".v2": 2, ".v4": 4, "": (0, 1)}, wider=True, sink=True),
        "a": address({".global": ".global", "": GENERIC}, pointer=True, also=("element",)),
    },
    unless=[
        (f".v4 {_SIZE_64}", "a vector holds at most 128 bits"),
        (".v2|.v4 .b128", "a vector holds at most 128 bits"),
        _ONE_VALUE,
    ],
    since=[("", "2.0", 20), (".b128", "8.3", 70)],
    example="ldu.global.u32 %u32_1, [%u64_1];",
)

instruction(
    "st",
    section="data-movement-and-conversion-instructions-st",
    summary="Stores a value, or a vector of values, to memory. Without a state space the address"
    " is generic.",
    syntax=f"""
        st{{.weak}}{{.ss}}{{.cop}}{{.level::cache_hint}}{{.vec}}.type [a], b{{, cache-policy}};
        st{{.weak}}{{.ss}}{{.level1::eviction_priority}}{{.level2::eviction_priority}}\
{{.level::cache_hint}}{{.vec}}.type
            [a], b{{, cache-policy}};
        st.volatile{{.ss}}{{.vec}}.type [a], b;
        st.order.scope{{.ss}}{{.level1::eviction_priority}}{{.level2::eviction_priority}}\
{{.level::cache_hint}}{{.vec}}.type
            [a], b{{, cache-policy}};
        st.mmio.order.sys{{.global}}.type [a], b;
        .ss = {{ .global, .local, .param{{::func}}, .shared{{::cta, ::cluster}} }};
        .cop = {{ .wb, .cg, .cs, .wt }};
        .order = {{ .relaxed, .release }};
        {_DEFINITIONS}
    """,
    operands={
        "a": address(_SPACE, access="write", pointer=GENERIC_OR_GLOBAL, also=("element",)),
        "b": _SOURCES,
        "cache-policy": _POLICY,
    },
    unless=[
        *_NO_POLICY,
        *_TOO_LONG,
        *_GLOBAL_ONLY,
        *_256_BITS_ONLY,
        *_ORDERED_SPACES,
        ("+b:sink !.v4|.v8", "_ is only allowed in a 256-bit vector"),
        (f"+b:sink .v8 !{_SIZE_32}", "_ is only allowed in a 256-bit vector"),
        (f"+b:sink .v4 !{_SIZE_64}", "_ is only allowed in a 256-bit vector"),
    ],
    since=[
        ("", "1.0", 10),
        (".wb|.cg|.cs|.wt", "2.0", 20),
        (".param", "2.0", 20),
        *_ORDER_SINCE,
        *_HINTS_SINCE,
    ],
    notes=[
        "ptxas takes .f64 and .shared::cta for every target, and vectors of eight 8- or 16-bit"
        " values.",
        "ptxas takes .mmio with .release (from 9.3), which the manual of 9.1 does not have.",
    ],
    example="st.global.u32 [%u64_1+4], %u32_1;",
)

instruction(
    "prefetch",
    section="data-movement-and-conversion-instructions-prefetch-prefetchu",
    summary="Brings the cache line of an address, or a tensor map, into a cache.",
    syntax="""
        prefetch{.space}.level [a];
        prefetch{.global}.level::eviction_priority [a];
        prefetch{.global}.L1::32B{.second}.valid_addr [a];
        prefetch{.tensormap_space}.tensormap [a];
        .space = { .global, .local };
        .level = { .L1, .L2 };
        .level::eviction_priority = { .L2::evict_last, .L2::evict_normal };
        .second = { .L1, .L2, .L2::evict_last, .L2::evict_normal, .tensormap };
        .tensormap_space = { .const, .param };
    """,
    operands={
        "a": address(
            {
                ".const": ".const",
                ".param": ".param",
                ".global": ".global",
                ".local": ".local",
                "": GENERIC,
            },
            access="none",
            type={".tensormap": ".u64|.u32", "": ".b64|.b32"},
            pointer=f"{GENERIC_OR_GLOBAL} !.tensormap",
        ),
    },
    unless=[(".global .tensormap", "a tensor map is in .const or .param, or at a generic address")],
    since=[
        ("", "2.0", 20),
        (".L2::evict_last|.L2::evict_normal", "7.4", 80),
        (".tensormap", "8.0", 90),
        (".L1::32B", "9.4", 90),
    ],
    notes=["ptxas takes a second level beside .L1::32B and does not say which one counts."],
    example="prefetch.global.L2 [%u64_1];",
)

instruction(
    "prefetchu",
    section="data-movement-and-conversion-instructions-prefetch-prefetchu",
    summary="Brings the cache line of a generic address into the uniform cache.",
    syntax="prefetchu.L1 [a];",
    operands={"a": address(".global", access="none", pointer=True)},
    since=[("", "2.0", 20)],
    example="prefetchu.L1 [%u64_1];",
)
