"""`analyses`, the earlier name of `ptx_lsp.analyses`, and packages of other projects with that name."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from ptx_lsp.analyses import occupancy
from ptx_lsp.analyses.occupancy import calculator

ROOT = Path(__file__).parents[1]


def test_the_modules_are_the_same() -> None:
    assert import_module("analyses.occupancy") is occupancy
    found = import_module("analyses.occupancy.calculator")
    assert found.__spec__ is not None
    assert found.__name__ == found.__spec__.name == "ptx_lsp.analyses.occupancy.calculator"
    assert found is calculator


def test_a_module_that_does_not_exist() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"analyses\.nothing"):
        import_module("analyses.nothing")


@pytest.mark.parametrize("first", ["theirs", "ours"])
def test_a_package_of_another_project_has_that_name(first: str, tmp_path: Path) -> None:
    """Neither hides the other, in either order."""
    (tmp_path / "analyses").mkdir()
    (tmp_path / "analyses" / "__init__.py").write_text("")
    (tmp_path / "analyses" / "theirs.py").write_text("print('theirs')\n")
    file = str(ROOT / "examples" / "saxpy.ptx")
    imports = ["import analyses.theirs", "from ptx_lsp.linting import lint_files"]
    code = [
        "import sys",
        f"sys.path[:0] = [{str(tmp_path)!r}]",
        *(imports if first == "theirs" else reversed(imports)),
        f"print(len(list(lint_files([{file!r}]))))",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("theirs\n1\n", "")
