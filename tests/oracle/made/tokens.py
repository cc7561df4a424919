"""Damage to tokens, whatever they stand for: what fingers, merges and generators do."""

from __future__ import annotations

from random import Random

from tests.oracle.mutation.suite import MADE, Change, any_of, inserted, replaced
from tests.oracle.mutation.tokens import PtxFile, Token


def _behind_header(file: PtxFile) -> list[Token]:
    return file.tokens[1:]


@MADE.kind("stray character")
def stray_character(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _behind_header(file))
    mark = random.choice("#\\?@`$%&|^~!'\"<>=*+-/:;,.()[]{}_\x00\x1a\x0c\x0b\x7fü€\u00a0\ufeff")
    at = random.choice((token.start, token.end, (token.start + token.end) // 2)) if token else None
    return inserted(at, mark) if at is not None else None


@MADE.kind("dropped token")
def dropped_token(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _behind_header(file))
    return replaced(token, "") if token else None


@MADE.kind("doubled token")
def doubled_token(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _behind_header(file))
    return inserted(token.end, random.choice((" ", "")) + token.text) if token else None


@MADE.kind("swapped tokens")
def swapped_tokens(file: PtxFile, random: Random) -> Change | None:
    at = random.randrange(1, len(file.tokens) - 1)
    first, second = file.tokens[at], file.tokens[at + 1]
    between = file.text[first.end : second.start]
    return Change(first.start, second.end, second.text + between + first.text)


@MADE.kind("joined words")
def joined_words(file: PtxFile, random: Random) -> Change | None:
    """The space between two tokens is lost."""
    pairs = [
        (a, b)
        for a, b in zip(file.tokens, file.tokens[1:], strict=False)
        if a.end < b.start and "\n" not in file.text[a.end : b.start]
    ]
    pair = any_of(random, pairs)
    return Change(pair[0].end, pair[1].start, "") if pair else None


@MADE.kind("space or comment within a token")
def split_token(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, [t for t in _behind_header(file) if len(t.text) > 1])
    if token is None:
        return None
    at = random.randrange(token.start + 1, token.end)
    return inserted(at, random.choice((" ", "\n", "\t", "/**/", "//\n", "\\\n", "\f", "\x1a", "\v", "\r")))


@MADE.kind("space or comment between tokens")
def between_tokens(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _behind_header(file))
    return inserted(
        random.choice((token.start, token.end)),
        random.choice(
            (
                " ",
                "\n",
                "\t",
                "/**/",
                "/*a*/",
                "/***/",
                "//\n",
                "/* // */",
                "\f",
                "\x1a",
                "\v",
                "\r",
                "/*\n*/",
                "\\\n",
            )
        ),
    ) if token else None


@MADE.kind("comment")
def comment(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _behind_header(file))
    return inserted(
        random.choice((token.start, token.end)),
        random.choice(
            (
                "/*",
                "*/",
                "//",
                "/* /* */ */",
                "/*/",
                "/* */*/",
                '# 1 "x"\n',
                "#line 1\n",
                "\n# 1\n",
                ";",
                "/",
                "///**/",
            )
        ),
    ) if token else None


@MADE.kind("other bracket")
def other_bracket(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, [t for t in file.tokens if t.text in ("(", ")", "[", "]", "{", "}", "<", ">")])
    return replaced(token, random.choice("()[]{}<>")) if token else None


@MADE.kind("added bracket")
def added_bracket(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _behind_header(file))
    return inserted(random.choice((token.start, token.end)), random.choice("()[]{}<>")) if token else None


@MADE.kind("other punctuation")
def other_punctuation(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, [t for t in file.tokens if t.kind == "mark"])
    return replaced(
        token, random.choice((",", ";", ":", ".", "=", "|", "+", "-", "!", "@", ",,", ";;", "::", "\n"))
    ) if token else None


@MADE.kind("token of elsewhere")
def token_of_elsewhere(file: PtxFile, random: Random) -> Change | None:
    token, other = any_of(random, _behind_header(file)), any_of(random, file.tokens)
    return replaced(token, other.text) if token and other else None


@MADE.kind("line of elsewhere")
def line_of_elsewhere(file: PtxFile, random: Random) -> Change | None:
    """A statement at another place, as a merge or a paste puts it."""
    statement = any_of(random, [s for s in file.statements if s.kind not in ("open", "close")])
    place = any_of(random, file.statements)
    if statement is None or place is None:
        return None
    return inserted(place.start, file.text[statement.start : statement.end] + "\n\t")


@MADE.kind("lost line")
def lost_line(file: PtxFile, random: Random) -> Change | None:
    lines = file.text.split("\n")
    number = random.randrange(1, len(lines) - 1)
    start = sum(len(line) + 1 for line in lines[:number])
    return Change(start, start + len(lines[number]) + 1, "")


@MADE.kind("file cut off")
def cut_off(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _behind_header(file))
    return Change(
        random.choice((token.start, token.end, (token.start + token.end) // 2)), len(file.text), ""
    ) if token else None


@MADE.kind("guard")
def guard(file: PtxFile, random: Random) -> Change | None:
    place = any_of(random, file.of("instruction", "label", "declaration", "open", "close"))
    if place is None:
        return None
    text = random.choice(
        (
            "@%p1 ",
            "@!%p1 ",
            "@ %p1 ",
            "@! %p1 ",
            "@!!%p1 ",
            "@%r1 ",
            "@1 ",
            "@ ",
            "@%p1 @%p1 ",
            "@p ",
            "@%p99 ",
            "@-%p1 ",
            "@(%p1) ",
            "@%p1, ",
            "%p1 ",
            "!%p1 ",
            "@%p1; ",
            "@WARP_SZ ",
            "@%p1.x ",
        )
    )
    return inserted(place.start, text)


@MADE.kind("merge conflict")
def merge_conflict(file: PtxFile, random: Random) -> Change | None:
    place = any_of(random, file.statements)
    return inserted(
        place.start,
        random.choice(
            (
                "\n<<<<<<< HEAD\n",
                "\n=======\n",
                "\n>>>>>>> branch\n",
                "\n--- a\n",
                "\n+",
                "\n-",
                "\n@@ -1,2 +1,2 @@\n",
                "...",
                "<paste>",
            )
        ),
    ) if place else None
