"""Functions that kernels may call through addresses; the registers are those that ptxas 13.5 reports."""

from __future__ import annotations

from typing import Any

import pytest

from ptx_lsp.analyses.control_flow.address_taken import address_taken, may_call_through_addresses
from ptx_lsp.analyses.registers import call_registers as call_registers_module
from ptx_lsp.analyses.registers.call_registers import call_registers
from ptx_lsp.analyses.registers.scheduling.list_scheduling import most_registers
from ptx_lsp.isa.target import parse_target
from ptx_lsp.model.module import Module

HEAD = ".version 8.8\n.target sm_75\n.address_size 64\n.extern .func malloc(.param .b64 n);\n"
REGISTERS = ".reg .b64 %d<4>; ld.param.u64 %d1, [p];"
LISTED = "names: .calltargets small; { .param .b64 a; call %d1, (a), names; }"
DESCRIBED = "any: .callprototype _ (.param .b64 _); { .param .b64 a; call %d1, (a), any; }"


def callee(name: str, count: int) -> str:
    """A function with `count` values that are live at once."""
    loads = "".join(f"ld.volatile.global.u32 %r{n}, [%d1+{4 * n}];\n" for n in range(count))
    stores = "".join(f"st.volatile.global.u32 [%d1+{4 * n}], %r{n};\n" for n in range(count))
    return f".func {name}(.param .b64 p) {{ {REGISTERS} .reg .b32 %r<{count}>; {loads} {stores} ret; }}\n"


def kernel(body: str) -> str:
    return f".entry k(.param .b64 p) {{ {REGISTERS} {body} ret; }}\n"


@pytest.mark.parametrize(
    ("body", "is_expected"),
    [
        ("", False),
        (DESCRIBED, True),
        (LISTED, True),  # the list makes no difference
        ("{ .param .b64 a; call malloc, (a); }", False),
        ("{ .param .b64 a; call small, (a); }", False),
        ("{ .param .b64 a; call through, (a); }", True),
        ("{ .param .b64 a; call taking, (a); }", True),
        ("mov.u64 %d2, big;", True),
        ("mov.u64 %d2, small;", True),  # expects `big` too
        ("mov.u64 %d2, table;", True),
        ("mov.u64 %d2, plain;", False),
    ],
)
def test_kernels_that_may_call_through_addresses(body: str, is_expected: bool) -> None:
    text = (
        f"{HEAD}{callee('big', 50)}{callee('small', 3)}"
        ".global .align 8 .u64 table[1] = {big};\n.global .align 8 .u64 plain[1] = {7};\n"
        f".func through(.param .b64 p) {{ {REGISTERS} {DESCRIBED} ret; }}\n"
        f".func taking(.param .b64 p) {{ {REGISTERS} mov.u64 %d2, big; ret; }}\n"
    )
    module = Module.parse(text + kernel(body))
    assert may_call_through_addresses(module.definitions["k"]) == is_expected
    assert "big" in address_taken(module)


@pytest.mark.parametrize(("taking", "expected"), [("", ()), ("mov.u64 %d1, small;", ("small",))])
def test_functions_that_are_only_listed_have_no_address_taken(
    taking: str, expected: tuple[str, ...]
) -> None:
    module = Module.parse(HEAD + callee("small", 3) + kernel(taking + LISTED))
    assert address_taken(module) == expected


@pytest.mark.parametrize(
    ("target", "used"),
    [
        ("sm_75", {4: 24, 12: 32, 16: 40, 20: 48, 24: 56, 28: 64, 36: 64, 50: 64, 60: 72, 80: 96}),
        ("sm_80", {4: 24, 12: 32, 16: 32, 20: 32, 24: 32, 28: 40, 36: 48, 50: 64, 60: 72, 80: 96}),
        ("sm_90", {4: 24, 12: 32, 16: 32, 20: 32, 24: 32, 28: 40, 36: 48, 50: 64, 60: 72, 80: 96}),
        ("sm_120", {4: 24, 12: 32, 16: 40, 20: 40, 24: 40, 28: 40, 36: 48, 50: 64, 60: 72, 80: 96}),
    ],
)
def test_registers_of_the_largest_function(target: str, used: dict[int, int]) -> None:
    judged = parse_target(target)
    assert judged is not None
    for count, registers in used.items():
        text = HEAD + callee("big", count) + callee("small", 3)
        text += ".global .align 8 .u64 table[2] = {small, big};\n" + kernel(DESCRIBED)
        found = call_registers(Module.parse(text).definitions["k"], judged)
        assert (count, found.used) == (count, registers)
        assert found.live <= found.used


def test_the_functions_are_looked_at_once_for_all_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = parse_target("sm_90")
    assert judged is not None
    text = HEAD + callee("big", 50) + ".global .align 8 .u64 table[1] = {big};\n"
    text += "".join(kernel(DESCRIBED).replace("k(", f"k{number}(") for number in range(3))
    module, seen = Module.parse(text), list[int]()

    def counted(*given: Any) -> int:  # pyrefly: ignore[explicit-any]
        seen.append(most_registers(*given))
        return seen[-1]

    monkeypatch.setattr(call_registers_module, "most_registers", counted)
    used = {call_registers(module.definitions[f"k{number}"], judged).used for number in range(3)}
    assert (used, len(seen)) == ({64}, 1)
