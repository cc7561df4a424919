"""Runs the command, and files for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from ptx_lsp.cli.lint import main
from ptx_lsp.lint.configuration.rule_index import entry_of
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.lint.rule import Rule

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
GOOD = f"{HEADER}.visible .entry good()\n{{\n\tret;\n}}\n"
BAD = f"{HEADER}.visible .entry bad()\n{{\n\t.reg .b32 %r<4>;\n\tmov.b32\t%r1, %r9;\n\tret;\n}}\n"
"""`%r9`, in line 7 and column 15, is not declared."""


class Done(NamedTuple):
    """What a run left: exit status, standard output, standard error."""

    status: int
    out: str
    err: str


Lint: TypeAlias = Callable[..., Done]


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str]) -> Lint:
    """Runs `ptx-lint` in this process."""

    def run(*arguments: str | Path) -> Done:
        status = main([str(argument) for argument in arguments])
        left = capsys.readouterr()
        return Done(status, left.out, left.err)

    return run


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.ptx"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.ptx"
    path.write_text(BAD)
    return path


@pytest.fixture
def add_rule(monkeypatch: pytest.MonkeyPatch) -> Callable[[Rule], None]:
    """Has one more rule for this test."""

    def add(rule: Rule) -> None:
        everything = (*all_rules(), rule)
        monkeypatch.setattr("ptx_lsp.lint.registry.all_rules", lambda: everything)

        def rules_of(modules: Iterable[str]) -> tuple[Rule, ...]:
            wanted = set(modules)
            return tuple(rule for rule in everything if rule.module in wanted)

        monkeypatch.setattr("ptx_lsp.lint.registry.rules_of", rules_of)
        entries = tuple(map(entry_of, everything))
        for place in ("rule_index", "selection", "config_values", "suppression"):
            monkeypatch.setattr(f"ptx_lsp.lint.configuration.{place}.rule_index", lambda: entries)

    return add


_PTXAS = '''#!{python}
"""A ptxas that knows sm_80 and sm_90 only, and finds one fault in whatever holds `%r9`."""
import sys
if "--version" in sys.argv:
    print("Cuda compilation tools, release 13.5, V13.5.0")
elif "--help" in sys.argv:
    print("Allowed values for this option: 'sm_80','sm_90'.")
else:
    lines = open(sys.argv[-1]).read().splitlines()
    names = [line.split()[2].split("(")[0] for line in lines if ".entry" in line]
    faults = [number for number, line in enumerate(lines, 1) if "%r9" in line]
    for number in faults:
        print(f"ptxas input.ptx, line {{number}}; error   : Unknown symbol '%r9'", file=sys.stderr)
    if any("// odd" in line for line in lines):
        print("ptxas input.ptx, line 4; warning : something odd", file=sys.stderr)
    if faults:
        print("ptxas fatal   : Ptx assembly aborted due to errors", file=sys.stderr)
        sys.exit(255)
    limit = sys.argv[sys.argv.index("-maxrregcount") + 1] if "-maxrregcount" in sys.argv else "24"
    for name in names:
        print(f"ptxas info    : Compiling entry function '{{name}}' for 'sm_80'", file=sys.stderr)
        print(f"ptxas info    : Function properties for {{name}}", file=sys.stderr)
        print("    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads", file=sys.stderr)
        told = f"Overriding maximum register limit 256 for '{{name}}' with  {{limit}} of maxrregcount option"
        print(f"ptxas info    : {{told}}", file=sys.stderr)
        print(f"ptxas info    : Used {{limit}} registers, used 1 barriers, 512 bytes smem", file=sys.stderr)
'''


@pytest.fixture
def ptxas(tmp_path: Path) -> Path:
    """A program that answers as ptxas does."""
    path = tmp_path / "ptxas"
    path.write_text(_PTXAS.format(python=sys.executable))
    path.chmod(0o755)
    return path
