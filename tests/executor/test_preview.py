"""Previews: what the editor shows of instructions and of kernels with launch comments."""

from __future__ import annotations

import time
from itertools import count

import pytest

from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments, suggestion
from ptx_lsp.executor.launching.preview import KernelPreview, preview_instruction, preview_kernels
from ptx_lsp.executor.launching.specs import SpecError, value
from ptx_lsp.isa.schema.table import entries, opcodes
from ptx_lsp.model.module import Module

KERNEL = """.version 8.0
.target sm_80
.address_size 64
COMMENT
.visible .entry scale(.param .u64 x, .param .f32 a, .param .u64 y)
{
	.reg .f32 %f<4>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd3, [y];
	ld.param.f32 %f1, [a];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd1, %rd1, %rd2;
	add.u64 %rd3, %rd3, %rd2;
	ld.global.f32 %f2, [%rd1];
	mul.f32 %f2, %f2, %f1;
	st.global.f32 [%rd3], %f2;
	ret;
}
"""


def rows(spelling: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {row.operands: row.results for row in preview_instruction(spelling).rows}


def test_saturation_is_seen() -> None:
    found = preview_instruction("add.sat.s32")
    assert found.operands == ("a .s32", "b .s32")
    assert found.results == ("d .s32",)
    assert found.note == ""
    assert len(found.rows) == 10
    shown = rows("add.sat.s32")
    assert shown[("1", "2147483647")] == ("2147483647",)
    assert ("-2147483648",) in shown.values()


def test_floats_are_written_in_few_digits() -> None:
    shown = rows("add.f32")
    assert shown[("0.0", "0.1")] == ("0.1",)
    assert ("nan",) in shown.values()
    assert ("inf",) in shown.values()


def test_limits_are_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "thread_time", count(0, 1000).__next__)
    assert "time limit exceeded" in preview_instruction.__wrapped__("add.f32").note
    comment = "// ptx-run: grid=1 block=4 f32:zeros(4) f32:1 f32:zeros(4)"
    (found,) = preview_kernels(Module.parse(KERNEL.replace("COMMENT", comment)))
    assert found.problem == "time limit exceeded"


def test_two_results() -> None:
    assert preview_instruction("setp.lt.u32").results == ("p .pred", "q .pred")
    assert ("1", "0") in rows("setp.lt.u32").values()


def test_bounds_are_said() -> None:
    assert "within the bound" in preview_instruction("ex2.approx.f32").note
    assert rows("ex2.approx.f32")[("1.0",)] == ("2.0",)


@pytest.mark.parametrize(
    ("spelling", "note"),
    [
        ("ld.global.u32", "use it in a kernel"),
        ("bar.sync", "use it in a kernel"),
        ("add.foo", "has no modifier `.foo`"),
        ("nothing.u32", "nothing"),
    ],
)
def test_why_there_is_none(spelling: str, note: str) -> None:
    found = preview_instruction(spelling)
    assert found.rows == ()
    assert note in found.note


@pytest.mark.parametrize("opcode", sorted(opcodes()))
def test_no_instruction_fails(opcode: str) -> None:
    """Every row of the table has an answer, quickly."""
    for entry in entries(opcode):
        example = entry.example.split(";", 1)[0].split()
        words = [word for word in example if word.partition(".")[0] == opcode]
        start = time.process_time()
        found = preview_instruction(words[0] if words else entry.name)
        assert found.rows or found.note
        assert time.process_time() - start < 30


def kernel(comment: str, **budget: float) -> KernelPreview:
    module = Module.parse(KERNEL.replace("COMMENT", comment))
    limit = int(budget.pop("limit", 1000))
    (found,) = preview_kernels(module, limit=limit)
    return found


def test_outcome() -> None:
    found = kernel("// ptx-run: grid=1 block=4 x=f32:arange(9) a=f32:0.5 y=f32:zeros(4)")
    assert (found.line, found.entry, found.grid, found.block) == (4, "scale", (1,), (4,))
    assert (found.problem, found.findings) == ("", ())
    x, y = found.buffers
    assert (x.name, x.type, x.size, x.changed) == ("x", "f32", 9, 0)
    assert x.before == x.after == ("0.0", "1.0", "2.0", "3.0", "4.0", "5.0", "6.0", "7.0")
    assert (y.before, y.after, y.changed) == (("0.0",) * 4, ("0.0", "0.5", "1.0", "1.5"), 3)


def test_outcome_of_a_failure() -> None:
    found = kernel("// ptx-run: grid=1 block=4 f32:arange(9) f32:0.5 f32:zeros(3)")
    assert (found.problem_line, found.kind, found.buffers) == (19, "out-of-bounds", ())
    assert "is outside `y`, of 12 bytes" in found.problem
    assert [one.kind for one in found.findings] == ["out-of-bounds"]


@pytest.mark.parametrize(
    ("comment", "problem"),
    [
        ("block=4 f32:zeros(4) f32:1 f32:zeros(4)", "`grid=` is missing"),
        ("grid=0 block=4 f32:zeros(4) f32:1 f32:zeros(4)", "one to three positive integers"),
        ("grid=x block=4 f32:zeros(4) f32:1 f32:zeros(4)", "`grid=x`: expected a number"),
        ("grid=1 block=4 f32:zeros(4) f32:1", "`y`, a parameter of `scale`, has no value"),
        ("grid=1 block=4 z=f32:1", "`z` is not a parameter; expected `x`, `a`, `y`"),
        ("grid=1 block=4 x=f32:1 0=f32:1", "duplicate parameter 0"),
        ("grid=1 block=4 f32:1 f32:1 f32:1 f32:1", "the kernel takes 3 arguments"),
        ("grid=1 block=4 f32:zeros(4) f32:one f32:zeros(4)", "could not convert"),
        ("grid=1 block=4 f32:zeros(9999999999) f32:1 f32:zeros(4)", "a buffer has at most"),
        ("grid=9999999 block=4 f32:zeros(4) f32:1 f32:zeros(4)", "a preview supports at most"),
        ("grid=1 block=2000 f32:zeros(4) f32:1 f32:zeros(4)", "a block has at most 1024 threads"),
        ("entry=other grid=1 block=4", "kernel `other` does not exist"),
    ],
)
def test_what_is_wrong_with_a_comment(comment: str, problem: str) -> None:
    assert problem in kernel(f"// ptx-run: {comment}").problem


def test_an_endless_loop_ends() -> None:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n// ptx-run: grid=1 block=1\n"
    module = Module.parse(text + ".entry k() { again: bra again; }\n")
    (found,) = preview_kernels(module)
    assert found.kind == "deadlock"
    (found,) = preview_kernels(module, limit=100)
    assert found.kind == "limit"


def test_which_kernel_a_comment_is_for() -> None:
    text = """.version 8.0
.target sm_80
.address_size 64
// ptx-run: grid=1 block=1
.entry a() { ret; }
.entry b() { // ptx-run: grid=2,3 block=4,5,6 shared=7 seed=8
ret; }
// ptx-run: entry=a grid=1 block=1
// ptx-run: grid=1 block=1
"""
    found = launch_comments(Module.parse(text))
    assert [one.entry for one in found] == ["a", "b", "a", ""]
    assert found[1] == LaunchComment(6, "b", (2, 3), (4, 5, 6), 7, 8, (), has_shared=True)
    assert found[3].problem == "no kernel follows; name one with `entry=NAME`"


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ("u32:arange(3,6)", [3, 4, 5]),
        ("s8:[-1,0x7f]", [-1, 127]),
        ("u16[]:1,2", [1, 2]),
        ("f32:full(2,1.5)", [1.5, 1.5]),
        ("f64[]:ones:2", [1, 1]),
        ("u32:7", 7),
    ],
)
def test_specs(spec: str, want: object) -> None:
    assert value(spec).tolist() == want


def test_random_buffers_are_those_of_the_seed() -> None:
    assert value("u32:random(4)", 1).tolist() == value("u32:random(4)", 1).tolist()
    assert value("u32:random(4)", 1).tolist() != value("u32:random(4)", 2).tolist()
    assert 0 <= float(value("f32:random(1)").tolist()[0]) < 1


@pytest.mark.parametrize(
    "spec", ["u32:arange(1,2,3)", "u32:full(3)", "u32:zeros()", "u32:squares(3)", "u32:[1,x]", "f99:1"]
)
def test_wrong_specs(spec: str) -> None:
    with pytest.raises(SpecError, match=spec[:4]):
        value(spec)


def test_a_buffer_that_counts_far_has_too_many_elements() -> None:
    with pytest.raises(SpecError, match="not 1000000000001"):
        value("u8:arange(-1000000000000,1)")


def test_a_float_that_is_too_large_is_infinite_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    assert value("f16:70000").tolist() == float("inf")
    assert not recwarn.list


def test_a_grid_larger_than_floats_are() -> None:
    found = kernel(f"// ptx-run: grid={'9' * 400} block=4 f32:zeros(4) f32:1 f32:zeros(4)")
    assert "a preview supports at most" in found.problem


def test_what_each_line_wrote() -> None:
    found = kernel("// ptx-run: grid=2 block=4 x=f32:arange(9) a=f32:0.5 y=f32:zeros(4)")
    written = {(one.line, one.name): one for one in found.values}
    assert written[17, "%f2"].lanes == ("0.0", "1.0", "2.0", "3.0", *[None] * 28)
    assert written[17, "%f2"].type == ".f32"
    assert written[18, "%f2"].lanes[:4] == ("0.0", "0.5", "1.0", "1.5")
    assert (19, "%f2") not in written, "a store writes no register"
    assert found.instructions == 2 * 4 * 11


def test_what_was_written_before_a_failure() -> None:
    found = kernel("// ptx-run: grid=1 block=4 f32:arange(9) f32:0.5 f32:zeros(3)")
    assert [lane.thread for lane in found.lanes] == [(3, 0, 0)]
    assert {one.line for one in found.values} == set(range(10, 19))


def test_a_comment_to_begin_with() -> None:
    module = Module.parse(KERNEL)
    assert suggestion(module.functions[0]) == (
        "// ptx-run: grid=1 block=32 x=f32:zeros(32) a=f32:1 y=f32:zeros(32)"
    )
    (comment,) = launch_comments(Module.parse(KERNEL.replace("COMMENT", suggestion(module.functions[0]))))
    assert comment.problem == ""


def test_a_comment_for_structures() -> None:
    module = Module.parse(
        ".version 8.0\n.target sm_90\n"
        ".entry k(.param .align 64 .b8 map[128], .param .b8 other[8]) { ret; }\n"
    )
    assert suggestion(module.functions[0]) == (
        "// ptx-run: grid=1 block=32 map=tensor(f32:zeros(1024),shape=32x32,box=8x8) other=?"
    )


def test_a_comment_with_textures() -> None:
    """Of the geometry that they are used with; what the kernel does not name is not in it."""
    text = """.version 8.0
.target sm_80, texmode_independent
.address_size 64
.global .texref layers, other;
.global .samplerref m;
.global .surfref s;
.visible .entry k(.param .texref t)
{
  .reg .f32 %f<4>; .reg .b32 %r<4>;
  mov.b32 %r0, 0;
  mov.b32 %r1, 0;
  tex.a1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [layers, m, {%r0, %r1}];
  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, m, {%r0}];
  sust.b.3d.b32.zero [s, {%r0, %r0, %r0, %r0}], %r0;
  ret;
}
"""
    found = suggestion(Module.parse(text).functions[0])
    assert found == (
        "// ptx-run: grid=1 block=32 t=texture(f32:zeros(16),shape=16)"
        " layers=texture(f32:zeros(32),shape=2x16,geometry=a1d) m=sampler()"
        " s=surface(f32:zeros(32),shape=2x4x4)"
    )
    (one,) = preview_kernels(Module.parse(text.replace(".visible", f"{found}\n.visible")))
    assert one.problem == ""


def test_characters_of_several_bytes_before_a_comment() -> None:
    module = Module.parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        f"// {200 * chr(0xFC)}\n"
        "// ptx-run: grid=1 block=1\n.entry a() { ret; }\n.entry b() { ret; }\n"
    )
    assert [(one.line, one.entry) for one in launch_comments(module)] == [(5, "a")]


def test_the_first_warp_is_that_of_the_first_block() -> None:
    """Also where there are more blocks than run together."""
    text = (
        ".version 8.0\n.target sm_80\n.address_size 64\n// ptx-run: grid=3000 block=32\n"
        ".entry k() {\n.reg .u32 %r<2>;\nmov.u32 %r1, %ctaid.x;\nret; }\n"
    )
    (found,) = preview_kernels(Module.parse(text))
    assert found.problem == ""
    (written,) = found.values
    assert written.lanes == ("0",) * 32
