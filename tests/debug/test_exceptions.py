"""Each kind of problem stops the kernel, with a witness; what the checks find can be switched off."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.debug.adapter.messages import Json
from ptx_lsp.debug.problems import FILTERS
from tests.debug import kernels
from tests.debug.client import connected
from tests.debug.test_stepping import DEADLOCK

_UNINITIALISED = kernels.DIVERGENT.replace("\tmul.lo.u32 %r1, %r0, 3;\n", "")
_OUTSIDE = kernels.DIVERGENT.replace("mul.wide.u32 %rd1, %r0, 4;", "mul.wide.u32 %rd1, %r0, 400;")
_DIVERGENT = kernels.DIVERGENT.replace("\tmul.lo.u32 %r1, %r0, 3;", "\tbar.sync 0;\n\tmov.u32 %r1, 3;")
_TRAP = kernels.DIVERGENT.replace("\tmul.lo.u32 %r1, %r0, 3;", "\ttrap;")


@pytest.mark.parametrize(("text", "filter_name", "kind"), [
    (kernels.RACE, "race", "race"), (_UNINITIALISED, "uninitialised", "uninitialized-register"),
    (_DIVERGENT, "divergence", "divergent-barrier"), (_OUTSIDE, "", "out-of-bounds"),
    (DEADLOCK, "", "deadlock"), (_TRAP, "", "trap"),
])
def test_problems(tmp_path: Path, text: str, filter_name: str, kind: str) -> None:
    path = kernels.written(tmp_path, text)
    with connected() as client:
        stop = client.start(path, check=bool(filter_name))
        assert stop["reason"] == "exception"
        info = client.body("exceptionInfo", threadId=stop["threadId"])
        assert info["exceptionId"] == kind
        details = info["details"]
        assert isinstance(details, dict) and f"line {client.line(stop)}" in str(details["stackTrace"])
        others: list[Json] = [name for name in FILTERS if name != filter_name]
        client.body("setExceptionBreakpoints", filters=others)
        client.body("restart")
        stop = client.event("stopped", "terminated")
        assert stop["event"] == ("terminated" if filter_name else "stopped")
