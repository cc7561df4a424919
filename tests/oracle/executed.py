"""Which instructions the executor runs: every recorded line that ptxas accepts, decoded and executed.

    python -m tests.oracle.executed [SECTION ...]     prints what cannot be executed, by reason

A line is executed by 32 threads whose registers are all 0. That an address then lies nowhere is no reason
against it: the instruction has come as far as memory.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ptx_lsp.executor.control import Action, Control, Unsupported
from ptx_lsp.executor.decode import decode
from ptx_lsp.executor.errors import ExecutionError
from ptx_lsp.executor.frame import Frame
from ptx_lsp.executor.image import Image
from ptx_lsp.executor.memory import Memory
from ptx_lsp.executor.spaces import Spaces
from ptx_lsp.executor.wave import Shape, Wave
from ptx_lsp.isa.entry import Entry
from ptx_lsp.isa.notation import Form
from ptx_lsp.isa.resolve import Match, resolve
from ptx_lsp.model.arguments import arguments
from ptx_lsp.model.module import Module
from tests.oracle.isa_cases import Point
from tests.oracle.judge import VERDICTS, prelude, recorded, sections


class Executed(NamedTuple):
    """A line, the form that it is, and why it cannot be executed ("" where it can)."""

    line: str
    entry: Entry
    form: Form
    reason: str


def lines(section: str) -> dict[Point, list[str]]:
    """One line of each spelling that ptxas accepts, by the newest version and target at which it does."""
    newest: dict[str, tuple[Point, str]] = {}
    for (line, point), accepted in recorded((VERDICTS / f"{section}.txt").read_text()).items():
        spelling = line.partition(" ")[0]
        if accepted and (spelling not in newest or _order(point) > _order(newest[spelling][0])):
            newest[spelling] = (point, line)
    found: dict[Point, list[str]] = defaultdict(list)
    for point, line in newest.values():
        found[point].append(line)
    return found


def executed(section: str) -> Iterator[Executed]:
    """Every spelling of a section."""
    for point, of_point in lines(section).items():
        yield from _of_point(of_point, point)


def _order(point: Point) -> tuple[object, ...]:
    return (*point[0], point[1].number)


def _of_point(of_point: Iterable[str], point: Point) -> Iterator[Executed]:
    head = prelude(*point).rstrip("\n").split("\n")
    text = [*head, *of_point, "L1:", "ret;", "}", ""]
    module = Module.parse("\n".join(text))
    kernel = module.definitions["k"]
    memory = Memory()
    image = Image(module, kernel, memory, 0)
    spaces = Spaces(memory, np.zeros(image.parameter_bytes, np.uint8))
    frame = Frame()
    blocks = decode(kernel, frame, image, spaces)
    shape = Shape((1, 1, 1), (32, 1, 1), image.shared_bytes, 0, image.local_bytes)
    reasons: dict[int, str] = {}
    matches: dict[int, Match] = {}
    for step in (step for block in blocks for step in block.steps):
        if step.source is None or step.source.context.function is not kernel or step.line in reasons:
            continue
        node = step.source.node
        match = resolve(node.opcode.text).match(arguments(kernel, node))
        if match is not None:
            matches[step.line] = match
            reasons[step.line] = _reason(step.action, Wave(shape, frame, shape.order))
    for number, match in matches.items():
        yield Executed(text[number - 1], match.entry, match.candidate.form, reasons[number])


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


def main(names: list[str]) -> int:
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
