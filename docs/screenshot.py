"""Draws docs/ptx-lint.svg: what `ptx-lint examples/mistakes.ptx` prints in a terminal.

    python docs/screenshot.py
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]


def main() -> None:
    command = [sys.executable, "-m", "ptx_lsp", "--color", "always", "examples/mistakes.ptx"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    console = Console(record=True, width=84, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ ptx-lint examples/mistakes.ptx\n", style="bold"))
    console.print(Text.from_ansi(run.stdout))
    svg = console.export_svg(title="ptx-lint")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # nothing is loaded from anywhere
    svg = svg.replace("Fira Code", "DejaVu Sans Mono")
    (ROOT / "docs" / "ptx-lint.svg").write_text(svg)


if __name__ == "__main__":
    main()
