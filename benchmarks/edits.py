"""Edits of several kinds inside one kernel, and how long it takes until all is known again.

    python -m benchmarks.edits [--lines N ...] [--edits N]

One kernel of so many lines; `--edits` of each kind, at places spread over it. Two figures for each kind, in
milliseconds from the edit on, as p50 and p95 over the edits: until all `findings` of the default rules are
known, and until all `analyses` are (those of `benchmarks.analyses`). The last line is over all kinds.
`whole` is the same for a text that is parsed again. All are CPU time, with Python's collector of cycles off.
"""

from __future__ import annotations

import argparse
import gc
import random
import re
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.analyses import ANALYSES, SIZES, one_kernel
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

_REGISTER = rb"(?<=, )%r\d+(?=[,;])"
_PLAIN = rb"\n\s*(?:add|mul|mov|shl)\.[^;\n]*;"


class Took(NamedTuple):
    """Seconds until all findings are known, and until all analyses are."""

    findings: float
    analyses: float


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--lines", type=int, nargs="+", default=SIZES)
    arguments.add_argument("--edits", type=int, default=10)
    given = arguments.parse_args()
    print("| lines | edit | findings p50 | p95 | analyses p50 | p95 |")
    print("|--:|---|--:|--:|--:|--:|")
    _whole(one_kernel(1_000).encode())  # the table and all modules are loaded
    for lines in given.lines:
        text = one_kernel(lines).encode()
        size = text.count(b"\n")
        _tell(size, "whole", [_whole(text)])
        took = _edited(text, given.edits)
        for kind, found in took.items():
            _tell(size, kind, found)
        _tell(size, "any", [one for found in took.values() for one in found])


def _tell(size: int, kind: str, took: list[Took]) -> None:
    figures = [
        f"{_percentile(values, share) * 1e3:.0f}"
        for values in zip(*took, strict=True)
        for share in (0.5, 0.95)
    ]
    print(f"| {size} | {kind} | {' | '.join(figures)} |", flush=True)


def _percentile(values: tuple[float, ...], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def _whole(text: bytes) -> Took:
    def module() -> Module:
        return Module(Document.parse(Source(text)))

    return Took(_timed(lambda: LintSession(module())), _timed(lambda: _analyse(module())))


def _edited(text: bytes, count: int) -> dict[str, list[Took]]:
    module = Module(Document.parse(Source(text)))
    linting = LintSession(module)
    _analyse(module)
    found: dict[str, list[Took]] = {}
    for kind, edit in _edits(text, count):

        def edited(edit: Edit = edit) -> Module:
            return Module(module.document.edited(edit), module)

        took = Took(
            _timed(lambda edited=edited: LintSession(edited(), previous=linting)),
            _timed(lambda edited=edited: _analyse(edited())),
        )
        found.setdefault(kind, []).append(took)
    return found


def _analyse(module: Module) -> None:
    for analysis in ANALYSES.values():
        analysis(module.functions[0])


def _timed(work: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


def _edits(text: bytes, count: int) -> Iterator[tuple[str, Edit]]:
    """So many edits of each kind."""
    chance = random.Random(1)
    end = text.rindex(b"}") - 2_000

    def one(pattern: bytes, start: int | None = None) -> re.Match[bytes]:
        begin = chance.randrange(text.index(b"{"), end) if start is None else start
        found = re.compile(pattern).search(text, begin)
        assert found is not None
        return found

    for number in range(count):
        at = one(rb";").end()
        yield "a space", Edit(at, at, b" ")
        at = one(rb"\n").end()
        yield "a comment", Edit(at, at, b"// why\n")
        yield "an immediate", Edit(*one(rb"(?<=, )\d+(?=;)").span(), b"%d" % (number + 3))
        register = one(_REGISTER)
        yield "a register", Edit(*register.span(), one(_REGISTER, register.end())[0])
        line = one(_PLAIN)
        yield "a line more", Edit(line.end(), line.end(), line[0])
        yield "a line less", Edit(*one(_PLAIN).span(), b"")
        at = one(_PLAIN).start()
        yield "a label", Edit(at, at, b"\nNEW_%d:" % number)


if __name__ == "__main__":
    main()
