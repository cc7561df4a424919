"""The PTX files that ptxas accepts: those beside this file, and a larger folder where one is named.

    PTX_CORPUS=FOLDER [PTX_CORPUS_TRUTH=FILE] python -m pytest tests/oracle

FOLDER holds `*.ptx` at any depth. FILE (else FOLDER/truth.jsonl) has one JSON object a line with the
keys `file` (a path below FOLDER) and `accepted`; files that it does not call accepted are left out.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"
_OLDEST = 75
"""The oldest target that ptxas 13 makes code for."""


def files() -> list[Path]:
    """The accepted files of this repository."""
    return sorted(FOLDER.glob("*.ptx"))


def external() -> list[Path]:
    """The accepted files of the folder that `PTX_CORPUS` names; none where it names none."""
    named = os.environ.get("PTX_CORPUS")
    return list(accepted(Path(named))) if named else []


def accepted(folder: Path) -> Iterator[Path]:
    """The files below `folder` that its truth file calls accepted; see above."""
    truth = Path(os.environ.get("PTX_CORPUS_TRUTH") or folder / "truth.jsonl")
    for line in truth.read_text().splitlines():
        record = json.loads(line)
        if record["accepted"]:
            yield folder / record["file"]


def judging_architecture(text: str) -> str:
    """The `-arch` under which ptxas only parses: that of the file's target, or the oldest it has."""
    match = re.search(r"^\s*\.target\s+sm_(\d+)([af]?)", text, re.MULTILINE)
    assert match is not None, "no .target"
    return f"compute_{max(int(match[1]), _OLDEST)}{match[2]}"
