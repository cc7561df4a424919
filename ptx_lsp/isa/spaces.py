"""The state spaces: what each holds, who reaches it, how long it lives (PTX ISA, "State Spaces")."""

from __future__ import annotations

from typing import Final

from ptx_lsp.isa.target import Requirement, parse_requirement
from ptx_lsp.named_tuple import NamedTuple


class StateSpace(NamedTuple):
    """One state space. `access` says who reads and writes it, `lifetime` how long its values last.

    `initialisable` when a declaration may give initial values. `deprecated` says what to use instead.
    """

    name: str
    summary: str
    access: str
    lifetime: str
    initialisable: bool
    since: Requirement
    deprecated: str = ""


_LAUNCH: Final = "the call, or the kernel's launch"
_CTA: Final = "the CTA"
_THREAD: Final = "the thread"
_CONTEXT: Final = "the module in its context: longer than a kernel"
_OLDEST: Final = parse_requirement("1.0", 10)

_ROWS: Final = (
    StateSpace(
        ".reg", "Registers: the fastest memory; they have no address.",
        "each thread its own: reads and writes", _THREAD, False, _OLDEST,
    ),
    StateSpace(
        ".sreg", "Special registers, which PTX predefines: positions, clocks, counters.",
        "each thread: reads; ptxas declares them", _THREAD, False, _OLDEST,
    ),
    StateSpace(
        ".const", "Constant memory: banks of 64 KB, cached for reads of one address by a whole warp.",
        "all threads: read; the host writes before a launch", _CONTEXT, True, _OLDEST,
    ),
    StateSpace(
        ".global", "Global memory, which all threads of all grids share.",
        "all threads and the host: read and write", _CONTEXT, True, _OLDEST,
    ),
    StateSpace(
        ".local", "Local memory: a thread's own, for its stack and for what registers cannot hold.",
        "each thread its own: reads and writes", _THREAD, False, _OLDEST,
    ),
    StateSpace(
        ".param", "Parameters: of a kernel, read by all its threads; of a function, its arguments and"
        " results.",
        "a kernel's: read by all threads; a function's: written by one side of the call and read by"
        " the other", _LAUNCH, False, _OLDEST,
    ),
    StateSpace(
        ".param::entry", "The parameters of the kernel, also where a function of it reads them.",
        "all threads of the grid: read", "the kernel's launch", False, parse_requirement("8.3", 10),
    ),
    StateSpace(
        ".param::func", "The parameters of the function, and of the calls that it makes.",
        "each thread its own: reads and writes", "the call", False, parse_requirement("8.3", 10),
    ),
    StateSpace(
        ".shared", "Shared memory: on the chip, one part for each CTA; threads of its cluster reach"
        " it, too.",
        "the threads of the CTA, and of its cluster: read and write", _CTA, False, _OLDEST,
    ),
    StateSpace(
        ".shared::cta", "The shared memory of the CTA that the thread belongs to.",
        "the threads of the CTA: read and write", _CTA, False, parse_requirement("7.8", 20),
    ),
    StateSpace(
        ".shared::cluster", "The shared memory of all CTAs in the cluster of the thread.",
        "the threads of the cluster: read and write", "the CTA that it is part of", False,
        parse_requirement("7.8", 90),
    ),
    StateSpace(
        ".tex", "Textures as variables; they are in global memory and read by tex.",
        "all threads: read; the host writes", _CONTEXT, False, _OLDEST, ".global .texref",
    ),
)

SPACES: Final[dict[str, StateSpace]] = {space.name: space for space in _ROWS}
"""Name with its dot -> row."""
