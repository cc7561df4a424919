"""Moves, addresses and exchange between threads (PTX ISA, "Data Movement and Conversion")."""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.meaning import Lanes, Operation
from ptx_lsp.isa.schema.operand import only, predicate, reads, writes

_SECTION = "data-movement-and-conversion-instructions"
_INTEGERS = ".b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64"

_SPECIAL_NOTE = "ptxas reads %tid, %ntid, %ctaid, %nctaid and %gridid in less than their size, too."
_FUNCTION = ("+name:function", "2.1", 10)


@instruction(
    "mov",
    section=f"{_SECTION}-mov",
    summary="Copies a register, a constant or a special register, or takes the address of a"
    " variable (in its own state space) or of a function.",
    syntax=f"""
        mov.type  d, a;
        mov.stype d, sreg;
        mov.pred  d, flag;
        mov.ntype d, variable;
        mov.type  d, name;
        .type  = {{ .pred, {_INTEGERS}, .f32, .f64, .b128 }};
        .stype = {{ {_INTEGERS} }};
        .ntype = {{ {_INTEGERS}, .b128 }};
    """,
    operands={
        "sreg": only("special"),
        "flag": only("special", type=".pred"),
        "variable": only("variable", what="a variable", pointer=True),
        "name": only("function", what="a function"),
    },
    since=[("", "1.0", 10), (".b128", "8.3", 70), _FUNCTION, ("+flag", "7.8", 90)],
    notes=[
        "ptxas takes .b128, which the manual has for packing alone.",
        "The address of a kernel requires PTX ISA 3.1 and sm_35.",
        "ptxas takes the address of a variable in any integer type, of a function in any type; of one in"
        " .global without an offset not in 32 bits, where .address_size is 64.",
        _SPECIAL_NOTE,
    ],
    example="mov.u32 %r1, %tid.x;",
)
def mov(op: Operation, a: Lanes) -> Lanes:
    return a


_HALF = {".b16": ".b8", ".b32": ".b16", ".b64": ".b32", ".b128": ".b64"}
_QUARTER = {".b32": ".b8", ".b64": ".b16", ".b128": ".b32"}


@instruction(
    "mov",
    section=f"{_SECTION}-mov-2",
    summary="Packs two or four elements into one register, the first lowest, or unpacks them.",
    syntax="""
        mov.type d, {a, b};
        mov.type {e, f}, p;
        mov.half {e, f}, sreg;
        mov.type {e, f}, name;
        mov.quad d, {w, x, y, z};
        mov.quad {i, j, k, l}, p;
        mov.part {i, j, k, l}, sreg;
        mov.quad {i, j, k, l}, name;
        mov.full d, vector;
        .type = { .b16, .b32, .b64, .b128 };
        .quad = { .b32, .b64, .b128 };
        .half = { .b16, .b32, .b64 };
        .part = { .b32, .b64 };
        .full = { .b128 };
    """,
    operands=(
        {"p": reads(), "sreg": only("special")}
        | {"vector": only("special", type=".b32")._replace(elements=4)}
        | {"name": only("variable", "function", what="a variable or a function", pointer=True)}
        | {part: reads(_HALF, also=("sink",)) for part in "ab"}
        | {part: reads(_QUARTER, also=("sink",)) for part in "wxyz"}
        | {part: writes(_HALF, sink=True) for part in "ef"}
        | {part: writes(_QUARTER, sink=True) for part in "ijkl"}
    ),
    unless=[
        (f"!.b32 {given}", "_ is only allowed for an element that is packed in .b32")
        for given in ("+a:sink|+b:sink", "+w:sink|+x:sink|+y:sink|+z:sink")
    ],
    since=[("", "1.0", 10), (".b128", "8.3", 70), _FUNCTION],
    notes=["ptxas takes _ for an element that is packed in .b32, too, and packs zeros for it."],
    example="mov.b64 {%r1, %r2}, %rd1;",
)
def repack(op: Operation, *parts: Lanes) -> Lanes | tuple[Lanes, ...]:
    four = op.slot("quad") or op.slot("part") or op.slot("full")
    count = 4 if four else 2
    width = op.width // count
    if len(parts) == 1:
        return tuple(parts[0] >> (width * at) for at in range(count))
    packed = parts[0]
    for at, part in enumerate(parts[1:], 1):
        packed = packed | (part << (width * at))
    return packed


@instruction(
    "mov",
    section=f"{_SECTION}-mov-2",
    summary="Copies a register of the very size, packed or unpacked as a vector of one element.",
    syntax="""
        mov.type d, {a};
        mov.type {e}, p;
        mov.half {e}, sreg;
        mov.type {e}, name;
        .type = { .b16, .b32, .b64, .b128 };
        .half = { .b16, .b32, .b64 };
    """,
    operands={
        "p": reads(),
        "sreg": only("special"),
        "name": only("variable", "function", what="a variable or a function"),
    },
    since=[("", "1.0", 10), (".b128", "8.3", 70), _FUNCTION],
    notes=["ptxas takes one element, which the manual does not have."],
    example="mov.b32 %b32_1, {%u32_1};",
)
def copy_element(op: Operation, a: Lanes) -> Lanes:
    return a


_LOOSE = {".f32": ".f32|.u32", ".f64": ".f64|.u64", "": ".type"}


@instruction(
    "mov",
    section=f"{_SECTION}-mov",
    summary="Copies a vector element by element, or takes a scalar apart: each element gets its part of"
    " the bits, the lowest first, zero-extended.",
    syntax=f"""
        mov.vec.type  d, v;
        mov.v4.whole  d, sreg;
        mov.vec.type  d, a;
        mov.vec.stype d, special;
        mov.vec.stype d, variable;
        mov.vec.type  d, name;
        .vec   = {{ .v2, .v4 }};
        .type  = {{ {_INTEGERS}, .f32, .f64 }};
        .stype = {{ {_INTEGERS} }};
        .whole = {{ .b16, .u16, .s16, .b32, .u32, .s32 }};
    """,
    operands={
        "d": writes(_LOOSE, count={".v4": 4, "": 2}, sink=True),
        "v": reads(_LOOSE, count=".vec"),
        "sreg": only("special")._replace(elements=4),
        "special": only("special"),
        "variable": only("variable", what="a variable", pointer=True),
        "name": only("function", what="a function"),
    },
    unless=[
        (".v4 .b64|.u64|.s64|.f64", "a vector has at most 128 bits: `.v4` takes 16 and 32-bit types")
    ],
    since=[("", "1.0", 10), _FUNCTION],
    notes=[
        "The manual has no more than examples; what a scalar becomes is seen in machine code by ptxas.",
        "Parts of an `.f32` or `.f64` become numbers; `.v4` of 16 bits has all in its first element.",
        _SPECIAL_NOTE,
    ],
    example="mov.v2.u32 {%r1, %r2}, {%r3, %r4};",
)
def mov_vector(op: Operation, *parts: Lanes) -> tuple[Lanes, ...]:
    count = 2 if op.slot("vec") == ".v2" else 4
    if len(parts) == count:
        return parts
    (a,) = parts
    if op.width == 16 and count == 4:
        return a, a & 0, a & 0, a & 0
    width = op.width // count
    taken = [a >> width * at & (1 << width) - 1 for at in range(count)]
    is_float = op.slot("type") in (".f32", ".f64")
    return tuple(op.bits(op.round(op.real(one))) if is_float else one for one in taken)


_MODES = ".mode = { .up, .down, .bfly, .idx };"
_SHUFFLE = {
    "p": predicate("write", sink=True),
    "b": reads(".b32"),
    "c": reads(".b32"),
    "membermask": reads(".u32"),
}


instruction(
    "shfl",
    section=f"{_SECTION}-shfl-sync",
    summary="Waits for the threads of the mask, then reads a of another lane of the warp; p is true if "
            "that lane was in range.",
    syntax=f"shfl.sync.mode.b32 d{{|p}}, a, b, c, membermask; {_MODES}",
    operands=_SHUFFLE,
    since=[("", "6.0", 30)],
    example="shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 0x1f, 0xffffffff;",
)

instruction(
    "shfl",
    section=f"{_SECTION}-shfl",
    summary="Reads a of another lane of the warp, without waiting for it (use shfl.sync).",
    syntax=f"shfl.mode.b32 d{{|p}}, a, b, c; {_MODES}",
    operands={name: what for name, what in _SHUFFLE.items() if name != "membermask"},
    since=[("", "3.0", 30)],
    until=[
        ("", "6.4", 70, "`shfl` without `.sync` is gone: use `shfl.sync` with a membermask"),
        ("", "6.0", 10, "`shfl` without `.sync` is deprecated: use `shfl.sync`", "deprecated"),
    ],
    example="shfl.up.b32 %r1|%p1, %r2, 1, 0;",
)

@instruction(
    "prmt",
    section=f"{_SECTION}-prmt",
    summary="Picks four of the eight bytes of b (high) and a (low), as the selectors in c say.",
    syntax="""
        prmt.b32{.mode} d, a, b, c;
        .mode = { .f4e, .b4e, .rc8, .ecl, .ecr, .rc16 };
    """,
    since=[("", "2.0", 20)],
    example="prmt.b32 %r1, %r2, %r3, 0x5410;",
)
def prmt(op: Operation, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    both = (b << 32) | (a & 0xFFFFFFFF)
    result = a & 0
    for at in range(4):
        selector = _selected(op, c, at)
        byte = (both >> ((selector & 7) << 3)) & 0xFF
        result = result | (op.select(selector & 8, (byte >> 7) * 0xFF, byte) << (8 * at))
    return result


def _selected(op: Operation, c: Lanes, at: int) -> Lanes:
    """Which byte goes to position `at`; with bit 3, copies of its sign instead."""
    control = c & 3
    match op.slot("mode"):
        case "":
            return (c >> (4 * at)) & 15
        case ".f4e":
            return control + at
        case ".b4e":
            return (control - at) & 7
        case ".rc8":
            return control
        case ".ecl":
            return op.select(control < at, at, control)
        case ".ecr":
            return op.select(control < at, control, at)
        case _:
            return ((control & 1) << 1) + (at & 1)


_ANY_SPACE = ".space = { .const, .global, .local, .shared{::cta, ::cluster}, .param{::entry} };"
_CTA_NOTE = "The manual asks for sm_30 with ::cta; ptxas does not."
_ANY_SPACE_SINCE = [
    ("", "2.0", 20),
    (".const", "3.1", 20),
    (".param|.param::entry", "7.7", 70),
    (".param::entry", "8.3", 70),
    (".shared::cta", "7.8", 20),
    (".shared::cluster", "7.8", 90),
]


@instruction(
    "isspacep",
    section=f"{_SECTION}-isspacep",
    summary="Whether a generic address lies in a state space.",
    syntax=f"isspacep.space p, a; {_ANY_SPACE}",
    operands={"p": predicate("write"), "a": reads(".u64|.u32")},
    since=_ANY_SPACE_SINCE,
    notes=[_CTA_NOTE],
    example="isspacep.shared %p1, %rd1;",
)
def isspacep(op: Operation, a: Lanes) -> Lanes:
    """Global memory is all that is in no other window; constants lie in it."""
    window, space = a >> 32, op.slot("space")
    if space in (".shared", ".shared::cta"):
        here = _rank(op, a) ^ op.special("%cluster_ctarank")
        return op.select(window ^ (op.window(space) >> 32), 0, op.select(here, 0, (a & 0) + 1))
    if op.window(space):
        return op.select(window ^ (op.window(space) >> 32), 0, (a & 0) + 1)
    inside = a & 0
    for other in (".shared", ".local", ".param"):
        inside = op.select(window ^ (op.window(other) >> 32), inside, (a & 0) + 1)
    return inside ^ 1


def _rank(op: Operation, a: Lanes) -> Lanes:
    """Of the block in whose shared memory an address lies. Bits 24 to 31 tell it, plus 1; 0 is the block
    itself.
    """
    told = a >> 24 & 0xFF
    return op.select(told, told - 1, op.special("%cluster_ctarank"))


@instruction(
    "cvta",
    section=f"{_SECTION}-cvta",
    summary="Makes a generic address of an address in a state space.",
    syntax=f"""
        cvta.space.size d, a;
        cvta.space.size d, variable;
        {_ANY_SPACE}
        .size = {{ .u32, .u64 }};
    """,
    operands={
        "d": writes(pointer=True),
        "variable": only("variable", space=".space", what="a variable"),
    },
    since=_ANY_SPACE_SINCE,
    notes=[_CTA_NOTE],
    example="cvta.global.u64 %rd1, %rd2;",
)
def cvta(op: Operation, a: Lanes) -> Lanes:
    return a + op.window(op.slot("space"))


@instruction(
    "cvta.to",
    section=f"{_SECTION}-cvta",
    summary="Makes an address in a state space of a generic address that lies in it.",
    syntax=f"cvta.to.space.size d, a; {_ANY_SPACE} .size = {{ .u32, .u64 }};",
    operands={"d": writes(pointer=True)},
    since=_ANY_SPACE_SINCE,
    notes=[_CTA_NOTE],
    example="cvta.to.global.u64 %rd1, %rd2;",
)
def cvta_to(op: Operation, a: Lanes) -> Lanes:
    return a - op.window(op.slot("space"))


_SIGNED_NOTE = "ptxas takes signed types too, which the manual does not have."


@instruction(
    "mapa",
    section=f"{_SECTION}-mapa",
    summary="The address, in the shared memory of the block of rank b, that corresponds to a.",
    syntax="""
        mapa{.space}.type d, a, b;
        mapa{.space}.type d, variable, b;
        .space = { .shared::cluster };
        .type  = { .u32, .u64, .s32, .s64 };
    """,
    operands={
        "variable": only("variable", space=".shared", what="a variable in `.shared`"),
        "b": reads(".u32"),
    },
    since=[("", "7.8", 90)],
    notes=[_SIGNED_NOTE],
    example="mapa.shared::cluster.u32 %r1, %r2, 3;",
)
def mapa(op: Operation, a: Lanes, b: Lanes) -> Lanes:
    if not op.slot("space"):  # the name of a variable stands for its address in shared memory
        a = op.select(a >> 32, a, a + op.window(".shared"))
    return (a ^ (a & 0xFF << 24)) | (b + 1 & 0xFF) << 24


@instruction(
    "getctarank",
    section=f"{_SECTION}-getctarank",
    summary="The rank, in its cluster, of the block in whose shared memory the address lies.",
    syntax="""
        getctarank{.space}.type d, a;
        getctarank{.space}.type d, variable;
        .space = { .shared::cluster };
        .type  = { .u32, .u64, .s32, .s64 };
    """,
    operands={
        "d": writes(".u32"),
        "variable": only("variable", space=".shared", what="a variable in `.shared`"),
    },
    since=[("", "7.8", 90)],
    notes=[_SIGNED_NOTE],
    example="getctarank.u64 %r1, %rd1;",
)
def getctarank(op: Operation, a: Lanes) -> Lanes:
    return _rank(op, a)
