"""Damage to functions, prototypes, calls and tables of targets."""

from __future__ import annotations

from random import Random

from tests.oracle.mutation.suite import MADE, Change, any_of, inserted, replaced, source_of
from tests.oracle.mutation.tokens import PtxFile, Statement, Token

_LISTS = (".callprototype", ".calltargets", ".branchtargets")


def _calls(file: PtxFile) -> list[Statement]:
    return [s for s in file.of("instruction") if s.opcode[0].text == "call"]


def _lists(file: PtxFile) -> list[Statement]:
    """Prototypes and tables of targets, without their labels."""
    return [s for s in file.of("declaration") if s.tokens[0].text in _LISTS]


def _functions(file: PtxFile) -> list[Statement]:
    return [s for s in file.of("head") if any(t.text == ".func" for t in s.tokens)]


def _changed(random: Random, statements: list[Statement], choices: tuple[str, ...]) -> Change | None:
    statement = any_of(random, statements)
    token = any_of(random, statement.tokens[1:-1]) if statement else None
    return replaced(token, random.choice(choices).replace("T", token.text)) if token else None


@MADE.kind("token of a call", times=3)
def call_token(file: PtxFile, random: Random) -> Change | None:
    return _changed(
        random,
        _calls(file),
        (
            "",
            "(",
            ")",
            ",",
            "_",
            "1",
            "T, T",
            "(T)",
            "T T",
            "square",
            "unknown",
            "%r1",
            "%p1",
            "%rd1",
            "argument",
            "one",
            "1.5",
            "[T]",
            ".uni",
            "T+1",
            "()",
        ),
    )


@MADE.kind("arguments of a call", times=3)
def call_arguments(file: PtxFile, random: Random) -> Change | None:
    call = any_of(random, _calls(file))
    if call is None:
        return None
    name = random.choice(
        ("square", "none", "both", "factorial", "increment", "unknown", "%rd4", "same", "never")
    )
    text = random.choice(
        (
            "call F;",
            "call F, ();",
            "call (), F;",
            "call (), F, ();",
            "call (_), F;",
            "call F, (1);",
            "call F, (%r1);",
            "call (%r1), F, (%r2);",
            "call (%r1, %r2), F, (%r1);",
            "call F, (argument);",
            "call (returned), F, (argument);",
            "call (returned), F, (argument, argument);",
            "call (returned), F, argument;",
            "call F, one;",
            "call F, two;",
            "call (returned), F, (argument), one;",
            "call (returned), F, (argument), two;",
            "call F, (), one;",
            "call (returned) F (argument);",
            "call.uni (returned), F, (%r1);",
            "call.sync F;",
            "call.uni.uni F;",
            "call;",
            "call (returned), F, (argument), missing;",
            "call (argument), F, (returned);",
            "call [F];",
            "call F F;",
        )
    )
    return Change(call.opcode[0].start, call.end, text.replace("F", name))


@MADE.kind("token of a prototype or table", times=3)
def prototype_token(file: PtxFile, random: Random) -> Change | None:
    return _changed(
        random,
        _lists(file),
        (
            "",
            "(",
            ")",
            ",",
            "_",
            "1",
            "T, T",
            ".b64",
            ".f32",
            ".reg",
            ".param",
            ".global",
            "square",
            "ZERO",
            "unknown",
            "never",
            "()",
            "(.param .b32 _)",
            "(.reg .b32 _)",
            "x",
            ".noreturn",
            ".align 8",
            "[4]",
            "T.x",
        ),
    )


@MADE.kind("prototype or table")
def prototype(file: PtxFile, random: Random) -> Change | None:
    place = any_of(random, [s for s in file.of("instruction") if s.block >= 0])
    return inserted(
        place.start,
        random.choice(
            (
                "added: .callprototype _;",
                "added: .callprototype _ ();",
                "added: .callprototype (.param .b32 _) _;",
                "added: .callprototype (.param .b32 x) y (.param .b64 z);",
                "added: .callprototype ();",
                ".callprototype _ ();",
                "added: .callprototype _ (.param .b32 _) .noreturn;",
                "added: .callprototype () _ ();",
                "added: .callprototype (.param .b32 _, .param .b32 _) _ ();",
                "added: .callprototype _ (.b32 _);",
                "added: .callprototype _ (.param .b32);",
                "added: .calltargets;",
                "added: .calltargets square, square;",
                "added: .calltargets unknown;",
                "added: .calltargets none, square;",
                "added: .calltargets none",
                "added: .branchtargets;",
                "added: .branchtargets ZERO;",
                "added: .branchtargets LAST, LAST;",
                "added: .branchtargets unknown;",
                "added: .branchtargets added;",
                "one: .callprototype _ ();",
                "added: .callprototype (.reg .b32 _) _ (.reg .f32 _);",
                "added: .callprototype _ (.param .pred _);",
                "added: .callprototype _ .noreturn;",
                "added: .callprototype (.param .b32 _) _ () .noreturn;",
                "added: .callprototype _ (.param .align 8 .b8 _[12]);",
                "added: .callprototype _ (.param .b8 _[]);",
            )
        )
        + "\n\t",
    ) if place else None


@MADE.kind("declaration unlike its definition", times=3)
def unlike_definition(file: PtxFile, random: Random) -> Change | None:
    function = any_of(random, _functions(file))
    if function is None:
        return None
    head = source_of(file, function).rstrip("{").rstrip("; \n")
    token: Token | None = any_of(
        random, [t for t in function.tokens if t.text.startswith(".b") or t.kind == "number"]
    )
    changed = head
    if token is not None:
        at = token.start - function.start
        other = random.choice((".b32", ".b64", ".f32", ".b8", ".pred")) if token.kind == "dotted" else "12"
        changed = head[:at] + other + head[at + len(token.text) :]
    form = random.choice(
        (
            changed,
            head,
            head + " .noreturn",
            head.replace(".visible", ".extern"),
            head.replace(".func", ".entry"),
            ".weak " + head,
            ".extern " + head,
            head.replace(".param", ".reg"),
            head + " {}",
        )
    )
    place = any_of(random, [*_functions(file), *[s for s in file.of("declaration") if s.block < 0]])
    end = "" if form.endswith("}") else ";"
    return inserted(place.start, form + end + "\n") if place else None


@MADE.kind("token of a function's head", times=3)
def head_token(file: PtxFile, random: Random) -> Change | None:
    return _changed(
        random,
        _functions(file),
        (
            "",
            "(",
            ")",
            ",",
            "T T",
            "T, T",
            ".entry",
            ".func",
            ".param",
            ".reg",
            ".local",
            ".b32",
            ".b128",
            ".pred",
            "_",
            ".visible",
            "()",
            "[4]",
            "[]",
            ".align 4",
            ".ptr",
            ".v2",
            ".noreturn",
            "T[2]",
            ";",
        ),
    )


@MADE.kind("alias")
def alias(file: PtxFile, random: Random) -> Change | None:
    place = any_of(random, [s for s in file.of("head", "declaration") if s.block < 0])
    return inserted(
        place.start,
        random.choice(
            (
                ".alias same, again;",
                ".alias again, same;",
                ".alias a, b;",
                ".alias square, cube;",
                ".alias none;",
                ".alias none, none;",
                ".alias none, again",
                ".alias 1, 2;",
                ".alias none, calls;",
                ".alias bytes, zeroed;",
                ".alias none again;",
                ".visible .alias none, again;",
            )
        )
        + "\n",
    ) if place else None


@MADE.kind("return")
def return_operands(file: PtxFile, random: Random) -> Change | None:
    ends = [s for s in file.of("instruction") if s.opcode[0].text in ("ret", "exit", "trap", "bra")]
    end = any_of(random, ends)
    return Change(
        end.opcode[0].start,
        end.end,
        random.choice(
            (
                "ret %r1;",
                "ret.uni;",
                "ret.all;",
                "exit 0;",
                "exit.uni;",
                "ret",
                "ret;;",
                "ret();",
                "return;",
                "trap;",
                "trap 1;",
                "brkpt;",
                "bra;",
                "bra 1;",
                "bra %r1;",
                "bra LAST, LAST;",
                "bra [LAST];",
                "bra LAST+1;",
                "bra.all LAST;",
                "bra square;",
                "brx.idx %r1, one;",
                "brx.idx 0, targets;",
                "brx.idx %r1;",
                "brx.idx %rd1, targets;",
                "brx.idx.uni %r1, targets;",
                "brx %r1, targets;",
                ".ret;",
            )
        ),
    ) if end else None
