"""Commands say what to do where the modules in C were not built, or are older than the others."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptx_lsp.unbuilt import IN_C, report_unbuilt

ROOT = Path(__file__).parents[3]
_FILE = str(ROOT / "examples" / "saxpy.ptx")
_SCANNER, _CORE, _FLOW = "ptx_lsp.syntax._scanner", "ptx_lsp.model._core", "ptx_lsp.analyses._flow"


@pytest.mark.parametrize(("program", "main", "arguments", "absent"), [
    ("ptx-lint", "ptx_lsp.cli.entry", [_FILE], _SCANNER),
    ("ptx-lint", "ptx_lsp.cli.entry", [_FILE], _CORE),
    ("ptx-lint", "ptx_lsp.cli.entry", [_FILE], _FLOW),
    ("ptx-run", "ptx_lsp.cli.run", [_FILE], _CORE),
    ("ptx-lsp", "ptx_lsp.server.command", [], _CORE),
])  # fmt: skip
@pytest.mark.parametrize("change", ["None", "type(sys)(name)"])
def test_a_module_is_absent_or_old(
    program: str, main: str, arguments: list[str], absent: str, change: str
) -> None:
    code = (
        f"import sys; name = {absent!r}; sys.modules[name] = {change}\n"
        f"from importlib import import_module\n"
        f"sys.argv = {[program, *arguments]!r}\n"
        f"sys.exit(import_module({main!r}).main())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 2, run.stderr
    assert run.stderr.startswith(f"{program}: error: ")
    assert "`pip install .`" in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_other_errors_are_raised() -> None:
    with pytest.raises(ImportError):
        report_unbuilt("ptx-lint", ImportError("no module named rich", name="rich"))


def test_all_modules_in_c_are_listed() -> None:
    setup = (ROOT / "setup.py").read_text()
    assert tuple(re.findall(r'^ +extension\(\s*"([\w.]+)"', setup, re.MULTILINE)) == IN_C
