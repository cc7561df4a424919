"""Builds the C parser, the other modules in C and the indices of instructions and rules, and puts
the grammar's queries into its Python package. The same commit gives the same bytes.
"""

import gzip
import os
import shlex
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path
from shutil import copyfile, which

from setuptools import Extension, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import PlatformError

HERE = Path(__file__).parent
GRAMMAR = Path("tree-sitter-ptx")
SCANNER = Path("ptx_lsp", "syntax", "native")
CORE = Path("ptx_lsp", "model", "native")
FLOW = Path("ptx_lsp", "analyses", "native")
PACKAGE = GRAMMAR / "bindings" / "python" / "tree_sitter_ptx"


PREPARE = """
import os, sys
from types import ModuleType
# needed only to run rules:
for name in (
    "tree_sitter",
    "tree_sitter_ptx",
    "ptx_lsp.syntax._scanner",
    "ptx_lsp.model._core",
    "ptx_lsp.analyses._flow",
):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__getattr__ = lambda name: type(name, (), {"__init__": lambda self, *given: None})
from pathlib import Path
from ptx_lsp.analyses.registers import correction
from ptx_lsp.isa.schema import table
from ptx_lsp.lint.configuration import rule_index
from ptx_lsp.prepared import without_times
table.prepare()
rule_index.prepare()
correction.prepare()
for place in Path(".").rglob("*.prepared"):
    place.write_bytes(without_times(place.read_bytes()))
os.makedirs("ptx_lsp/__pycache__", exist_ok=True)
open("ptx_lsp/__pycache__/modules.prepared", "wb").close()  # runs fill it; uninstalling removes it
"""
"""What a package that is installed read-only cannot do at its first run."""


class BuildPy(build_py):
    """Adds `queries/*.scm` to the package, and makes `analyses`, an earlier name of `ptx_lsp.analyses`,
    a single module: it neither replaces nor hides a package of that name.
    """

    def run(self) -> None:
        require_compiler()  # before anything that takes time
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "tree_sitter_ptx", "queries")
        target.mkdir(parents=True, exist_ok=True)
        for query in (GRAMMAR / "queries").glob("*.scm"):
            copyfile(query, target / query.name)
        earlier_name = Path(self.build_lib, "analyses", "__init__.py")
        earlier_name.replace(Path(self.build_lib, "analyses.py"))
        earlier_name.parent.rmdir()
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
        subprocess.run([sys.executable, "-B", "-c", PREPARE], cwd=self.build_lib, env=kept, check=True)


def require_compiler() -> None:
    """Raises PlatformError if there is no C compiler. On Windows, setuptools looks for it and says so."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC")
    if command and which(program := shlex.split(command)[0]) is None:
        raise PlatformError(
            f"ptx-lsp is built with a C compiler, but `{program}` was not found: install it, name another "
            "in the variable CC, or install a wheel, which needs none (docs/install.md)"
        )


def reproducible_date() -> int:
    """The time that all files of a package get, in seconds since 1970: `SOURCE_DATE_EPOCH`, the time of the
    commit, or that of this file, which has it in an unpacked sdist.
    """
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    if not Path(HERE, ".git").exists():
        return int(Path(__file__).stat().st_mtime)
    try:
        log = ["git", "log", "-1", "--format=%ct"]
        return int(subprocess.run(log, cwd=HERE, capture_output=True, check=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return int(Path(__file__).stat().st_mtime)


class SourceDistribution(sdist):
    """The same bytes at each build: without the times of this checkout and its owner."""

    def make_archive(
        self,
        base_name: str,
        format: str,
        root_dir: str | None = None,
        base_dir: str | None = None,
        **owner: str | None,
    ) -> str:
        if format != "gztar" or root_dir or not base_dir:
            return super().make_archive(base_name, format, root_dir, base_dir, **owner)
        name, date = f"{base_name}.tar.gz", int(os.environ["SOURCE_DATE_EPOCH"])
        with (
            Path(name).open("wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=date) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            for path in sorted(path for path in Path(base_dir).rglob("*") if path.is_file()):
                member = archive.gettarinfo(path)
                member.mtime, member.mode = date, 0o755 if member.mode & 0o100 else 0o644
                member.uid = member.gid = 0
                member.uname = member.gname = "root"
                with path.open("rb") as content:
                    archive.addfile(member, content)
        return name


def extension(name: str, sources: list[Path], folder: Path, *headers: Path) -> Extension:
    """A module for every Python from 3.11. It depends on the headers in the folder, and on others."""
    return Extension(
        name,
        sources=[str(source) for source in sources],
        include_dirs=[str(folder)],
        depends=[str(header) for header in (*folder.rglob("*.h"), *headers)],
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        # debug information names the folder of the build
        extra_compile_args=["-g0"] if os.name == "posix" else [],
        py_limited_api=True,
    )


os.umask(0o022)  # wheels have the modes of files
os.environ["SOURCE_DATE_EPOCH"] = str(reproducible_date())
PARSER = GRAMMAR / "src"
setup(
    ext_modules=[
        extension(
            "tree_sitter_ptx._binding",
            [PACKAGE / "binding.c", PARSER / "parser.c", PARSER / "scanner.c"],
            PARSER,
        ),
        extension("ptx_lsp.syntax._scanner", [SCANNER / "scanner.c"], SCANNER),
        extension("ptx_lsp.model._core", [CORE / "core.c"], CORE, SCANNER / "nodes.h", SCANNER / "slots.h"),
        extension("ptx_lsp.analyses._flow", [FLOW / "flow.c"], FLOW, SCANNER / "slots.h"),
    ],
    cmdclass={"build_py": BuildPy, "sdist": SourceDistribution},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
