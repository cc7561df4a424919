"""`ptx-lint blame` on logs that nvcc 13.5 and Triton 3.9 wrote."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.blame.conftest import LOGS, Recorded
from tests.cli.conftest import Lint

NAMES = sorted(path.name for path in LOGS.iterdir())
MESSAGE = re.compile(r"ptxas\S* (?:\S+, line \d+; )?\w+\s*: (?!Ptx assembly)(?!.*gmem)")
FIGURES = re.compile(r"Compiling entry|Function properties|Used |Compile time")


def marked(path: str) -> set[int]:
    """The lines of a source with a mark."""
    lines = Path(path).read_text().split("\n")
    return {number for number, line in enumerate(lines, 1) if "//!" in line or "#!" in line}


@pytest.mark.parametrize("name", NAMES)
def test_every_message_is_at_a_marked_line(lint: Lint, recorded: Recorded, name: str) -> None:
    folder = recorded(name)
    done = lint("blame", "log", "--ptx", ".", "--format", "json")
    report = json.loads(done.out)
    lines = Path("log").read_text().splitlines()
    said = [line for line in lines if MESSAGE.match(line) and not FIGURES.search(line)]
    assert said
    assert sum(1 + one["repeats"] for one in report["messages"]) == len(said)
    hit: Counter[tuple[str, int]] = Counter()
    for one in report["messages"]:
        assert one["start"] is not None, one
        hit[one["path"], one["start"]["line"]] += 1
        assert one["start"]["line"] in marked(one["path"]), one
    main = next(path.name for path in folder.iterdir() if path.name in (f"{name}.cu", "kernel.py"))
    assert {line for path, line in hit if path == main} == marked(main)
    assert done.status == int(any(one["severity"] == "error" for one in report["messages"]))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("advice", "shared")])
def test_inline_assembly_is_found_within_its_string(lint: Lint, recorded: Recorded, name: str) -> None:
    recorded(name)
    report = json.loads(lint("blame", "log", "--ptx", ".", "--format", "json").out)
    assert {one["how"] for one in report["messages"]} == {"asm"}


def test_the_ptx_that_triton_prints_is_used(lint: Lint, recorded: Recorded) -> None:
    recorded("triton")
    assert lint("blame", "log").out == (
        "error[ptxas]: Unknown modifier '.s33'\n"
        " --> kernel.py:8:13\n"
        "  |\n"
        '8 |         "shr.s33 $0, $1, 3;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1)  #!\n'
        "  |             ^^^^\n"
        "  = help: Replace with `.s32`\n"
        "  = note: `shr` has no modifier `.s33`; did you mean `.s32`? (E161 wrong-modifier)\n"
        "  = note: in kernel or function `kern`\n"
        "  = note: PTX: <log, line 13>:64: `shr.s33 %r3, %r1, 3;`\n"
        "\n"
        "error[ptxas]: Unexpected instruction types specified for 'shr'\n"
        " --> kernel.py:8:10\n"
        "  |\n"
        '8 |         "shr.s33 $0, $1, 3;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1)  #!\n'
        "  |          ^^^\n"
        "  = help: Replace with `.s32`\n"
        "  = note: `shr` has no modifier `.s33`; did you mean `.s32`? (E161 wrong-modifier)\n"
        "  = note: in kernel or function `kern`\n"
        "  = note: PTX: <log, line 13>:64: `shr.s33 %r3, %r1, 3;`\n"
        "\n"
        "ptxas reported 2 errors; 6 repeated for other kernels or targets.\n"
    )


def test_inlined_functions_are_followed(lint: Lint, recorded: Recorded) -> None:
    recorded("inlined")
    out = lint("blame", "log").out
    assert " --> inc/deep.cuh:4:" in out
    assert "note: in `int deep_shuffle<int>(int)`" in out
    assert "note: inlined at inc/ops.cuh:6:" in out
    assert "in `Reducer<int>::run(int)`" in out
    assert "note: inlined at inlined.cu:3:" in out
    assert "note: in kernel or function `void reduce<4>(int*)`" in out


def test_a_missing_semicolon_is_shown_where_it_is_missing(lint: Lint, recorded: Recorded) -> None:
    recorded("semicolon")
    out = lint("blame", "log").out
    assert " --> semicolon.cu:3:19" in out
    assert "the mistake is before this line" in out


def test_the_token_that_is_named_is_marked(lint: Lint, recorded: Recorded) -> None:
    recorded("mismatch")
    report = json.loads(lint("blame", "log", "--format", "json").out)
    source = Path("mismatch.cu").read_text().split("\n")
    words: list[str] = []
    for one in report["messages"]:
        line: str = source[int(one["start"]["line"]) - 1]
        assert one["start"]["line"] == one["end"]["line"]
        words.append(line[one["start"]["column"] - 1 : one["end"]["column"] - 1])
    assert {"undeclared_name", "q", ".bar", "foo", "tcgen05.fence"} <= set(words)
    for one, word in zip(report["messages"], words, strict=True):
        quoted = re.findall(r"'([^']+)'", one["message"])
        assert not quoted or any(name.startswith(word) for name in quoted), (one["message"], word)


def test_resources_are_listed_on_request(lint: Lint, recorded: Recorded) -> None:
    recorded("advice")
    assert "gemm (sm_90a): 30 registers (measured)\n" in lint("blame", "log", "--ptx", ".", "--kernels").out
    report = json.loads(lint("blame", "log", "--format", "json").out)
    assert report["kernels"] == [
        {
            "name": "gemm", "target": "sm_90a", "registers": 30, "shared_bytes": 0, "stack_bytes": 0,
            "spill_store_bytes": 0, "spill_load_bytes": 0,
        }
    ]


def test_without_the_ptx_the_sources_are_searched(lint: Lint, recorded: Recorded) -> None:
    recorded("macro")
    Path("macro.ptx").unlink()
    text = Path("log").read_text().replace("macro.ptx", "/tmp/tmpxft_000039bc_00000000-6_macro.ptx")
    Path("log").write_text(text)
    out = lint("blame", "log").out
    assert " --> inc/ops.cuh:3:" in out
    assert "this is a guess" in out
    assert "nvcc deleted this file. Compile with `-keep -lineinfo`" in out
    assert out.count("nvcc deleted this file") == 1


def test_ptx_that_was_written_again_is_not_used(lint: Lint, recorded: Recorded) -> None:
    recorded("macro")
    Path("macro.ptx").write_text(".version 8.0\n.target sm_80\n" + "// other\n" * 40)
    assert "`macro.ptx` has other text in line" in lint("blame", "log").out


def test_annotations_for_github(lint: Lint, recorded: Recorded) -> None:
    recorded("raw_string")
    lines = lint("blame", "log", "--format", "github").out.splitlines()
    assert all(line.startswith("::error file=raw_string.cu,line=") for line in lines)
    assert len(lines) == 3
