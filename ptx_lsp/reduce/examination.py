"""Decides whether a candidate is interesting: the condition holds, and ptxas does not reject it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from ptx_lsp.reduce.conditions import Condition
from ptx_lsp.reduce.legality import rejection
from ptx_lsp.reduce.processes import Stop

_JUDGING_S = 60.0


@dataclass(frozen=True)
class Examination:
    """`name` is the file name of candidates. `ptxas` is None if it is not asked whether they are legal."""

    condition: Condition
    name: str
    timeout_s: float | None
    ptxas: Path | None = None

    def __call__(self, data: bytes, stop: Stop | None = None) -> bool:
        """Raises StoppedError, and OSError if the command cannot be run."""
        stop = stop or Stop()
        with tempfile.TemporaryDirectory(
            prefix="ptx-reduce-", ignore_cleanup_errors=True
        ) as folder:
            path = Path(folder, self.name)
            path.write_bytes(data)
            if not self.condition.holds(path, self.timeout_s, stop):
                return False
        stop.watch(None)
        return self.ptxas is None or rejection(data, self.ptxas, _JUDGING_S) is None
