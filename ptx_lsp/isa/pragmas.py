"""The strings that ptxas takes in `.pragma`.

Sources: PTX ISA, "Descriptions of .pragma Strings"; probed with ptxas 13.5 (docs/ptxas.md, section 4.4),
in bodies: elsewhere it asks for no target and no version.
"""

from __future__ import annotations

from ptx_lsp.isa.directives import Where
from ptx_lsp.isa.target import OLDEST, Requirement, parse_requirement
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

ALWAYS: Final = Requirement(OLDEST, ())
_BODY: Final[frozenset[Where]] = frozenset({"body"})
_BODY_AND_HEAD: Final[frozenset[Where]] = frozenset({"kernel", "body"})
_ANYWHERE: Final[frozenset[Where]] = frozenset({"module", "kernel", "body"})


class Pragma(NamedTuple):
    """A name, and where it is allowed. In the head of a kernel ptxas ignores some (docs/ptxas.md)."""

    name: str
    summary: str
    since: Requirement = ALWAYS
    places: frozenset[Where] = _BODY
    takes_number: bool = False
    least: int | None = None
    largest: int | None = None
    """ptxas looks at the lowest 32 bits, with a sign."""
    when_compiled: bool = False
    """Whether ptxas looks at the number when it makes code only, not in functions that no kernel calls."""
    of_kernels: bool = False
    """Whether no function that is called may have it in its body."""


PRAGMAS: Final = {
    pragma.name: pragma
    for pragma in (
        Pragma("nounroll", "Loops are not unrolled.", places=_ANYWHERE),
        Pragma(
            "used_bytes_mask",
            "Which of the bytes that the next load reads are used, as a mask.",
            parse_requirement("8.3", 50),
            takes_number=True,
            when_compiled=True,
        ),
        Pragma(
            "enable_smem_spilling",
            "Registers may be spilled to shared memory.",
            parse_requirement("8.7", 75),
            of_kernels=True,
        ),
        Pragma(
            "local_maxnreg",
            "The number of registers that ptxas may use.",
            parse_requirement("6.3", 30),
            places=_BODY_AND_HEAD,
            takes_number=True,
            least=0,
            largest=255,
        ),
        Pragma(
            "frequency",
            "How often the block of instructions is executed, as a number.",
            parse_requirement("9.0", 10),
            takes_number=True,
            least=1,
        ),
        Pragma("mma_throughput", "Code is made for the throughput of `mma`.", parse_requirement("9.3", 10)),
        Pragma("abi_param_reg", "How many registers pass parameters; in no manual.", places=_ANYWHERE),
    )
}


_WORD = lazy_pattern(r"(?s)(\S*)(?:\s+(.*))?")
_NUMBER = lazy_pattern(r"[+-]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)")


def split(text: str) -> tuple[str, str]:
    """The name of a pragma, and the text after it."""
    match = _WORD.match(text)
    if match is None or text[:1].isspace():
        return text, ""
    return match[1], match[2] or ""


def number(text: str) -> int | None:
    """The value of the argument of a pragma, a whole number as in C; None where it is none."""
    if _NUMBER.fullmatch(text) is None:
        return None
    digits = text.lstrip("+-")
    is_octal = digits.isdigit() and digits.startswith("0")
    return int(digits, 8 if is_octal else 0) * (-1 if text.startswith("-") else 1)
