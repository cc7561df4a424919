"""The strings that ptxas takes in `.pragma`.

Sources: PTX ISA, "Descriptions of .pragma Strings"; probed with ptxas 13.5 (docs/ptxas.md, section 4.4),
in bodies: elsewhere it asks for no target and no version.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ptx_lsp.isa.target import OLDEST, Requirement, parse_requirement

ALWAYS: Final = Requirement(OLDEST, ())


class Pragma(NamedTuple):
    """`anywhere`: outside functions and in the head of a kernel, too, not in bodies only."""

    name: str
    summary: str
    since: Requirement = ALWAYS
    anywhere: bool = False
    takes_number: bool = False
    positive: bool = False


PRAGMAS: Final = {
    pragma.name: pragma
    for pragma in (
        Pragma("nounroll", "Loops are not unrolled.", anywhere=True),
        Pragma(
            "used_bytes_mask",
            "Which of the bytes that the next load reads are used, as a mask.",
            parse_requirement("8.3", 50),
            takes_number=True,
        ),
        Pragma(
            "enable_smem_spilling",
            "Registers may be spilled to shared memory.",
            parse_requirement("8.7", 75),
        ),
        Pragma(
            "local_maxnreg",
            "How many registers ptxas may use here, as a number.",
            parse_requirement("6.3", 30),
            anywhere=True,
        ),
        Pragma(
            "frequency",
            "How often the block of instructions is executed, as a number.",
            parse_requirement("9.0", 10),
            takes_number=True,
            positive=True,
        ),
        Pragma("mma_throughput", "Code is made for the throughput of `mma`.", parse_requirement("9.3", 10)),
    )
}


def split(text: str) -> tuple[str, str]:
    """The name of a pragma, and what stands behind it."""
    match = re.match(r"(\S*)(?:\s+(.*))?", text, re.DOTALL)
    if match is None or text[:1].isspace():
        return text, ""
    return match[1], match[2] or ""


def is_number(text: str) -> bool:
    """Whether ptxas takes `text` as the argument of a pragma: a whole number as in C."""
    return re.fullmatch(r"[+-]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)", text) is not None


def is_positive(text: str) -> bool:
    """Whether a number is above 0."""
    return not text.startswith("-") and re.fullmatch(r"\+?0[xXbB]?0*", text) is None
