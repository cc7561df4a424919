"""Compares the uniformity of branches with what ptxas holds of them, as its machine code shows.

    python -m tests.oracle.uniformity.sass_uniformity                 the files beside this one
    python -m tests.oracle.uniformity.sass_uniformity FOLDER|FILE ...  others; of a folder all `*.ptx` in it
    python -m tests.oracle.uniformity.sass_uniformity --update        records what ptxas does with our files

1. A branch that ptxas holds possibly divergent stands behind `BSSY`: *held*. That is read only where no place
   that another branch goes to lies between the two, and no other branch before `BSYNC`, as `BSSY` may be
   there for that one. Where a barrier follows, ptxas does without `BSSY`.
2. A branch that is done by the uniform datapath (`BRA.U`, `@UP0 BRA`; sm_90 and later) is *uniform*.
3. Each file is compiled for its own target and, if it has no suffix, for sm_120. `.uni`, which ptxas
   believes, is taken away, and so is `.loc`, so that lines are those of the PTX text (`-lineinfo`).

`nvdisasm` is found as `tests.oracle.instructions.machine_code` says.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ptx_lsp import ptxas
from ptx_lsp.model.module import Module
from tests.oracle import corpus
from tests.oracle.instructions.machine_code import disassembler
from tests.oracle.uniformity import branches
from tests.oracle.uniformity.branches import Recorded

RECORDED = Path(__file__).parent / "sass_uniformity.txt"
HELD, UNIFORM = "held", "uniform"
_NEWEST = "sm_120"
_LINE = re.compile(r'//## File "\.nv_debug_ptx_txt", line (\d+)')
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?(?P<guard>U?P\w+)\s+)?(?P<opcode>\S+)(?P<rest>[^;]*);")
_LABEL = re.compile(r"(\.L_x_\d+):")
_TARGET = re.compile(r"\bBRA(?!\.DIV|\.CONV)[^;]*\((\.L_x_\d+)\)")
_CONDITION = re.compile(r"\s*!?(U?P\d)")


@dataclass
class _Region:
    """What lies between `BSSY` and `BSYNC` of one barrier: the lines of its branches that stand in no inner
    one, and whether the first can be reached from `BSSY` alone.
    """

    name: str
    lines: list[int] = field(default_factory=list[int])
    is_straight: bool = True


def judged(text: str, tool: Path, reader: str) -> Iterator[tuple[int, str]]:
    """Lines of `text` and what ptxas holds of the branch in each, for each target; some more than once."""
    plain = re.sub(r"(?m)^\s*\.loc\s.*$", "", text)
    plain = re.sub(r"(?m)^(\s*@.*\bbra)\.uni\b", r"\1", plain)
    own = ptxas.architecture(plain.encode(), tool)
    for target in dict.fromkeys((own, _NEWEST) if own[-1].isdigit() else (own,)):
        with tempfile.TemporaryDirectory(prefix="ptx-lsp-") as folder:
            source, made = Path(folder, "input.ptx"), Path(folder, "made.cubin")
            source.write_text(plain)
            command = [str(tool), "-lineinfo", "-arch", target, "-o", str(made), str(source)]
            if not _run(command) and not _run([*command, "-c"]):
                continue  # `.target debug`, or a text that the newest target does not take
            command = [reader, "-gp", "-c", str(made)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
            yield from _branches(done.stdout)


def _run(command: list[str]) -> bool:
    return not subprocess.run(command, capture_output=True, check=False, timeout=300).returncode


def _branches(listing: str) -> Iterator[tuple[int, str]]:
    targets = set(_TARGET.findall(listing))
    line = 0
    open_regions: list[_Region] = []
    for text in listing.splitlines():
        if match := _LINE.search(text):
            line = int(match[1])
        elif match := _LABEL.match(text):
            if match[1] in targets:
                for region in open_regions:
                    region.is_straight = region.is_straight and bool(region.lines)
        elif match := _INSTRUCTION.search(text):
            opcode = match["opcode"]
            name = match["rest"].split(",")[0].strip()
            if opcode.startswith("BSSY"):
                open_regions.append(_Region(name))
            elif opcode.startswith("BSYNC"):
                yield from _held(open_regions, name)
            elif opcode.partition(".")[0] == "BRA" and not opcode.endswith((".DIV", ".CONV")):
                operand = _CONDITION.match(match["rest"])
                condition = match["guard"] or (operand[1] if operand else "")
                if condition.startswith("U") or ".U" in opcode:
                    yield line, UNIFORM
                if condition and open_regions:
                    open_regions[-1].lines.append(line)


def _held(open_regions: list[_Region], name: str) -> Iterator[tuple[int, str]]:
    """Closes a region; the line of its branch, if it has but one."""
    while open_regions:
        region = open_regions.pop()
        if region.name == name:
            if region.is_straight and len(region.lines) == 1:
                yield region.lines[0], HELD
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--update", action="store_true", help="record what ptxas does with our files")
    parser.add_argument("paths", nargs="*", type=Path)
    options = parser.parse_args()
    tool, reader = ptxas.find(), disassembler()
    if tool is None or reader is None:
        parser.error("no ptxas or no nvdisasm at hand")
    counts: Counter[str] = Counter()
    rows: list[Recorded] = []
    for file in _files(options.paths or corpus.files()):
        text = file.read_text(errors="replace")
        functions = branches.defined(Module.parse(text))
        known = {one.line: one for function in functions for one in branches.branches_of(function)}
        for line, verdict in sorted(set(judged(text, tool, reader))):
            if line not in known:
                continue
            rows.append(Recorded(file.name, line, verdict))
            level = known[line].level
            ours = "uniform" if level.is_uniform else level.name.lower()
            counts[f"ptxas: {verdict}, here: {ours}"] += 1
            if (verdict == UNIFORM) != level.is_uniform:
                print(f"{file.name}:{line}: {verdict}, here {ours}: {known[line].because}")
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}")
    if options.update:
        branches.write(RECORDED, rows)
    return 0


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.rglob("*.ptx")) if path.is_dir() else [path]


if __name__ == "__main__":
    sys.exit(main())
