"""Damage to numbers and constant expressions, wherever they stand."""

from __future__ import annotations

from random import Random

from tests.oracle.mutation.suite import MADE, Change, any_of, replaced
from tests.oracle.mutation.tokens import PtxFile, Token


def _numbers(file: PtxFile) -> list[Token]:
    """All numbers but those of `.version`."""
    first = next(s for s in file.statements if s.tokens[0].text == ".version")
    return [t for t in file.tokens if t.kind == "number" and t not in first.tokens]


def _replaced_by(file: PtxFile, random: Random, choices: tuple[str, ...]) -> Change | None:
    token = any_of(random, _numbers(file))
    return replaced(token, random.choice(choices).replace("N", token.text)) if token else None


@MADE.kind("digits of another base")
def wrong_digits(file: PtxFile, random: Random) -> Change | None:
    return _replaced_by(
        file,
        random,
        (
            "0x",
            "0xg",
            "0b",
            "0b12",
            "09",
            "08",
            "0b2",
            "1a",
            "0x1g",
            "0xFFU",
            "0b1U",
            "07U",
            "0o7",
            "1_000",
            "#1",
        ),
    )


@MADE.kind("number too large")
def too_large(file: PtxFile, random: Random) -> Change | None:
    return _replaced_by(
        file,
        random,
        (
            "256",
            "65536",
            "2147483648",
            "4294967295",
            "4294967296",
            "9223372036854775808",
            "18446744073709551615",
            "18446744073709551616",
            "0x1ffffffffffffffff",
            "99999999999999999999999",
        ),
    )


@MADE.kind("malformed float")
def malformed_float(file: PtxFile, random: Random) -> Change | None:
    return _replaced_by(
        file,
        random,
        (
            "0f3F80000",
            "0f3F8000000",
            "0d3FF000000000000",
            "0d3FF00000000000000",
            "0f",
            "0d",
            "0fNAN",
            "1e",
            "1e+",
            "1.e5",
            ".5",
            "1.5f",
            "1.5.2",
            "1e400",
            "inf",
            "nan",
            "0F3f800000",
            "0D3ff0000000000000",
            "1.0U",
        ),
    )


@MADE.kind("suffix of a number")
def suffix(file: PtxFile, random: Random) -> Change | None:
    return _replaced_by(file, random, ("NU", "Nu", "NL", "NUL", "NULL", "Nf", "N.0", "N."))


@MADE.kind("sign of a number")
def sign(file: PtxFile, random: Random) -> Change | None:
    return _replaced_by(file, random, ("-N", "+N", "--N", "- N", "~N", "!N", "-+N", "-(N)", "(-N)", "-0"))


@MADE.kind("float for an integer")
def float_for_integer(file: PtxFile, random: Random) -> Change | None:
    return _replaced_by(
        file, random, ("1.0", "2.5", "0f3F800000", "0d4000000000000000", "1e3", "(1.0)", "N.5")
    )


@MADE.kind("constant expression")
def expression(file: PtxFile, random: Random) -> Change | None:
    return _replaced_by(
        file,
        random,
        (
            "N+1",
            "(N)",
            "(N+1)",
            "N*2-N",
            "N<<1",
            "N>>1",
            "N/1",
            "N/0",
            "N%0",
            "N%3",
            "(.s64)N",
            "(.u64)N",
            "(.u32)N",
            "(.f32)N",
            "N?1:2",
            "N>0",
            "N==N",
            "N&&1",
            "!N||0",
            "(N",
            "N)",
            "N+",
            "N N",
            "1.5+N",
            "N+1.5",
            "N<1.5",
            "WARP_SZ",
            "N+WARP_SZ",
            "N^1",
            "~N&7",
        ),
    )


@MADE.kind("dropped number")
def dropped_number(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _numbers(file))
    return replaced(token, "") if token else None


@MADE.kind("word for a number")
def word_for_number(file: PtxFile, random: Random) -> Change | None:
    return _replaced_by(file, random, ('"N"', "x", "%r1", ".u32", "N x", "{N}", "[N]", "'a'", "_", "a+N"))


@MADE.kind("size of an array")
def array_size(file: PtxFile, random: Random) -> Change | None:
    sizes = [
        token
        for statement in file.of("declaration", "head")
        for before, token in zip(statement.tokens, statement.tokens[1:], strict=False)
        if before.text == "[" and token.kind == "number"
    ]
    token = any_of(random, sizes)
    return replaced(
        token,
        random.choice(
            (
                "0",
                "-1",
                "1.5",
                "",
                "4294967296",
                "2147483647",
                "1",
                "n",
                "3*4",
                "2/0",
                "0x10",
                "1<<2",
                "-(-2)",
                "7U",
            )
        ),
    ) if token else None


@MADE.kind("alignment")
def alignment(file: PtxFile, random: Random) -> Change | None:
    values = [
        after
        for before, after in zip(file.tokens, file.tokens[1:], strict=False)
        if before.text == ".align" and after.kind == "number"
    ]
    token = any_of(random, values)
    return replaced(
        token,
        random.choice(
            (
                "0",
                "1",
                "3",
                "-4",
                "",
                "128",
                "256",
                "4294967296",
                "2147483648",
                "4.0",
                "2*2",
                "(4)",
                "0x8",
                "4U",
                "n",
            )
        ),
    ) if token else None
