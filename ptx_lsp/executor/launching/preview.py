"""Previews of instructions and kernels, which an editor shows automatically.

`preview_instruction` executes one spelling with values at the edges of its types; `preview_kernels` launches
the kernels of a file as its launch comments specify. Both return immutable values within a budget of
instructions and time, and never raise an error because of the program.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, product

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.boundary_values import edge_values, shown
from ptx_lsp.executor.instrumentation.last_values import LaneValues, LastValues
from ptx_lsp.executor.launching.instruction_harness import CARRY, instruction_harness
from ptx_lsp.executor.launching.launch import launch
from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.executor.launching.object_specs import argument, array_of, bindings
from ptx_lsp.executor.machine.errors import ExecutionError, Finding, Lane
from ptx_lsp.isa.instructions.extended import READ_CARRY
from ptx_lsp.isa.matching.fit import Candidate
from ptx_lsp.isa.matching.match import arrangements
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.schema.operand import Operand
from ptx_lsp.isa.types import TYPES, Type
from ptx_lsp.model.module import Module

_MOST_TRIED = 1 << 10
_ROWS = 10
_FIRST = 8
_MOST_THREADS = 1 << 20
_MOST_ELEMENTS = 1 << 22

LIMIT = 1 << 16
"""Steps per wave, each of which executes an instruction for all active lanes."""
SECONDS = 2.0
"""CPU time of the thread: on a busy machine, previews are the same."""

_APPROXIMATE = frozenset((".approx", ".full"))
_WITHIN = "computed within the bound that the manual states; a GPU may give other bits"


@dataclass(frozen=True)
class Row:
    """Operands and results in readable form."""

    operands: tuple[str, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class InstructionPreview:
    """The results of a spelling. `operands` and `results` name the columns, with types: `a .s32`. Without
    rows, `note` gives the reason; otherwise it is a remark on the results, if any.
    """

    spelling: str
    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class BufferPreview:
    """A buffer or surface: its first values before and after; of `size` elements, `changed` differ."""

    name: str
    type: str
    size: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    changed: int


@dataclass(frozen=True)
class KernelPreview:
    """The outcome of the launch comment at `line`. `problem` is the error of the comment or the launch, "" if
    there is none. If an instruction caused it, it is at `problem_line`, `kind` is that of the ExecutionError,
    and `lanes` are the affected ones. `values` are the last values that each line wrote, `instructions` the
    number of executed thread-instructions. Both are also set after an error.
    """

    line: int
    entry: str
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    buffers: tuple[BufferPreview, ...] = ()
    findings: tuple[Finding, ...] = ()
    problem: str = ""
    problem_line: int = 0
    kind: str = ""
    lanes: tuple[Lane, ...] = ()
    values: tuple[LaneValues, ...] = ()
    instructions: int = 0
    console: str = ""
    """The output of the kernel."""


@lru_cache(maxsize=256)
def preview_instruction(
    spelling: str, *, seconds: float = SECONDS, constants: tuple[tuple[int, int], ...] = ()
) -> InstructionPreview:
    """A table of operands and results, or why there is none. `constants` are the operands, by index, that
    have one value: its bits, or the value of an operand that is not a register.
    """
    resolution = resolve(spelling)
    if not resolution.ok:
        problems = resolution.problems
        return InstructionPreview(spelling, note=problems[0].message if problems else "it is not known")
    note = ""
    for candidate in resolution.candidates:
        for places in arrangements(candidate.form.places):
            try:
                return _instruction(spelling, candidate, places, seconds, dict(constants))
            except (ExecutionError, ValueError) as error:
                note = note or str(error)
    return InstructionPreview(spelling, note=note or "it has no operands to vary")


def preview_kernels(
    module: Module, *, entry: str | None = None, limit: int = LIMIT, seconds: float = SECONDS,
    check: bool = True,
) -> tuple[KernelPreview, ...]:
    """The outcomes of the launch comments of a file in order: of all, or of the kernel `entry`; `seconds` is
    the limit of each.
    """
    return tuple(
        _kernel(module, one, limit, seconds, check)
        for one in launch_comments(module)
        if entry is None or one.entry == entry
    )


# -- instructions -------------------------------------------------------------------------------


def _instruction(
    spelling: str, candidate: Candidate, places: tuple[Place, ...], seconds: float,
    constants: Mapping[int, int],
) -> InstructionPreview:
    """Raises ValueError where the instruction does more than compute one value from others."""
    if candidate.entry.meaning is None:
        raise ValueError("it does more than compute a result; use it in a kernel to see its effect")
    names: list[str] = []
    types: list[str] = []
    choices: list[list[int]] = []
    results: list[tuple[str, str]] = []
    for at, place in enumerate(places):
        wanted = candidate.operand(place)
        if place.parts or wanted.elements:
            raise ValueError("vector operands are not shown")
        type = str(wanted.type).partition("|")[0]
        if wanted.access == "write":
            results.append((place.name, type))
            if place.paired:
                results.append((place.pair, ".pred"))
        elif "register" in wanted.kinds:
            names.append(f"{place.name} {type}")
            types.append(type)
            edges = edge_values(_known(type))[:_FIRST]
            choices.append([constants[at]] if at in constants else edges)
        else:
            names.append(place.name)
            types.append("#")
            choices.append([constants.get(at, _immediate(wanted, place.name))])
    if not types or not results:
        raise ValueError("it has no operands to vary")
    if candidate.form.opcode in READ_CARRY:
        names.append(CARRY)
        types.append(CARRY)
        choices.append([1, 0])
    columns = [f"{name} {type}" for name, type in results]
    if ".cc" in candidate.choices.modifiers:
        columns.append(CARRY)
        results.append(("", CARRY))
    tried = [list(row) for row in islice(_diagonally(choices), _MOST_TRIED)]
    written = [type for _, type in results]
    found = instruction_harness(spelling, tried, types, written).run(seconds=seconds)
    rows = tuple(_row(tried[at], types, found[at], written) for at in _telling(found))
    note = _WITHIN if _APPROXIMATE & candidate.choices.modifiers else ""
    return InstructionPreview(spelling, tuple(names), tuple(columns), rows, note)


def _known(type: str) -> Type:
    if type not in TYPES:
        raise ValueError(f"operands of type `{type}` are not shown")
    return TYPES[type]


def _immediate(wanted: Operand, name: str) -> int:
    if wanted.values:
        return wanted.values[0]
    if name == "table":
        return 0x96  # that of an exclusive or
    return wanted.low if wanted.low is not None and wanted.low > 1 else 1


def _diagonally(choices: list[list[int]]) -> list[tuple[int, ...]]:
    """All combinations, those of values far to the front before others."""
    indices = product(*(range(len(one)) for one in choices))
    ordered = sorted(indices, key=lambda index: (sum(index), index))
    return [tuple(one[at] for one, at in zip(choices, index, strict=True)) for index in ordered]


def _telling(found: list[tuple[int, ...]]) -> list[int]:
    """Which rows to show: where results that many operands share are first met (limits, NaN), then the
    first of each other result.
    """
    first: dict[tuple[int, ...], int] = {}
    for at, results in enumerate(found):
        first.setdefault(results, at)
    shared = [first[results] for results, _ in Counter(found).most_common(_ROWS // 2)]
    others = [at for at in first.values() if at not in shared]
    chosen = [*shared, *others][:_ROWS]
    more = [at for at in range(len(found)) if at not in chosen]
    return sorted([*chosen, *more[: _ROWS - len(chosen)]])


def _row(
    operands: list[int], types: list[str], results: tuple[int, ...], written: list[str]
) -> Row:
    return Row(
        tuple(
            str(one) if type == "#" else _shown(one, type)
            for one, type in zip(operands, types, strict=True)
        ),
        tuple(_shown(one, type) for one, type in zip(results, written, strict=True)),
    )


def _shown(bits: int, type: str) -> str:
    return shown(bits, TYPES[".u32" if type == CARRY else type])


# -- kernels ------------------------------------------------------------------------------------


def _kernel(
    module: Module, comment: LaunchComment, limit: int, seconds: float, check: bool
) -> KernelPreview:
    made = KernelPreview(comment.line, comment.entry, comment.grid, comment.block)
    if comment.problem:
        return _failed(made, comment.problem)
    threads = math.prod(comment.grid + comment.block)
    if threads > _MOST_THREADS:
        return _failed(made, f"a preview supports at most {_MOST_THREADS} threads, not {threads}")
    try:
        arguments = [argument(spec, comment.seed, _MOST_ELEMENTS) for spec in comment.specs]
        bind = bindings(comment.bound, comment.seed, _MOST_ELEMENTS)
    except ValueError as error:
        return _failed(made, str(error))
    names = [one.name for one in module.definitions[comment.entry].launched]
    given = [*zip(names, comment.specs, arguments, strict=True)]
    given += [(name, spec, bind[name]) for name, spec in comment.bound]
    kept = [
        (name, spec, array.copy(), array)
        for name, spec, one in given if (array := array_of(one)) is not None
    ]
    text = module.document.source.text + "\n"
    seen = LastValues()
    printed: list[str] = []
    try:
        findings = launch(
            text, entry=comment.entry, grid=comment.grid, block=comment.block, args=arguments,
            shared_bytes=comment.shared_bytes, cluster=comment.cluster or None, seed=comment.seed,
            limit=limit, seconds=seconds, check=check, observers=[seen], bind=bind,
            console=printed.append, clock=time.thread_time,
        )
    except ExecutionError as error:
        message = str(error).removeprefix(f"line {error.line}: ")
        return replace(
            _failed(made, message), problem_line=error.line, kind=error.kind, findings=error.findings,
            lanes=tuple(error.lanes), values=seen.values, instructions=seen.instructions,
            console="".join(printed),
        )
    buffers = tuple(
        _buffer(name, spec, old.reshape(-1), new.reshape(-1), seen) for name, spec, old, new in kept
    )
    return replace(
        made, buffers=buffers, findings=findings, values=seen.values, instructions=seen.instructions,
        console="".join(printed),
    )


def _failed(made: KernelPreview, problem: str) -> KernelPreview:
    return replace(made, problem=problem)


def _buffer(
    name: str, spec: str, before: npt.NDArray[np.generic], after: npt.NDArray[np.generic],
    seen: LastValues,
) -> BufferPreview:
    width = after.dtype.itemsize
    changed = before.view(f"u{width}") != after.view(f"u{width}")
    type = spec.partition(":")[0].rpartition("(")[2]  # of `surface(f32:...)`, too
    return BufferPreview(
        name, type.removesuffix("[]"), after.size,
        _first(before, seen), _first(after, seen), int(np.count_nonzero(changed)),
    )


def _first(values: npt.NDArray[np.generic], seen: LastValues) -> tuple[str, ...]:
    """The first values in readable form; of addresses, hexadecimal."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize != 8:
        return tuple(str(one) for one in values[:_FIRST])
    integers = [int(one) for one in values[:_FIRST]]
    return tuple(f"{one:#x}" if seen.is_address(one) else str(one) for one in integers)
