"""Which operand the cursor is at."""

from __future__ import annotations

from ptx_lsp.ide.completion.signature import signature_help
from tests.ide.cursor import at_cursor


def check_signature(text: str, label: str, parameter: str, says: str = "") -> None:
    module, offset = at_cursor(text)
    found = signature_help(module, offset)
    assert found is not None
    signature = found.signatures[found.active_signature]
    assert signature.label == label
    active = signature.parameters[found.active_parameter]
    assert signature.label[active.start : active.end] == parameter
    assert says in active.text


def check_none(text: str) -> None:
    module, offset = at_cursor(text)
    assert signature_help(module, offset) is None


def test_each_operand() -> None:
    label = "mad.mode.type d, a, b, c"
    check_signature("mad.lo.s32 <CURSOR>", label, "d", ".s32 register, written")
    check_signature("mad.lo.s32 %r1, <CURSOR>", label, "a")
    check_signature("mad.lo.s32 %r1, %r2, %r3, %r<CURSOR>", label, "c", ".s32 register or constant")
    check_signature("mad.wide.u32 %rd<CURSOR>1, %r2, %r3, %rd4;", label, "d", ".u64 register")


def test_operands_in_brackets() -> None:
    label = "st{.weak}{.ss}{.cop}{.level::cache_hint}{.vec}.type [a], b{, cache-policy}"
    check_signature("st.global.u32 [<CURSOR>", label, "a", "address in .global")
    check_signature("st.global.v2.u32 [%rd1], {%r1, <CURSOR>", label, "b")


def test_a_second_destination() -> None:
    check_signature(
        "setp.lt.and.s32 %p1|<CURSOR>", "setp.CmpOp.BoolOp.type p{|q}, a, b, {!}c", "q", "predicate register"
    )


def test_the_form_that_has_so_many_operands() -> None:
    check_signature("bar.sync 0, <CURSOR>", "bar.sync a{, b}", "b")


def test_the_parameters_of_a_function() -> None:
    check_signature(
        ".func (.reg .b32 r) f(.reg .b32 a, .reg .b64 b) { ret; }\n.entry k() { call (%x), f, (1, <CURSOR>",
        "(.reg .b32 r) f (.reg .b32 a, .reg .b64 b)", ".reg .b64 b",
    )


def test_none_elsewhere() -> None:
    check_none("mad.lo<CURSOR>")
    check_none("<CURSOR>")
    check_none("blah %r1, <CURSOR>")
    check_none("mad.lo.s32 %r1, %r2; <CURSOR>")
    check_none(".reg .b32 <CURSOR>")
