"""The register estimate, from what vanishes in machine code to the figure."""

from __future__ import annotations

from statistics import median

import pytest

from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.occupancy.launch_bounds import directives_of, launch_bounds_of
from ptx_lsp.analyses.registers.call_registers import call_registers
from ptx_lsp.analyses.registers.estimated_registers import estimated_registers
from ptx_lsp.analyses.registers.machine_instructions import MachineInstruction, machine_instructions
from ptx_lsp.analyses.registers.register_files import registers_elsewhere
from ptx_lsp.analyses.registers.register_pressure import register_pressure
from ptx_lsp.analyses.registers.scheduling.induction_variable import trip_count
from ptx_lsp.analyses.registers.scheduling.scheduling_limit import register_cap, scheduling_limit
from ptx_lsp.analyses.registers.scheduling.straight_line_regions import straight_line_regions
from ptx_lsp.analyses.registers.simulated_registers import simulated_registers
from ptx_lsp.analyses.registers.virtual_register_liveness import virtual_register_liveness
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.isa.target import parse_target
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.text import Edit
from tests.oracle.figures import accuracy

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %d<20>;\n"


def kernel(body: str, directives: str = "") -> Function:
    text = f"{HEAD}.visible .entry k(.param .u64 a, .param .u32 n) {directives}\n{{\n{REGISTERS}{body}\n}}\n"
    return Module.parse(text).definitions["k"]


def machine_code(body: str) -> list[MachineInstruction]:
    found = virtual_registers(kernel(body))
    return machine_instructions(found, range(len(found.code.is_eliminated)))


def left(body: str) -> list[str]:
    """The instructions that are left of `body` in machine code."""
    return [one.instruction.opcode for one in machine_code(body)]


@pytest.mark.parametrize(
    ("body", "remain"),
    [
        ("mov.u32 %r1, %tid.x; mov.u32 %r2, %r1; st.global.u32 [%d1], %r2;", "mov st"),
        ("mov.u32 %r1, 5; mov.u32 %r2, %ntid.x; add.s32 %r3, %r1, %r2;", "add"),
        ("mov.u32 %r1, 5; mov.u32 %r1, 6;", "mov mov"),  # a register that changes
        ("ld.param.u64 %d1, [a]; cvta.to.global.u64 %d2, %d1; ld.global.u32 %r1, [%d2];", "ld"),
        ("mov.u64 %d2, %clock64; add.s64 %d1, %d2, 16; ld.global.u32 %r1, [%d1];", "mov ld"),
        ("add.s64 %d1, %d2, 16; st.global.u64 [%d3], %d1;", "add st"),
        ("mul.wide.s32 %d1, %r1, 4; add.s64 %d2, %d3, %d1; ld.global.u32 %r2, [%d2];", "add ld"),
        ("mul.wide.s32 %d1, %r1, 4; st.global.u64 [%d3], %d1;", "mul st"),
        ("mov.u32 %r1, %clock; mov.b64 %d1, {%r1, 0}; st.global.u64 [%d3], %d1;", "mov st"),
        ("mov.u64 %d1, %clock64; mov.b64 {%r1, %r2}, %d1; add.s32 %r3, %r1, %r2;", "mov add"),
        ("mov.u32 %r1, %clock; cvt.u64.u32 %d1, %r1; neg.s64 %d2, %d1;", "mov neg"),
        ("@%p1 mov.u32 %r1, 5; st.global.u32 [%d1], %r1;", "mov st"),
        ("ld.global.u8 %h1, [%d1]; cvt.u32.u16 %r1, %h1; st.global.u32 [%d2], %r1;", "ld st"),
        ("ld.global.s8 %h1, [%d1]; cvt.s32.s16 %r1, %h1; st.global.u32 [%d2], %r1;", "ld st"),
        ("add.s16 %h1, %h2, 1; cvt.s32.s16 %r1, %h1; st.global.u32 [%d2], %r1;", "add cvt st"),
        ("ld.f32 %f2, [%d1]; neg.f32 %f1, %f2; fma.rn.f32 %f3, %f1, %f2, %f1;", "ld fma"),
        ("ld.f32 %f2, [%d1]; neg.f32 %f1, %f2; st.global.f32 [%d1], %f1;", "ld neg st"),
        ("ld.s32 %r2, [%d1]; neg.s32 %r1, %r2; add.s32 %r3, %r1, %r4;", "ld add"),
        ("ld.f32 %f2, [%d1]; abs.f32 %f1, %f2; mul.f32 %f3, %f1, %f2;", "ld abs mul"),
        ("ld.u32 %r2, [%d1]; not.b32 %r1, %r2; and.b32 %r3, %r1, %r4;", "ld and"),
        ("ld.u64 %d1, [%d3]; shr.u64 %d2, %d1, 32; cvt.u32.u64 %r1, %d2; popc.b32 %r2, %r1;", "ld popc"),
        ("ld.u64 %d1, [%d3]; and.b64 %d2, %d1, 0xffffffff; st.global.u64 [%d3], %d2;", "ld st"),
        ("ld.u64 %d1, [%d3]; and.b64 %d2, %d1, -4294967296; setp.ne.s64 %p1, %d2, 0;", "ld setp"),
        ("ld.u64 %d1, [%d3]; and.b64 %d2, %d1, 0xfffffffe; st.global.u64 [%d3], %d2;", "ld and st"),
        ("ld.f32 %f1, [%d1]; cvt.rn.f16.f32 %h1, %f1; mov.b32 %r1, {%h1, %h1};", "ld mov"),
        ("mov.u32 %r1, %clock; mov.b32 {%h1, %h2}, %r1; add.f16 %h3, %h1, %h2;", "mov add"),
        ("mov.u32 %r2, %tid.x; add.s32 %r1, %r2, 64; cp.async.ca.shared.global [%r1], [%d1], 4;", "mov cp"),
    ],
)
def test_what_machine_code_does_not_need(body: str, remain: str) -> None:
    assert " ".join(left(body)) == remain


def test_halves_of_a_pair_are_its_words() -> None:
    load, add = machine_code("ld.global.u64 %d1, [%d2]; mov.b64 {%r1, %r2}, %d1; add.s32 %r3, %r1, %r2;")
    assert add.uses == load.defs
    assert len(load.defs) == 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("or.b64 %d1, %d2, %d3; and.b64 %d4, %d1, -4294967296; setp.ne.s64 %p1, %d4, 0;", 1),
        ("mul.lo.s64 %d1, %d2, %d3; and.b64 %d4, %d1, -4294967296; setp.ne.s64 %p1, %d4, 0;", 2),
        ("add.s64 %d1, %d2, %d3; cvt.u32.u64 %r1, %d1; st.global.u32 [%d4], %r1;", 1),
        ("add.s64 %d1, %d2, %d3; cvt.u32.u64 %r1, %d1; st.global.u64 [%d4], %d1;", 2),
        ("ld.global.u64 %d1, [%d2]; cvt.u32.u64 %r1, %d1; st.global.u32 [%d4], %r1;", 2),
        ("@%p1 mov.b64 %d1, 7; @!%p1 cvt.u64.u32 %d1, %r1; st.global.u64 [%d4], %d1;", 1),
        ("@%p1 mov.b64 %d1, 7; @!%p1 cvt.s64.s32 %d1, %r1; st.global.u64 [%d4], %d1;", 2),
        ("shr.u64 %d1, %d2, %r1; shr.u64 %d3, %d1, 40; st.global.u64 [%d4], %d3;", 2),
    ],
)
def test_halves_that_are_not_needed(body: str, words: int) -> None:
    assert len(machine_code(body)[0].defs) == words


def test_halves_that_an_edit_makes_needed() -> None:
    narrow = "cvt.u32.u64 %r1, %d1; st.global.u32 [%d4], %r1;"
    wide = "st.global.u64 [%d4], %d1;"
    text = f"add.s64 %d1, %d2, %d3; {narrow}"
    module = Module(kernel(text).module.document)
    for now, then, words in ((narrow, wide, 2), (wide, narrow, 1)):
        function = module.definitions["k"]
        virtual_registers(function)
        at = module.document.source.data.index(now.encode())
        edited = module.document.edited(Edit(at, at + len(now), then.encode()))
        module = Module(edited, module)
        found = virtual_registers(module.definitions["k"])
        assert len(machine_instructions(found, [0])[0].defs) == words


def test_what_some_path_does_not_define_is_live_from_the_entry() -> None:
    function = kernel(
        "mov.u32 %r2, %tid.x; setp.eq.s32 %p1, %r2, 0; mov.u32 %r3, 5; @%p1 bra L; mov.u32 %r1, %clock;"
        "L: add.s32 %r1, %r1, %r2; st.global.u32 [%d1], %r1;"
    )
    (word,) = machine_code("mov.u32 %r1, %clock;")[0].defs
    assert virtual_register_liveness(function).live_in_any([0]) == {word}
    assert straight_line_regions(function)[0].min_registers(b"") == 2


def test_a_register_that_is_copied_to_itself_ends() -> None:
    assert left("mov.u32 %r1, %r1;") == ["mov"]


def test_a_long_chain_of_copies() -> None:
    body = ".reg .b32 %c<5000>;\nmov.u32 %c0, %tid.x;\n"
    body += "".join(f"mov.u32 %c{i}, %c{i - 1};\n" for i in range(1, 5000))
    assert left(body + "st.global.u32 [%d1], %c4999;") == ["mov", "st"]


LOADS = "".join(f"ld.global.f32 %f{i}, [%d1+{4 * i}];\n" for i in range(8))
SUM = "".join(f"add.f32 %f20, %f20, %f{i};\n" for i in range(8))
START = "ld.param.u64 %d1, [a]; mov.f32 %f20, 0f00000000;\n"


def test_the_least_order_brings_each_load_to_its_use() -> None:
    function = kernel(START + LOADS + SUM + "st.global.f32 [%d1], %f20;")
    run = straight_line_regions(function)[0]
    assert run.min_registers(b"") == 4  # the address, the sum and what is added


def test_loads_are_hoisted_up_to_the_limit() -> None:
    function = kernel(START + LOADS + SUM + "st.global.f32 [%d1], %f20;")
    run = straight_line_regions(function)[0]
    hoisted = [run.registers_with_hoisting(limit, b"") for limit in range(5, 14)]
    assert hoisted == sorted(hoisted)
    assert all(found <= max(5, limit) for found, limit in zip(hoisted, range(5, 14), strict=True))
    assert hoisted[-1] >= 11  # all eight, the address and the sum


LOOP = """
mov.u32 %r1, {start};
L: add.s32 %r1, %r1, {step};
setp.lt.s32 %p1, %r1, {end};
@%p1 bra L;
"""


@pytest.mark.parametrize(
    ("start", "step", "end", "count"),
    [("0", "1", "16", 16), ("4", "4", "0x20", 7), ("0", "0", "8", None), ("%r2", "1", "8", None)],
)
def test_turns_of_a_loop(start: str, step: str, end: str, count: int | None) -> None:
    function = kernel(LOOP.format(start=start, step=step, end=end))
    (loop,) = dominance(function).loops
    assert trip_count(function, loop) == count


def _machine_instructions(body: str) -> int:
    return sum(len(run.code.operands.numbers) for run in straight_line_regions(kernel(body)))


@pytest.mark.parametrize(
    ("end", "work", "turns"),
    [
        ("16", 1, 16),
        ("16", 48, 4),  # a turn costs more than a small one: as many turns as cost up to 270
        ("18", 51, 5),  # though that does not divide 18
        ("7", 300, 1),
        ("%r2", 1, 4),
        ("%r2", 40, 4),
        ("%r2", 50, 1),
    ],
)
def test_loops_are_unrolled_as_far_as_a_turn_costs(end: str, work: int, turns: int) -> None:
    body = LOOP.format(start="0", step="1", end=end)
    body = body.replace("setp", "mul.f32 %f1, %f1, %f1; " * work + "setp")
    assert _machine_instructions(body) == work * turns + 4
    kept = body.replace("L: ", 'L: .pragma "nounroll";\n')
    assert _machine_instructions(kept) == work + 4


@pytest.mark.parametrize("kept", ["bar.sync 0;", "call f;", "div.rn.f32 %f1, %f1, %f1;"])
@pytest.mark.parametrize("end", ["16", "%r2"])
def test_loops_that_are_not_unrolled(kept: str, end: str) -> None:
    stopped = LOOP.format(start="0", step="1", end=end).replace("setp", kept + " setp")
    assert _machine_instructions(stopped) == 5


INDEX = """
ld.param.u64 %d1, [a]; ld.param.u32 %r9, [n];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3; setp.ge.s32 %p1, %r4, %r9; @%p1 bra END;
mul.wide.s32 %d2, %r4, 4; add.s64 %d3, %d1, %d2;
"""
UNIFORM_LOOP = """
mov.u32 %r5, 0; mov.u32 %r6, 0;
L: ld.global.u32 %r7, [%d3]; add.s32 %r8, %r7, %r5; xor.b32 %r6, %r6, %r8; add.s32 %r5, %r5, 1;
setp.lt.s32 %p2, %r5, %r9; @%p2 bra L;
"""
OUTER_LOOP = """
mov.u32 %r4, %tid.x; mov.u32 %r6, 0;
L: setp.eq.s32 %p1, %r4, %r6; @%p1 bra A; st.global.u32 [%d3], %r4; bra M;
A: st.global.u32 [%d2], %r4;
M: ld.param.u32 %r1, [n]; add.s32 %r5, %r1, 1; add.s32 %r6, %r4, %r5; add.s32 %r4, %r4, %r6;
setp.lt.s32 %p2, %r4, 9; @%p2 bra L; st.global.u32 [%d3], %r6;
"""


def elsewhere(body: str, target: str) -> set[str]:
    """The registers that a target does not keep in general registers."""
    function = kernel(body)
    named = parse_target(target)
    assert named is not None
    found, left = registers_elsewhere(function, named), virtual_registers(function)
    flow = left.code.flow
    return {
        flow.registers[register].name
        for register, words in enumerate(left.code.allocated)
        for word in words
        if word < len(found) and found[word]
    }


@pytest.mark.parametrize(
    ("body", "target", "names"),
    [
        # a pointer to which a product is added, and the block size next to the block
        (INDEX + "st.global.u32 [%d3], %r4; END: ret;", "sm_75", "%d1 %r2 %r9"),
        (INDEX + "st.global.u32 [%d3], %r4; END: ret;", "sm_90", "%r1 %r9"),
        # pointers that are addresses, and stored values
        ("ld.param.u64 %d1, [a]; ld.global.u32 %r1, [%d1];", "sm_75", "%d1"),
        ("ld.param.u64 %d1, [a]; ld.global.u32 %r1, [%d1];", "sm_80", ""),
        ("ld.param.u32 %r1, [n]; st.shared.u32 [%r2], %r1;", "sm_75", ""),
        # a counter, unless the threads of a warp are in the loop at different times
        (INDEX + UNIFORM_LOOP + "st.global.u32 [%d3], %r6; END: ret;", "sm_90", "%r1 %r5"),
        (INDEX + UNIFORM_LOOP + "END: st.global.u32 [%d4], %r6;", "sm_90", "%r1 %r9"),
        # the outer loop ends at different times, and so does a branch within it
        (OUTER_LOOP, "sm_90", ""),
        # what is scaled within an addition, and two uniform operands
        ("mov.u32 %r1, %ctaid.x; shl.b32 %r2, %r1, 3; add.s32 %r3, %r2, %r4;", "sm_90", ""),
        ("mov.u32 %r1, %ctaid.x; ld.param.u32 %r2, [n]; mad.lo.s32 %r3, %r4, %r1, %r2;", "sm_90", "%r1"),
        ("mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 3; xor.b32 %r3, %r4, %r2;", "sm_90", ""),
        ("mov.u32 %r1, %ctaid.x; add.s32 %r2, %r1, 3; xor.b32 %r3, %r4, %r2;", "sm_90", "%r1 %r2"),
        ("mov.u32 %r1, %ctaid.x; add.s32 %r2, %r1, 3; xor.b32 %r3, %r4, %r2;", "sm_89", ""),
        # from sm_100 on comparisons of uniform integers, from sm_90 on integers of 64 bits
        (INDEX + UNIFORM_LOOP + "st.global.u32 [%d3], %r6; END: ret;", "sm_100", "%r1 %r5 %r9"),
        ("ld.param.u64 %d1, [a]; xor.b64 %d2, %d1, 3; and.b64 %d3, %d3, %d2;", "sm_89", "%d1"),
        ("ld.param.u64 %d1, [a]; xor.b64 %d2, %d1, 3; and.b64 %d3, %d3, %d2;", "sm_90", "%d1 %d2"),
        ("mov.u32 %r1, %ctaid.x; mul.wide.u32 %d1, %r1, %r1; and.b64 %d2, %d3, %d1;", "sm_90", "%r1 %d1"),
        ("mov.u32 %r1, %ntid.x; mul.wide.u32 %d1, %r1, %r1; and.b64 %d2, %d3, %d1;", "sm_89", "%r1"),
        ("ld.param.u64 %d1, [a]; xor.b64 %d2, %d1, 3; and.b64 %d3, %d3, %d2;", "sm_120", "%d1 %d2"),
        ("ld.param.u64 %d1, [a]; xor.b64 %d2, %d1, 3; ld.global.u32 %r1, [%d2];", "sm_120", ""),
    ],
)
def test_what_is_not_in_general_registers(body: str, target: str, names: str) -> None:
    assert elsewhere(body, target) == set(names.split())


def test_parameters_are_loaded_where_they_are_read_or_before_a_loop() -> None:
    loop = "L: ld.global.u32 %r1, [%d1]; setp.lt.s32 %p1, %r1, %r2; @%p1 bra L; ld.global.u32 %r3, [%d1];"
    regions = straight_line_regions(kernel("ld.param.u64 %d1, [a];" + loop))
    shown = [[one.code.operands.numbers, len(one.live_out)] for one in regions]
    assert shown[:3] == [[(), 0], [(1, 2, 3), 2], [(0, 4), 0]]
    assert [one.min_registers(b"") for one in list(regions)[:3]] == [0, 3, 2]


def test_pressure_of_the_text() -> None:
    function = kernel(START + LOADS + SUM + "st.global.f32 [%d1], %f20;")
    found = register_pressure(function)
    assert found.peak == 2 + 1 + 8
    assert {register.name for register in found.live_at_peak} == {
        "%d1", "%f20", *(f"%f{i}" for i in range(8)),
    }  # fmt: skip


def test_the_launch_bounds_cap_the_estimate() -> None:
    many = "".join(f"ld.volatile.global.f32 %f{i}, [%d1+{4 * i}];\n" for i in range(40))
    stores = "".join(f"st.volatile.global.f32 [%d1+{4 * i}], %f{i};\n" for i in range(40))
    free = estimated_registers(kernel(START + many + stores + "ret;"))
    bound = estimated_registers(kernel(START + many + stores + "ret;", ".maxnreg 32"))
    assert free is not None
    assert bound is not None
    assert free.estimate >= 40
    assert bound.high <= 32


def test_calls_follow_the_abi_or_a_convention_of_their_own() -> None:
    text = (
        HEAD + ".extern .func e(.param .b32 x);\n"
        ".func f(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x]; ret; }\n"
        ".entry k() { .param .b32 q; call e, (q); ret; }\n"
        ".entry m() { .param .b32 q; call f, (q); ret; }\n"
    )
    definitions = Module.parse(text).definitions
    external, known = (estimated_registers(definitions[name]) for name in "km")
    assert external is not None
    assert known is not None
    assert external.estimate >= 24
    assert known.estimate < 10


def test_no_figures_for_old_targets() -> None:
    assert estimated_registers(kernel("ret;"), parse_target("sm_20")) is None


def test_accuracy_on_the_recorded_kernels() -> None:
    """The files of this repository, whose figures by ptxas are in registers.json (docs/accuracy.md)."""
    figures = accuracy.measured()
    used = [abs(one.estimate - truth.used) / truth.used for truth, one in figures]
    peak = [abs(one.peak_live - truth.peak) / truth.peak for truth, one in figures if truth.peak]
    inside = sum(one.low <= truth.used <= one.high for truth, one in figures) / len(figures)
    assert len(figures) >= 60
    assert median(used) <= 0.13
    assert median(peak) <= 0.15
    assert inside >= 0.9


@pytest.mark.parametrize(
    ("body", "additional"),
    [
        ("red.global.add.u32 [%d1], 1;", 1),
        ("atom.global.add.u32 %r1, [%d1+8], %r2;", 1),  # its result is not read
        ("atom.global.add.u32 %r1, [%d1+8], 1; st.global.u32 [%d2], %r1;", 2),
        ("atom.global.add.u32 %r1, [%d1], %r2; st.global.u32 [%d2], %r1;", 3),
        ("atom.global.max.u32 %r1, [%d1], %r2; st.global.u32 [%d2], %r1;", 0),
        ("atom.global.max.u32 %r1, [%d1], %r2;", 1),
        ("red.global.add.u32 [%d2], 1;", 0),  # at addresses that differ
        ("red.global.add.f32 [%d1], %f1;", 0),
        ("red.shared.add.f64 [%r1], %d5;", 2),  # a loop
        ("atom.shared.cas.b64 %d3, [%r1], %d4, %d5;", 0),
    ],
)
def test_atomic_operations_need_more(body: str, additional: int) -> None:
    loaded = "ld.param.u64 %d1, [a]; ld.volatile.global.u64 %d2, [%d1]; ld.volatile.global.u32 %r2, [%d1];"
    region = straight_line_regions(kernel(loaded + body))[0]
    assert max(region.code.additional) == additional


@pytest.mark.parametrize(
    ("count", "called", "live", "used"),
    [
        (3, "vprintf", 18, 24),  # in R16 to R31
        (20, "vprintf", 35, 39),
        (20, "extern", 43, 47),  # in the upper four of each eight registers from R36 on
    ],
)
def test_values_that_are_live_across_a_call(count: int, called: str, live: int, used: int) -> None:
    loads = "".join(f"ld.volatile.global.u32 %r{n}, [a+{n}];\n" for n in range(count))
    stores = "".join(f"st.volatile.global.u32 [a], %r{n};\n" for n in range(count))
    text = (
        f"{HEAD}.extern .func vprintf;\n.extern .func extern;\n.global .b32 a;\n"
        f".entry k() {{ {REGISTERS} {loads} call {called}; {stores} ret; }}\n"
    )
    target = parse_target("sm_90")
    assert target is not None
    assert call_registers(Module.parse(text).definitions["k"], target) == (live, used)


def test_values_across_a_call_of_a_debug_build() -> None:
    loads = "".join(f"ld.volatile.global.u32 %r{n}, [a+{n}];\n" for n in range(30))
    stores = "".join(f"st.volatile.global.u32 [a], %r{n};\n" for n in range(30))
    text = (
        f"{HEAD.replace('sm_90', 'sm_90, debug')}.extern .func f;\n.global .b32 a;\n"
        f".entry k() {{ {REGISTERS} {loads} CALL {stores} ret; }}\n"
    )
    kernels = [Module.parse(text.replace("CALL", call)).definitions["k"] for call in ("", "call f;")]
    without, across = (estimated_registers(one) for one in kernels)
    assert without is not None
    assert across is not None
    assert without.peak_live < 40  # their registers, and few more
    assert across.peak_live > 60  # spread over the registers that a callee preserves


@pytest.mark.parametrize(
    ("division", "plain", "least"),
    [
        ("div.rn.f64 %d1, %d2, %d3;", "add.f64 %d1, %d2, %d3;", 22),
        ("rem.s64 %d1, %d2, %d3;", "add.s64 %d1, %d2, %d3;", 19),
        ("div.rn.f32 %f1, %f2, %f3;", "div.approx.f32 %f1, %f2, %f3;", 16),
    ],
)
def test_the_slow_path_of_a_division_needs_registers_of_its_own(
    division: str, plain: str, least: int
) -> None:
    slow, fast = simulated_registers(kernel(division)), simulated_registers(kernel(plain))
    assert slow is not None and fast is not None
    assert slow.peak_live == least
    assert slow.used >= least > fast.peak_live


def test_loads_are_not_hoisted_across_a_slow_path() -> None:
    def peak(operation: str) -> int:
        loads, sums = LOADS.splitlines(), SUM.splitlines()
        first, second = (" ".join(loads[half] + sums[half]) for half in (slice(4), slice(4, None)))
        text = f"{START}{first} {operation} %f20, %f20, %f20; {second} st.global.f32 [%d1], %f20;"
        return straight_line_regions(kernel(text))[0].registers_with_hoisting(60, b"")

    assert peak("div.rn.f32") < peak("div.full.f32")


@pytest.mark.parametrize(("target", "first"), [("sm_75", 64), ("sm_80", 32)])
def test_the_first_target_that_suffices_is_kept_to(target: str, first: int) -> None:
    named = parse_target(target)
    assert named is not None
    sized, free = (
        launch_bounds_of(named, directives_of(kernel("ret;", directives)))
        for directives in (".reqntid 256", "")
    )
    assert scheduling_limit(sized, 0, first - 2) == first - 4
    assert scheduling_limit(sized, 0, first + 2) > first - 4
    assert register_cap(sized, 0, 400) == register_cap(free, 0, 900) == 255
    assert register_cap(sized, 0, 900) == first
