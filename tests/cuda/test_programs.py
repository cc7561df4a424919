"""Python programs under `ptx-run --python`. Each compares its results with NumPy itself."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

from ptx_lsp.cli.run import main
from ptx_lsp.cuda.results import Result
from ptx_lsp.cuda.shared_library import is_supported
from ptx_lsp.executor.launching.launch_validation import Error

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path[1:]])}
IN_LIBRARIES = {"with_numba.txt": ["membermask"]}
"""Findings in kernels of the library: in Numba's reduction, lanes that have exited are in a mask."""
pytestmark = pytest.mark.skipif(not is_supported(), reason=f"no driver for {platform.platform()}")


def run(program: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program of the folder."""
    command = sys.executable, "-m", "ptx_lsp.cli.run", *options, "--python", str(PROGRAMS / program)
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=ENVIRONMENT | environment, check=False
    )


def needs(package: str) -> None:
    """Skips a test without a package."""
    if find_spec(package.partition(".")[0]) is None or find_spec(package) is None:
        pytest.skip(f"the package `{package}` is not installed")


def test_the_driver_as_c_calls_it() -> None:
    done = run("driver_api.py")
    assert done.stdout == "done\n", done.stderr
    assert done.returncode == 1  # it launches a kernel that fails
    notes = [line for line in done.stderr.splitlines() if line.startswith("ptx-run: ")]
    assert notes == [
        "ptx-run: cuLaunchKernel: the parameters have 12 bytes, not 16",
        "ptx-run: cuLinkAddData_v2: `a.lib` is not PTX, and only PTX can be linked",
        "ptx-run: cuArrayCreate: this function of the CUDA driver is not implemented",
        "ptx-run: cuModuleLoadData: the module is machine code, which cannot be executed; the program must "
        "compile to PTX (docs/python-programs.md)",
    ]
    assert re.search(
        r"^<module \d+>:24: error\[out-of-bounds\] .* is outside `allocation \d+`, of 400 bytes, .*\n"
        r"  24 \| ld\.global\.f32 %f1, \[%rd1\];\n"
        r"  block \(3, 0, 0\), thread \(4, 0, 0\), and 31 more\n"
        r"  kernel `saxpy`, grid \(32, 1, 1\), block \(32, 1, 1\)$",
        done.stderr, re.MULTILINE,
    )


def test_a_race_is_reported_once_with_its_line(tmp_path: Path) -> None:
    assert run("race.py").returncode == 0
    done = run("race.py", "--check", "--save-ptx", str(tmp_path))
    assert done.returncode == 1
    saved = tmp_path / "001-shift.ptx"
    line = saved.read_text().splitlines().index("\tld.shared.u32 %r2, [%rd2];") + 1
    first, store, load, *_ = done.stderr.splitlines()
    assert first.startswith(f"{saved}:{line}: error[race] ")
    assert done.stderr.count("error[race]") == 1
    assert ("ld.shared.u32" in store, "st.shared.u32" in load) == (True, True)


def test_seeds_name_one_that_replays() -> None:
    done = run("race.py", "--seeds", "4")
    assert done.returncode == 1
    assert "error[race]" in done.stderr


@pytest.mark.parametrize("options", [(), ("--check",)], ids=["plain", "checked"])
@pytest.mark.parametrize(
    ("package", "program"),
    [
        ("tinygrad", "with_tinygrad.txt"), ("numba_cuda", "with_numba.txt"), ("triton", "with_triton.txt"),
    ],
)
def test_results_are_those_of_numpy(
    package: str, program: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    needs(package)
    done = run(
        program, *options, DEV="CUDA:PTX", PARALLEL="0", CACHELEVEL="0", TRITON_CACHE_DIR=str(tmp_path),
    )
    found = re.findall(r"error\[([\w.-]+)\]", done.stderr)
    assert found == (IN_LIBRARIES.get(program, []) if options else []), done.stderr
    assert (done.returncode, done.stdout) == (int(bool(found)), "done\n"), done.stderr


@pytest.mark.parametrize("device", ["sm_80", "sm_100"])
def test_triton_compiles_for_the_device(device: str, tmp_path: Path) -> None:
    needs("triton")
    done = run("with_triton.txt", "--check", "--device", device, TRITON_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_a_failing_kernel_of_cuda_core() -> None:
    needs("cuda.core")
    done = run("with_cuda_core.txt")
    assert (done.returncode, done.stdout) == (1, "done\n"), done.stderr
    assert "error[out-of-bounds]" in done.stderr


def test_a_race_is_reported_at_the_line_of_the_source() -> None:
    needs("numba_cuda")
    done = run("race_in_numba.txt", "--check")
    assert done.returncode == 1
    line = (PROGRAMS / "race_in_numba.txt").read_text().splitlines().index(
        "            line[t] += line[t + step]"
    ) + 1
    assert f"race_in_numba.txt:{line}" in done.stderr


def test_a_module_of_the_program(tmp_path: Path) -> None:
    """As in `ptx-run --python -m pytest`; the folder of the run is where modules are looked for."""
    (tmp_path / "shift.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    command = sys.executable, "-m", "ptx_lsp.cli.run", "--python", "-m", "shift", "-q"
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert done.stdout == "__main__ ['-q']\n"


def test_other_libraries_do_without_a_kernel(tmp_path: Path) -> None:
    program = tmp_path / "nothing.py"
    program.write_text("import sys\nsys.exit(3 if __name__ == '__main__' and len(sys.argv) == 2 else 4)\n")
    done = run(str(program), "--quiet")
    assert done.returncode == 4
    assert done.stderr == "ptx-run: note: the program has launched no CUDA kernel\n"


@pytest.mark.parametrize(
    "text",
    [
        "import sys; print(__name__, __file__, __spec__, sys.argv, sys.path[0]); sys.exit('over')",
        "def fail():\n    raise ValueError('wrong')\nfail()\n",
        "def (\n",
        "from . import other\n",
        "import atexit, __main__; atexit.register(lambda: print(__import__('__main__') is __main__))",
    ],
    ids=["exit", "exception", "syntax", "import", "main"],
)
def test_a_script_ends_as_under_python(text: str, tmp_path: Path) -> None:
    (tmp_path / "shift.py").write_text(text)
    plain, ours = (
        subprocess.run(
            [sys.executable, *start, "shift.py", "-x"],
            cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT, check=False,
        )
        for start in (list[str](), ["-m", "ptx_lsp.cli.run", "--python"])
    )
    note = "ptx-run: note: the program has launched no CUDA kernel\n"
    assert note in ours.stderr
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)
    assert ours.stderr.replace(note, "") == plain.stderr


def test_a_folder_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("import other, sys\nprint(__name__, sys.argv[1:])\n")
    (tmp_path / "other.py").touch()
    assert run(str(tmp_path)).stdout == "__main__ []\n"


def test_modules_are_saved_where_the_run_started(tmp_path: Path) -> None:
    program = tmp_path / "elsewhere.py"
    race = PROGRAMS / "race.py"
    program.write_text(f"import os, runpy\nos.chdir('/')\nrunpy.run_path({str(race)!r})\n")
    options = "--check", "--save-ptx", "saved", "--python", str(program)
    command = sys.executable, "-m", "ptx_lsp.cli.run", *options
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert [one.name for one in (tmp_path / "saved").iterdir()] == ["001-shift.ptx"], done.stderr
    assert done.stderr.startswith("saved/001-shift.ptx:")


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path) -> None:
    """Only the user can read what is there meanwhile."""
    program = tmp_path / "look.py"
    program.write_text(
        "import os\nfolder = os.environ['TRITON_LIBCUDA_PATH']\n"
        "print(os.path.dirname(folder), oct(os.stat(folder).st_mode & 0o777))\nraise ValueError\n"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    assert run(str(program), TMPDIR=str(temporary)).stdout == f"{temporary} 0o700\n"
    assert not list(temporary.iterdir())


def test_install_refuses_wrong_settings_and_a_second_call(tmp_path: Path) -> None:
    program = tmp_path / "twice.py"
    program.write_text(
        "from ptx_lsp.cuda import Settings, install\n"
        "for settings in Settings('sm_1'), Settings(module_folder=__file__), Settings(), Settings():\n"
        "    try:\n        install(settings)\n        print('done')\n"
        "    except Exception as error:\n        print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, env=ENVIRONMENT, check=True
    )
    assert done.stdout.split() == ["ValueError", "FileExistsError", "done", "RuntimeError"]


def test_each_refusal_is_a_result_of_the_driver() -> None:
    assert {one.name for one in Result}.issuperset(get_args(Error))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--grid", "1", "--python", "x.py"], "`--grid` is for a kernel, and not allowed with `--python`"),
        (["--python"], "`--python` requires a script, or `-m` and a module"),
        (["--python", "-c", "1"], "`--python` requires a script, or `-m` and a module, not `-c`"),
        (["--python", "no.py"], "no.py: no such file"),
        (["--device", "sm_1", "--python", "x"], "`--device sm_1`: the limits of target sm_1 are not known"),
    ],
)
def test_wrong_options(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"ptx-run: error: {message}\n"
