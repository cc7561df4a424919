"""Builds the C parser, the other modules in C and the indices of instructions and rules, and puts
the grammar's queries into its Python package.
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
CORE = Path("ptx_lsp", "model", "native")
FLOW = Path("analyses", "native")
PACKAGE = GRAMMAR / "bindings" / "python" / "tree_sitter_ptx"


PREPARE = """
import os, sys
from types import ModuleType
# needed only to run rules:
for name in (
    "tree_sitter", "tree_sitter_ptx", "ptx_lsp.syntax._scanner", "ptx_lsp.model._core", "analyses._flow"
):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__getattr__ = lambda name: type(name, (), {"__init__": lambda self, *given: None})
from ptx_lsp.isa.schema import table
from ptx_lsp.lint.configuration import rule_index
table.prepare()
rule_index.prepare()
os.makedirs("ptx_lsp/__pycache__", exist_ok=True)
open("ptx_lsp/__pycache__/modules.prepared", "wb").close()  # runs fill it; uninstalling removes it
"""
"""What a package that is installed read-only cannot do at its first run."""


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
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
        subprocess.run([sys.executable, "-B", "-c", PREPARE], cwd=self.build_lib, env=kept, check=True)


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
        Extension(
            "ptx_lsp.model._core",
            sources=[str(CORE / "core.c")],
            depends=[str(header) for header in (*CORE.glob("*.h"), SCANNER / "nodes.h", SCANNER / "slots.h")],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        ),
        Extension(
            "analyses._flow",
            sources=[str(FLOW / "flow.c")],
            depends=[str(header) for header in (*FLOW.glob("*.h"), SCANNER / "slots.h")],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        ),
    ],
    cmdclass={"build_py": BuildPy},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
