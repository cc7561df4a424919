"""Our verdicts on the branches of our files, compared with the recorded ones of LLVM and ptxas."""

from __future__ import annotations

from functools import cache

from ptx_lsp.model.module import Module
from tests.oracle import corpus
from tests.oracle.uniformity import branches
from tests.oracle.uniformity.branches import Branch
from tests.oracle.uniformity.llvm_uniformity import RECORDED as BY_LLVM
from tests.oracle.uniformity.sass_uniformity import HELD, UNIFORM
from tests.oracle.uniformity.sass_uniformity import RECORDED as BY_PTXAS

Place = tuple[str, int]
"""The name of a file and a line."""


@cache
def known() -> dict[Place, Branch]:
    """All branches of our files."""
    return {
        (path.name, branch.line): branch
        for path in corpus.files()
        for function in branches.defined(Module.parse(path.read_text(errors="replace")))
        for branch in branches.branches_of(function)
    }


def test_llvm_was_asked_of_each_branch() -> None:
    assert {(row.file, row.line) for row in branches.read(BY_LLVM)} == set(known())


def test_what_llvm_proves_uniform_is_uniform() -> None:
    proved = [row for row in branches.read(BY_LLVM) if row.verdict == "uniform"]
    assert len(proved) > 40
    assert not [row for row in proved if not known()[row.file, row.line].level.is_uniform]


def test_what_ptxas_holds_divergent_is_not_uniform() -> None:
    held = [row for row in branches.read(BY_PTXAS) if row.verdict == HELD]
    assert len(held) > 20
    assert not [row for row in held if known()[row.file, row.line].level.is_uniform]


def test_what_the_uniform_datapath_does_is_uniform() -> None:
    done = [row for row in branches.read(BY_PTXAS) if row.verdict == UNIFORM]
    assert done
    assert not [row for row in done if not known()[row.file, row.line].level.is_uniform]
