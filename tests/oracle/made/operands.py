"""Damage to the operands of instructions that stands in no table."""

from __future__ import annotations

from random import Random

from tests.oracle.mutation.suite import MADE, Change, any_of, inserted, replaced
from tests.oracle.mutation.tokens import PtxFile, Statement, Token


def _with(file: PtxFile, mark: str) -> list[tuple[Token, ...]]:
    return [o for s in file.of("instruction") for o in s.operands if o and any(t.text == mark for t in o)]


def _instructions(file: PtxFile) -> list[Statement]:
    return [s for s in file.of("instruction") if s.operands]


@MADE.kind("inside of an address")
def address(file: PtxFile, random: Random) -> Change | None:
    operand = any_of(random, [o for o in _with(file, "[") if o[0].text == "["])
    if operand is None:
        return None
    inner = file.text[operand[0].end : operand[-1].start]
    return Change(
        operand[0].end,
        operand[-1].start,
        random.choice(
            (
                "",
                "I+4",
                "I-4",
                "I+-4",
                "I+%r1",
                "I*4",
                "4+I",
                "I+1.5",
                "(I)",
                "[I]",
                "I[1]",
                "I, 4",
                "I+4/0",
                "-I",
                "I+4+4",
                "8",
                "0x10",
                "%r1",
                "%rd1",
                "%rs1",
                "%f1",
                "%p1",
                "I+(4)",
                "I+x",
                "{I}",
                "I+4U",
                "I+99999999999",
                "I+(2<<2)",
                "%tid.x",
                "unknown",
                "WARP_SZ",
            )
        ).replace("I", inner),
    )


@MADE.kind("elements of a vector")
def vector_elements(file: PtxFile, random: Random) -> Change | None:
    operand = any_of(random, [o for o in _with(file, "{") if o[0].text == "{"])
    token = any_of(random, operand) if operand else None
    return replaced(
        token,
        random.choice(
            (
                "",
                "_",
                "1",
                "0f00000000",
                "%r1",
                "%f1",
                "%rd1",
                "%p1",
                f"{token.text}, {token.text}",
                "!%p1",
                "-1",
                "{",
                "}",
                ",",
                "[%rd1]",
                ".x",
                "%tid",
            )
        ),
    ) if token else None


@MADE.kind("sign or negation of an operand")
def negated(file: PtxFile, random: Random) -> Change | None:
    statement = any_of(random, _instructions(file))
    operand = any_of(random, statement.operands) if statement else None
    return (
        inserted(operand[0].start, random.choice(("!", "-", "+", "~", "- ", "! ", "!!", "--", "&", "*", "@")))
        if operand
        else None
    )


@MADE.kind("pair of operands")
def pair(file: PtxFile, random: Random) -> Change | None:
    statement = any_of(random, _instructions(file))
    operand = any_of(random, statement.operands) if statement else None
    return (
        inserted(
            operand[-1].end,
            random.choice(("|%p1", "|_", "|%r1", "|", "||%p1", "&%p1", ":%r1", " %r1", "=1", "|%p1|%p2")),
        )
        if operand
        else None
    )


@MADE.kind("added operand")
def added_operand(file: PtxFile, random: Random) -> Change | None:
    statement = any_of(random, file.of("instruction"))
    operand = any_of(random, statement.operands) if statement else None
    text = random.choice(("%r1", "%p1", "1", "_", "%rd1", "[%rd1]", "{%r1, %r2}", "!%p1", "0xffffffff", ""))
    if statement is None:
        return None
    if operand is None:
        return inserted(statement.tokens[-1].start, " " + text)
    return inserted(operand[-1].end, ", " + text)


@MADE.kind("modifier from elsewhere")
def modifier(file: PtxFile, random: Random) -> Change | None:
    opcodes = [s.opcode for s in file.of("instruction")]
    words = [t.text for opcode in opcodes for t in opcode[1:]]
    opcode, word = any_of(random, opcodes), any_of(random, words)
    token = any_of(random, opcode) if opcode else None
    return inserted(token.end, word) if token and word else None


@MADE.kind("lost modifier")
def lost_modifier(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, [t for s in file.of("instruction") for t in s.opcode[1:]])
    return replaced(token, "") if token else None
