"""What ptxas takes and refuses in place of each operand: names, sums, constants, registers of other types.

    python -m tests.oracle.instructions.odd_operands [--update]

Every instruction of the table: each operand replaced by each of the texts below, once for each place. The
record has all lines that ptxas takes, and a fifth of the others; what makes it crash is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from ptx_lsp.isa.schema import table
from tests.oracle.instructions.cases import Case, newest_point, plain_lines
from tests.oracle.instructions.judge import VERDICTS, record
from tests.oracle.instructions.operands import written
from tests.oracle.instructions.sinks import judged

NAME: Final = "odd_operands"
_ODD: Final = (
    "f0", "k", "L1", "global0", "shared0", "local0", "tex0", "global0+4", "%u64_1+4", "%tid", "%tid.x",
    "%u16_1", "%f32_1", "%u64_1", "%b128_1", "%pred_1", "!%pred_1", "1", "-1", "1.5", "0f3F800000", "WARP_SZ",
    "global0[1]", "[%b64_1]", "[%b128_1]", "_", "{%b32_1}",
)
_LONGEST: Final = 16
_FIFTH: Final = 5


def asked() -> Iterator[Case]:
    """The lines to judge."""
    seen = set[tuple[str, str, int, int, str]]()
    for entry in table.all_entries():
        for _, _, spelling, plain in plain_lines(entry):
            if any(len(argument.parts) > _LONGEST for argument in plain):
                continue
            texts = [written(argument) for argument in plain]
            for index in range(len(texts)):
                for odd in _ODD:
                    key = (entry.name, entry.section, len(texts), index, odd)
                    if key not in seen:
                        seen.add(key)
                        operands = ", ".join([*texts[:index], odd, *texts[index + 1 :]])
                        yield Case(spelling, operands, *newest_point(spelling, plain), True)


if __name__ == "__main__":
    lines = [one for number, one in enumerate(judged(asked())) if one[1].accepted or number % _FIFTH == 0]
    print(f"{len(lines)} lines, {sum(verdict.accepted for _, verdict in lines)} accepted")
    if "--update" in sys.argv:
        (VERDICTS / f"{NAME}.txt").write_text(record(lines))
