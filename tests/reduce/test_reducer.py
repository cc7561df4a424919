"""The result of a reduction: interesting, legal, minimal, and the same for any number of jobs."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ptx_lsp.reduce.legality import errors
from ptx_lsp.reduce.program import Program
from ptx_lsp.reduce.reduction_pass import all_passes
from ptx_lsp.reduce.size import size_of
from ptx_lsp.reduce.verdicts import Verdicts
from tests.reduce.reductions import HEADER, having, reduced

EXAMPLES = Path(__file__).parents[2] / "examples"


def branches(data: bytes) -> bool:
    """Whether there is a guarded branch."""
    return any(
        one.opcode.text == "bra" and one.guard is not None
        for _, one in Program(data).instructions()
    )


def multiplies_what_it_loads(data: bytes) -> bool:
    for function in Program(data).bodies:
        loaded: set[str] = set()
        for one in function.body.instructions:
            text = function.text(one)
            if one.opcode.text.startswith("ld.global"):
                loaded.add(text.split()[1].rstrip(","))
            elif one.opcode.text.startswith("fma") and any(f" {name}," in text for name in loaded):
                return True
    return False


CONDITIONS: list[tuple[str, Callable[[bytes], bool]]] = [
    ("saxpy.ptx", multiplies_what_it_loads),
    ("saxpy.ptx", branches),
    ("add_triton_sm90.ptx", having("ld.global", "add.f32")),
    ("wmma_nvcc_sm120.ptx", having("wmma.mma")),
]


@pytest.mark.parametrize(("name", "condition"), CONDITIONS)
def test_result(name: str, condition: Callable[[bytes], bool]) -> None:
    data = (EXAMPLES / name).read_bytes()
    assert condition(data)
    result = reduced(data, condition)
    assert condition(result)
    assert not errors(Program(result)).keys() - errors(Program(data)).keys()
    assert size_of(result).tokens < size_of(data).tokens / 5
    assert reduced(result, condition) == result, "no pass can make it smaller"


@pytest.mark.parametrize(("name", "condition"), CONDITIONS[:3])
def test_the_result_does_not_depend_on_the_number_of_jobs(
    name: str, condition: Callable[[bytes], bool]
) -> None:
    data = (EXAMPLES / name).read_bytes()
    pause = threading.Event()
    rng = random.Random(1)

    def in_any_order(candidate: bytes) -> bool:
        pause.wait(rng.random() / 500)
        return condition(candidate)

    assert reduced(data, in_any_order, jobs=8) == reduced(data, condition, jobs=1)


def test_known_result() -> None:
    text = HEADER + (
        ".visible .entry saxpy(.param .u64 saxpy_param_0, .param .u64 saxpy_param_1)\n{\n"
        "\t.reg .b64 %rd<4>;\n\t.reg .f32 %f<9>;\n\tld.param.u64 %rd1, [saxpy_param_0];\n"
        "\tcvta.to.global.u64 %rd2, %rd1; // to global\n\tld.global.f32 %f7, [%rd2+16];\n"
        "\tadd.f32 %f8, %f7, %f7;\n\tst.global.f32 [%rd2], %f8;\n\tret;\n}\n"
    )
    assert reduced(text, having("add.f32")).decode() == (
        ".version 8.5\n.target sm_75\n.entry k\n{\n    .reg .b32 %f<1>;\n"
        "    add.f32 %f0, 0f00000000, 0f00000000;\n}\n"
    )


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"x" * 100_000, b"\xff\xfe\x00" * 500, b"}{" * 200, b".entry k {"]
)
def test_hostile_texts(data: bytes) -> None:
    """Every text has a result."""
    result = reduced(data, lambda candidate: True, legal=False)
    assert size_of(result) <= size_of(data)
    assert not result.strip()


def test_a_huge_line() -> None:
    text = HEADER + ".entry k() { .reg .b32 %r<9>; " + "add.u32 %r1, %r2, 3; " * 2000 + "}"
    calls = 0

    def counted(data: bytes) -> bool:
        nonlocal calls
        calls += 1
        return b"add.u32" in data

    assert reduced(text, counted).count(b"add.u32") == 1
    assert calls < 150


def test_verdicts_are_asked_for_once(tmp_path: Path) -> None:
    """An interrupted reduction goes on, and ends as one that was not interrupted."""
    data = (EXAMPLES / "saxpy.ptx").read_bytes()
    seen: list[bytes] = []

    def condition(candidate: bytes) -> bool:
        seen.append(candidate)
        if len(seen) == 20:
            raise KeyboardInterrupt
        return multiplies_what_it_loads(candidate)

    whole = reduced(data, multiplies_what_it_loads)
    verdicts = Verdicts(tmp_path / "state", "same")
    with pytest.raises(KeyboardInterrupt):
        reduced(data, condition, verdicts=verdicts)
    verdicts.close(remove=False)
    verdicts = Verdicts(tmp_path / "state", "same")
    assert verdicts.count >= 19
    assert reduced(data, condition, verdicts=verdicts) == whole
    assert len(seen) == len(set(seen)) + 1, "only the interrupted test is made again"
    verdicts.close(remove=True)
    assert not (tmp_path / "state").exists()


def test_verdicts_of_another_condition_are_not_used(tmp_path: Path) -> None:
    first = Verdicts(tmp_path, "one")
    first.put("0" * 32, True)
    first.close(remove=False)
    assert Verdicts(tmp_path, "other").count == 0


def test_files_of_others_in_the_state_folder_stay(tmp_path: Path) -> None:
    for name in ("notes", "verdicts", "my.verdicts"):
        (tmp_path / name).write_text("mine")
    verdicts = Verdicts(tmp_path, "one")
    verdicts.put("0" * 32, True)
    verdicts.close(remove=True)
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == dict.fromkeys(
        ("notes", "verdicts", "my.verdicts"), "mine"
    )


def test_reductions_with_the_same_state_folder(tmp_path: Path) -> None:
    """At the same time, they share the verdicts of the same condition only, and any of them ends first."""
    folder = tmp_path / "state"
    one, same, other = (Verdicts(folder, name) for name in ("one", "one", "other"))
    for number, verdicts in enumerate((one, other, same, one)):
        verdicts.put(f"{number:032}", verdicts is not other)
    again = Verdicts(folder, "one")
    assert [again.get(f"{number:032}") for number in range(4)] == [True, None, True, True]
    assert Verdicts(folder, "other").get(f"{1:032}") is False
    for verdicts in (one, same, other, again):
        verdicts.close(remove=True)
    assert not folder.exists()


def test_steps_are_the_same_each_time() -> None:
    data = (EXAMPLES / "scan_nvcc_sm100a.ptx").read_bytes()
    for one in all_passes():
        assert one.steps(Program(data)) == one.steps(Program(data))
