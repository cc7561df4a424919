"""Which instructions the executor runs: recorded lines that ptxas and the table accept, decoded and run.

    python -m tests.oracle.instructions.executed [SECTION ...]     prints what cannot be executed, by reason
    python -m tests.oracle.instructions.executed --update          renews what docs/coverage.md says of it

A line is executed by 32 threads, once with registers that are all 0, once with a global address in those of
64 bits. That an address lies nowhere is no reason against it: the instruction has come as far as memory.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ptx_lsp.executor.decoding.decode import decode
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action, Control, Unsupported
from ptx_lsp.executor.machine.data_segment import ModuleMemory, Resident
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.memory import Memory
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.special_registers import fill_special_registers
from ptx_lsp.executor.machine.texture import Opaque, Surface, Texture
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.schema.notation import Form
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Variable
from tests.oracle.instructions.cases import Point
from tests.oracle.instructions.judge import VERDICTS, prelude, recorded, sections

PAGE = Path(__file__).parents[3] / "docs" / "coverage.md"


class Executed(NamedTuple):
    """A line, the form that it is, and why it cannot be executed ("" where it can)."""

    line: str
    entry: Entry
    form: Form
    reason: str


def lines(section: str, share: int = 1) -> dict[Point, list[str]]:
    """One line of each spelling with each shape of operands that ptxas accepts, by the newest version and
    target at which it does; or every so manieth of them.
    """
    newest: dict[str, tuple[Point, str]] = {}
    for (line, point), accepted in recorded((VERDICTS / f"{section}.txt").read_text()).items():
        shape = re.sub(r"%\w+", "%", line)
        if accepted and (shape not in newest or _order(point) > _order(newest[shape][0])):
            newest[shape] = (point, line)
    found: dict[Point, list[str]] = defaultdict(list)
    for point, line in list(newest.values())[::share]:
        found[point].append(line)
    return found


def executed(section: str, share: int = 1) -> Iterator[Executed]:
    """Every spelling of a section, or every so manieth."""
    for point, of_point in lines(section, share).items():
        yield from _of_point(of_point, point)


def _order(point: Point) -> tuple[object, ...]:
    return (*point[0], point[1].number)


def _of_point(of_point: list[str], point: Point) -> Iterator[Executed]:
    head = prelude(*point).rstrip("\n").split("\n")
    text = [*head, *of_point, "L1:", "ret;", "}", ""]
    module = Module.parse("\n".join(text))
    kernel = module.definitions["k"]
    memory = Memory()
    image = ModuleMemory(module, kernel, Resident(memory), 0)
    spaces = Spaces(memory, np.zeros(image.parameter_bytes, np.uint8))
    frame = RegisterLayout()
    blocks = decode(kernel, frame, image, spaces)
    spaces.opaque = {
        image.addresses[id(variable.declarator)]: _OPAQUE[variable.type]
        for variable in module.variables if isinstance(variable, Variable) and variable.type in _OPAQUE
    }
    base = memory.add("buffer", np.zeros(1 << 16, np.uint8))
    shape = LaunchConfig((1, 1, 1), (32, 1, 1), image.shared_bytes, 0, image.local_bytes)
    reasons: dict[int, str] = {}
    matches: dict[int, Match] = {}
    for step in (step for block in blocks for step in block.steps):
        if step.source is None or step.source.function is not kernel or step.line in reasons:
            continue
        node = step.source.node
        match = resolve(node.opcode.text).match(arguments(kernel, node))
        if match is not None and not match.problems and not _is_odd(match):
            matches[step.line] = match
            reasons[step.line] = _reason(step.action, _wave(shape, frame))
            if not reasons[step.line]:
                wave = _wave(shape, frame)
                for register in wave.registers:
                    if register.dtype == np.uint64:
                        register[:] = base
                reasons[step.line] = _reason(step.action, wave)
    for number, match in matches.items():
        if len(head) < number <= len(head) + len(of_point):
            yield Executed(text[number - 1], match.entry, match.candidate.form, reasons[number])


_OPAQUE: dict[str, Opaque] = {
    ".texref": Texture(np.zeros((4, 4), np.float32)), ".surfref": Surface(np.zeros((4, 4), np.uint32)),
}


def _is_odd(match: Match) -> bool:
    """Whether ptxas takes a spelling that nobody writes: `call.uni.uni`."""
    return any(problem.kind == "repeated-modifier" for problem in match.candidate.problems)


def _wave(shape: LaunchConfig, frame: RegisterLayout) -> Wave:
    wave = Wave(shape, frame, shape.order)
    fill_special_registers(wave, frame)
    return wave


def _reason(action: Action | Control, wave: Wave) -> str:
    """Why an action cannot be executed."""
    if isinstance(action, Unsupported):
        return re.sub(r"`[^`]+` cannot be executed", "cannot be executed", action.message)
    if isinstance(action, Control):
        return ""
    try:
        with np.errstate(all="ignore"):
            action.run(wave, None)
    except ExecutionError as error:
        return str(error) if error.kind == "unsupported" else ""
    except Exception as error:
        return f"it fails: {type(error).__name__}: {error}"
    return ""


class Counted(NamedTuple):
    """Of a row: its forms, those with lines that the executor cannot run, such lines, and one of them."""

    name: str
    forms: int
    refused: int
    lines: int
    example: str


def count(section: str) -> list[Counted]:
    """Counts a section, row after row."""
    refused: dict[int, dict[int, list[str]]] = {}
    rows = sections()[section]
    for one in executed(section):
        if one.reason:
            forms = refused.setdefault(rows.index(one.entry), {})
            forms.setdefault(one.entry.forms.index(one.form), []).append(one.line)
    found: list[Counted] = []
    for number, row in enumerate(rows):
        of_row = refused.get(number, {})
        lines = [line for of_form in of_row.values() for line in of_form]
        found.append(Counted(row.name, len(row.forms), len(of_row), len(lines), (*lines, "")[0]))
    return found


def renewed(page: str) -> str:
    """The page of coverage with what is executed now."""
    with ProcessPoolExecutor(2) as pool:
        names = list(sections())
        counted = dict(zip(names, pool.map(count, names), strict=True))
    head, *parts = re.split(r"(?m)^## ", page.partition(_LIST)[0].rstrip("\n") + "\n")
    head = re.sub(r"(?m)^The executor runs .*\n\n", "", head)
    parts = [_section(part, counted) for part in parts]
    text = "## ".join([head + _total(counted), *parts]) + "\n" + _LIST
    rows = [row for found in counted.values() for row in _refusals(found)]
    columns = ["| instruction | forms | lines | such as | why |", "|---|--:|--:|---|---|"]
    return "\n".join([text, *columns, *rows, ""])


_LIST = "## What the executor does not run"
_WHY = {
    "fabric": "it sends to other devices; a launch has one",
}
"""Why the executor does not run an instruction, by what its name begins with."""


def _section(part: str, counted: Mapping[str, list[Counted]]) -> str:
    """A table of the page with its last column renewed."""
    cells: dict[str, list[int]] = {}
    for row in counted.get(part.partition("\n")[0], ()):
        forms = cells.setdefault(row.name, [0, 0])
        forms[0] += row.forms
        forms[1] += row.refused
    lines: list[str] = []
    for line in part.split("\n"):
        name = line.split(" | ")[0].strip("|` ")
        if name in cells and line.count(" | ") == 8:
            forms, refused = cells[name]
            cell = "yes" if not refused else "no" if refused == forms else f"{forms - refused} of {forms}"
            line = f"{line[: line.rindex(' | ')]} | {cell} |"
        lines.append(line)
    return "\n".join(lines)


def _total(counted: Mapping[str, list[Counted]]) -> str:
    """How many forms the executor runs."""
    rows = [row for found in counted.values() for row in found]
    forms, refused = sum(row.forms for row in rows), sum(row.refused for row in rows)
    share = f"{100 * (forms - refused) / forms:.1f} %"
    return f"The executor runs {forms - refused} of {forms} forms ({share}) in all their spellings.\n\n"


def _refusals(found: Iterable[Counted]) -> Iterator[str]:
    names: dict[str, list[Counted]] = {}
    for row in found:
        if row.refused:
            names.setdefault(row.name, []).append(row)
    for name, rows in names.items():
        why = next((why for start, why in _WHY.items() if name.startswith(start)), "not yet")
        forms, lines = sum(row.refused for row in rows), sum(row.lines for row in rows)
        example = rows[0].example.replace("|", "\\|")
        yield f"| `{name}` | {forms} | {lines} | `{example}` | {why} |"


def main(names: list[str]) -> int:
    if names == ["--update"]:
        PAGE.write_text(renewed(PAGE.read_text()))
        return 0
    for section in names or list(sections()):
        found = list(executed(section))
        reasons = Counter(one.reason for one in found if one.reason)
        done = sum(not one.reason for one in found)
        print(f"{section}: {done} of {len(found)}")
        for reason, count in reasons.most_common():
            example = next(one.line for one in found if one.reason == reason)
            print(f"    {count} {reason[:90]}   {example}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
