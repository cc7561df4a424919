"""Where ptxas takes `_` in place of a register: in a vector, alone, and as one of a pair.

    python -m tests.oracle.instructions.sinks [--update]

Every instruction of the table: each vector with `_` for its first element, its last, all but one, and all;
each register as `_`; each pair with `_` on either side. What makes ptxas crash is left out.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from ptx_lsp.isa.schema import table
from ptx_lsp.isa.schema.operand import Argument
from tests.oracle.instructions.cases import Case, Point, newest_point, plain_lines
from tests.oracle.instructions.judge import VERDICTS, Verdict, judge, record
from tests.oracle.instructions.operands import written

NAME: Final = "sinks"
_SINK: Final = Argument("sink")
_LONGEST: Final = 16
_AT_ONCE: Final = 200


def asked() -> Iterator[Case]:
    """The lines to judge: the first of those with `_` in the same place of as many elements."""
    seen: Counter[tuple[str, ...]] = Counter()
    for entry in table.all_entries():
        for form, row, spelling, plain in plain_lines(entry):
            if any(len(argument.parts) > _LONGEST for argument in plain):
                continue  # what holds for 16 elements holds for 128
            mode = [word for word in row if word in (".all", ".any", ".aligned", ".f16x2", ".f64")]
            for index, argument in enumerate(plain):
                for what, changed in _with_sinks(argument):
                    where = (str(index), what, str(len(argument.parts)))
                    key = (entry.name, entry.section, form.text, *where, *mode)
                    seen[key] += 1
                    if seen[key] == 1:
                        arguments = (*plain[:index], changed, *plain[index + 1 :])
                        operands = ", ".join(map(written, arguments))
                        yield Case(spelling, operands, *newest_point(spelling, plain), True)


def _with_sinks(argument: Argument) -> Iterator[tuple[str, Argument]]:
    match argument:
        case Argument(kind="vector", parts=parts):
            places = {"first": {0}, "last": {len(parts) - 1}, "most": set(range(1, len(parts))),
                      "all": set(range(len(parts)))}
            for what, sinks in places.items():
                elements = tuple(_SINK if n in sinks else part for n, part in enumerate(parts))
                yield what, argument._replace(parts=elements)
        case Argument(kind="register", pair=pair):
            yield "alone", _SINK._replace(pair=pair)
            if pair is not None:
                yield "pair", argument._replace(pair=_SINK)
        case _:
            return


def judged(cases: Iterable[Case]) -> list[tuple[Case, Verdict]]:
    """Every line with what ptxas says of it, but for those that make it crash."""
    points: dict[Point, dict[Case, None]] = defaultdict(dict)
    for case in cases:
        points[case.version, case.target][case] = None
    return [pair for point, group in points.items() for pair in _judged(list(group), point)]


def _judged(group: list[Case], point: Point) -> Iterator[tuple[Case, Verdict]]:
    for start in range(0, len(group), _AT_ONCE):
        part = group[start : start + _AT_ONCE]
        for case, verdict in zip(part, _verdicts(part, point), strict=True):
            if verdict.message != _CRASH:
                yield case, verdict


_CRASH: Final = "ptxas crashes"


def _verdicts(group: list[Case], point: Point) -> list[Verdict]:
    """An error inside ptxas's own macros has no line: halves are tried."""
    try:
        return judge([case.line for case in group], point)
    except RuntimeError:
        if len(group) == 1:
            return [Verdict(False, _CRASH)]
        half = len(group) // 2
        return _verdicts(group[:half], point) + _verdicts(group[half:], point)


if __name__ == "__main__":
    lines = judged(asked())
    print(f"{len(lines)} lines, {sum(verdict.accepted for _, verdict in lines)} accepted")
    if "--update" in sys.argv:
        (VERDICTS / f"{NAME}.txt").write_text(record(lines))
