"""Lane offsets and uniformity are computed only where a finding may depend on them."""

from __future__ import annotations

from ptx_lsp.analyses.divergence.lane_values import lane_values
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.facts import is_computed
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.text import Edit

_HEAD = """.version 8.5
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 .ptr .global .align 4 out)
{
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .reg .pred %p;
    ld.param.u64 %d0, [out];
"""
_STORE = """    mul.wide.u32 %d1, %r0, 128;
    add.s64 %d2, %d0, %d1;
    st.global.b32 [%d2], %r0;
"""


def _linted(text: str) -> Function:
    module = Module.parse(f"{_HEAD}{text}    ret;\n}}\n")
    assert LintSession(module).diagnostics is not None
    return module.functions[0]


def test_accesses_need_no_uniformity_unless_a_lane_index_is_read() -> None:
    assert is_computed(uniformity, _linted(f"    mov.u32 %r0, %tid.x;\n{_STORE}"))
    assert not is_computed(uniformity, _linted(f"    mov.u32 %r0, %ctaid.x;\n{_STORE}"))
    assert not is_computed(uniformity, _linted("    mov.u32 %r0, %tid.x;\n"))


def test_only_values_that_addresses_depend_on_are_evaluated() -> None:
    others = "".join(f"    add.s32 %r{n}, %r0, {n};\n    st.global.b32 [%d0], %r{n};\n" for n in range(1, 9))
    function = _linted(f"    mov.u32 %r0, %tid.x;\n{_STORE}{others}")
    known = lane_values(function)
    form = known.uniformity.ssa
    evaluated = {form.definitions[value] for value in known.evaluated if value >= 0}
    assert evaluated == {0, 1, 2, 3}


def test_what_depends_on_a_rejected_phi_is_unknown() -> None:
    """The phi of `%r1` is assumed to have the offsets of `%tid.x` until its other input is known."""
    loop = """    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %r0;
    mov.u32 %r2, 0;
AGAIN:
    mul.wide.u32 %d1, %r1, 4;
    add.s64 %d2, %d0, %d1;
    st.global.b32 [%d2], %r0;
    add.s32 %r1, %r1, {step};
    add.s32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 9;
    @%p bra AGAIN;
"""
    for step, stride in (("1", 4), ("%r0", None)):
        function = _linted(loop.format(step=step))
        known = lane_values(function)
        address = known.uniformity.ssa.by_instruction[6].uses[0]
        found = known.value(address)
        assert (found.stride if found is not None else None) == stride


def test_an_edit_by_which_threads_leave_a_loop_in_different_rounds() -> None:
    """The edit is in another block than the addresses, and they differ between lanes before and after it."""
    text = f"""{_HEAD}    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 8;
    mov.u32 %r2, 0;
    mul.wide.u32 %d1, %r0, 128;
    add.s64 %d2, %d0, %d1;
AGAIN:
    add.s64 %d2, %d2, 4;
MORE:
    add.s32 %r2, %r2, 1;
    setp.eq.u32 %p, %r2, 5;
    @%p bra MORE;
    setp.lt.u32 %p, %r2, %r1;
    @%p bra AGAIN;
    add.s64 %d3, %d2, 8;
    st.global.b32 [%d3], %r0;
    st.global.b32 [%d2], %r0;
    ret;
}}
"""
    linting = LintSession(Module.parse(text))
    place = text.index("%r1;\n    @")
    for register, is_found in (("%r0", False), ("%r1", True)):
        edit = Edit(place, place + 3, register.encode())
        module = Module(linting.module.document.edited(edit), linting.module)
        linting = LintSession(module, previous=linting)
        assert linting.diagnostics == LintSession(Module.parse(module.document.source.text)).diagnostics
        assert ("uncoalesced-access" in {one.rule for one in linting.diagnostics}) is is_found
