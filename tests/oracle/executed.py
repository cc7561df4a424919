"""Which of the instructions that ptxas takes the executor can make ready to run."""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.decode import Unsupported, decode
from ptx_lsp.executor.frame import Frame
from ptx_lsp.executor.image import Image
from ptx_lsp.executor.memory import Memory
from ptx_lsp.executor.spaces import Spaces
from ptx_lsp.model.module import Module
from tests.oracle.isa_cases import Point
from tests.oracle.judge import VERDICTS, prelude, recorded
from tests.oracle.replay import by_point


def executed(section: str) -> dict[str, bool]:
    """For each spelling of a section that ptxas takes, whether all its recorded lines are made ready."""
    found: dict[str, bool] = {}
    seen: set[str] = set()
    points = by_point(recorded((VERDICTS / f"{section}.txt").read_text()))
    for point in sorted(points, reverse=True, key=lambda one: (one[0], one[1].number)):
        lines = [line for line, accepted in points[point].items() if accepted and line not in seen]
        seen.update(lines)
        refused = unsupported(lines, point)
        for line in lines:
            spelling = line.partition(" ")[0].rstrip(";")
            found[spelling] = found.get(spelling, True) and line not in refused
    return found


def unsupported(lines: list[str], point: Point) -> dict[str, str]:
    """The lines that cannot be executed, and why."""
    if not lines:
        return {}
    head = prelude(*point)
    module = Module.parse(head + "\n".join([*lines, "L1:", "ret;", "}", ""]))
    kernel = module.definitions["k"]
    memory = Memory()
    image = Image(module, kernel, memory, 0)
    spaces = Spaces(memory, np.zeros(max(image.parameter_bytes, 8), np.uint8))
    first = head.count("\n") + 1
    return {
        lines[step.line - first]: step.action.message
        for block in decode(kernel, Frame(), image, spaces)
        for step in block.steps
        if isinstance(step.action, Unsupported) and 0 <= step.line - first < len(lines)
    }
