"""Litmus tests of PTX's memory model: what it allows is seen with `weak`, what it forbids never is.

A test has a program for each thread: `x = 1` stores, `a = x` loads into a register whose value is a result,
and `cas x` is an atomic exchange with 1. `F` is `fence.acq_rel`, `SC` is `fence.sc`. Accesses are relaxed;
`x =rel 1` is a release, `a =acq x` an acquire. Each thread has a block of its own, but for one test.
"""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.model.module import Module

_ORDERS = 80
_MOST_ORDERS = 3000
_DOCUMENT = Path(__file__).parents[3] / "docs" / "schedules.md"


class Litmus(NamedTuple):
    """A test: programs of the threads, and results (registers, then variables at the end) in question."""

    name: str
    threads: tuple[str, ...]
    outcome: str
    allowed: bool
    reached: bool
    scope: str = "gpu"
    one_block: bool = False


def allowed(name: str, threads: str, outcome: str, *, reached: bool = True, **more: object) -> Litmus:
    return _litmus(name, threads, outcome, allowed=True, reached=reached, **more)


def forbidden(name: str, threads: str, outcome: str, **more: object) -> Litmus:
    return _litmus(name, threads, outcome, allowed=False, reached=False, **more)


def _litmus(
    name: str, threads: str, outcome: str, *, allowed: bool, reached: bool, scope: object = "gpu",
    one_block: object = False,
) -> Litmus:
    programs = tuple(one.strip() for one in threads.split("|"))
    return Litmus(name, programs, outcome, allowed, reached, str(scope), bool(one_block))


IRIW = "x = 1 | y = 1 | a = x; b = y | c = y; d = x"
TESTS = (
    allowed("MP", "x = 1; y = 1 | a = y; b = x", "a=1 b=0"),
    forbidden("MP+rel+acq", "x = 1; y =rel 1 | a =acq y; b = x", "a=1 b=0"),
    forbidden("MP+fences", "x = 1; F; y = 1 | a = y; F; b = x", "a=1 b=0"),
    allowed("MP+fence+po", "x = 1; F; y = 1 | a = y; b = x", "a=1 b=0"),
    allowed("MP+po+fence", "x = 1; y = 1 | a = y; F; b = x", "a=1 b=0"),
    allowed("MP+cta, two blocks", "x = 1; y =rel 1 | a =acq y; b = x", "a=1 b=0", scope="cta"),
    forbidden(
        "MP+cta, one block", "x = 1; y =rel 1 | a =acq y; b = x", "a=1 b=0", scope="cta", one_block=True,
    ),
    forbidden("MP+rmw", "x = 1; y =rel 1 | cas y | a =acq y; F; b = x", "a=1 b=0 y=1 e=1"),
    forbidden("MP+rel+rlx", "x = 1; y =rel 1; y = 2 | a =acq y; b = x", "a=2 b=0"),
    allowed("SB", "x = 1; a = y | y = 1; b = x", "a=0 b=0"),
    allowed("SB+fences", "x = 1; F; a = y | y = 1; F; b = x", "a=0 b=0"),
    allowed("SB+rel+acq", "x =rel 1; a =acq y | y =rel 1; b =acq x", "a=0 b=0"),
    forbidden("SB+sc", "x = 1; SC; a = y | y = 1; SC; b = x", "a=0 b=0"),
    allowed("SB+sc.cta, two blocks", "x = 1; SC; a = y | y = 1; SC; b = x", "a=0 b=0", scope="cta"),
    allowed("LB", "a = x; y = 1 | b = y; x = 1", "a=1 b=1"),
    forbidden("LB+data", "a = x; y = a | b = y; x = b", "a=1 b=1"),
    forbidden("LB+data+po", "a = x; F; y = 1 | b = y; x = b", "a=1 b=1"),
    forbidden("LB+fences", "a = x; F; y = 1 | b = y; F; x = 1", "a=1 b=1"),
    forbidden("LB+rel+acq", "a = x; y =rel 1 | b =acq y; x = 1", "a=1 b=1"),
    allowed("IRIW", IRIW, "a=1 b=0 c=1 d=0"),
    allowed("IRIW+acq", IRIW.replace("a =", "a =acq").replace("c =", "c =acq"), "a=1 b=0 c=1 d=0"),
    allowed("IRIW+fences", IRIW.replace("; ", "; F; "), "a=1 b=0 c=1 d=0"),
    forbidden("IRIW+sc", IRIW.replace("; ", "; SC; "), "a=1 b=0 c=1 d=0"),
    allowed("WRC", "x = 1 | a = x; y = 1 | b = y; c = x", "a=1 b=1 c=0"),
    forbidden("WRC+rel+acq", "x = 1 | a = x; y =rel 1 | b =acq y; c = x", "a=1 b=1 c=0"),
    forbidden("WRC+fences", "x = 1 | a = x; F; y = 1 | b = y; F; c = x", "a=1 b=1 c=0"),
    forbidden("ISA2", "x = 1; y =rel 1 | a =acq y; z =rel 1 | b =acq z; c = x", "a=1 b=1 c=0"),
    forbidden("CoRR", "x = 1 | a = x; b = x", "a=1 b=0"),
    forbidden("CoRR, two writes", "x = 1; x = 2 | a = x; b = x", "a=2 b=1"),
    forbidden("CoWR", "x = 1; a = x | x = 2; F; b = x", "a=0"),
    forbidden("CoRW", "a = x; x = 1", "a=1"),
    forbidden("Atomicity", "cas x; cas x | cas x", "e=0 f=0 g=0"),
    allowed("2+2W", "x = 1; y = 2 | y = 1; x = 2", "x=1 y=1", reached=False),
    allowed("S", "x = 2; y = 1 | a = y; x = 1", "a=1 x=2", reached=False),
    allowed("R", "x = 1; y = 1 | y = 2; a = x", "a=0 y=2"),
)
_VARIABLES = "xyz"
_REGISTERS = "abcdefg"


class _Run:
    """A litmus test, run again and again."""

    def __init__(self, test: Litmus) -> None:
        self._data = np.zeros(16, np.uint32)
        module = Module.parse(_source(test))
        count = len(test.threads)
        grid, block = (1, 32 * count) if test.one_block else (count, 1)
        options = LaunchOptions(grid, block, [self._data], limit=20_000, check=True, weak=True)
        self._launch = PreparedLaunch(module, module.definitions["litmus"], options, is_fine=True)
        self._launch.save()

    def outcome(self, seed: int) -> dict[str, int]:
        self._launch.restore()
        run = self._launch.run(Schedule(seed))
        assert run.error is None
        found = {name: int(self._data[at]) for at, name in enumerate(_VARIABLES)}
        return found | {name: int(self._data[4 + at]) for at, name in enumerate(_REGISTERS)}


def _source(test: Litmus) -> str:
    lines = [".version 8.6\n.target sm_90\n.address_size 64\n.entry litmus(.param .u64 out) {",
             ".reg .u64 %rd1; .reg .u32 %r<4>, %v<7>; .reg .pred %p;", "ld.param.u64 %rd1, [out];"]
    if test.one_block:
        lines += ["mov.u32 %r1, %tid.x;", "and.b32 %r2, %r1, 31;", "setp.ne.u32 %p, %r2, 0;", "@%p ret;",
                  "shr.u32 %r1, %r1, 5;"]
    else:
        lines.append("mov.u32 %r1, %ctaid.x;")
    extra = count(4)
    for number, program in enumerate(test.threads):
        lines += [f"setp.ne.u32 %p, %r1, {number};", f"@%p bra not_{number};"]
        results: list[int] = []
        for statement in program.split(";"):
            lines.append(_statement(statement.strip(), test.scope, results, extra))
        lines += [f"st.global.u32 [%rd1+{16 + 4 * at}], %v{at};" for at in results]
        lines += ["ret;", f"not_{number}:"]
    return "\n".join([*lines, "ret;", "}"])


def _statement(text: str, scope: str, results: list[int], extra: count[int]) -> str:
    if text in ("F", "SC"):
        return f"fence.{'sc' if text == 'SC' else 'acq_rel'}.{scope};"
    if text.startswith("cas "):
        results.append(next(extra))
        return f"atom.relaxed.{scope}.global.exch.b32 %v{results[-1]}, [%rd1+{_place(text[4:])}], 1;"
    found = re.fullmatch(r"(\w) =(rel|acq|) (\w)", text)
    assert found is not None
    target, order, value = found.groups()
    semantics = {"": "relaxed", "rel": "release", "acq": "acquire"}[order]
    if target in _VARIABLES:
        source = value if value.isdigit() else f"%v{_REGISTERS.index(value)}"
        return f"st.{semantics}.{scope}.global.u32 [%rd1+{_place(target)}], {source};"
    results.append(_REGISTERS.index(target))
    return f"ld.{semantics}.{scope}.global.u32 %v{results[-1]}, [%rd1+{_place(value)}];"


def _place(variable: str) -> int:
    return 4 * _VARIABLES.index(variable)


def _is(outcome: str, found: dict[str, int]) -> bool:
    return all(found[one[0]] == int(one[2:]) for one in outcome.split())


@pytest.mark.parametrize("test", TESTS, ids=[one.name for one in TESTS])
def test_litmus(test: Litmus) -> None:
    run = _Run(test)
    if test.reached:
        assert any(_is(test.outcome, run.outcome(seed)) for seed in range(1, _MOST_ORDERS))
    else:
        assert not any(_is(test.outcome, run.outcome(seed)) for seed in range(1, _ORDERS))


def test_the_document_has_the_table() -> None:
    text = _DOCUMENT.read_text(encoding="utf-8")
    for one in TESTS:
        verdict = "allowed" if one.allowed else "forbidden"
        seen = "yes" if one.reached else "no"
        cell, outcome = " \\| ".join(one.threads), one.outcome.replace("=", " = ")
        assert f"| {one.name} | `{cell}` | {outcome} | {verdict} | {seen} |" in text, one.name
