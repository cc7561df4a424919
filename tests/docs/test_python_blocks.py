"""The examples in Python of the pages that no other test runs can be run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(text, id=f"{path.stem}-{number}")
    for path in sorted((ROOT / "docs").glob("*.md"))
    if path.name not in ("executor.md", "ptx-run.md", "tables.md")
    for number, text in enumerate(_BLOCK.findall(path.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("text", BLOCKS)
def test_block(text: str) -> None:
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
