"""Times the analyses of one kernel of several sizes.

    python -m benchmarks.analyses [--lines N ...] [--rounds N]

Every figure is the least of some rounds, in seconds, for an analysis alone, what it stands on being
known; `all` is their sum, `parse` what precedes them. `edit` is one character typed in the middle of the
kernel, from the edit to everything known again. `us/line` is `all` for each line: it grows little where
the cost is near linear.
"""

from __future__ import annotations

import argparse
import gc
import re
import time
from collections.abc import Callable
from itertools import count, cycle

from benchmarks.inputs import HEADER, kernels
from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.dataflow.definite_assignment import uninitialized_reads
from ptx_lsp.analyses.dataflow.liveness import liveness
from ptx_lsp.analyses.divergence.memory_access import memory_access
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.analyses.registers.estimated_registers import estimated_registers
from ptx_lsp.analyses.registers.register_pressure import register_pressure
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

SIZES = (1_000, 10_000, 50_000)
ANALYSES: dict[str, Callable[[Function], object]] = {
    "steps": instructions,
    "cfg": cfg,
    "dominance": dominance,
    "liveness": liveness,
    "initialization": uninitialized_reads,
    "pressure": register_pressure,
    "registers": estimated_registers,
    "uniformity": uniformity,
    "memory_access": memory_access,
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--lines", type=int, nargs="+", default=SIZES)
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    names = ["parse", *ANALYSES, "all", "edit"]
    print(f"| lines | {' | '.join(names)} | us/line |")
    print(f"|--:|{'--:|' * len(names)}--:|")
    _times(one_kernel(1_000))  # the table and all modules are loaded
    for lines in given.lines:
        text = one_kernel(lines)
        rounds = [_times(text) for _ in range(given.rounds)]
        best = {name: min(times[name] for times in rounds) for name in names}
        size = text.count("\n")
        figures = " | ".join(f"{best[name]:.3f}" for name in names)
        print(f"| {size} | {figures} | {best['all'] / size * 1e6:.0f} |", flush=True)


def one_kernel(lines: int) -> str:
    """A file with one kernel of about `lines` lines: the bodies of real ones, each in a block of its own,
    one after the other.
    """
    parameters: dict[str, str] = {}
    bodies: list[str] = []
    size = 0
    for text, number in zip(cycle(_bodies()), count()):
        head, body = text
        parameters.update({re.split(r"[\s\[]", one.partition("[")[0])[-1]: one for one in head})
        body = re.sub(r"^(\s*(?:@!?%\S+\s+)?)(?:ret|exit);", rf"\1bra END_{number};", body, flags=re.M)
        bodies.append(f"{{\n{body}\n}}\nEND_{number}:\n")
        size += bodies[-1].count("\n")
        if size >= lines:
            break
    listed = ",\n".join(parameters.values())
    return f"{HEADER}.visible .entry kernel(\n{listed}\n)\n{{\n{''.join(bodies)}ret;\n}}\n"


def _bodies() -> list[tuple[list[str], str]]:
    """Of each kernel its parameters, and what is between its braces."""
    found: list[tuple[list[str], str]] = []
    for name, text in kernels():
        head, _, rest = text.partition("{")
        listed = re.search(r"\((.*)\)", head, re.DOTALL)
        body = rest.rpartition("}")[0]
        given = [one.strip() for one in listed[1].split(",")] if listed else []
        if all(name in one for one in given if one):  # names that another has as well would clash
            found.append(([one for one in given if one], body))
    return found


def _times(text: str) -> dict[str, float]:
    gc.collect()
    gc.disable()
    try:
        found: dict[str, float] = {}
        start = time.perf_counter()
        source = Source(text.encode())
        module = Module(Document.parse(source))
        found["parse"] = time.perf_counter() - start
        found["all"] = 0.0
        for name, analysis in ANALYSES.items():
            start = time.perf_counter()
            analysis(module.functions[0])
            found[name] = time.perf_counter() - start
            found["all"] += found[name]
        start = time.perf_counter()
        at = text.index(";", len(text) // 2) + 1
        edited = module.document.edited(Edit(at, at, b" "))
        changed = Module(edited, module)
        for analysis in ANALYSES.values():
            analysis(changed.functions[0])
        found["edit"] = time.perf_counter() - start
        return found
    finally:
        gc.enable()


if __name__ == "__main__":
    main()
