"""The data set that register estimates are judged by: what needs neither ptxas nor nvdisasm."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest

from tests.oracle.registers import build as building
from tests.oracle.registers import page
from tests.oracle.registers.build import Settings, build
from tests.oracle.registers.command import main
from tests.oracle.registers.data_set import TRUTH, DataSet, records
from tests.oracle.registers.estimates import Estimated, estimates
from tests.oracle.registers.figures import (
    drawn_again,
    error,
    figures,
    is_covered,
    origin,
    size_class,
    spread,
    table,
    target_class,
)
from tests.oracle.registers.kernel_texts import digests, kernels, with_kernels
from tests.oracle.registers.machine_code import read
from tests.oracle.registers.parts import PARTS, capped, part_of
from tests.oracle.registers.truth import Kernel, NoFiguresError, Record, Tools

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
ONE = """
.visible .entry _Z3onePf(
    .param .u64 _Z3onePf_param_0 // }
)
{
    .reg .b32 %r<3>;
    .loc 1 4 5
    mov.u32 %r1, %tid.x;
$L__BB0_1: // %loop
    add.s32 %r2, %r1, 7;
    ret;
}
"""
RENAMED = """
.visible .entry two(
    .param .u64 two_param_0
)
{
    .reg .b32 %r<3>;
    mov.u32 %r8, %tid.x;
$L__BB4_9:
    add.s32 %r5, %r8, 7;
    ret;
}
"""


def other(change: str, into: str) -> str:
    assert change in RENAMED
    return RENAMED.replace(change, into).replace("two", "three")


class TestKernelTexts:
    def test_each_kernel_ends_at_its_brace(self) -> None:
        text = HEADER + ONE + RENAMED
        spans = list(kernels(text))
        assert [span.name for span in spans] == ["_Z3onePf", "two"]
        assert all(text[span.end - 1] == "}" for span in spans)

    def test_a_declaration_has_no_text(self) -> None:
        assert not list(kernels(HEADER + ".extern .entry absent(.param .u64 p);\n"))

    def test_other_kernels_are_left_out(self) -> None:
        assert with_kernels(HEADER + ONE + RENAMED, {"two"}).split() == (HEADER + RENAMED).split()

    def test_names_lines_and_comments_make_no_difference(self) -> None:
        found = digests(HEADER + ONE + RENAMED)
        assert found["_Z3onePf"] == found["two"]

    @pytest.mark.parametrize(
        ("change", "into"),
        [
            ("add.s32", "add.u32"),
            (", 7", ", 8"),
            ("%tid.x", "%tid.y"),
            ("%r5, %r8", "%r8, %r8"),
            (".reg .b32 %r<3>", ".reg .b32 %r<4>"),
        ],
    )
    def test_all_else_makes_one(self, change: str, into: str) -> None:
        found = digests(HEADER + RENAMED + other(change, into))
        assert found["two"] != found["three"]


DISASSEMBLED = """
	.target	sm_120

//--------------------- .text.two --------------------------
	.section	.text.two,"ax",@progbits
	.align	128
                        // +-------+--------+--------+
                        // | GPR   | PRED   | UGPR   |
                        // |   #   |   #    |   #    |
                        // +-------+--------+--------+
        .global two     // |       |        |        |
two:                    // |       |        |        |
.text.two:              // |       |        |        |
        /*0000*/                   S2R R0, SR_TID.X ;   // |   1   |        |        |
.L_x_1:                 // |   9   |        |        |
        /*0010*/                   UIADD3 UR4, UR4, 1 ; // |   3   |        |   2    |
        /*0020*/                   CALL.REL.NOINC `($two$div) ; // |   2   |        |   1    |
        /*0030*/               @P0 BRA `(.L_x_1) ;      // |   2   |   1    |   1    |
        /*0040*/                   EXIT ;               // |       |        |        |
.L_x_2:
        /*0050*/                   BRA `(.L_x_2);       // |       |        |        |
        /*0060*/                   NOP;                 // |       |        |        |
//--------------------- .text.one --------------------------
	.section	.text.one,"ax",@progbits
                        // +-------+--------+
                        // | GPR   | PRED   |
                        // |   #   |   #    |
                        // +-------+--------+
        /*0000*/                   MOV R1, c[0x0][0x28] ; // |   1   |        |
"""


class TestMachineCode:
    def test_largest_numbers_of_live_registers(self) -> None:
        found = read(DISASSEMBLED)
        assert found["two"].peaks == {"GPR": 3, "PRED": 1, "UGPR": 2}
        assert found["one"].peaks == {"GPR": 1, "PRED": 0}

    def test_size_loops_and_calls(self) -> None:
        found = read(DISASSEMBLED)["two"]
        assert (found.instructions, found.loops, found.calls) == (7, 1, 1)

    def test_nothing_printed(self) -> None:
        assert read("") == {}


def record(file: str, program: str, kernels: dict[str, str], arch: str = "sm_80") -> Record:
    """A record of kernels with these digests."""
    return Record(
        file=file,
        arch=arch,
        accepted=True,
        program=program,
        repository=f"someone/{program}",
        compiler="nvcc",
        opt="O3",
        kernels={name: Kernel(registers=16, digest=digest) for name, digest in kernels.items()},
    )


class TestParts:
    def test_shares(self) -> None:
        found = Counter(part_of("1", f"someone/repository{number}") for number in range(2000))
        assert [round(found[part] / 2000, 1) for part in PARTS] == [0.6, 0.2, 0.2]

    def test_other_shares(self) -> None:
        found = Counter(part_of("1", f"someone/{number}", (0, 0.5, 0.5)) for number in range(2000))
        assert [round(found[part] / 2000, 1) for part in PARTS] == [0, 0.5, 0.5]

    def test_the_seed_alone_decides(self) -> None:
        names = [f"someone/repository{number}" for number in range(50)]
        assert [part_of("1", name) for name in names] == [part_of("1", name) for name in names]
        assert [part_of("1", name) for name in names] != [part_of("2", name) for name in names]

    def test_capped_does_not_depend_on_the_order(self) -> None:
        names = [str(number) for number in range(40)]
        assert capped(names, 5, "1") == capped(reversed(names), 5, "1")
        assert len(capped(names, 5, "1")) == 5


class TestDataSet:
    def test_an_equal_kernel_is_in_one_part_only(self, tmp_path: Path) -> None:
        data = DataSet(tmp_path)
        assert data.add("train", record("a.ptx", "a", {"k": "1", "l": "2"}), HEADER) == 2
        assert data.add("fresh", record("b.ptx", "b", {"m": "1", "n": "3"}, "sm_90"), HEADER) == 1
        assert [list(one["kernels"]) for one in records(tmp_path / "fresh")] == [["n"]]

    def test_an_equal_kernel_is_there_once_for_a_target(self, tmp_path: Path) -> None:
        data = DataSet(tmp_path)
        assert data.add("train", record("a.ptx", "a", {"k": "1", "l": "1"}), HEADER) == 1
        assert data.add("train", record("b.ptx", "b", {"k": "1"}), HEADER) == 0
        assert data.add("train", record("c.ptx", "c", {"k": "1"}, "sm_90"), HEADER) == 1
        assert not (tmp_path / "train" / "b.ptx").exists()

    def test_goes_on_where_it_was_ended(self, tmp_path: Path) -> None:
        DataSet(tmp_path).add("train", record("a.ptx", "a", {"k": "1"}), HEADER)
        truth = tmp_path / "train" / TRUTH
        with truth.open("a") as file:
            file.write('{"file": "b.ptx", "ker')
        assert [one["file"] for one in records(truth.parent)] == ["a.ptx"]
        again = DataSet(tmp_path)
        assert again.add("train", record("a.ptx", "a", {"other": "2"}), HEADER) == 0
        assert again.add("fresh", record("c.ptx", "c", {"k": "1"}), HEADER) == 0
        assert again.add("train", record("b.ptx", "b", {"k": "3"}), HEADER) == 1
        assert [one["file"] for one in records(truth.parent)] == ["a.ptx", "b.ptx"]

    def test_one_run_at_a_time(self, tmp_path: Path) -> None:
        with (
            DataSet(tmp_path).alone(),
            pytest.raises(ValueError, match="another run"),
            DataSet(tmp_path).alone(),
        ):
            pass
        with DataSet(tmp_path).alone():
            pass


SETTINGS = Settings(Tools(Path("ptxas"), "nvdisasm"), "1", 2, 60)


class TestBuild:
    @pytest.fixture
    def sources(self, tmp_path: Path) -> Path:
        folder = tmp_path / "sources"
        folder.mkdir()
        texts = {
            "good.ptx": ONE,
            "bad.ptx": RENAMED,
            "empty.ptx": "",
            "many.ptx": ONE + RENAMED * 3,
        }
        for name, text in texts.items():
            (folder / name).write_text(HEADER + text)
        common = {"repository": "someone/x", "program": "x", "compiler": "nvcc", "opt": "O3"}
        lines = [json.dumps({"file": name, **common}) for name in [*texts, "missing.ptx"]]
        (folder / building.LISTED).write_text("\n".join(lines) + "\n")
        return folder

    @pytest.fixture
    def judged(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
        """What ptxas is asked: the number of kernels and the target."""
        asked: list[tuple[int, str]] = []

        def figures(text: str, arch: str, tools: Tools, timeout_s: float) -> dict[str, Kernel]:
            asked.append((len(list(kernels(text))), arch))
            if ".entry two" in text and len(asked) == 2:
                raise NoFiguresError("ptxas rejects")
            return {name: Kernel(registers=9, digest=f"{text}{name}") for name in digests(text)}

        monkeypatch.setattr(building, "figures", figures)
        return asked

    def test_failures_are_counted(
        self, sources: Path, tmp_path: Path, judged: list[tuple[int, str]]
    ) -> None:
        counts = build(sources, DataSet(tmp_path / "data"), SETTINGS)
        causes = {"ptxas rejects": 1, "has no kernels": 1, "cannot be read": 1}
        assert {name: counts[name] for name in causes} == causes
        assert judged[0] == (1, "sm_80")

    def test_of_many_kernels_some_are_drawn(
        self, sources: Path, tmp_path: Path, judged: list[tuple[int, str]]
    ) -> None:
        (sources / "many.ptx").write_text(
            HEADER + "".join(ONE.replace("_Z3onePf", f"k{number}") for number in range(9))
        )
        build(sources, DataSet(tmp_path / "data"), SETTINGS)
        assert judged[-1] == (SETTINGS.most, "sm_80")

    def test_what_was_judged_is_not_judged_again(
        self, sources: Path, tmp_path: Path, judged: list[tuple[int, str]]
    ) -> None:
        build(sources, DataSet(tmp_path / "data"), SETTINGS)
        asked = len(judged)
        assert build(sources, DataSet(tmp_path / "data"), SETTINGS).total() == 0
        assert len(judged) == asked


def estimated(**fields: object) -> Estimated:
    """A kernel whose estimate is right, but for `fields`."""
    usual = Estimated(
        "f", "k", "p", "someone/p", "nvcc", "O3", "sm_80", 10, 256, 40, 30, 30, 40, 32, 48
    )
    return Estimated._make((usual._asdict() | fields).values())


class TestFigures:
    def test_of_a_right_estimate(self) -> None:
        found = figures([estimated()])
        assert (found.error, found.within_tenth, found.same_step, found.same_blocks) == (0, 1, 1, 1)
        assert (found.coverage, found.width, found.peak_error, found.peak_bias) == (1, 0.4, 0, 0)

    def test_of_wrong_ones(self) -> None:
        rows = [
            estimated(used=40, estimate=50, live=None),
            estimated(used=10, estimate=8, low=4, high=9),
            estimated(used=100, estimate=108, low=90, high=120),
        ]
        found = figures(rows)
        assert found.error == 0.2
        assert found.bias == 0.08
        assert found.within_tenth == pytest.approx(1 / 3)
        assert found.within_tenth_or_two == pytest.approx(2 / 3)
        assert found.coverage == pytest.approx(2 / 3)
        assert found.peak_error == 0

    def test_steps_and_blocks(self) -> None:
        found = figures([estimated(used=33, estimate=40), estimated(used=40, estimate=41)])
        assert found.same_step == 0.5
        found = figures([estimated(used=32, estimate=33), estimated(used=33, estimate=40)])
        assert found.same_blocks == 0.5

    def test_without_machine_code(self) -> None:
        assert figures([estimated(live=None)]).peak_error is None
        assert "| - | - | - |" in table([estimated(live=None)])[2]

    def test_classes(self) -> None:
        assert target_class(estimated(target="sm_90a")) == target_class(estimated(target="sm_100"))
        assert target_class(estimated(target="sm_86")) != target_class(estimated(target="sm_80"))
        names = [size_class(estimated(instructions=size)) for size in (1, 50, 51, 1001)]
        assert names == ["1 to 50", "1 to 50", "51 to 200", "1001 and more"]

    def test_a_program_of_two_collections_has_one_origin(self) -> None:
        one = estimated(repository="zjin-lcf/HeCBench", program="mri-q")
        assert origin(one) == origin(estimated(repository="abduld/Parboil", program="MRI-Q"))
        assert origin(one) != origin(estimated(repository="someone/parboil", program="mri-q"))

    def test_spread_is_over_repositories_and_programs_of_collections(self) -> None:
        rows = [
            *[estimated(repository="a/a")] * 5,
            *[estimated(repository="zjin-lcf/HeCBench", program="bfs", estimate=44)] * 5,
            *[estimated(repository="zjin-lcf/HeCBench", program="nw", estimate=48)] * 50,
            estimated(repository="b/b", estimate=400),
        ]
        found = spread(rows, lambda one: one.error)
        assert found is not None
        assert found.middle == pytest.approx(0.1)
        assert spread(rows[:5], lambda one: one.error) is None

    def test_drawing_repositories_again(self) -> None:
        one = [estimated(repository="a/a")] * 9
        other = [estimated(repository="b/b", estimate=44)] * 9
        assert drawn_again([*one, *one], error, mean, 50) == (0, 0)
        assert drawn_again([*one, *other], error, mean, 50) == (0, pytest.approx(0.1))
        assert drawn_again([*one, *other], is_covered, mean, 50) == (1, 1)


class TestCommand:
    def test_measures_and_counts(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        data = DataSet(tmp_path)
        data.add("train", record("one.ptx", "x", {"_Z3onePf": "1", "absent": "2"}), HEADER + ONE)
        assert [row.kernel for row in estimates(tmp_path / "train")] == ["_Z3onePf"]
        assert main(["measure", str(tmp_path / "train")]) == 0
        assert "| all | 1 |" in capsys.readouterr().out
        assert main(["count", str(tmp_path)]) == 0
        assert "train: 2 kernels of 1 programs of 1 repositories" in capsys.readouterr().out

    def test_a_part_that_is_not_there(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["measure", str(tmp_path)]) == 2
        assert f"{tmp_path / TRUTH}: no such file" in capsys.readouterr().err


def test_the_page_the_figures_and_the_correction_belong_together() -> None:
    found = page.read()
    assert found["correction"] == page.digest(), "the correction was not trained with these figures"
    assert page.PAGE.read_text() == page.page(found)


def test_a_fresh_part_is_measured_with_the_recorded_correction(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("RECORD", "PAGE"):
        monkeypatch.setattr(page, name, tmp_path / name)
    rows = [estimated(used=32, estimate=one) for one in (30, 32, 38)]
    page.record_left_out(rows)
    page.record_fresh("first draw", rows)
    page.record_fresh("second draw", rows[:2])
    lines = page.PAGE.read_text().splitlines()
    counts = [line.split(" | ")[:2] for line in lines if line.startswith(("| first", "| second", "| left"))]
    assert counts == [["| second draw", "2"], ["| first draw", "3"], ["| left out", "3"]]
    assert any(line.startswith("On 2 kernels (second draw) of 1 repositories") for line in lines)
    monkeypatch.setattr(page, "digest", lambda: "another")
    with pytest.raises(ValueError, match="another correction"):
        page.record_fresh("third draw", rows)
