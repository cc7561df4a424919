"""The session of docs/debugger.md is what one gets."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.debug.console.terminal import SECONDS

ROOT = Path(__file__).parents[3]


def test_documented_session() -> None:
    text = (ROOT / "docs/debugger.md").read_text(encoding="utf-8")
    found = re.search(r"```console\n\$ ptx-run (.*--debug)\n(.*?)\n```", text, re.DOTALL)
    assert found is not None
    words, shown = shlex.split(found[1]), found[2]
    lines = [line.removeprefix("(ptx) ") for line in shown.splitlines() if line.startswith("(ptx) ")]
    assert len(lines) > 5
    done = subprocess.run(
        [sys.executable, "-m", "ptx_lsp.cli.run", *words], input="\n".join(lines[:-1]) + "\n", text=True,
        capture_output=True, timeout=SECONDS, cwd=ROOT, check=False,
    )
    assert done.stdout.expandtabs(8).rstrip() == shown
    assert done.stderr == ""
