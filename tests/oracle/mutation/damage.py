"""The ways in which people break PTX: each takes a file that ptxas accepts and proposes one edit.

A kind is a function decorated with `damage`; it may return None where the file gives no occasion. Some
edits leave the file legal (`%r1` misspelt as `%r11`): that is wanted, for a linter must then be silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.oracle.mutation.suite import (
    COMPILED,
    Change,
    any_of,
    inserted,
    misspelt,
    replaced,
    source_of,
)
from tests.oracle.mutation.tokens import LINKAGE, PtxFile, Statement, Token

damage = COMPILED.kind


# -- names --------------------------------------------------------------------------------------


@damage("misspelt register")
def misspelt_register(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _registers(file))
    return replaced(token, misspelt(token.text, random)) if token else None


@damage("undeclared label")
def undeclared_label(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _branch_targets(file))
    return replaced(token, misspelt(token.text, random)) if token else None


@damage("wrong scope")
def wrong_scope(file: PtxFile, random: Random) -> Change | None:
    way = random.choice((_of_another_function, _label_of_another, _shut_in, _after_block, _too_late))
    return way(file, random)


def _of_another_function(file: PtxFile, random: Random) -> Change | None:
    """A register that only another function has."""
    instruction = any_of(random, file.of("instruction"))
    if instruction is None:
        return None
    here = [t for t in _names(instruction) if t.text.startswith("%")]
    there = [
        token.text
        for statement in file.of("instruction")
        if statement.function != instruction.function
        for token in _names(statement)
        if token.text.startswith("%")
    ]
    token, other = any_of(random, here), any_of(random, there)
    return replaced(token, other) if token and other else None


def _label_of_another(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _branch_targets(file))
    label = any_of(random, file.of("label"))
    return replaced(token, label.tokens[0].text) if token and label else None


def _shut_in(file: PtxFile, random: Random) -> Change | None:
    """A declaration in a block of its own."""
    declared = any_of(random, [s for s in file.of("declaration") if s.block >= 0])
    return Change(
        declared.start, declared.end, "{ " + file.text[declared.start : declared.end] + " }"
    ) if declared else None


def _after_block(file: PtxFile, random: Random) -> Change | None:
    """An instruction of a block once more behind it."""
    closing = any_of(random, file.of("close"))
    if closing is None:
        return None
    inside = [s for s in file.of("instruction") if s.block == closing.block]
    instruction = any_of(random, inside)
    return inserted(closing.end, "\n\t" + source_of(file, instruction)) if instruction else None


def _too_late(file: PtxFile, random: Random) -> Change | None:
    """A declaration behind a statement that used to follow it."""
    declared = any_of(random, [s for s in file.of("declaration") if s.block >= 0])
    if declared is None:
        return None
    after = [s for s in file.of("instruction") if s.block == declared.block][:12]
    place = any_of(random, [s for s in after if s.start > declared.start])
    if place is None:
        return None
    moved = file.text[declared.end : place.end] + "\n\t" + source_of(file, declared)
    return Change(declared.start, place.end, moved)


@damage("duplicate label")
def duplicate_label(file: PtxFile, random: Random) -> Change | None:
    label = any_of(random, file.of("label"))
    if label is None:
        return None
    place = any_of(random, [s for s in file.of("instruction") if s.function == label.function])
    return inserted(place.start, f"{label.tokens[0].text}:\n\t") if place else None


@damage("removed .reg")
def removed_reg(file: PtxFile, random: Random) -> Change | None:
    declared = [s for s in file.of("declaration") if s.tokens[0].text == ".reg"]
    found = any_of(random, declared)
    return Change(found.start, found.end, "") if found else None


@damage("removed variable or parameter")
def removed_variable(file: PtxFile, random: Random) -> Change | None:
    if random.random() < 0.5:
        declared = [
            s for s in file.of("declaration")
            if s.tokens[0].text in LINKAGE | {".global", ".shared", ".const", ".local", ".param"}
        ]
        found = any_of(random, declared)
        return Change(found.start, found.end, "") if found else None
    head = any_of(random, file.of("head"))
    if head is None:
        return None
    parameters = [i for i, token in enumerate(head.tokens) if token.text == ".param"]
    first = any_of(random, parameters)
    if first is None:
        return None
    stop = first
    while head.tokens[stop].text not in (",", ")"):
        stop += 1
    if head.tokens[stop].text == ",":
        return Change(head.tokens[first].start, head.tokens[stop + 1].start, "")
    begin = first - 1 if head.tokens[first - 1].text == "," else first
    return Change(head.tokens[begin].start, head.tokens[stop - 1].end, "")


# -- punctuation --------------------------------------------------------------------------------


@damage("missing semicolon")
def missing_semicolon(file: PtxFile, random: Random) -> Change | None:
    return _without(file, random, ";", file.of("instruction", "declaration"))


@damage("dropped comma")
def dropped_comma(file: PtxFile, random: Random) -> Change | None:
    statements = file.of("instruction", "declaration", "head")
    return _without(file, random, ",", statements, by=" ")


@damage("missing bracket")
def missing_bracket(file: PtxFile, random: Random) -> Change | None:
    return _without(file, random, "])", file.of("instruction", "declaration", "head"))


@damage("extra brace")
def extra_brace(file: PtxFile, random: Random) -> Change | None:
    place = any_of(random, file.of("instruction", "label", "close"))
    return inserted(place.end, "\n}") if place else None


@damage("missing brace")
def missing_brace(file: PtxFile, random: Random) -> Change | None:
    return _without(file, random, "}", file.of("close"))


@damage("unclosed string")
def unclosed_string(file: PtxFile, random: Random) -> Change | None:
    strings = [token for token in file.tokens if token.kind == "string"]
    token = any_of(random, strings)
    return replaced(token, token.text[:-1]) if token else None


# -- words --------------------------------------------------------------------------------------


@damage("misspelt opcode", least=0.98)
def misspelt_opcode(file: PtxFile, random: Random) -> Change | None:
    instruction = any_of(random, file.of("instruction"))
    if instruction is None:
        return None
    token = any_of(random, instruction.opcode) or instruction.opcode[0]
    dot = "." if token.kind == "dotted" else ""
    return replaced(token, dot + misspelt(token.text.lstrip("."), random))


@damage("misspelt directive")
def misspelt_directive(file: PtxFile, random: Random) -> Change | None:
    found = [
        token
        for statement in file.of("declaration", "head", "line", "section")
        for token in statement.tokens
        if token.kind == "dotted"
    ]
    token = any_of(random, found)
    return replaced(token, "." + misspelt(token.text[1:], random)) if token else None


@damage("directive at the wrong place")
def misplaced_directive(file: PtxFile, random: Random) -> Change | None:
    """A directive that is right elsewhere: of the module, of a head or of a body."""
    to_body = random.random() < 0.5
    if to_body:
        places = [s for s in file.of("instruction") if s.block >= 0]
        line = random.choice((
            ".version 8.0", ".target sm_80", ".address_size 64", ".maxntid 128, 1, 1",
            ".reqntid 64", ".minnctapersm 2", ".maxnreg 32", ".visible .reg .b32 %added;",
            ".extern .func added();", ".entry added() { ret; }", ".func added() { ret; }",
            ".alias added, added;", ".noreturn", '.section .debug_str { .b8 0 }',
            '.file 1 "a.cu"', ".global .b32 added;", ".const .b32 added;",
        ))
    else:
        places = [s for s in file.of("head", "declaration") if s.block < 0]
        line = random.choice((
            ".version 8.0", ".target sm_80", ".address_size 64", ".maxntid 128, 1, 1",
            ".reqntid 64", ".maxnreg 32", ".reg .b32 %added;", ".local .b32 added;",
            ".param .b32 added;", '.pragma "nounroll";', ".loc 1 1 1",
            ".branchtargets added;", "added: .callprototype _ ();",
        ))
    place = any_of(random, places)
    return inserted(place.start, line + "\n\t") if place else None


# -- what the instruction table tells -----------------------------------------------------------


@damage("dropped operand")
def dropped_operand(file: PtxFile, random: Random) -> Change | None:
    instruction = any_of(random, [s for s in file.of("instruction") if len(s.operands) > 1])
    if instruction is None:
        return None
    operands = instruction.operands
    index = random.randrange(len(operands))
    if index + 1 < len(operands):
        return Change(operands[index][0].start, operands[index + 1][0].start, "")
    return Change(operands[index - 1][-1].end, operands[index][-1].end, "")


@damage("wrong type suffix", least=0.98)
def wrong_type(file: PtxFile, random: Random) -> Change | None:
    suffixes = [t for s in file.of("instruction") for t in s.opcode if t.text in _TYPES]
    token = any_of(random, suffixes)
    return replaced(token, random.choice(_TYPES)) if token else None


@damage("swapped modifiers", least=0.98)
def swapped_modifiers(file: PtxFile, random: Random) -> Change | None:
    instruction = any_of(random, [s for s in file.of("instruction") if len(s.opcode) > 2])
    if instruction is None:
        return None
    opcode = instruction.opcode
    index = random.randrange(1, len(opcode) - 1)
    first, second = opcode[index], opcode[index + 1]
    return Change(first.start, second.end, second.text + first.text)


@damage("wrong operand kind", least=0.98)
def wrong_operand_kind(file: PtxFile, random: Random) -> Change | None:
    instruction = any_of(random, [s for s in file.of("instruction") if s.operands])
    if instruction is None:
        return None
    operand = random.choice(instruction.operands)
    text = file.text[operand[0].start : operand[-1].end]
    another = any_of(random, _registers(file)) or operand[0]
    if text.startswith("["):
        other = random.choice((text[1:-1], "7", another.text))
    else:
        other = random.choice((
            "7", "-1", "1.5", f"[{text}]", f"{{{text}, {text}}}", f"!{text}", another.text, "%tid.x",
            f"{text}|{text}",
        ))
    return Change(operand[0].start, operand[-1].end, other)


@damage("lowered .version", least=0.98)
def lowered_version(file: PtxFile, random: Random) -> Change | None:
    return _lowered(file, random, ".version", _VERSIONS)


@damage("lowered .target", least=0.98)
def lowered_target(file: PtxFile, random: Random) -> Change | None:
    return _lowered(file, random, ".target", _TARGETS)


_TYPES = (
    ".pred", ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16",
    ".s32", ".s64", ".f16", ".f16x2", ".bf16", ".bf16x2", ".f32", ".f64",
)
_VERSIONS = (
    "1.0", "1.4", "2.0", "2.3", "3.0", "3.2", "4.0", "4.3", "5.0", "6.0", "6.3", "6.4", "6.5", "7.0",
    "7.1", "7.5", "7.8", "8.0", "8.2", "8.5", "8.6", "8.8", "9.0", "9.3",
)
_TARGETS = (
    "sm_10", "sm_20", "sm_30", "sm_32", "sm_35", "sm_50", "sm_53", "sm_60", "sm_62", "sm_70", "sm_72",
    "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100",
)


def _lowered(
    file: PtxFile, random: Random, directive: str, choices: Sequence[str]
) -> Change | None:
    line = next(s for s in file.of("line") if s.tokens[0].text == directive)
    number = line.tokens[1]
    lower = [c for c in choices if _order(c) < _order(number.text)]
    chosen = any_of(random, lower)
    return replaced(number, chosen) if chosen else None


def _order(text: str) -> float:
    return float(text.removeprefix("sm_").rstrip("af"))


# -- choices ------------------------------------------------------------------------------------


def _names(instruction: Statement) -> list[Token]:
    """The words of an instruction's guard and operands, special registers left out."""
    opcode = instruction.opcode[0]
    found: list[Token] = []
    for token, after in zip(instruction.tokens, instruction.tokens[1:], strict=False):
        if token.kind == "word" and token is not opcode and after.kind != "dotted":
            found.append(token)
    return found


def _registers(file: PtxFile) -> list[Token]:
    """Uses of registers, all of them with a number."""
    return [
        token
        for statement in file.of("instruction")
        for token in _names(statement)
        if token.text.startswith("%") and token.text[-1].isdigit()
    ]


def _branch_targets(file: PtxFile) -> list[Token]:
    return [
        token
        for statement in file.of("instruction")
        if statement.opcode[0].text == "bra"
        for token in statement.operands[0]
    ]


def _without(
    file: PtxFile, random: Random, marks: str, statements: Sequence[Statement], by: str = ""
) -> Change | None:
    found = [t for s in statements for t in s.tokens if t.kind == "mark" and t.text in marks]
    token = any_of(random, found)
    return replaced(token, by) if token else None
