"""The reader of constants in machine code; and that ptxas still computes what tests/conformance has of it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from ptx_lsp import ptxas
from tests.executor.conformance.lines import FOLDER, lines
from tests.oracle.instructions.folded_lines import SECTIONS, shapes
from tests.oracle.instructions.judge import sections
from tests.oracle.instructions.machine_code import Constant, disassembler, folded, read

LISTING = """
        /*0000*/                   LDC R1, c[0x0][0x37c] ;                  /* 0x0000df00ff017b82 */
                                                                            /* 0x000fe20000000800 */
        /*0010*/                   HFMA2 R5, -RZ, RZ, 1.875, 0 ;            /* 0x3f800000ff057431 */
        /*0020*/                   MOV R4, R5 ;                             /* 0x0000000500047202 */
        /*0030*/                   LDC.64 R2, c[0x0][0x380] ;               /* 0x0000e000ff027b82 */
        /*0040*/                   STG.E.64.SYS [R2], R4 ;                  /* 0x0000000402007986 */
        /*0050*/                   CS2R R6, SRZ ;                           /* 0x0000000000067805 */
        /*0060*/                   MOV R8, 0xfffe ;                         /* 0x0000fffe00087802 */
        /*0070*/                   MOV R9, RZ ;                             /* 0x000000ff00097202 */
        /*0080*/                   STG.E.128 desc[UR4][R2.64+0x8], R6 ;     /* 0x0000080602007986 */
        /*0090*/                   EXIT ;                                   /* 0x000000000000794d */
        /*00a0*/                   BRA `(.L_x_0);                           /* 0xfffffffc00fc7947 */
"""


def test_constants_of_a_listing() -> None:
    """Bits of half floats, copies, zeros, and stores of several registers."""
    assert read(LISTING, [64, 64, 8]) == (0x3F8000003F800000, 0, 0xFE)


@pytest.mark.parametrize(("before", "after"), [
    ("MOV R4, R5 ", "IADD3 R4, PT, PT, R5, 0x1, RZ "),  # it is computed when it runs
    ("MOV R4, R5 ", "@P0 MOV R4, R5 "),
    ("MOV R4, R5 ", "LDC R4, c[0x3][0x0] "),
    ("MOV R8, 0xfffe ", "LDC R8, c[0x0][0x380] "),
    ("MOV R4, R5 ", "MOV R4, R17 "),
])
def test_what_is_not_computed(before: str, after: str) -> None:
    assert before in LISTING
    assert read(LISTING.replace(before, after), [64, 64, 64]) is None


def test_shapes() -> None:
    """With the types that a line of tests/conformance has."""
    found = {one.spelling: one for one in shapes(["integer_bits", "logic"], pairs=False)}
    assert found["bfe.s64"].types == (".s64", ".u32", ".u32")
    assert found["lop3.b32"].types == (".b32", ".b32", ".b32", "#")
    rows = found["bfe.s64"].constants(20)
    assert len(rows) > 10
    assert max(one.operands[1] for one in rows) <= 255
    assert rows == found["bfe.s64"].constants(20)


def test_ptxas_still_computes_them(tmp_path: Path) -> None:
    """Some of each file, at the target that it has been seen at."""
    tool, reader = ptxas.find(), disassembler()
    if tool is None or reader is None or ptxas.version(tool) != "13.5":
        pytest.skip("ptxas 13.5 and nvdisasm are needed")
    chosen: defaultdict[str, list[str]] = defaultdict(list)
    for name in SECTIONS:
        for text in (FOLDER / f"folded_{name}.txt").read_text(encoding="utf-8").splitlines()[1::37]:
            chosen[text.rpartition(" ")[2]].append(text)
    assert sum(map(len, chosen.values())) > 60
    for target, texts in chosen.items():
        path = tmp_path / f"{target}.txt"
        path.write_text("\n".join(texts), encoding="utf-8")
        wanted = list(lines(path))
        constants = [Constant(one.spelling, one.types, one.result_types, one.operands) for one in wanted]
        header = f".version 9.4\n.target {target}\n.address_size 64\n"
        for one, found in zip(wanted, folded(constants, header, (tool, reader)), strict=True):
            assert found == one.results, (target, one)


def test_a_refused_instruction_costs_itself_alone() -> None:
    tool, reader = ptxas.find(), disassembler()
    if tool is None or reader is None:
        pytest.skip("ptxas and nvdisasm are needed")
    types = ((".u32", ".u32"), (".u32",))
    refused = Constant("add.nothing.u32", *types, (1, 2))
    found = folded(
        [refused, Constant("add.u32", *types, (1, 2)), refused, Constant("sub.u32", *types, (1, 2))],
        ".version 8.0\n.target sm_90\n.address_size 64\n", (tool, reader),
    )
    assert found == [None, (3,), None, (0xFFFFFFFF,)]


@pytest.mark.parametrize("name", SECTIONS)
def test_every_recorded_opcode_is_in_a_section(name: str) -> None:
    """Otherwise recording again would drop its lines."""
    known = {row.name.partition(".")[0] for part in SECTIONS[name] for row in sections()[part]}
    text = (FOLDER / f"folded_{name}.txt").read_text(encoding="utf-8")
    opcodes = {line.partition(".")[0] for line in text.splitlines() if line and line[0] != "#"}
    assert opcodes <= known
