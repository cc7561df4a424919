"""Demangled names, and names made to hurt."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ptx_lsp import demangler
from ptx_lsp.demangler import LONGEST_NAME, demangled, short_name
from ptx_lsp.process_tables import empty_process_tables


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a busy machine has the time that it needs: hostile names end as memory does."""
    monkeypatch.setattr(demangler, "_SECONDS", 60.0)
    empty_process_tables()


@pytest.mark.parametrize(
    ("name", "text", "short"),
    [
        ("_Z4axpyfPfS_", "axpy(float, float*, float*)", "axpy"),
        ("_ZN3foo3barIfEEvT_", "void foo::bar<float>(float)", "foo::bar<...>"),
        ("_ZN12_GLOBAL__N_11kEv", "(anonymous namespace)::k()", "(anonymous namespace)::k"),
        ("_ZNK1AclEi", "A::operator()(int) const", "A::operator()"),
        ("_ZN1AlsIiEEvT_", "void A::operator<<<int>(int)", "A::operator<<<...>"),
        ("_ZN1AcvT_IiEEv", "A::operator int<int>()", "A::operator int<...>"),
        ("_ZZ1kvE5cache", "k()::cache", "k()::cache"),
        (
            "_ZN3foo3barIfEEvT__param_12",
            "void foo::bar<float>(float) parameter 12", "foo::bar<...> parameter 12",
        ),
        ("_RNvC7mycrate3foo_param_0", "mycrate::foo parameter 0", "mycrate::foo parameter 0"),
        ("_RNvC7mycrate3foo", "mycrate::foo", "mycrate::foo"),
        ("_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>", "std::mem::align_of::<...>"),
        (
            "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
            "core::fmt::Formatter::write_str", "core::fmt::Formatter::write_str",
        ),
        (
            "_ZN38_$LT$A$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
            "<A as core::fmt::Debug>::fmt", "<A as core::fmt::Debug>::fmt",
        ),
    ],
)  # fmt: skip
def test_names(name: str, text: str, short: str) -> None:
    assert demangled([name]) == {name: text}
    assert short_name(text) == short


def test_other_names_have_no_other_form() -> None:
    names = ["saxpy", "_Z", "_Znonsense", "_Rust", "$L__BB0_1", "", "_ZN05numba6pythonE6double", "_Z_param_0"]
    assert demangled(names) == {}


def _doubling(levels: int) -> str:
    """A name of which each part has the one before twice."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    parts = "".join(f"S_IS{digits[level]}_S{digits[level]}_E" for level in range(levels))
    return f"_Z1f1AIiiE{parts}"


def _cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(os.times()[:4])


HOSTILE = (_doubling(30), "_Z1f" + "P" * 8_000 + "i", "_Z" + "N" * 8_000, "_Z1f" + "I" * 4_000)


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: name[:12])
def test_a_hostile_name_costs_only_itself(name: str) -> None:
    began = _cpu_seconds()
    found = demangled(["_Z1av", name, "_Z1bv"])
    assert (found["_Z1av"], found["_Z1bv"]) == ("a()", "b()")
    assert len(found.get(name, "")) <= 4_096
    assert _cpu_seconds() - began < 20


def test_a_name_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    demangled([_doubling(30), "_Z1av"])

    def no_process(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(subprocess, "run", no_process)
    assert demangled([_doubling(30), "_Z1av", "x"]) == {"_Z1av": "a()"}
    assert demangled(["_Z" + "1a" * LONGEST_NAME]) == {}


def test_many_hostile_names_end_the_attempts() -> None:
    names = [f"{_doubling(30)}{'i' * number}" for number in range(9)]
    began = _cpu_seconds()
    assert demangled([*names, "_Z1av", "_ZZ1kvE5cache"]) == {"_Z1av": "a()"}
    assert _cpu_seconds() - began < 30


def test_a_process_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    name = _doubling(9)
    assert demangled([name])
    empty_process_tables()
    monkeypatch.setattr(demangler, "_SECONDS", -1.0)
    assert demangled([name]) == {}


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycxxfilt", None)
    assert demangled(["_Z1av", "_ZZ1kvE5cache"]) == {}


@pytest.mark.parametrize(
    "name",
    [
        "_Z4axpyPfS_", "_ZN12_GLOBAL__N_11kILi128ELb1EfEEvPKT1_",
        "_ZN3cub6detail3runINS0_3HubIjEELin4EEEvPKjPji", _doubling(4),
        "_Z1fIJiiEEvDpT_", "_ZN8__main__4axpyB2v3EPf", "_Z1fILi1EEvN1AIXT_EEE",
        "_Z1g" + "Ss" * 20,
    ],
)  # fmt: skip
def test_plain_names_need_no_process(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demangler, "_MOST_REFERENCES", -1)
    known = demangled([name])
    assert known
    empty_process_tables()
    monkeypatch.undo()

    def no_process(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(subprocess, "run", no_process)
    assert demangled([name]) == known


@pytest.mark.parametrize(
    "name",
    [
        _doubling(17), "_Z1f" + "P" * 400 + "i", "_ZZ1kvE5cache", "_Z1fIJiiEEvDpPT_", "_Z99a",
        "_RNvC7mycrate3foo",
    ],
)  # fmt: skip
def test_other_names_need_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class StartedError(Exception):
        pass

    def started(*_: object, **__: object) -> None:
        raise StartedError

    monkeypatch.setattr(subprocess, "run", started)
    with pytest.raises(StartedError):
        demangled([name])


def test_nothing_is_imported_for_it() -> None:
    code = "import sys, ptx_lsp.cli.lint; assert not {'pycxxfilt', 'ptx_lsp.demangler'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
