"""Damage to debugging data, lines, files and pragmas."""

from __future__ import annotations

from random import Random

from tests.oracle.mutation.suite import MADE, Change, any_of, inserted, replaced
from tests.oracle.mutation.tokens import PtxFile, Statement, Token


def _sections(file: PtxFile) -> list[Statement]:
    return file.of("section")


def _lines(file: PtxFile, word: str) -> list[Statement]:
    return [s for s in file.of("line") if s.tokens[0].text == word]


@MADE.kind("value in a section", times=6)
def section_value(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, [t for s in _sections(file) for t in s.tokens if t.kind == "number"])
    return replaced(
        token,
        random.choice(
            (
                "256",
                "-129",
                "-128",
                "255",
                "65536",
                "-32769",
                "4294967296",
                "18446744073709551616",
                "0x",
                "1.5",
                "-",
                '"a"',
                "a",
                "0x1ff",
                "08",
                "1+1",
                "(1)",
                "-1",
                "0f3F800000",
                "",
                "1,",
                "1 2",
                ",",
                ".debug_info",
                "$L__tmp0",
                "b-a",
                "$L__tmp1-$L__tmp0",
                "1U",
            )
        ),
    ) if token else None


@MADE.kind("word of a section", times=6)
def section_word(file: PtxFile, random: Random) -> Change | None:
    words = [t for s in _sections(file) for t in s.tokens if t.kind in ("dotted", "word")]
    token = any_of(random, words)
    return replaced(
        token,
        random.choice(
            (
                ".b8",
                ".b16",
                ".b32",
                ".b64",
                ".b4",
                ".u8",
                ".s32",
                ".f32",
                ".b128",
                ".section",
                ".debug_str",
                ".debug_foo",
                ".text",
                "debug_info",
                "foo",
                "foo:",
                ".byte",
                ".4byte",
                ".align",
                "",
                ".pred",
                ".B8",
            )
        ),
    ) if token else None


@MADE.kind("marks of a section", times=6)
def section_mark(file: PtxFile, random: Random) -> Change | None:
    marks = [t for s in _sections(file) for t in s.tokens if t.kind == "mark"]
    token = any_of(random, marks)
    other = random.choice(("", ";", ",", ",,", "{", "}", "(", ":", "=", "."))
    return replaced(token, other) if token else None


@MADE.kind("statement in a section", times=6)
def section_statement(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, [t for s in _sections(file) for t in s.tokens[2:] if t.kind == "dotted"])
    return inserted(
        token.start,
        random.choice(
            (
                ".b8 1;",
                "ret;",
                ".loc 1 1 1",
                '.file 9 "x"',
                "$L__added:",
                ".b32 $L__func_begin0+4",
                ".b64 lines",
                ".b32 .debug_info+8",
                ".b8 0x10, 0b11, 07",
                ".b8",
                ".b64 $L__tmp0-$L__func_begin0",
                ".global .b32 x;",
                "{",
                "}",
                ".section .debug_str { .b8 0 }",
                ".b8 1 .b8 2",
                ".b32 -2147483648",
                ".b32 -2147483649",
            )
        )
        + "\n",
    ) if token else None


@MADE.kind("argument of .loc", times=6)
def loc_argument(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, [t for s in _lines(file, ".loc") for t in s.tokens[1:]])
    return replaced(
        token,
        random.choice(
            (
                "",
                "0",
                "-1",
                "7",
                "1.5",
                "4294967295",
                "4294967296",
                "x",
                '"x"',
                "0x10",
                "1U",
                "1+1",
                ",",
                ";",
                "$L__tmp9",
                "inlined_at",
                "function_name",
                "WARP_SZ",
                "1 1",
            )
        ),
    ) if token else None


@MADE.kind("argument of .file", times=6)
def file_argument(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, [t for s in _lines(file, ".file") for t in s.tokens[1:]])
    return replaced(
        token,
        random.choice(
            (
                "",
                "0",
                "-1",
                "1",
                "2",
                "3",
                "1.5",
                "4294967296",
                "99999999999999999999",
                "x",
                '"x"',
                "x.cu",
                ",",
                ";",
                '""',
                '"a" "b"',
                "1 1",
            )
        ),
    ) if token else None


@MADE.kind("added .loc or .file")
def added_line(file: PtxFile, random: Random) -> Change | None:
    place = any_of(random, file.of("instruction", "label", "declaration", "line"))
    return inserted(
        place.start,
        random.choice(
            (
                ".loc 1 1 1",
                ".loc 1 1",
                ".loc 1",
                ".loc",
                ".loc 3 1 1",
                ".loc 1 1 1;",
                ".loc 1 1 1, inlined_at 1 1 1",
                ".loc 1 1 1, function_name $L__info_string0",
                ".loc 1 1 1 1",
                '.file 1 "x.cu"',
                '.file 3 "x.cu"',
                ".file 3",
                '.file "x.cu"',
                '.file 4 "x.cu", 1, 2, 3',
                '.file 4 "x.cu", 1',
                "@@DWARF .byte 1",
                ".loc 1 1 1 add.u32",
            )
        )
        + "\n\t",
    ) if place else None


@MADE.kind("pragma")
def pragma(file: PtxFile, random: Random) -> Change | None:
    place = any_of(random, file.of("instruction", "label", "declaration", "open"))
    return inserted(
        place.start,
        ".pragma "
        + random.choice(
            (
                '"nounroll";',
                '"nounroll"',
                "nounroll;",
                '"";',
                '"nounroll", "unroll";',
                '"nounroll",;',
                '"used_bytes_mask";',
                '"used_bytes_mask 0x1";',
                '"used_bytes_mask 4294967296";',
                '"frequency 3";',
                '"frequency";',
                '"frequency -1";',
                '"enable_smem_spilling";',
                '"mma_throughput low";',
                ";",
                '"unknown";',
                '"NoUnroll";',
                '"nounroll" "nounroll";',
            )
        )
        + "\n\t",
    ) if place else None


def _strings(file: PtxFile) -> list[Token]:
    return [t for t in file.tokens if t.kind == "string"]


@MADE.kind("string")
def string(file: PtxFile, random: Random) -> Change | None:
    token = any_of(random, _strings(file))
    if token is None:
        return None
    inner = token.text[1:-1]
    return replaced(
        token,
        random.choice(
            (
                inner,
                f"'{inner}'",
                f'"{inner}\\',
                f'"{inner}\\""',
                f'"{inner}\n"',
                f'{inner}"',
                '""',
                f'"{inner}" "x"',
                f'"\\x41{inner}"',
                f'"{inner}ü"',
                f'"\t{inner}"',
                f'" {inner} "',
            )
        ),
    )
