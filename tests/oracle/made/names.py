"""Damage to names and where they are declared."""

from __future__ import annotations

from random import Random

from tests.oracle.mutation.suite import MADE, Change, any_of, inserted, replaced, source_of
from tests.oracle.mutation.tokens import PtxFile, Token

_RESERVED = ("WARP_SZ", "_", "%tid", "%clock", "function_name", "%", "$", "1x", "a-b", ".x", "a.b", "ü")
_LEGAL_LOOKING = ("add", "sm_90", "b32", "entry", "$", "$1", "_1", "%_", "x$y", "inf", "nan", "clamp_to_edge")


def _declared(file: PtxFile) -> list[Token]:
    """The names of variables, registers, parameters, functions and labels where they are declared."""
    found = [statement.tokens[0] for statement in file.of("label")]
    for statement in file.of("declaration", "head"):
        for before, token, after in zip(
            statement.tokens, statement.tokens[1:], statement.tokens[2:], strict=False
        ):
            if token.kind == "word" and before.kind == "dotted" and after.text in ";[,)=<{(":
                found.append(token)
    return found


@MADE.kind("reserved name")
def reserved_name(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _declared(file))
    return replaced(token, random.choice(_RESERVED)) if token else None


@MADE.kind("reserved name everywhere")
def reserved_everywhere(file: PtxFile, random: Random) -> Change | None:
    """The name is changed where it is used, too."""
    return _renamed(file, random, random.choice(_RESERVED))


@MADE.kind("name that looks like a keyword")
def keyword_name(file: PtxFile, random: Random) -> Change | None:
    return _renamed(file, random, random.choice(_LEGAL_LOOKING))


@MADE.kind("duplicate declaration")
def duplicate_declaration(file: PtxFile, random: Random) -> Change | None:
    declared = any_of(random, file.of("declaration"))
    if declared is None:
        return None
    place = any_of(random, [s for s in file.of("declaration", "instruction") if s.block == declared.block])
    return inserted(place.end, "\n\t" + source_of(file, declared)) if place else None


@MADE.kind("declared as something else")
def redeclared(file: PtxFile, random: Random) -> Change | None:
    """A second declaration of the name, of another kind, in the same block."""
    declared = any_of(random, [s for s in file.of("declaration") if s.block >= 0])
    if declared is None:
        return None
    name = any_of(random, [t for t in declared.tokens if t.kind == "word"])
    if name is None:
        return None
    text = random.choice(
        (
            ".reg .b32 {};",
            ".local .b32 {};",
            ".param .b32 {};",
            "{}: mov.u32 {}, 1;",
            "{}:",
            ".shared .b8 {}[4];",
        )
    )
    return inserted(declared.end, "\n\t" + text.replace("{}", name.text))


@MADE.kind("two names exchanged")
def exchanged_names(file: PtxFile, random: Random) -> Change | None:
    """A use of one name becomes a use of a name of another kind."""
    uses = [
        token
        for statement in file.of("instruction")
        for operand in statement.operands
        for token in operand
        if token.kind == "word"
    ]
    token, other = any_of(random, uses), any_of(random, _declared(file))
    return replaced(token, other.text) if token and other else None


@MADE.kind("other case")
def other_case(file: PtxFile, random: Random) -> Change | None:
    words = [t for t in file.tokens if t.kind in ("word", "dotted") and t.text != t.text.swapcase()]
    token = any_of(random, words)
    if token is None:
        return None
    return replaced(token, random.choice((token.text.upper(), token.text.title(), token.text.swapcase())))


@MADE.kind("register beyond its range")
def beyond_range(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, [t for t in file.tokens if t.text[0] == "%" and t.text[-1].isdigit()])
    if token is None:
        return None
    stem = token.text.rstrip("0123456789")
    number = token.text[len(stem) :]
    return replaced(
        token,
        random.choice(
            (
                stem + "99",
                stem + "0" + number,
                stem,
                stem + number + "x",
                stem + "-" + number,
                stem + "4294967296",
            )
        ),
    )


@MADE.kind("component of a name")
def component(file: PtxFile, random: Random) -> Change | None:
    uses = [t for s in file.of("instruction") for o in s.operands for t in o if t.kind == "word"]
    token = any_of(random, uses)
    return inserted(
        token.end, random.choice((".x", ".y", ".r", ".w", ".q", ".h0", ".b1", "[0]", "+1"))
    ) if token else None


@MADE.kind("special register misspelt")
def special_register(file: PtxFile, random: Random) -> Change | None:
    token = any_of(
        random, [t for s in file.of("instruction") for o in s.operands for t in o if t.text[0] == "%"]
    )
    return replaced(
        token,
        random.choice(
            (
                "%tid",
                "%tid.y",
                "%tid.q",
                "%ntidx",
                "%ctaid.z",
                "%lane",
                "%laneid",
                "%warpid",
                "%smid.x",
                "%clock64",
                "%pm8",
                "%envreg3",
                "%envreg32",
                "%total_smem_size",
                "%is_explicit_cluster",
                "%gridid",
                "%globaltimer",
            )
        ),
    ) if token else None


def _renamed(file: PtxFile, random: Random, name: str) -> Change | None:
    token = any_of(random, _declared(file))
    if token is None:
        return None
    uses = [t for t in file.tokens if t.text == token.text]
    start, end = uses[0].start, uses[-1].end
    parts: list[str] = []
    at = start
    for use in uses:
        parts += [file.text[at : use.start], name]
        at = use.end
    return Change(start, end, "".join(parts))
