"""ptxas accepts what a fix makes of an instruction with a mistake in its modifiers.

For a line of each form of some sections: without each of its modifiers, and with another type for each type.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptx_lsp import ptxas
from ptx_lsp.isa.types import TYPES
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from tests.oracle.instructions.cases import Point, newest_point, plain_lines
from tests.oracle.instructions.judge import judge, prelude, sections
from tests.oracle.instructions.operands import written

_SECTIONS = ("integer", "integer_bits", "float", "convert", "logic", "comparison", "load_store", "warp")
_OTHER_TYPES = (".f16", ".u32", ".s32", ".b64", ".pred")


def _mistakes(section: str) -> Iterator[tuple[str, Point]]:
    for entry in sections()[section]:
        seen: set[str] = set()
        for form, _, spelling, arguments in plain_lines(entry):
            if form.text in seen:
                continue
            seen.add(form.text)
            opcode, *words = spelling.split(".")
            operands = ", ".join(map(written, arguments))
            for index, word in enumerate(words):
                changed = [words[:index] + words[index + 1 :]]
                if f".{word}" in TYPES:
                    changed += [[*words[:index], type[1:], *words[index + 1 :]] for type in _OTHER_TYPES]
                for modifiers in changed:
                    yield f"{'.'.join((opcode, *modifiers))} {operands};", newest_point(spelling, arguments)


def _fixed(lines: list[str], point: Point) -> list[str]:
    """The lines that fixes make of these."""
    head = prelude(*point)
    module = Module.parse("\n".join([head.rstrip("\n"), *lines, "L1:", "ret;", "}", ""]))
    data = module.document.source.data
    found: dict[str, None] = {}
    for diagnostic in LintSession(module).diagnostics:
        start = data.rfind(b"\n", 0, diagnostic.span.start) + 1
        end = data.find(b"\n", diagnostic.span.start)
        if diagnostic.severity == "error":
            for fix in filter(None, (diagnostic.fix, *diagnostic.alternatives)):
                line = data[start:end]
                for edit in sorted(fix.edits, reverse=True):
                    line = line[: edit.start - start] + edit.replacement + line[edit.end - start :]
                found[line.decode()] = None
    return list(found)


@pytest.mark.parametrize("section", _SECTIONS)
def test_fixes_are_accepted(section: str) -> None:
    if ptxas.find() is None:
        pytest.skip("no ptxas at hand")
    points: dict[Point, list[str]] = {}
    for line, point in _mistakes(section):
        points.setdefault(point, []).append(line)
    offered = 0
    for point, lines in points.items():
        fixed = _fixed(lines, point)
        offered += len(fixed)
        verdicts = zip(fixed, judge(fixed, point), strict=True)
        refused = [line for line, verdict in verdicts if not verdict.accepted]
        assert refused == []
    assert offered > 5
