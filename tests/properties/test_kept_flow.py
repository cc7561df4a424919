"""Flow analyses after edits inside one kernel are those of a new parse, and kept where nothing changed."""

from __future__ import annotations

import random
import re

from benchmarks.analyses import one_kernel
from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.dataflow.ambiguous_registers import ambiguous_registers
from ptx_lsp.analyses.dataflow.phi_placement import phi_placement
from ptx_lsp.analyses.dataflow.pointer_provenance import pointer_provenance
from ptx_lsp.analyses.divergence.memory_access import accesses_by_lane
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_index
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

_EDITS = 60
_REGISTER = rb"(?<=, )%r\d+(?=[,;])"
_LINE = rb"\n\s*(?:add|mul|mov|shl)\.[^;\n]*;"
_LABEL = rb"\n\s*[$\w]+:"


def _shown(function: Function) -> dict[str, object]:
    flow = cfg(function)
    lives = ambiguous_registers(function)
    placed = phi_placement(function).registers
    origins = pointer_provenance(function).of_registers
    return {
        "blocks": flow.blocks,
        "labels": sorted(flow.labels.names.items()),
        "crossing": lives.crossing,
        "live": [[one for one, place in lives.places.items() if live >> place & 1] for live in lives.live_in],
        "phis": {block: sorted(registers) for block, registers in placed.items()},
        "accesses": [access._replace(base=0) for access in accesses_by_lane(function)],
        "index": sorted((one.spelling, numbers) for one, numbers in shape_index(function).items()),
        "provenance": sorted((one.name, origin.space, origin.offset or 0) for one, origin in origins.items()),
    }


def _module(text: bytes) -> Module:
    return Module(Document.parse(Source(text)))


def _one(chance: random.Random, pattern: bytes, text: bytes) -> re.Match[bytes]:
    found = list(re.finditer(pattern, text))
    return chance.choice(found)


def _edit(chance: random.Random, text: bytes, number: int) -> Edit:
    match chance.randrange(7):
        case 0:
            return Edit(*_one(chance, rb"(?<=, )\d+(?=;)", text).span(), b"%d" % (number + 3))
        case 1:
            one, other = _one(chance, _REGISTER, text), _one(chance, _REGISTER, text)
            return Edit(*one.span(), other[0])
        case 2:
            line = _one(chance, _LINE, text)
            return Edit(line.end(), line.end(), line[0])
        case 3:
            return Edit(*_one(chance, _LINE, text).span(), b"")
        case 4:
            at = _one(chance, _LINE, text).start()
            return Edit(at, at, b"\nNEW_%d:" % number)
        case 5:
            at = chance.choice([one.start() for one in re.finditer(_LABEL, text)])
            return Edit(at, at, b"\nMORE_%d:" % number)
        case _:
            line = _one(chance, _LINE, text)
            return Edit(*line.span(), _one(chance, _LINE, text)[0])


def test_kept_analyses_are_those_of_a_new_parse() -> None:
    chance = random.Random(7)
    text = one_kernel(600).encode()
    module = _module(text)
    linting = LintSession(module)
    for number in range(_EDITS):
        edit = _edit(chance, text, number)
        text = text[: edit.start] + edit.replacement + text[edit.end :]
        module = Module(module.document.edited(edit), module)
        linting = LintSession(module, previous=linting)
        new = _module(text)
        assert _shown(module.functions[0]) == _shown(new.functions[0]), (number, edit)
        assert linting.diagnostics == LintSession(new).diagnostics, (number, edit)


def test_an_immediate_changes_no_flow() -> None:
    text = one_kernel(600).encode()
    before = _module(text)
    _shown(before.functions[0])
    found = re.compile(rb"(?<=, )\d+(?=;)").search(text, len(text) // 2)
    assert found is not None
    after = Module(before.document.edited(Edit(*found.span(), b"77")), before)
    one, other = before.functions[0], after.functions[0]
    assert cfg(one) is cfg(other)
    assert phi_placement(one).registers is phi_placement(other).registers
    assert ambiguous_registers(one).has_registers_of(ambiguous_registers(other))


def test_a_use_is_searched_again_when_its_name_is_gone() -> None:
    text = one_kernel(60).encode().replace(b"\n{", b"\n{\n    .reg .b32 %once;", 1)
    line = re.search(_LINE, text)
    assert line is not None
    added = b"\n    add.s32 %once, %once, 1;"
    text = text[: line.end()] + added + added + text[line.end() :]
    module = _module(text)
    counts = [_unused(module)]
    for _ in range(2):
        module = Module(module.document.edited(Edit(line.end(), line.end() + len(added), b"")), module)
        counts.append(_unused(module))
    assert counts == [0, 0, 1]


def _unused(module: Module) -> int:
    found = [one.message for one in LintSession(module).diagnostics]
    return sum("%once" in message and "never used" in message for message in found)
