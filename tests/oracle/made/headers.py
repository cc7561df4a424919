"""Damage to `.version`, `.target`, `.address_size` and the heads of kernels."""

from __future__ import annotations

from random import Random

from tests.oracle.mutation.suite import MADE, Change, any_of, inserted, replaced
from tests.oracle.mutation.tokens import PtxFile, Statement

_BOUNDS = (
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnreg",
    ".maxnctapersm",
    ".reqnctapercluster",
    ".maxclusterrank",
    ".explicitcluster",
    ".blocksareclusters",
    ".noreturn",
    ".abi_preserve",
    ".abi_preserve_control",
    ".local_maxnreg",
    ".minperctamemory",
    ".maxregs",
)


def _header(file: PtxFile) -> list[Statement]:
    return [s for s in file.of("line") if s.tokens[0].text in (".version", ".target", ".address_size")]


def _heads(file: PtxFile) -> list[Statement]:
    return [s for s in file.of("head") if s.tokens[-1].text == "{" or s.tokens[-1].text != ";"]


@MADE.kind("header line dropped, doubled or moved")
def header_line(file: PtxFile, random: Random) -> Change | None:
    line = any_of(random, _header(file))
    if line is None:
        return None
    text = file.text[line.start : line.end]
    match random.randrange(4):
        case 0:
            return Change(line.start, line.end, "")
        case 1:
            return inserted(line.end, "\n" + text)
        case 2:
            first = _header(file)[0]
            return inserted(first.start, text + "\n")
        case _:
            place = any_of(random, file.of("declaration", "instruction", "head"))
            return inserted(place.start, text + "\n") if place else None


@MADE.kind("argument of .version")
def version(file: PtxFile, random: Random) -> Change | None:
    line = next(s for s in _header(file) if s.tokens[0].text == ".version")
    return Change(
        line.tokens[1].start,
        line.tokens[-1].end,
        random.choice(
            (
                "",
                "8",
                "8.",
                ".8",
                "8.9",
                "1.6",
                "99.0",
                "8.0.0",
                "8.0;",
                "-8.0",
                "08.0",
                "8.00",
                "8 .0",
                '"8.0"',
                "8.0 8.0",
                "8,0",
                "0x8.0",
                "8e0",
                "v8.0",
                "8.0f",
                "2.4",
                "6.6",
            )
        ),
    )


@MADE.kind("argument of .target")
def target(file: PtxFile, random: Random) -> Change | None:
    line = next(s for s in _header(file) if s.tokens[0].text == ".target")
    own = line.tokens[1].text
    return Change(
        line.tokens[1].start,
        line.tokens[-1].end,
        random.choice(
            (
                "",
                "sm_",
                "sm_99",
                "SM_80",
                "80",
                "sm80",
                f"{own},",
                f"{own};",
                f"{own}, {own}",
                f"{own} debug",
                f"{own}, debug",
                f"{own}, texmode_unified",
                f"{own}, texmode_independent",
                f"{own}, texmode_unified, texmode_independent",
                f"{own}, map_f64_to_f32",
                f"{own}, foo",
                "debug",
                f"debug, {own}",
                "compute_90",
                "sm_90b",
                "sm_90 a",
                f"{own}, sm_75",
                f'"{own}"',
                "texmode_unified",
                f"{own}, debug, debug",
            )
        ),
    )


@MADE.kind("argument of .address_size")
def address_size(file: PtxFile, random: Random) -> Change | None:
    line = next((s for s in _header(file) if s.tokens[0].text == ".address_size"), None)
    return Change(
        line.tokens[1].start,
        line.tokens[-1].end,
        random.choice(
            (
                "",
                "32",
                "16",
                "0",
                "-64",
                "64;",
                "0x40",
                "64.0",
                "64U",
                "x",
                "64 64",
                "0100",
                "128",
                "64, 64",
                "(64)",
                "32+32",
            )
        ),
    ) if line else None


@MADE.kind("performance directive")
def bound(file: PtxFile, random: Random) -> Change | None:
    head = any_of(random, _heads(file))
    if head is None:
        return None
    word = random.choice(_BOUNDS)
    value = random.choice(
        (
            "",
            "0",
            "1",
            "2",
            "16",
            "17",
            "32",
            "255",
            "256",
            "1024",
            "-1",
            "1.5",
            "4294967296",
            "2, 2",
            "1, 1, 1",
            "1, 1, 1, 1",
            "x",
            "2*8",
            "0x20",
            "(4)",
            "32;",
            "1,",
            '"4"',
        )
    )
    return inserted(head.tokens[-1].start, f"\n{word} {value}\n")


@MADE.kind("argument of a performance directive", times=3)
def bound_argument(file: PtxFile, random: Random) -> Change | None:
    values = [
        after
        for head in file.of("head")
        for before, after in zip(head.tokens, head.tokens[1:], strict=False)
        if before.text in _BOUNDS and after.kind == "number"
    ]
    token = any_of(random, values)
    return replaced(
        token,
        random.choice(
            (
                "",
                "0",
                "-1",
                "1.5",
                "4294967296",
                "2147483648",
                "1025",
                "65536",
                "x",
                "1 1",
                "1,",
                "1, 1, 1, 1",
                "1;",
                "2*8",
                "(4)",
                "0x20",
                "32U",
                "07",
                '"1"',
                "16, 16",
            )
        ),
    ) if token else None


@MADE.kind("parameters of a kernel")
def kernel_parameter(file: PtxFile, random: Random) -> Change | None:
    kernels = [s for s in file.of("head") if any(t.text == ".entry" for t in s.tokens)]
    head = any_of(random, kernels)
    if head is None:
        return None
    name = next(i for i, t in enumerate(head.tokens) if t.text == ".entry") + 1
    if name + 1 == len(head.tokens) or head.tokens[name + 1].text != "(":
        return inserted(
            head.tokens[name].end, random.choice(("(", "()", "(.param .b32 x)", "(.param .b32)", ")", "[16]"))
        )
    return inserted(
        head.tokens[name + 1].end,
        random.choice(
            (
                ".param .b32 added,",
                ".reg .b32 added,",
                ".param .b32 added",
                ".param added,",
                ".b32 added,",
                ",",
                ".param .b32,",
                ".param .pred added,",
                ".param .v2 .b32 added,",
                ".param .b32 added[],",
                ".param .b32 added[0],",
                ".param .b8 added[5000],",
                ".param .b128 added,",
                ".param .f16x2 added,",
                ".param .align 3 .b32 added,",
                ".param .b32 %added,",
                ".param .b32 n, .param .b32 n,",
                ".param .b32 added = 1,",
                ".param .b32 a b,",
                ".shared .b32 added,",
                ".param .align 256 .b8 added[4],",
                "_,",
                "void",
            )
        ),
    )


@MADE.kind("token of a kernel's head")
def kernel_token(file: PtxFile, random: Random) -> Change | None:
    kernels = [s for s in file.of("head") if any(t.text == ".entry" for t in s.tokens)]
    head = any_of(random, kernels)
    token = any_of(random, head.tokens) if head else None
    return replaced(
        token,
        random.choice(
            (
                "",
                "(",
                ")",
                "{",
                "}",
                ";",
                ",",
                ".entry",
                ".func",
                ".param",
                ".b32",
                "x",
                "1",
                f"{token.text} {token.text}",
                "[",
                "]",
                ".visible",
            )
        ),
    ) if token else None


@MADE.kind("head without a body")
def without_body(file: PtxFile, random: Random) -> Change | None:
    """A head ended by a semicolon, of a function that is defined elsewhere or nowhere."""
    place = any_of(random, [s for s in file.of("head", "declaration") if s.block < 0])
    return inserted(
        place.start,
        random.choice(
            (
                ".entry added();",
                ".visible .entry added(.param .u64 x);",
                ".func added();",
                ".extern .func added();",
                ".visible .func added();",
                ".weak .func added();",
                ".extern .entry added();",
                ".func (.param .b32 r) added(.param .b32 x);",
                ".entry added;",
                ".func added;",
                ".entry added() .maxntid 32;",
                ".func added() .noreturn;",
                ".func (.reg .b32 r) added(.reg .b32 x);",
                ".entry ();",
                ".func ();",
                ".entry added() {",
                ".func added() }",
                ".entry added() {}",
                ".func added() {}",
            )
        )
        + "\n",
    ) if place else None
