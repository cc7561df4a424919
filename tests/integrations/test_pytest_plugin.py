"""The fixture `ptx_kernel`, in tests that another pytest runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from ptx_lsp.executor.recording.archive import read_recording
from tests.cli.conftest import HEADER

TESTS = '''
import numpy, pytest
from ptx_lsp.executor import ExecutionError

def test_launch(ptx_kernel):
    kernel = ptx_kernel("add.ptx")
    values = numpy.arange(64, dtype=numpy.uint32)
    kernel.launch(values, numpy.uint32(5), grid=2, block=32)
    assert (values == numpy.arange(64) + 5).all()

def test_resources(ptx_kernel):
    kernel = ptx_kernel("add.ptx", "add")
    assert 1 <= kernel.registers <= 32
    assert kernel.shared_bytes == 0
    assert kernel.occupancy == 100
    assert kernel.findings == kernel.errors == []
    kernel.assert_budget("registers <= 32", "occupancy >= 50 %")

def test_budget_that_does_not_hold(ptx_kernel):
    with pytest.raises(AssertionError, match="kernel `add`: `registers <= 1` does not hold: it is .* [(]est"):
        ptx_kernel("add.ptx").assert_budget("registers <= 1", "shared == 0")
    with pytest.raises(AssertionError, match="`spills == 0` cannot be checked"):
        ptx_kernel("add.ptx").assert_budget("spills == 0")

def test_text(ptx_kernel):
    text = open("add.ptx").read()
    assert ptx_kernel(text).name == "add"
    assert ptx_kernel(text.replace("add(", "_Z3addPji("), "add(unsigned int*, int)").name == "_Z3addPji"
    two = text + text.split("64", 1)[1].replace("add(", "other(")
    assert ptx_kernel(two, "other", threads=128).figures.threads_per_block == 128
    broken = ptx_kernel(text.replace("add.u32", "addd.u32"))
    assert [one.rule for one in broken.errors] == ["unknown-opcode"]

def test_configuration_counts(ptx_kernel):
    text = open("add.ptx").read().replace("ret;", "bra X;")
    kernel = ptx_kernel(text)
    assert kernel.errors == []
    assert [one.severity for one in kernel.findings if one.rule == "undeclared-name"] == ["warning"]

def test_a_failing_launch(ptx_kernel):
    with pytest.raises(ExecutionError, match="outside|out of|beyond|bounds"):
        ptx_kernel("add.ptx").launch(numpy.zeros(4, numpy.uint32), numpy.uint32(5), grid=2, block=32)

def test_fails_1(ptx_kernel):
    ptx_kernel("add.ptx", "sub")

def test_fails_2(ptx_kernel):
    ptx_kernel("absent.ptx")

def test_fails_3(ptx_kernel):
    ptx_kernel(".version 8.0\\n.target sm_80\\n")
'''
ADD = f"""{HEADER}.visible .entry add(.param .u64 p, .param .u32 n)
{{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r2, %r3, %r4;
	mul.wide.u32 %rd2, %r5, 4;
	add.u64 %rd3, %rd1, %rd2;
	ld.global.u32 %r3, [%rd3];
	add.u32 %r3, %r3, %r1;
	st.global.u32 [%rd3], %r3;
	ret;
}}
"""


def _pytest(folder: Path, *options: str, tests: str = TESTS, typed: str = "") -> str:
    """The output of a pytest that runs some tests; `typed` is its standard input."""
    (folder / "test_kernels.py").write_text(tests)
    (folder / "add.ptx").write_text(ADD)
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # to import them takes seconds
    }
    command = [sys.executable, "-m", "pytest", "-p", "ptx_lsp.pytest_plugin", "-q", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False,
        timeout=120, input=typed,
    ).stdout


FAILURES = '''
import numpy

def test_fault(ptx_kernel):
    kernel = ptx_kernel("add.ptx")
    kernel.launch(numpy.zeros(64, numpy.uint32), numpy.uint32(5), block=32)
    kernel.launch(numpy.zeros(4, numpy.uint32), numpy.uint32(5), block=32)

def test_wrong_result(ptx_kernel):
    values = numpy.zeros(32, numpy.uint32)
    ptx_kernel("add.ptx").launch(values, numpy.uint32(5), block=32)
    assert values.sum() == 0

def test_race(ptx_kernel):
    text = open("add.ptx").read().replace("%rd1, %rd2;", "%rd1, 0;")
    ptx_kernel(text).launch(numpy.zeros(4, numpy.uint32), numpy.uint32(5), block=64)

def test_good(ptx_kernel):
    ptx_kernel("add.ptx").launch(numpy.zeros(32, numpy.uint32), numpy.uint32(5), block=32)

def test_no_launch(ptx_kernel):
    ptx_kernel("add.ptx")
    assert False
'''


def test_failures_are_recorded_on_demand(tmp_path: Path) -> None:
    output = _pytest(tmp_path, "--ptx-check", "--ptx-record", "kept", tests=FAILURES)
    assert "4 failed, 1 passed" in output
    files = {path.name: read_recording(path) for path in (tmp_path / "kept").iterdir()}
    prefix = "test_kernels.py-test_"
    assert sorted(files) == [f"{prefix}{name}.ptxrec" for name in ("fault", "race", "wrong_result")]
    problems = {name: one.outcome.problem for name, one in files.items()}
    kinds = {name: one.kind if one is not None else "" for name, one in problems.items()}
    assert list(dict(sorted(kinds.items())).values()) == ["out-of-bounds", "race", ""]
    for name in files:
        assert f"is recorded: `ptx-run --debug {tmp_path / 'kept' / name}`" in output
    assert "the test has launched no kernel" in output
    assert "error[race]" in output


def test_nothing_is_written_by_default(tmp_path: Path) -> None:
    output = _pytest(tmp_path, tests=FAILURES)
    assert "3 failed, 2 passed" in output
    assert not list(tmp_path.rglob("*.ptxrec"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nptx_record = kept\n")
    _pytest(tmp_path, tests=FAILURES)
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_pdb(tmp_path: Path) -> None:
    typed = "ptx here\nptx\nbacktrace\nquit\nquit\n"
    output = _pytest(tmp_path, "--pdb", "-k", "fault", tests=FAILURES, typed=typed)
    assert "kernel `add` of" in output
    assert "out-of-bounds at line 16; `ptx` debugs its launch, `ptx FILE` records it" in output
    assert re.search(r"\(ptx\) backtrace\n#0 .*add.*:16", output), output
    recorded = read_recording(tmp_path / "here.ptxrec")
    assert recorded.block == (32,)
    assert recorded.outcome.problem is not None


def test_plugin(tmp_path: Path) -> None:
    (tmp_path / "ptx-lint.toml").write_text('[severity]\nundeclared-name = "warning"\n')
    output = _pytest(tmp_path)
    failed = re.findall(r"^FAILED test_kernels.py::(\w+)", output, re.MULTILINE)
    assert failed == ["test_fails_1", "test_fails_2", "test_fails_3"], output
    assert "add.ptx has no kernel `sub` (`add`)" in output
    assert "FileNotFoundError" in output or "No such file" in output
    assert "<text> has 0 kernels: name one (none)" in output


def test_it_costs_nothing_to_load() -> None:
    script = (
        "import sys, pytest; import ptx_lsp.pytest_plugin;"
        "print(*(m for m in sys.modules if m.startswith(('ptx_lsp', 'numpy', 'tree_sitter'))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - {"tree_sitter_ptx"} == {"ptx_lsp", "ptx_lsp.pytest_plugin"}
