"""Builds the C parser, and puts the grammar's queries into its Python package."""

from pathlib import Path
from shutil import copyfile

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

GRAMMAR = Path("tree-sitter-ptx")
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
        )
    ],
    cmdclass={"build_py": BuildPy},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
