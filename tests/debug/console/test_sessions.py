"""Whole sessions at the terminal, with commands from a pipe."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.debug import kernels
from tests.debug.console.terminal import SECONDS, answers, command, transcript

FOCUS = "[Switching focus to CUDA kernel 0, grid 1, block (0,0,0), thread ({0},0,0), warp 0, lane {0}]"
LAUNCHED = "divergent<<<(1,1,1),(32,1,1)>>> (out=0x700000000)"
LOW, HIGH = "[" + "#" * 12 + "." * 20 + "]", "[" + "." * 12 + "#" * 20 + "]"


def test_both_groups_of_a_divergent_branch(tmp_path: Path) -> None:
    found = answers(transcript(
        tmp_path, kernels.DIVERGENT, f"break {kernels.BRANCH}", "run", "next", "info threads", "disassemble",
        "info cuda warps", "cuda lane 20", "next", "info cuda barriers",
    ))
    assert found["break 13"] == "Breakpoint 1 at divergent: file kernel.ptx, line 13."
    assert found["run"] == (
        f"Starting program: {LAUNCHED}\n{FOCUS.format(0)}\n\n"
        f"CUDA thread hit Breakpoint 1, {LAUNCHED} at kernel.ptx:13\n13\t@%p bra low;"
    )
    assert found["info threads"].splitlines() == [
        "  Id Target Id                                             Frame",
        f"* 1  block 0,0,0 warp 0 {LOW} divergent at kernel.ptx:17",
        f"  2  block 0,0,0 warp 0 {HIGH} divergent at kernel.ptx:14",
    ]
    lines = found["disassemble"].splitlines()
    assert f"  *    14  add.u32 %r1, %r0, 100;      {HIGH}" in lines
    assert f" =>    17  mul.lo.u32 %r1, %r0, 3;     {LOW}" in lines
    assert found["info cuda warps"].splitlines()[1].split() == [
        "*", "0", "0x00000fff", "0xfffff000", "17", "0", "(0,0,0)", "(0,0,0)",
    ]
    assert found["cuda lane 20"].splitlines() == [FOCUS.format(20), "14\tadd.u32 %r1, %r0, 100;"]
    assert found["next"] == "15\tbra join;"
    assert found["info cuda barriers"].splitlines()[2].split()[:4] == ["(0-11)", "Ready", "no", "no"]


def test_a_register_over_32_lanes(tmp_path: Path) -> None:
    lines = "start", "watch %r1", "continue", "info warp %r1 %rd0", "c", "print/w %r1"
    found = answers(transcript(tmp_path, kernels.DIVERGENT, *lines))
    assert found["watch %r1"] == "Watchpoint 1: %r1"
    first = found["continue"].splitlines()
    assert first[1].endswith("thread (1,0,0), warp 0, lane 1]")  # 3 * 0 is 0
    assert first[3:6] == ["CUDA thread hit Watchpoint 1: %r1", "", "Old value = {0 <repeats 32 times>}"]
    assert "New value = {0, 3, 6, 9, 12" in first[6]
    table = found["info warp %r1 %rd0"].splitlines()
    assert table[:2] == ["active " + "#" * 12 + "." * 20, "%rd0   30064771072 in all lanes"]
    assert table[2].split()[:14] == ["lane", *map(str, range(12)), ".12"]
    assert all(len(line) <= 80 for line in table)
    rows = [line.split() for line in found["print/w %r1"].splitlines()]
    shown = [word for name, *words in rows if name == "%r1" for word in words]
    assert shown == [str(3 * lane if lane < 12 else lane + 100) for lane in range(32)]


def test_step_back_over_a_barrier(tmp_path: Path) -> None:
    found = transcript(
        tmp_path, kernels.SHARED, f"tbreak {kernels.LOAD}", "run", "reverse-step 3", "reverse-step",
        "print shared[4]:u32", "next", "print shared[4]:u32",
    )
    lines = found.splitlines()
    assert "16\tbar.sync 0;" in lines
    assert lines[lines.index("(ptx) reverse-step") + 1] == "15\tst.shared.u32 [%r3], %r0;"
    assert "$1 = 0" in lines
    assert "$2 = 1" in lines


def test_who_wrote_a_byte(tmp_path: Path) -> None:
    found = answers(transcript(
        tmp_path, kernels.SHARED, f"break {kernels.RESULT}", "run", "watch shared[7]:u8", "reverse-continue",
        "info breakpoints", "rc",
    ))
    assert found["reverse-continue"].splitlines() == [
        "Continuing.",
        FOCUS.format(1),
        "",
        "CUDA thread hit Watchpoint 2: shared[7]:u8",
        "",
        "Value = 0",
        "Access at line 15: st.shared.u32 [%r3], %r0, by block 0,0,0 thread 1,0,0",
        "turned<<<(1,1,1),(64,1,1)>>> (out=0x700000000) at kernel.ptx:16",
        "16\tbar.sync 0;",
    ]
    assert "\tbreakpoint already hit 1 time" in found["info breakpoints"]
    assert found["rc"].splitlines()[1:3] == ["", "No more reverse-execution history."]


def test_watch_at_the_instruction_that_writes(tmp_path: Path) -> None:
    lines = "break 21", "run", "cuda lane 3", "watch [%rd2]:u32", "continue"
    found = answers(transcript(tmp_path, kernels.DIVERGENT, *lines))
    assert found["continue"].splitlines() == [
        "Continuing.", "", "CUDA thread hit Watchpoint 2: [%rd2]:u32", "", "Old value = 0", "New value = 9",
        "Access at line 21: st.global.u32 [%rd2], %r1, by block 0,0,0 thread 3,0,0",
        f"{LAUNCHED} at kernel.ptx:22", "22\tret;",
    ]


def test_a_race_with_both_lines(tmp_path: Path) -> None:
    text = transcript(
        tmp_path, kernels.RACE, "catch race", "run", "info cuda lanes", "disassemble", "continue", status=1,
        options=("--check",),
    )
    found = answers(text)
    lines = found["run"].splitlines()
    assert lines[2] == "CUDA Exception: race"
    assert any(line.startswith(f"line {kernels.LOAD}: block 0,0,0 thread 0,0,0") for line in lines)
    assert f"line {kernels.STORE}: block 0,0,0 thread 63,0,0" in lines
    assert lines[-1] == "19\tld.shared.u32 %r5, [%r4];"
    assert all(len(line) <= 100 for line in lines)
    assert found["info cuda lanes"].splitlines()[2].split() == ["*", "0", "active", "19", "(0,0,0)", "race"]
    assert "*=>    19  ld.shared.u32 %r5, [%r4];" in found["disassemble"].splitlines()
    assert found["continue"] == "Continuing.\n[CUDA kernel 0 (turned) exited with 1 finding]"


def test_a_recording_is_debugged_from_its_error_on(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.RACE)
    words = command(path, "--check", "--record", str(tmp_path / "r.ptxrec"))
    assert subprocess.run(words, capture_output=True, timeout=SECONDS, check=False).returncode == 1
    text = transcript(tmp_path / "r.ptxrec", None, "reverse-stepi", "continue", status=1)
    assert "CUDA Exception: race" in text.partition("(ptx)")[0]
    found = answers(text)
    assert found["reverse-stepi"].splitlines()[-1].startswith("18\t")
    assert "CUDA Exception: race" in found["continue"]


def test_change_a_register_and_go_on(tmp_path: Path) -> None:
    found = answers(transcript(
        tmp_path, kernels.DIVERGENT, f"b {kernels.JOIN}", "r", "set var %r1@* = 7",
        "set var %r1@3 = %r0 + 0x10", "set var [%rd0+4]:u32 = 99", "x/2dw %rd0", "b 22", "c", "x/5dw %rd0",
        "x/dw",
    ))
    assert found["set var %r1@* = 7"] == ""
    assert found["x/2dw %rd0"] == "0x700000000 <out>:\t0\t99"
    assert found["x/5dw %rd0"] == "0x700000000 <out>:\t7\t7\t7\t19\n0x700000010 <out+16>:\t7"
    assert found["x/dw"] == "0x700000014 <out+20>:\t7"


def test_a_kernel_that_fails(tmp_path: Path) -> None:
    text = kernels.DIVERGENT.replace("mul.wide.u32 %rd1, %r0, 4;", "mul.wide.u32 %rd1, %r0, 400;")
    found = answers(transcript(tmp_path, text, "run", "print/x %rd2", "c", "rs", status=1))
    assert FOCUS.format(1) in found["run"]
    lines = found["run"].splitlines()
    assert "CUDA Exception: out-of-bounds" in lines
    assert lines[-1] == "21\tst.global.u32 [%rd2], %r1;"
    assert found["print/x %rd2"] == "$1 = 0x700000190"


def test_launch_comes_from_the_command_line(tmp_path: Path) -> None:
    found = answers(transcript(
        tmp_path, kernels.SHARED, "info cuda kernels", "start", "cuda block 1 thread 3", "cuda warp 1 lane 5",
        "cuda block thread warp lane", "info cuda blocks", "info cuda threads",
        options=("--grid", "2", "--block", "40", "--arg", "u32:zeros(64)"),
    ))
    assert found["info cuda kernels"].splitlines()[1].split()[4:7] == ["Pending", "(2,1,1)", "(40,1,1)"]
    switched = found["cuda block 1 thread 3"].splitlines()[0]
    assert switched.endswith("block (1,0,0), thread (3,0,0), warp 0, lane 3]")
    assert found["cuda block thread warp lane"] == "block (1,0,0), thread (37,0,0), warp 1, lane 5"
    assert found["info cuda blocks"].splitlines()[2].split() == ["*", "(0,0,0)", "(1,0,0)", "2", "running"]
    assert found["info cuda threads"].splitlines()[2].split() == [
        "*", "(0,0,0)", "(0,0,0)", "(1,0,0)", "(39,0,0)", "80", "kernel.ptx", "10",
    ]


def test_a_source_is_named_by_its_last_folders_and_name(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "loop.cu"
    source.write_text("// loop\n" * 6)
    text = kernels.LOOP.replace("loop.cu", str(source))
    found = answers(transcript(
        tmp_path, text, "break loop.cu:4", "break src/loop.cu:5", "break other/loop.cu:4", "break loop.cu:99",
    ))
    assert found["break loop.cu:4"] == "Breakpoint 1 at loop: file loop.cu, line 4."
    assert found["break src/loop.cu:5"] == "Breakpoint 2 at loop: file loop.cu, line 5."
    assert found["break other/loop.cu:4"] == "No source file named other/loop.cu."
    assert found["break loop.cu:99"] == 'No line 99 in file "loop.cu".'


def test_a_name_of_two_sources_is_ambiguous(tmp_path: Path) -> None:
    text = kernels.LOOP.replace('.file 1 "loop.cu"', '.file 1 "/a/loop.cu"\n.file 2 "/b/loop.cu"')
    text = text.replace(".loc 1 6 1", ".loc 2 6 1")
    found = answers(transcript(tmp_path, text, "break loop.cu:4", "break b/loop.cu:6"))
    assert found["break loop.cu:4"] == "loop.cu is ambiguous: /a/loop.cu, /b/loop.cu."
    assert found["break b/loop.cu:6"] == "Breakpoint 1 at loop: file loop.cu, line 6."


def test_values_as_in_cuda(tmp_path: Path) -> None:
    lines = (
        "x/4f buffer", f"break {kernels.RESULT}", "run", "cuda thread 5", "p threadIdx", "p blockIdx",
        "p blockDim", "p threadIdx.x", "p warpSize", "p buffer", "p/x buffer[10]",
        "p buffer[threadIdx.x + 1]", "p &buffer", "p buffer[64]", "p $1 + 1", "x/2d buffer", "p buffer + 4",
    )
    found = answers(transcript(tmp_path, kernels.SHARED, *lines))
    early = "There is no shared memory: the program is not being run; type `run` or `start`."
    assert found["x/4f buffer"] == early
    assert found["p threadIdx"] == "$1 = {x = 5, y = 0, z = 0}"
    assert found["p blockIdx"] == "$2 = {x = 0, y = 0, z = 0}"
    assert found["p blockDim"] == "$3 = {x = 64, y = 1, z = 1}"
    assert (found["p threadIdx.x"], found["p warpSize"]) == ("$4 = 5", "$5 = 32")
    assert found["p buffer"] == "$6 = (.b32 [64]) {" + ", ".join(map(str, range(64))) + "}"
    assert found["p/x buffer[10]"] == "$7 = 0xa"
    assert found["p buffer[threadIdx.x + 1]"] == "$8 = 6"
    assert found["p &buffer"] == "$9 = 0x7f0000000000 <buffer>"
    assert found["p buffer[64]"] == "There is no memory at `buffer[64]`."
    assert found["p $1 + 1"] == "$1 has 3 elements; an expression needs one."
    assert found["x/2d buffer"] == "shared 0x0 <buffer>:\t0\t1"
    assert found["p buffer + 4"] == f"$10 = {0x7F0000000004}"


def test_arrays_of_bytes_and_floats(tmp_path: Path) -> None:
    bytes_ = kernels.SHARED.replace(".shared .b32 buffer[64]", ".shared .align 4 .b8 buffer[256]")
    floats = kernels.SHARED.replace(".shared .b32 buffer[64]", ".shared .f32 buffer[64]")
    lines = f"break {kernels.RESULT}", "run", "set var [buffer]:f32 = 1.5", "p buffer", "p/f buffer[0]"
    found = answers(transcript(tmp_path, bytes_, *lines))
    assert found["p buffer"].startswith(f"$1 = (.b32 [64]) {{{0x3FC00000}, 1, 2, ")
    assert found["p/f buffer[0]"] == "$2 = 1.5"
    assert answers(transcript(tmp_path, floats, *lines))["p buffer"].startswith("$1 = (.f32 [64]) {1.5, ")


def test_the_source_is_listed_without_a_thread(tmp_path: Path) -> None:
    source = tmp_path / "turned.cu"
    source.write_text("".join(f"line {number}\n" for number in range(1, 41)))
    text = kernels.SHARED.replace(".shared .b32 buffer", f'.file 1 "{source}"\n.shared .b32 buffer')
    text = text.replace("\tld.param.u64 %rd0", "\t.loc 1 20 3\n\tld.param.u64 %rd0")
    found = answers(transcript(tmp_path, text, "set show source", "list", "run", "list 20,21", "list"))
    assert found["list"].splitlines()[0] == "22\tline 22"
    found = answers(transcript(tmp_path, text, "run", "set show source", "list"))
    assert found["list"].splitlines()[0] == "15\tline 15"


def test_help_explains_findings(tmp_path: Path) -> None:
    found = answers(transcript(tmp_path, kernels.DIVERGENT, "help race", "help rac"))
    assert found["help race"].startswith("race (finding of ptx-run --check)\nTwo threads access")
    assert "    bar.sync 0;" in found["help race"].partition("Use instead")[2]
    assert found["help rac"] == 'Undefined command: "rac".  Try "help".'
