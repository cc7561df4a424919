"""Names that users give demangled."""

from __future__ import annotations

import pytest

from ptx_lsp.symbol_lookup import names_for, shown_names, without_return_type

FLOAT, DOUBLE, BAR, FOO = "_Z3fooIfEvPT_", "_Z3fooIdEvPT_", "_ZN2ns3barEPfi", "_ZN2ns3fooEv"
HIDDEN, RUST, CALL = "_ZN12_GLOBAL__N_13quxEv", "_RNvC4core3abc", "_ZN1SclEi"
NAMES = [FLOAT, DOUBLE, BAR, FOO, HIDDEN, RUST, CALL, "saxpy"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (FLOAT, [FLOAT]), ("saxpy", ["saxpy"]), ("x", []), ("", []),
        ("foo<float>(float*)", [FLOAT]), ("void foo<float>(float*)", [FLOAT]),
        ("foo < float > ( float * )", [FLOAT]),
        ("foo<double>", [DOUBLE]), ("foo", [FLOAT, DOUBLE, FOO]), ("foo()", [FOO]), ("ns::foo", [FOO]),
        ("bar", [BAR]), ("ns::bar(float*,int)", [BAR]), ("bar(float*)", []),
        ("qux", [HIDDEN]), ("(anonymous namespace)::qux()", [HIDDEN]), ("core::abc", [RUST]), ("abc", [RUST]),
        ("S::operator()", [CALL]), ("S::operator()(int)", [CALL]),
    ],
)  # fmt: skip
def test_names_for(text: str, found: list[str]) -> None:
    assert names_for(text, NAMES) == found


def test_a_name_of_the_file_comes_first() -> None:
    assert names_for("foo", [FLOAT, "foo"]) == ["foo"]


def test_a_whole_name_is_not_ambiguous() -> None:
    assert names_for("foo()", ["_Z3foov", FOO]) == ["_Z3foov"]


def test_shown() -> None:
    assert shown_names([FLOAT, "saxpy"]) == f"`foo<float>(float*)` (`{FLOAT}`), `saxpy`"
    assert shown_names([f"k{number}" for number in range(10)]).endswith("`k7` and 2 more")
    assert without_return_type("std::pair<int, int> ns::f<int>(int)") == "ns::f<int>(int)"
    assert without_return_type("f(unsigned int)") == "f(unsigned int)"
