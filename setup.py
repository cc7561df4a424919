"""Builds the C parser, the scanner of regular statements and the index of the instruction table, and puts the
grammar's queries into its Python package.
"""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copyfile

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

GRAMMAR = Path("tree-sitter-ptx")
SCANNER = Path("ptx_lsp", "syntax", "native")
PACKAGE = GRAMMAR / "bindings" / "python" / "tree_sitter_ptx"


class BuildPy(build_py):
    """Adds `queries/*.scm` to the built package."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "tree_sitter_ptx", "queries")
        target.mkdir(parents=True, exist_ok=True)
        for query in (GRAMMAR / "queries").glob("*.scm"):
            copyfile(query, target / query.name)
        # a package that is installed read-only cannot do this at its first run
        command = "from ptx_lsp.isa.schema import table; table.prepare()"
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
        subprocess.run([sys.executable, "-B", "-c", command], cwd=self.build_lib, env=kept, check=True)


setup(
    ext_modules=[
        Extension(
            "tree_sitter_ptx._binding",
            sources=[
                str(PACKAGE / "binding.c"),
                str(GRAMMAR / "src" / "parser.c"),
                str(GRAMMAR / "src" / "scanner.c"),
            ],
            include_dirs=[str(GRAMMAR / "src")],
            depends=[str(GRAMMAR / "src" / "tree_sitter" / "parser.h")],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        ),
        Extension(
            "ptx_lsp.syntax._scanner",
            sources=[str(SCANNER / "scanner.c")],
            depends=[str(header) for header in SCANNER.glob("*.h")],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        ),
    ],
    cmdclass={"build_py": BuildPy},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
