"""The reasons of a divergence name each register once, and end at the source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.model.module import Module
from tests.oracle import corpus

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
BODIES = {
    "itself": "add.u32 %a, %a, 1;\nadd.u32 %a, %a, 2;\nadd.u32 %a, %a, 3;\nsetp.eq.u32 %p, %a, 4;\n",
    "each other": "add.u32 %b, %a, 1;\nadd.u32 %a, %b, 1;\nadd.u32 %b, %a, 1;\nsetp.eq.u32 %p, %b, 4;\n",
    "a loop": "L: add.u32 %b, %a, 1;\nadd.u32 %a, %b, 1;\nsetp.eq.u32 %p, %a, 4;\n@%p bra L;\n",
}


def circles(module: Module) -> list[str]:
    """The chains in which a register is explained twice."""
    found: list[str] = []
    for function in module.functions:
        known = uniformity(function)
        chains = [known.reasons(known.ssa.cfg.blocks[block].end - 1) for block in known.branches]
        for chain in chains:
            subjects = [name for one in chain for name in re.findall(r"^`([^`]+)` depends on", one.text)]
            selves = [one.text for one in chain if re.fullmatch(r"`([^`]+)` depends on `\1`", one.text)]
            if len(set(subjects)) < len(subjects) or selves:
                found.append("; ".join(one.text for one in chain))
    return found


@pytest.mark.parametrize("name", BODIES)
def test_no_circle(name: str) -> None:
    begin = ".reg .b32 %a, %b;\n.reg .pred %p;\nmov.u32 %a, %tid.x;\n"
    text = f"{HEAD}.entry k() {{\n{begin}{BODIES[name]}@%p bra E;\nmov.u32 %b, 2;\nE: ret;\n}}\n"
    module = Module.parse(text)
    known = uniformity(module.functions[0])
    assert circles(module) == []
    chains = [known.reasons(known.ssa.cfg.blocks[block].end - 1) for block in known.branches]
    assert chains
    for chain in chains:
        assert "tid" in chain[-1].text, chain
        assert len(chain) <= 3


@pytest.mark.parametrize("path", corpus.files()[::4], ids=lambda path: path.name)
def test_no_circle_in_real_code(path: Path) -> None:
    if path.stat().st_size < 200_000:
        assert circles(Module.parse(path.read_text(encoding="utf-8", errors="replace"))) == []
