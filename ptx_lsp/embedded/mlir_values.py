"""Constants of MLIR."""

from __future__ import annotations

import re

_OPERATIONS = rb"(?:llvm\.mlir\.constant\(|arith\.constant[ \t]+)(-?\d+|true|false)\b(?![.\w])"


def constant(data: bytes, value: str, before: int) -> str | None:
    """The number that the last definition of a value above `before` gives it; None if unknown."""
    definition = rb"%b[ \t]*=[ \t]*(?:(%b)|\S)" % (re.escape(value.encode()), _OPERATIONS)
    found = re.findall(rb"(?<![\w$.%%])%b" % definition, data[:before])
    if not found or not found[-1][1]:
        return None
    number = found[-1][1].decode()
    return {"true": "1", "false": "0"}.get(number, number)
