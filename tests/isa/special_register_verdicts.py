"""The verdicts of ptxas on each special register: where it is supported, and which instructions may read it.

python -m tests.isa.special_register_verdicts          records the verdicts anew
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

from ptx_lsp import ptxas
from ptx_lsp.isa.special_registers import SpecialRegister, find, rows
from ptx_lsp.isa.target import LATEST, TARGETS, VERSIONS, Target, Version, effective
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module

RECORDED = Path(__file__).with_suffix(".json")

_NUMBERED = {
    "%pm[0-3]": ("%pm0", "%pm3"),
    "%pm[4-7]": ("%pm4", "%pm7"),
    "%pm[0-7]_64": ("%pm0_64", "%pm7_64"),
    "%envreg([12]?[0-9]|3[01])": ("%envreg0", "%envreg9", "%envreg10", "%envreg31"),
    "%reserved_smem_offset_[01]": ("%reserved_smem_offset_0", "%reserved_smem_offset_1"),
}
JUDGED = [name for pattern, _ in rows() for name in _NUMBERED.get(pattern, (pattern,))]
"""Every special register; of those with numbers the first and the last."""
ABSENT = [
    "%pm8", "%pm00", "%pm8_64", "%envreg32", "%envreg00", "%reserved_smem_offset_2", "%clock_lo", "%warpsize",
    "%TID",
]
"""Names that come close and are none."""

_TYPES = ("pred", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b128")
LINES = (
    *(f"mov.{type} %{type}_1, NAME{part};" for type in _TYPES for part in ("", ".x")),
    *(f"mov.u32 %u32_1, NAME{part};" for part in (".y", ".z", ".w", ".r", ".g", ".b", ".a")),
    *(f"mov.u32 %u32_1, NAME{part};" for part in (".X", ".q", ".xy", ".x0")),
    "mov.v2.u32 {%u32_1, %u32_2}, NAME;",
    "mov.v4.u32 {%u32_1, %u32_2, %u32_3, _}, NAME;",
    "mov.v4.u16 {%u16_1, %u16_2, %u16_3, %u16_4}, NAME;",
    "cvt.u64.u32 %u64_1, NAME;",
    "cvt.u64.u32 %u64_1, NAME.x;",
    "add.u32 %u32_1, NAME, 1;",
    "add.u32 %u32_1, NAME.x, 1;",
    "mov.u32 NAME, %u32_1;",
    "mov.u32 NAME.x, %u32_1;",
    "st.shared.v2.u32 [memory], {NAME, NAME};",
    "st.shared.v2.u32 [memory], {NAME.x, NAME.x};",
)
"""What is tried with every name."""


class Verdicts(TypedDict):
    """Of one special register. `points`: the first error at its least version and target and below them, or
    `accepted`; `accepted`: the numbers of the LINES that ptxas takes, at the last version.
    """

    points: dict[str, str]
    accepted: list[int]


def source(lines: tuple[str, ...], version: Version, target: Target) -> tuple[str, int]:
    """A kernel with `lines`, and the number of the first of them."""
    has_b128 = version >= (8, 3) and target.number >= 70
    registers = [f".reg .{type} %{type}_<5>;" for type in _TYPES if type != "b128" or has_b128]
    head = f".version {version}\n.target {target}\n.entry kernel()\n{{\n"
    head += f"{' '.join(registers)}\n.reg .b32 %r1; .reg .b64 %rd1; .reg .pred %p1;\n"
    head += ".shared .align 16 .b8 memory[16];\n"
    return f"{head}{chr(10).join(lines)}\n}}\n", head.count("\n") + 1


def example(name: str) -> str:
    """The example of the row, with this of its names."""
    row = find(name)
    assert row is not None, name
    return row.example_of(name)


def points(row: SpecialRegister) -> dict[str, tuple[Version, Target]]:
    """The versions and targets that matter."""
    since, plain = row.requirement, [t for t in TARGETS if not t.suffix]
    least = since.targets[0] if since.targets else None
    target = least or min(t for t in plain if TARGETS[t] <= since.version)
    first = max(since.version, TARGETS[target])
    found = {"at least version": (first, target), "at last version": (LATEST, target)}
    older = [v for v in VERSIONS if effective(v) < since.version]
    if older:
        found["below version"] = (older[-1], target)
    if least is not None:
        found["below target"] = (LATEST, max(t for t in plain if t < least))
    return found


def judged(name: str, tool: Path) -> Verdicts:
    """What ptxas says."""
    row = find(name)
    found: dict[str, str] = {}
    for point, (version, target) in (points(row) if row is not None else {}).items():
        text, _ = source((example(name),), version, target)
        errors = _errors(text, tool)
        named = [message for _, message in errors if name in message]
        found[point] = (named or [message for _, message in errors] or ["accepted"])[0]
    text, start = source(tuple(line.replace("NAME", name) for line in LINES), LATEST, Target(90))
    wrong = {line for line, _ in _errors(text, tool)}
    return {"points": found, "accepted": [n for n in range(len(LINES)) if n + start not in wrong]}


def _errors(text: str, tool: Path) -> list[tuple[int, str]]:
    report = ptxas.judge(text.encode(), ptxas=tool, arch="compute_90")
    assert not report.aborted, report.messages
    return [(m.line or 0, m.text) for m in report.messages if m.severity == "error"]


def linted(text: str) -> set[int]:
    """The lines where the linter has errors."""
    module = Module.parse(text)
    found = [d for d in LintSession(module).diagnostics if d.severity == "error"]
    return {module.document.source.position(d.span.start).line + 1 for d in found}


def recorded() -> dict[str, Verdicts]:
    return json.loads(RECORDED.read_text())


if __name__ == "__main__":
    tool = ptxas.find()
    assert tool is not None, "no ptxas at hand"
    found = [f'"{name}": {json.dumps(judged(name, tool))}' for name in (*JUDGED, *ABSENT)]
    RECORDED.write_text("{\n" + ",\n".join(found) + "\n}\n")
