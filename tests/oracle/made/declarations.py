"""Damage to declarations of variables, registers and parameters."""

from __future__ import annotations

from random import Random

from tests.oracle.mutation.suite import MADE, Change, any_of, inserted, replaced
from tests.oracle.mutation.tokens import LINKAGE, PtxFile, Statement, Token

_SPACES = (".reg", ".global", ".shared", ".const", ".local", ".param", ".tex", ".sreg")
_TYPES = (
    ".pred",
    ".b8",
    ".b16",
    ".b32",
    ".b64",
    ".b128",
    ".u8",
    ".u16",
    ".u32",
    ".u64",
    ".s8",
    ".s16",
    ".s32",
    ".s64",
    ".f16",
    ".f16x2",
    ".bf16",
    ".bf16x2",
    ".f32",
    ".f64",
    ".texref",
    ".samplerref",
    ".surfref",
    ".b1",
    ".tf32",
    ".e4m3",
    ".u128",
    ".u24",
    ".void",
)


def _declaring(file: PtxFile) -> list[Statement]:
    return file.of("declaration", "head")


def _dotted(file: PtxFile, words: tuple[str, ...] | frozenset[str]) -> list[Token]:
    return [t for s in _declaring(file) for t in s.tokens if t.text in words]


@MADE.kind("type dropped from a declaration")
def dropped_type(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _dotted(file, _TYPES))
    return replaced(token, "") if token else None


@MADE.kind("type of a declaration")
def changed_type(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _dotted(file, _TYPES))
    return replaced(token, random.choice(_TYPES)) if token else None


@MADE.kind("two types")
def two_types(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _dotted(file, _TYPES))
    return inserted(token.end, " " + random.choice(_TYPES)) if token else None


@MADE.kind("state space dropped")
def dropped_space(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _dotted(file, _SPACES))
    return replaced(token, "") if token else None


@MADE.kind("state space of a declaration")
def changed_space(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _dotted(file, _SPACES))
    return replaced(token, random.choice(_SPACES)) if token else None


@MADE.kind("two state spaces")
def two_spaces(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _dotted(file, _SPACES))
    return inserted(token.end, " " + random.choice(_SPACES)) if token else None


@MADE.kind("order of specifiers")
def specifiers_swapped(file: PtxFile, random: Random) -> Change | None:
    pairs = [
        (first, second)
        for statement in _declaring(file)
        for first, second in zip(statement.tokens, statement.tokens[1:], strict=False)
        if first.kind == second.kind == "dotted"
    ]
    pair = any_of(random, pairs)
    return Change(pair[0].start, pair[1].end, f"{pair[1].text} {pair[0].text}") if pair else None


@MADE.kind("place of .align")
def moved_alignment(file: PtxFile, random: Random) -> Change | None:
    """`.align N` behind another word of its declaration, or added to one that had none."""
    statement = any_of(random, _declaring(file))
    words = [t for t in statement.tokens if t.kind in ("dotted", "word")] if statement else []
    token = any_of(random, words)
    return inserted(token.end, f" .align {random.choice('1248')} ") if token else None


@MADE.kind("vector in a declaration")
def vector(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _dotted(file, _TYPES))
    word = random.choice((".v2 ", ".v4 ", ".v3 ", ".v8 ", ".v1 ", ".v16 ", ".v "))
    return inserted(token.start, word) if token else None


@MADE.kind("linkage")
def linkage(file: PtxFile, random: Random) -> Change | None:
    statement = any_of(random, _declaring(file))
    if statement is None:
        return None
    first = statement.tokens[0]
    word = random.choice(
        (".visible", ".extern", ".weak", ".common", ".visible .weak", ".internal", ".static", "")
    )
    return replaced(first, word) if first.text in LINKAGE else inserted(first.start, word + " ")


@MADE.kind("initial value")
def initial_value(file: PtxFile, random: Random) -> Change | None:
    """Another value for a variable, or one for a variable that had none."""
    statement = any_of(random, file.of("declaration"))
    if statement is None:
        return None
    value = random.choice(
        (
            "1",
            "1.5",
            "-1",
            "{1}",
            "{1, 2}",
            "{{1}}",
            "{}",
            "{1,}",
            '"abc"',
            "unknown",
            "generic(unknown)",
            "bytes",
            "generic(bytes)",
            "generic(bytes)+4",
            "bytes+4",
            "bytes-4",
            "bytes*2",
            "-bytes",
            "0xFF(bytes)",
            "foo(1)",
            "mask(bytes)",
            "1/0",
            "0x1ffffffff",
            "{1, 2, 3, 4, 5, 6, 7, 8, 9}",
            "zeroed",
            "{zeroed}",
            "1 2",
            "0f3F800000",
            "0d3FF0000000000000",
            "(1)",
            "{{1, 2}, {3}}",
            "%tid.x",
            "{ width = 4 }",
        )
    )
    equals = next((t for t in statement.tokens if t.text == "="), None)
    start = equals.start if equals else statement.tokens[-1].start
    return Change(start, statement.tokens[-1].start, f" = {value}")


@MADE.kind("braces of initial values")
def initial_braces(file: PtxFile, random: Random) -> Change | None:
    marks = [
        t
        for s in file.of("declaration")
        if any(t.text == "=" for t in s.tokens)
        for t in s.tokens
        if t.text in ("{", "}", ",", "=")
    ]
    token = any_of(random, marks)
    return replaced(token, random.choice(("", "{", "}", ",", ",,", "=", "(", ";"))) if token else None


@MADE.kind("dimensions of an array")
def dimensions(file: PtxFile, random: Random) -> Change | None:
    names = [
        t
        for s in _declaring(file)
        for t, after in zip(s.tokens, s.tokens[1:], strict=False)
        if t.kind == "word" and after.text in ("[", ";", ",", ")", "=")
    ]
    token = any_of(random, names)
    return inserted(
        token.end, random.choice(("[]", "[2]", "[2][2]", "[][2]", "[2][]", "[", "]", "[[2]]"))
    ) if token else None


@MADE.kind("range of registers")
def register_range(file: PtxFile, random: Random) -> Change | None:
    ranges = [
        (first, third)
        for first, _, third in zip(file.tokens, file.tokens[1:], file.tokens[2:], strict=False)
        if first.text == "<" and third.text == ">"
    ]
    pair = any_of(random, ranges)
    return Change(
        pair[0].start,
        pair[1].end,
        random.choice(
            (
                "<>",
                "<0>",
                "<-1>",
                "<1.5>",
                "<x>",
                "<99999999999>",
                "<2+3>",
                "<9",
                "9>",
                "<<9>>",
                "<3><3>",
                "[9]",
                "<9>[2]",
                "<0x20>",
                "<40U>",
                "< 40 >",
            )
        ),
    ) if pair else None


@MADE.kind("attributes of a parameter")
def pointer(file: PtxFile, random: Random) -> Change | None:
    types = [t for s in file.of("head") for t in s.tokens if t.text in _TYPES]
    token = any_of(random, types)
    return inserted(
        token.end,
        " "
        + random.choice(
            (
                ".ptr",
                ".ptr .global",
                ".ptr .shared .align 4",
                ".ptr .align 8",
                ".ptr .align",
                ".ptr .param",
                ".ptr .reg",
                ".ptr .global .global",
                ".global",
                ".global .ptr",
                ".align 4 .ptr",
                ".ptr .align 3",
                ".ptr .texref",
                ".ptr .generic",
                ".ptr .const .align 0",
                ".surfref",
            )
        ),
    ) if token else None


@MADE.kind("attribute of a variable")
def attribute(file: PtxFile, random: Random) -> Change | None:
    spaces = [t for s in _declaring(file) for t in s.tokens if t.text in _SPACES]
    token = any_of(random, spaces)
    return inserted(
        token.end,
        " .attribute"
        + random.choice(
            (
                "(.managed)",
                "(.unified(1,2))",
                "(.unified(1))",
                "(.unified)",
                "()",
                "(.foo)",
                "(.managed",
                " .managed",
                "(managed)",
                "(.managed, .unified(1,2))",
                "(.managed)(.managed)",
                '("managed")',
            )
        ),
    ) if token else None
