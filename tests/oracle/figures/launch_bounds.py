"""Compares `ptx_lsp.analyses.occupancy.launch_bounds` with the registers that ptxas uses.

    python -m tests.oracle.figures.launch_bounds [--ptxas PATH]          compile, print disagreements
    python -m tests.oracle.figures.launch_bounds [--ptxas PATH] --update  the same, and record what ptxas did

A kernel that wants more registers than there are is compiled under many directives, always the same, for
every target that this ptxas makes code for (12.9 for sm_50 to sm_72 and sm_101, 13.5 for the rest). Lines of
the record: target, registers, bytes of spill stores, what ptxas warned of (or -), directives.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from ptx_lsp import ptxas
from ptx_lsp.analyses.occupancy.launch_bounds import Ignored, LaunchBounds, launch_bounds
from ptx_lsp.isa.device_limits import LIMITS
from ptx_lsp.model.module import Module

RECORDED = Path(__file__).parent / "launch_bounds.txt"
VALUES = 280
"""So many values are alive at once in the kernel; a thread has at most 255 registers."""
CHOSEN = """
    .maxntid 128 | .maxntid 288 | .maxntid 512 | .reqntid 672 | .maxntid 1024
    .maxntid 1024 .minnctapersm 1 | .reqntid 32,32 .minnctapersm 1 | .maxntid 544 .minnctapersm 1
    .maxntid 65 .minnctapersm 31 | .maxntid 33 .minnctapersm 32 | .maxntid 97 .minnctapersm 15
    .maxntid 100 .minnctapersm 5 | .maxntid 1 .minnctapersm 1 | .maxntid 8,8,4 .minnctapersm 0x2
    .maxnreg 40 | .maxnreg 41 | .maxnreg 2 | .maxnreg 256 | .maxnreg 255 | .minnctapersm 4
    .minnctapersm 4 .maxnreg 77 | .maxntid 1024 .maxnreg 128 | .reqntid 512 .maxnreg 200
    .maxntid 1024 .maxnreg 128 .minnctapersm 1 | .maxnreg 40 .maxntid 256 .minnctapersm 2
    .maxntid 1024 .maxnreg 128 .minnctapersm 9 | .maxntid 2049 .minnctapersm 1 | .maxntid 64,33
    .maxntid 1025 | .maxntid 1536 .minnctapersm 1 | .maxntid 64 .maxntid 512 .minnctapersm 1
    .maxnreg 64 .maxnreg 96 | .maxntid 256 .minnctapersm 4 .minnctapersm 2
"""
DRAWN = 16
"""For each target: so many more, drawn by chance."""
_WARNINGS: dict[str, Ignored] = {
    r"minnctapersm is ignored when neither": "minnctapersm without block size",
    r"Value of minnctapersm for entry \w+ is out of range": "minnctapersm above blocks per SM",
    r"is out of range. \.minnctapersm will be": "minnctapersm above warps per SM",
    r"is out of range. \.minnctapersm and \.maxntid will be": "block size above threads per SM",
    r"Too many maxnreg specified": "maxnreg above 255",
}
_HEADER = 3
"""Lines before the first kernel."""


class Compiled(NamedTuple):
    """What ptxas made of the kernel under some directives."""

    target: str
    registers: int
    spilled_bytes: int
    ignored: str
    directives: str


def directives_for(target: str) -> list[str]:
    """What the kernel is compiled under: nothing, what is chosen, and what is drawn for the target."""
    device = LIMITS[_number(target)]
    random = Random(_number(target))
    drawn: list[str] = []
    while len(drawn) < DRAWN:
        threads = int(random.random() * 1024) + 1
        most = max(1, device.threads_per_sm // threads)
        blocks = min(int(random.random() * most) + 1, device.blocks_per_sm)
        name = ".maxntid" if random.random() < 0.5 else ".reqntid"
        maxnreg = f" .maxnreg {int(random.random() * 255) + 1}" if random.random() < 0.3 else ""
        drawn.append(f"{name} {threads} .minnctapersm {blocks}{maxnreg}")
    chosen = [part.strip() for part in CHOSEN.replace("\n", "|").split("|") if part.strip()]
    return ["", *chosen, *drawn]


def compile_for(target: str, tool: Path, directives: list[str]) -> list[Compiled]:
    """Has ptxas compile the kernel under each of the directives."""
    report = ptxas.judge(source(target, directives, tool).encode(), ptxas=tool, arch=target)
    if not report.accepted:
        raise AssertionError(report.messages[:3])
    length = len(_body().splitlines()) + len(("head", "{", "}"))
    ignored: dict[int, list[Ignored]] = defaultdict(list)
    for message in report.messages:
        for pattern, reason in _WARNINGS.items():
            if re.search(pattern, message.text):
                named = re.search(r"for entry k(\d+)\b", message.text)
                # where no kernel is named, the line is one of its own
                kernel = int(named[1]) if named else ((message.line or 0) - 1 - _HEADER) // length
                ignored[kernel].append(reason)
    rows: list[Compiled] = []
    for number, words in enumerate(directives):
        figures = report.kernels[f"k{number}"]
        if figures.registers is None:
            raise AssertionError(figures)
        reasons = "; ".join(ignored[number]) or "-"
        spilled = figures.spill_store_bytes or 0
        rows.append(Compiled(target, figures.registers, spilled, reasons, words))
    return rows


def source(target: str, directives: Iterable[str], tool: Path) -> str:
    """The kernel, once under each of the directives, as k0, k1, ..."""
    version = "9.5" if ptxas.version(tool) >= "13.5" else "8.8"
    heads = [
        f".visible .entry k{number}(.param .u64 p) {words}"
        for number, words in enumerate(directives)
    ]
    kernels = "".join(f"{head}\n{{\n{_body()}}}\n" for head in heads)
    return f".version {version}\n.target {target}\n.address_size 64\n{kernels}"


def _body() -> str:
    every = range(VALUES)
    lines = [
        f".reg .f32 %f<{VALUES}>; .reg .b64 %rd; .reg .b32 %r; .reg .pred %p;",
        "ld.param.u64 %rd, [p];",
        *[f"ld.volatile.global.f32 %f{i}, [%rd+{4 * i}];" for i in every],
        "mov.u32 %r, 0;",
        "again:",
        *[
            f"fma.rn.f32 %f{i}, %f{i}, %f{(7 * i + 3) % VALUES}, %f{(i + 1) % VALUES};"
            for i in every
        ],
        "add.u32 %r, %r, 1; setp.lt.u32 %p, %r, 1000; @%p bra again;",
        *[f"st.volatile.global.f32 [%rd+{4 * i}], %f{i};" for i in every],
        "ret;",
    ]
    return "\n".join(lines) + "\n"


def disagreements(rows: Iterable[Compiled]) -> Iterator[str]:
    """Where ptxas did what the limit forbids: used more, spilled before it was reached, ignored others."""
    for row in rows:
        bounds = read(row)
        ignored = "; ".join(bounds.ignored) or "-"
        exact = row.spilled_bytes > 0 and bounds.limit_source in ("minnctapersm", "maxnreg")
        if (
            row.registers > bounds.register_limit
            or (exact and row.registers != bounds.register_limit)
            or row.ignored != ignored
        ):
            yield f"{row}: limit {bounds.register_limit} by {bounds.limit_source}, ignored {ignored}"


def read(row: Compiled) -> LaunchBounds:
    """The launch bounds of the kernel under the row's directives."""
    text = f".version 9.5\n.target {row.target}\n.address_size 64\n.entry k() {row.directives}\n{{ ret; }}"
    bounds = launch_bounds(Module.parse(text).functions[0])
    assert bounds is not None
    return bounds


def recorded() -> list[Compiled]:
    """The record."""
    rows: list[Compiled] = []
    for line in RECORDED.read_text().splitlines():
        target, registers, spilled, ignored, directives = line.split("\t")
        rows.append(Compiled(target, int(registers), int(spilled), ignored, directives))
    return rows


def targets_of(tool: Path) -> list[str]:
    """The targets without suffix that `tool` makes code for and whose limits are known."""
    known = [name for name in ptxas.architectures(tool) if name[-1].isdigit()]
    return [name for name in known if _number(name) in LIMITS]


def _number(target: str) -> int:
    return int(target.removeprefix("sm_"))


def _write(rows: Iterable[Compiled]) -> None:
    new = list(rows)
    judged = {row.target for row in new}
    old = [row for row in recorded() if row.target not in judged] if RECORDED.exists() else []
    ordered = sorted([*old, *new], key=lambda row: _number(row.target))
    RECORDED.write_text("".join("\t".join(map(str, row)) + "\n" for row in ordered))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--ptxas", type=Path, help="another ptxas than the one found")
    parser.add_argument("--update", action="store_true", help="record what ptxas did")
    parser.add_argument("targets", nargs="*", help="all of this ptxas if none are named")
    options = parser.parse_args()
    tool = ptxas.find(options.ptxas)
    if tool is None:
        parser.error("no ptxas at hand")
    rows = [
        row
        for target in options.targets or targets_of(tool)
        for row in compile_for(target, tool, directives_for(target))
    ]
    if options.update:
        _write(rows)
    found = list(disagreements(rows))
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(rows)} kernels compiled, {len(found)} disagree")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
