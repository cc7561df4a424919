"""The callees of calls, and whether their arguments match."""

from __future__ import annotations

import pytest

from ptx_lsp.model.calls.argument_match import argument_mismatch
from ptx_lsp.model.calls.calls import Call, calls
from ptx_lsp.model.module import Module

HEADER = ".version 9.5\n.target sm_90\n.address_size 64\n"


def found(module_text: str, body: str) -> tuple[Call, ...]:
    module = Module.parse(f"{HEADER}{module_text}\n.entry kernel()\n{{\n{body}\n}}\n")
    return calls(module.functions[-1])


class TestCalls:
    def test_direct(self) -> None:
        (call,) = found(
            ".func (.param .b32 out) f(.param .b32 in, .reg .b64 more);",
            ".reg .b32 %r; call.uni (%r), f, (%r, 5);",
        )
        (callee,) = call.callees
        assert callee.name == "f"
        assert [formal.name for formal in callee.returns] == ["out"]
        assert [formal.name for formal in callee.parameters] == ["in", "more"]
        assert len(call.returns) == 1
        assert len(call.arguments) == 2
        assert call.table is None

    def test_through_a_prototype(self) -> None:
        (call,) = found("", ".reg .b64 %d; P: .callprototype _ (.param .b32 _); call %d, (5), P;")
        assert [callee.name for callee in call.callees] == ["P"]
        assert call.target.text == "%d"

    def test_through_a_list(self) -> None:
        (call,) = found(".func f; .func g;", ".reg .b64 %d; T: .calltargets f, g; call %d, T;")
        assert [callee.name for callee in call.callees] == ["f", "g"]

    @pytest.mark.parametrize(
        "body",
        [
            "call none;",
            "call kernel;",
            ".reg .b64 %d; call %d;",
            ".reg .b64 %d; L: call %d, L;",
            ".reg .b64 %d; T: .calltargets f, none; call %d, T;",
        ],
    )
    def test_unknown(self, body: str) -> None:
        (call,) = found(".func f;", body)
        assert call.callees == ()

    def test_other_operands_are_no_call(self) -> None:
        assert found(".func f;", "call 5; call [f]; call (f);") == ()

    def test_a_syntax_error_is_no_call(self) -> None:
        assert found(".func f(.param .b32 in);", ".reg .b32 %r; call f, (%r %r);") == ()


class TestDisagreement:
    """The verdicts are those of ptxas 13.5 for a parameter and what is passed for it."""

    @pytest.mark.parametrize(
        ("parameter", "declaration", "expected"),
        [
            (".param .b32 in", ".reg .f32 a", None),
            (".reg .u32 in", ".param .s32 a", None),
            (".param .u32 in", ".reg .f32 a", "type"),
            (".param .f16x2 in", ".reg .pred a", None),
            (".param .pred in", ".reg .b32 a", "type"),
            (".param .b64 in", ".reg .v2 .b32 a", None),
            (".param .align 2 .b32 in", ".reg .b32 a", None),
            (".param .align 8 .b32 in", ".reg .b32 a", "alignment"),
            (".param .align 8 .b32 in", ".reg .align 8 .b32 a", None),
            (".param .b8 in[4]", ".param .b8 a[8]", "type"),
            (".param .b8 in[]", ".param .b8 a[8]", None),
            (".param .b8 in[1]", ".param .b8 a", "type"),
            (".param .f32 in[2]", ".param .align 4 .b8 a[8]", None),
            (".param .u32 in[2]", ".param .align 4 .u8 a[8]", "type"),
            (".param .b32 in", ".shared .b32 a", "space"),
        ],
    )
    def test_variables(self, parameter: str, declaration: str, expected: str | None) -> None:
        assert reason(parameter, declaration, "a") == expected

    @pytest.mark.parametrize(
        ("parameter", "constant", "expected"),
        [
            (".param .b32 in", "1.5", None),
            (".param .u32 in", "1.5", "type"),
            (".param .u8 in", "5000000000", None),
            (".param .f64 in", "5", "type"),
            (".param .f64 in", "0f3F800000", None),
            (".param .f16x2 in", "0f3F800000", None),
            (".param .f16x2 in", "1.5", "type"),
            (".param .b8 in[8]", "5", "type"),
            (".param .u32 in", "WARP_SZ", None),
            (".param .u32 in", "_", "no value"),
            (".param .u32 in", "none", None),
        ],
    )
    def test_constants(self, parameter: str, constant: str, expected: str | None) -> None:
        assert reason(parameter, ".reg .b32 a", constant) == expected

    def test_own_parameter(self) -> None:
        module = Module.parse(
            f"{HEADER}.func f(.param .b32 in);\n.entry k(.param .b32 own) {{ call f, (own); }}\n"
        )
        function = module.functions[-1]
        (call,) = calls(function)
        formal = call.callees[0].parameters[0]
        wrong = argument_mismatch(function, call.arguments[0], formal, is_return=False)
        assert wrong is not None
        assert wrong.reason == "own parameter"

    def test_results_may_be_dropped(self) -> None:
        module = Module.parse(f"{HEADER}.func (.param .b32 out) f;\n.entry k() {{ call (_), f; }}\n")
        function = module.functions[-1]
        (call,) = calls(function)
        formal = call.callees[0].returns[0]
        assert argument_mismatch(function, call.returns[0], formal, is_return=True) is None


def reason(parameter: str, declaration: str, passed: str) -> str | None:
    """Why `passed` does not fit `parameter`, if it does not."""
    module = Module.parse(
        f"{HEADER}.func f({parameter});\n.entry k() {{ {declaration}; call f, ({passed}); }}\n"
    )
    function = module.functions[-1]
    (call,) = calls(function)
    formal = call.callees[0].parameters[0]
    wrong = argument_mismatch(function, call.arguments[0], formal, is_return=False)
    return wrong.reason if wrong else None
