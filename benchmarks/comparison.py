"""Compares what tools say about the same kernel with one mistake each, as a table for docs/comparison.md.

    python -m benchmarks.comparison

`sentryward` must be on PATH, or beside this Python (`pip install sentryward==0.1.1`). ptxas is found as by
`ptx-lint --ptxas`. A tool that is not installed is left out, with a line that says so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from ptx_lsp import __version__, ptxas

ROOT = Path(__file__).parents[1]
_TEXT = (ROOT / "examples" / "reverse.ptx").read_text(encoding="utf-8")
FINE = _TEXT.replace("\n\n\tsub.u32", "\n\tbar.sync 0;\n\n\tsub.u32")
MISTAKES: dict[str, tuple[str, str]] = {
    "none": ("", ""),
    "a misspelt opcode": ("mul.wide", "mull.wide"),
    "an undeclared register": ("st.global.u32 [%rd3], %r2", "st.global.u32 [%rd3], %x2"),
    "an operand of the wrong type": ("add.u64 %rd3", "add.u32 %rd3"),
    "an instruction that the target lacks": ("\tbar.sync 0;", "\tbar.sync 0; griddepcontrol.wait;"),
    "no barrier": ("\tbar.sync 0;\n", ""),
    "a barrier that half of the threads reach": (
        "\tbar.sync 0;", "\t.reg .pred %p; setp.lt.u32 %p, %r1, 32; @%p bar.sync 0;"
    ),
    "an address beyond shared memory": ("tile[256]", "tile[252]"),
    "an address beyond a buffer": ("%r1, 4;", "%r1, 8;"),
    "a register that is never written": ("ld.global.u32 %r2", "ld.global.u32 %r0"),
}  # fmt: skip
"""A text in the kernel, and the one that takes its place."""
_INPUT: dict[str, object] = {
    "schema": "spverify.kernel-input/v1", "entry": "reverse", "arguments": [],
    "launch": {"grid_dim": [1, 1, 1], "block_dim": [64, 1, 1]},
}  # fmt: skip


def main() -> int:
    tools = installed()
    versions = [f"ptx-lint and ptx-run {__version__}"]
    found = ptxas.find()
    versions += [f"ptxas {ptxas.version(found)}"] if found is not None else []
    versions += ["sentryward 0.1.1"] if "sentryward" in tools else []
    print(f"Versions: {', '.join(versions)}.\n")
    print("\n".join(table(tools)))
    for name in ("ptxas", "sentryward"):
        if name not in tools:
            print(f"{name} is not installed: left out", file=sys.stderr)
    return 0


Tool = Callable[[Path], str]


def installed() -> dict[str, Tool]:
    """The tools by name; each gives the verdict on a file in a few words."""
    tools: dict[str, Tool] = {"ptx-lint": lint, "ptx-run --check": run}
    assembler = ptxas.find()
    if assembler is not None:
        tools["ptxas"] = lambda file: _ptxas(assembler, file)
    folders = [str(Path(sys.executable).parent), os.environ["PATH"]]
    sentryward = shutil.which("sentryward", path=os.pathsep.join(folders))
    if sentryward is not None:
        tools["sentryward"] = lambda file: _sentryward(sentryward, file)
    return tools


def table(tools: Mapping[str, Tool]) -> list[str]:
    """The lines of the table."""
    lines = [f"| mistake | {' | '.join(tools)} |", f"|---{'|---' * len(tools)}|"]
    with tempfile.TemporaryDirectory() as folder:
        for name, (old, new) in MISTAKES.items():
            assert old in FINE, name
            file = Path(folder, "kernel.ptx")
            file.write_text(FINE.replace(old, new, 1), encoding="utf-8")
            lines.append(f"| {name} | {' | '.join(tool(file) for tool in tools.values())} |")
    return lines


def lint(file: Path) -> str:
    """The rules of ptx-lint that report something."""
    out = _output(sys.executable, "-m", "ptx_lsp", "--no-config", "--no-cache", "--format", "json", file)
    found = json.loads(out)["files"][0]["diagnostics"]
    rules = dict.fromkeys(one["rule"] for one in found if one["severity"] != "hint")
    return ", ".join(f"`{rule}`" for rule in rules) or "-"


def run(file: Path) -> str:
    """The kinds of findings of ptx-run."""
    out = _output(sys.executable, "-m", "ptx_lsp.cli.run", "--check", "--format", "json", file)
    if not out.startswith("{"):
        return "not run"
    kinds = dict.fromkeys(one["kind"] for one in json.loads(out)["findings"])
    return ", ".join(f"`{kind}`" for kind in kinds) or "-"


def _ptxas(program: Path, file: Path) -> str:
    done = subprocess.run(
        [program, "-arch", "sm_80", "-o", os.devnull, file], capture_output=True, check=False
    )
    return "error" if done.returncode else "-"


def _sentryward(program: str, file: Path) -> str:
    given = file.with_suffix(".json")
    given.write_text(json.dumps(_INPUT), encoding="utf-8")
    found = json.loads(_output(program, file, "--input", given))
    if found["result"] == "invalid_input":
        return "cannot be read"
    failed = [name for name, state in found["checks"].items() if state not in ("passed", "not_requested")]
    return f"{found['result'].replace('_', ' ')} ({', '.join(failed)})" if failed else "-"


def _output(*command: object) -> str:
    return subprocess.run(
        [str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
