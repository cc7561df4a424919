"""Keystrokes in a file with much inline PTX: the time until all findings are known again.

    python -m benchmarks.inline_edits [FILE ...] [--edits N]

Without files, a generated header of 3 000 lines with 300 blocks. Each keystroke adds a digit to a register or
takes it away again, in a random block, and every fifth is in the code between blocks. `first` is from the
text to its findings, `edit` from the keystroke to the findings, in milliseconds of CPU time: the median, and
the 95th of 100; `new` those of keystrokes in blocks that were never seen so before. `text` is the part of
`edit` that finds the blocks.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import language_named, language_of
from ptx_lsp.lint.configuration.selection import chosen
from ptx_lsp.lint.inline.block_linter import BlockLinter
from ptx_lsp.text import Edit, Source

_BLOCKS = 300
_INSTRUCTIONS = (
    '"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "\n        "{{%0, %1, %2, %3}}, "\n'
    '        "{{%4, %5, %6, %7}}, {{%8, %9}}, "\n        "{{%0, %1, %2, %3}};\\n\\t"',
    '"{{\\n\\t"\n        ".reg .pred p;\\n\\t"\n        "setp.ne.b32 p, %4, {number};\\n\\t"\n'
    '        "@p add.f32 %0, %0, %1;\\n\\t"\n        "}}\\n"',
    '"fma.rn.f32 %0, %1, %2, %3;\\n\\t"\n        "cvt.rna.tf32.f32 %1, %0;\\n"',
)  # fmt: skip


class Took(NamedTuple):
    """Seconds until the blocks are found, and until all is known."""

    text: float
    all: float
    is_new: bool


def header() -> bytes:
    """A header with many blocks."""
    lines = ["#pragma once", "#include <cstdint>"]
    for number in range(_BLOCKS):
        text = _INSTRUCTIONS[number % len(_INSTRUCTIONS)].format(number=number)
        lines.append(
            f"__device__ inline void f{number}(float (&d)[4], uint32_t (&a)[4], uint32_t (&b)[2]) {{\n"
            f"    asm volatile(\n        {text}\n"
            '        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])\n'
            '        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));\n}\n'
        )
    return "\n".join(lines).encode()


def measure(data: bytes, name: str, count: int) -> str:
    """One row."""
    language = language_of(name) or language_named("cuda")
    chance = random.Random(1)
    linter = BlockLinter(chosen(()))
    begin = time.process_time()
    document = HostDocument(Source(data), language)
    linter.diagnostics(document)
    first = time.process_time() - begin
    took: list[Took] = []
    for turn in range(count):
        block = chance.choice(document.blocks)
        at = block.start + block.template.start + chance.randrange(block.template.end - block.template.start)
        if turn % 5 == 4:
            at = data.rfind(b"\n", 0, block.start)
        for edit, is_new in ((Edit(at, at, b"1"), turn % 5 != 4), (Edit(at, at + 1, b""), False)):
            begin = time.process_time()
            source = document.source.edited(edit)
            document = document.edited(edit, source)
            found = time.process_time()
            linter.diagnostics(document)
            end = time.process_time()
            took.append(Took(found - begin, end - begin, is_new))
    lines, blocks = data.count(b"\n") + 1, len(document.blocks)
    figures = [
        _figures([one.all for one in took]),
        _figures([one.all for one in took if one.is_new]),
        _figures([one.text for one in took]),
    ]
    return f"| {name} | {lines} | {blocks} | {first * 1e3:.0f} | {' | '.join(figures)} |"


def _figures(seconds: list[float]) -> str:
    return f"{quantiles(seconds, n=2)[0] * 1e3:.1f} | {quantiles(seconds, n=20)[-1] * 1e3:.1f}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--edits", type=int, default=200)
    given = arguments.parse_args()
    print("| file | lines | blocks | first | edit p50 | p95 | new p50 | p95 | text p50 | p95 |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    print(measure(header(), "generated.cuh", given.edits), flush=True)
    for path in given.files:
        print(measure(path.read_bytes(), path.name, given.edits), flush=True)


if __name__ == "__main__":
    main()
