"""Uniformity, by hand: `uniformity.md` says on each line what must be known there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptx_lsp.analyses.divergence import uniformity_solver
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.uniformity import Uniformity, uniformity
from ptx_lsp.model.module import Module
from tests.analyses.blocks import HEADER, Block, blocks, line_of
from tests.oracle import corpus

HERE = Path(__file__).parent
_EXPECTED = re.compile(r"//(?P<writes>( = \w+)*)( (?P<flow>uniform|divergent|unknown)(: (?P<text>.*))?)?$")
_JUMPS = ("bra", "brx")


@pytest.mark.parametrize("block", blocks(HERE / "uniformity.md"), ids=lambda block: block.title)
def test_what_the_lines_say(block: Block) -> None:
    source = block.source
    if ".entry" not in source:
        source = f".entry kernel(.param .u64 a, .param .u32 n)\n{{\n{source}}}\n"
    source = HEADER + source
    module = Module.parse(source)
    assert not module.functions[-1].undeclared
    found: list[str] = []
    for function in module.functions:
        known = uniformity(function)
        for step in known.ssa.instructions.instructions:
            line = line_of(function, step.node, source)
            found.extend(_differences(known, step.number, line))
    assert not found


def _differences(known: Uniformity, number: int, line: str) -> list[str]:
    match = _EXPECTED.search(line)
    flow = known.execution_level(number)
    step = known.ssa.instructions.instructions[number]
    found: list[str] = []
    if match is not None and match["writes"]:
        written = [level.name.lower() for level in known.def_levels(number)]
        if written != re.findall(r"\w+", match["writes"]):
            found.append(f"{line.strip()}: writes {written}")
    if match is not None and match["flow"]:
        verdict = "uniform" if flow.is_uniform else flow.name.lower()
        if verdict != match["flow"]:
            found.append(f"{line.strip()}: is {verdict}: {known.reasons(number)}")
        chain = "; ".join(reason.text for reason in known.reasons(number))
        if match["text"] and match["text"] not in chain:
            found.append(f"{line.strip()}: because {chain}")
    elif step.opcode in _JUMPS and step.is_guarded:
        found.append(f"{line.strip()}: nothing is expected of it")
    return found


_OF_TABLE = """.entry k()
{{
.reg .b32 %r<5>;
.reg .pred %p;
mov.u32 %r0, 1;
mov.u32 %r1, 5;
setp.eq.u32 %p, %r1, 5;
LOOP:
{before}
T: .branchtargets {names};
brx.idx %r1, T;
{cases}
JOIN:
{after}
ret;
}}
"""
_VARY = "mov.u32 %r2, %tid.x;\nadd.u32 %r0, %r0, %r2;"


@pytest.mark.parametrize(
    ("before", "each", "after"),
    [
        ("mov.u32 %r3, %r0;", "bra JOIN;", f"{_VARY}\n@%p bra LOOP;"),
        ("", "add.u32 %r0, %r0, 1;\nbra JOIN;", f"{_VARY}\n@%p bra LOOP;"),
        (_VARY, "bra LOOP;", ""),
        (_VARY, "add.u32 %r0, %r0, 1;\nbra LOOP;", ""),
    ],
)
def test_a_phi_with_many_inputs_is_not_evaluated_for_each(
    before: str, each: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the time grows with the square of the branches that meet."""
    count = 200
    cases = [f"L{i}:\n{each}" for i in range(count)] + [f"L{count}:\nadd.u32 %r0, %r0, 2;"]
    names = ", ".join([f"L{i}" for i in range(count + 1)])
    text = _OF_TABLE.format(before=before, names=names, cases="\n".join(cases), after=after)
    function = Module.parse(HEADER + text).functions[0]
    read: list[int] = []
    join = uniformity_solver.Solver.join

    def counting(
        self: uniformity_solver.Solver, inputs: tuple[int, ...], block: int
    ) -> tuple[int, int, int]:
        read.append(len(inputs))
        return join(self, inputs, block)

    monkeypatch.setattr(uniformity_solver.Solver, "join", counting)
    known = uniformity(function)
    assert known.ssa.is_available
    assert any(len(phi.inputs) > count for phi in known.ssa.phis.values())
    assert sum(read) < 20 * count


class _Labels:
    """Puts a new label before every third match."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, match: re.Match[str]) -> str:
        self.count += 1
        return f"{match[0]}Extra_{self.count}: " if self.count % 3 == 0 else match[0]


@pytest.mark.parametrize("path", corpus.files(), ids=lambda path: path.name)
def test_real_code(path: Path) -> None:
    """Labels that nothing jumps to cut blocks, and change no level; each level that is not the best has
    a reason.
    """
    text = path.read_text(errors="replace")
    cut = re.sub(r"^\s*(?=(?:add|mov|mul|ld|st|setp)\.)", _Labels(), text, flags=re.M)
    for plain, labelled in zip(Module.parse(text).functions, Module.parse(cut).functions, strict=True):
        one, other = uniformity(plain), uniformity(labelled)
        for step in one.ssa.instructions.instructions:
            assert one.def_levels(step.number) == other.def_levels(step.number)
            assert one.execution_level(step.number) == other.execution_level(step.number)
            is_reached = one.ssa.cfg.block_of[step.number] in one.ssa.cfg.reached
            assert (
                one.reasons(step.number)
                or one.execution_level(step.number) is UniformityLevel.GRID
                or not is_reached
            )

