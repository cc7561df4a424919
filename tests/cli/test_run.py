"""The command `ptx-run`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.cli.run import main

SAXPY = str(Path(__file__).parents[2] / "examples" / "saxpy.ptx")
LAUNCH = [SAXPY, "--entry", "saxpy", "--grid", "1", "--block", "32"]


def test_prints_a_buffer(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["u32:4", "f32:2", "f32[]:1,2,3,4", "f32[]:ones:4"]
    status = main([*LAUNCH, *(word for spec in arguments for word in ("--arg", spec)), "--out", "3"])
    assert (status, capsys.readouterr().out) == (0, "3: [3., 5., 7., 9.]\n")


def test_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(8, dtype=np.float32))
    out = tmp_path / "y.npy"
    arguments = ["u32:8", "f32:0.5", f"@{tmp_path / 'x.npy'}", "f32[]:zeros:8"]
    status = main([*LAUNCH, *(word for spec in arguments for word in ("--arg", spec)), "--out", f"3={out}"])
    assert status == 0
    assert np.array_equal(np.load(out), np.arange(8, dtype=np.float32) / 2)


def test_a_failure_names_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["u32:9", "f32:2", "f32[]:zeros:4", "f32[]:zeros:4"]
    status = main([*LAUNCH, *(word for spec in arguments for word in ("--arg", spec))])
    error = capsys.readouterr().err
    assert status == 1
    assert error.startswith(f"{SAXPY}:35: error[out-of-bounds] ")
    assert "block (0, 0, 0), thread (4, 0, 0), and 4 more" in error


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("u33:1", "types are"),
        ("u8:256", "256 is out of range"),
        ("f32[]:squares:3", "unknown function `squares`"),
        ("u32", "TYPE:VALUE"),
        ("@nowhere.npy", "nowhere.npy"),
    ],
)
def test_wrong_arguments(spec: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LAUNCH, "--arg", spec]) == 2
    assert part in capsys.readouterr().err


@pytest.mark.parametrize("grid", ["0", "1,2,3,4", "x"])
def test_wrong_sizes(grid: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([SAXPY, "--entry", "saxpy", "--grid", grid, "--block", "1"]) == 2
    assert "--grid" in capsys.readouterr().err


def test_wrong_number_of_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LAUNCH, "--arg", "u32:1"]) == 2
    assert "`saxpy` takes 4 arguments, not 1" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["lint", "run"])
def test_starts_without_numpy(command: str) -> None:
    code = (
        f"import sys; from ptx_lsp.cli.{command} import main; main(['--version']);"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_linting_needs_no_numpy() -> None:
    code = (
        f"import sys; from ptx_lsp.cli.lint import main; main(['--jobs', '1', {SAXPY!r}]);"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


SEEDED = Path(__file__).parents[1] / "executor" / "seeded"
NAMED = ["--arg", "saxpy_y=f32:ones(4)", "--arg", "saxpy_x=f32:[1,2,3,4]", "--arg", "u32:4", "--arg", "f32:2"]


def test_arguments_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LAUNCH, *NAMED, "--out", "saxpy_y", "--out", "2"]) == 0
    assert capsys.readouterr().out == "3: [3., 5., 7., 9.]\n2: [1., 2., 3., 4.]\n"


def test_the_only_kernel_needs_no_name() -> None:
    assert main([SAXPY, "--grid", "1", "--block", "32", *NAMED]) == 0


def test_several_buffers_in_one_file(tmp_path: Path) -> None:
    out = tmp_path / "all.npz"
    assert main([*LAUNCH, *NAMED, "--out", f"2={out}", "--out", f"saxpy_y={out}"]) == 0
    with np.load(out) as saved:
        assert saved["saxpy_x"].tolist() == [1, 2, 3, 4]
        assert saved["saxpy_y"].tolist() == [3, 5, 7, 9]
    again = ["u32:4", "f32:1", f"@{out}:saxpy_x", f"@{out}:saxpy_y"]
    words = [word for spec in again for word in ("--arg", spec)]
    assert main([*LAUNCH, *words, "--out", f"3={tmp_path / 'y.npy'}"]) == 0
    assert np.load(tmp_path / "y.npy").tolist() == [4, 7, 10, 13]


def test_what_is_wrong_with_an_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros(3))
    assert main([*LAUNCH, "--arg", f"@{tmp_path / 'a.npz'}"]) == 2
    assert "a.npz` holds several arrays: `@" in capsys.readouterr().err
    assert main([*LAUNCH, "--arg", f"@{tmp_path / 'a.npz'}:y"]) == 2
    assert "a.npz` has no array `y`" in capsys.readouterr().err
    (tmp_path / "b.npy").write_text("no array")
    assert main([*LAUNCH, "--arg", f"@{tmp_path / 'b.npy'}"]) == 2
    assert "b.npy` is not a .npy or .npz file" in capsys.readouterr().err


LAUNCH_FILE = f"""
file = {SAXPY!r}
entry = "saxpy"
grid = 1
block = [32]
seed = 3
limit = 100000
seconds = 60
[arguments]
saxpy_n = "u32:8"
saxpy_a = "f32:2"
saxpy_x = "@x.npy"
saxpy_y = "f32:ones(8)"
[out]
saxpy_y = "y.npy"
"""


def test_launch_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its files are in its folder; the command line goes before it."""
    np.save(tmp_path / "x.npy", np.arange(8, dtype=np.float32))
    path = tmp_path / "launch.toml"
    path.write_text(LAUNCH_FILE)
    assert main(["--launch", str(path)]) == 0
    assert np.load(tmp_path / "y.npy").tolist() == [1, 3, 5, 7, 9, 11, 13, 15]
    assert main(["--launch", str(path), "--block", "3", "--out", "3"]) == 0
    assert capsys.readouterr().out == "3: [1., 3., 5., 1., 1., 1., 1., 1.]\n"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("grids = 1", "unknown key `grids` in a launch file; did you mean `grid`?"),
        ("grid = 0", "`grid` must be one to three positive integers, not `0`"),
        ("shared = -1", "`shared` must be a non-negative integer, not `-1`"),
        ("seconds = true", "`seconds` must be a positive number of seconds, not `True`"),
        ("entry = 5", "`entry` must be a string, not `5`"),
        ("arguments = 5", "`arguments` must be a list of SPECs, or a table of names and SPECs, not `5`"),
        ("arguments = [5]", "which are strings, not `[5]`"),
        ("out = 5", "`out` must be a list as for --out, or a table of names and files, not `5`"),
        ("out = {x = 3}", "`out` must be a list as for --out, or a table of names and files, not `{'x': 3}`"),
        ("seconds = nan", "`seconds` must be a positive number of seconds, not `nan`"),
        ("grid =", "is not valid TOML"),
    ],
)
def test_wrong_launch_files(
    line: str, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "launch.toml"
    path.write_text(line)
    assert main([SAXPY, "--launch", str(path)]) == 2
    assert part in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([SAXPY], "missing grid size: use --grid or a `// ptx-run:` comment"),
        ([SAXPY, "--grid", "1"], "missing block size"),
        ([SAXPY, "--entry", "other", "--grid", "1"], "no kernel `other`; the kernels are `saxpy`"),
        ([str(SEEDED / "race_warp.ptx"), "--grid", "1"], "choose a kernel with --entry"),
        ([*LAUNCH, *NAMED, "--arg", "z=u32:1"], "`saxpy` has no parameter `z`; its parameters are `saxpy_n`"),
        ([*LAUNCH, *NAMED, "--arg", "saxpy_y=u32:1"], "`saxpy_y` is specified twice"),
        ([*LAUNCH, *NAMED[:4]], "`saxpy` takes 4 arguments, but 2 were given"),
        ([*LAUNCH, *NAMED, "--out", "0"], "argument 0 is not a buffer or a surface"),
        ([*LAUNCH, *NAMED, "--out", "4"], "argument numbers are 0 to 3"),
        (["--grid", "1"], "missing PTX file"),
        ([*LAUNCH, "--trace-lines", "9-x"], "`9-x` is not a line"),
        ([*LAUNCH, "--trace-threads", "5"], "expected BLOCK:THREAD"),
        ([*LAUNCH, "--seconds", "0"], "`0` is not a duration"),
        ([*LAUNCH, "--seconds", "x"], "`x` is not a duration"),
        ([SAXPY, "--grid", "1,x"], "`1,x`: expected one to three positive integers"),
    ],
)
def test_what_is_missing(
    words: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert part in capsys.readouterr().err


def test_too_little_memory(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def argument(spec: str, seed: int) -> None:
        raise MemoryError

    monkeypatch.setattr("ptx_lsp.cli.launching.buffers.argument", argument)
    assert main([*LAUNCH, *NAMED]) == 2
    assert capsys.readouterr().err == "ptx-run: error: not enough memory for the arguments\n"


def test_findings(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SEEDED / "race_global.ptx")
    assert main([path, "--entry", "broken_message", "--check"]) == 1
    error = capsys.readouterr().err
    assert f"{path}:50: error[race] thread (" in error
    assert "  block (1, 0, 0), thread (1, 0, 0), and 30 more" in error
    assert main([path, "--entry", "fixed_message", "--check"]) == 0
    assert capsys.readouterr().err == ""


def test_notes_are_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SEEDED / "uninitialized.ptx")
    assert main([path, "--entry", "broken_division", "--check"]) == 0
    assert "note[division-by-zero] division by zero: the divisor `%r1` is 0" in capsys.readouterr().err


def test_what_stops_a_kernel_with_checks(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SEEDED / "uninitialized.ptx")
    assert main([path, "--entry", "broken_constant", "--check"]) == 1
    assert capsys.readouterr().err.count("error[read-only] the memory is read-only in") == 1


def test_all_launch_comments_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SEEDED / "race_global.ptx")
    assert main([path]) == 0
    shown = capsys.readouterr().out
    assert "fixed (line 20)\n0: [4]\n" in shown
    assert "fixed_fences (line 84)" in shown


def test_a_block_that_the_kernel_forbids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a launch comment nor the command line gets one: the driver refuses it."""
    path = tmp_path / "k.ptx"
    path.write_text(""".version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out) .reqntid 256
{
    // ptx-run: grid=1 block=128 out=u32:zeros(1)
    ret;
}
""")
    for words in (list[str](), ["--grid", "1", "--block", "128", "--arg", "u32[]:zeros:1"]):
        assert main([str(path), *words]) == 2
        assert "`k` has `.reqntid 256`: launch it with a block of (256, 1, 1)" in capsys.readouterr().err
    assert main([str(path), "--grid", "1", "--block", "256", "--arg", "u32[]:zeros:1"]) == 0


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LAUNCH, *NAMED, "--profile", "--trace", "40", "--trace-lines", "35-40"]) == 0
    shown = capsys.readouterr().out
    assert "Profile: 300 thread-instructions" in shown
    assert "By opcode" in shown
    assert "fma.rn.f32" in shown


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*NAMED[:2], "--arg", "saxpy_x=f32:[nan,inf,1,2]", *NAMED[4:]]
    status = main([
        *LAUNCH, *words, "--out", "3", "--format", "json", "--profile", "--check", "--trace", "5",
        "--trace-threads", "0:1",
    ])
    found = json.loads(capsys.readouterr().out)
    assert (status, found["status"], found["error"], found["findings"]) == (0, "done", None, [])
    assert found["outputs"] == [{
        "argument": 3, "name": "saxpy_y", "type": "float32", "shape": [4],
        "values": ["nan", "inf", 3.0, 5.0], "file": None,
    }]
    assert found["profile"]["instructions"] == 300
    assert {one["line"] for one in found["profile"]["lines"]} >= {19, 35, 36}
    assert [one["thread"] for one in found["trace"]["events"]] == [[1, 0, 0]] * 5
    assert found["trace"]["events"][0]["writes"] == {"%r1": 4}


def test_json_of_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SEEDED / "bounds.ptx")
    assert main([path, "--entry", "broken_end", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["error"]["kind"]) == ("failed", "out-of-bounds")
    assert found["error"]["lanes"] == [{"block": [0, 0, 0], "thread": [31, 0, 0]}]


def test_time_is_limited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A loop that counts goes on, for centuries; one that does not would be a deadlock."""
    path = tmp_path / "loop.ptx"
    path.write_text(""".version 8.0
.target sm_80
.address_size 64
.entry k() {
    .reg .u64 %i; .reg .pred %p;
    mov.u64 %i, 0;
again:
    add.u64 %i, %i, 1;
    setp.ne.u64 %p, %i, 0;
    @%p bra again;
    ret;
}
""")
    assert main([str(path), "--grid", "1", "--block", "1", "--seconds", "0.1"]) == 1
    assert "error[limit] time limit exceeded" in capsys.readouterr().err


CLUSTER = """.version 8.0
.target sm_90
.address_size 64
COMMENT
.entry k(.param .u64 out) {
.reg .u32 %r; .reg .u64 %a;
ld.param.u64 %a, [out]; mov.u32 %r, %cluster_nctaid.y; st.global.u32 [%a], %r; ret;
}
"""


@pytest.mark.parametrize("given", ["option", "comment", "both", "file"])
def test_clusters(capsys: pytest.CaptureFixture[str], tmp_path: Path, given: str) -> None:
    path = tmp_path / "k.ptx"
    comment = "// ptx-run: grid=1,4 block=1 CLUSTER out=u32:zeros(1)"
    size = {"comment": "cluster=1,2", "both": "cluster=1,4"}.get(given, "")
    path.write_text(CLUSTER.replace("COMMENT", comment.replace("CLUSTER", size)))
    launch = tmp_path / "k.toml"
    launch.write_text(
        'file = "k.ptx"\ngrid = [1, 4]\nblock = 1\ncluster = [1, 2]\narguments = ["u32:zeros(1)"]\n'
    )
    words = ["--launch", str(launch), "--out", "0"] if given == "file" else [str(path)]
    options = ["--cluster", "1,2"] if given in ("option", "both") else []
    assert main([*words, *options]) == 0
    assert capsys.readouterr().out == "0: [2]\n"
    assert main([*words, "--cluster", "3"]) == 2
    assert "cannot be divided into clusters of (3, 1, 1)" in capsys.readouterr().err


TENSOR = """.version 8.0
.target sm_90
.address_size 64
// ptx-run: grid=1 block=1 map=tensor(u32:zeros(16),shape=2x8,box=1x4)
.entry k(.param .align 64 .b8 map[128]) {
.reg .b64 %map; .shared .align 128 .u32 box[4];
mov.b64 %map, map; cvta.param.u64 %map, %map;
st.shared.v4.u32 [box], {1, 2, 3, 4}; fence.proxy.async;
cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {3, 1}], [box];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;
}
"""
OBJECTS = """.version 8.0
.target sm_80
.address_size 64
.global .surfref s;
.visible .entry k(.param .u64 image, .param .u32 x)
{
  .reg .u64 %rd; .reg .b32 %r<2>; .reg .f32 %f<4>;
  ld.param.u64 %rd, [image];
  ld.param.u32 %r0, [x];
  tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd, {%r0, %r0}];
  shl.b32 %r1, %r0, 2;
  sust.b.1d.b32.trap [s, {%r1}], %f0;
  ret;
}
"""


def test_tensor_maps(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(TENSOR)
    assert main([str(path)]) == 0
    assert capsys.readouterr().out == "0: [[0, 0, 0, 0, 0, 0, 0, 0],\n [0, 0, 0, 1, 2, 3, 4, 0]]\n"
    np.save(tmp_path / "x.npy", np.full((2, 8), 5, np.uint32))
    (tmp_path / "k.toml").write_text(
        'file = "k.ptx"\ngrid = 1\nblock = 1\narguments = ["tensor(@x.npy,box=1x4)"]\nout = ["map"]\n'
    )
    assert main(["--launch", str(tmp_path / "k.toml")]) == 0
    assert capsys.readouterr().out == "0: [[5, 5, 5, 5, 5, 5, 5, 5],\n [5, 5, 5, 1, 2, 3, 4, 5]]\n"


@pytest.mark.parametrize(("words", "message"), [
    ("u32:zeros(16),shape=3x5", "`shape=3x5`: the buffer has 16 elements"),
    ("u32:zeros(16),swizle=128B", "`swizle=128B`: expected KEY=VALUE; the keys are shape, box, steps"),
    ("u32:zeros(16),box=4,swizzle=1B", "`swizzle=1B`: expected none, 32B, 64B, 128B, 96B"),
    ("u32:zeros(16),box=4y", "`box=4y`: expected sizes separated by `x`"),
    ("u32:zeros(16),box=3", "invalid tensor map: the rows of a box must be a multiple of 16 bytes"),
    ("u32:4,box=4", "`u32:4` is a value, not a buffer"),
])
def test_what_is_no_tensor(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: str, message: str
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(TENSOR)
    assert main([str(path), "--grid", "1", "--block", "1", "--arg", f"tensor({words})"]) == 2
    assert f"ptx-run: error: `tensor({words})`: {message}" in capsys.readouterr().err


def test_textures_and_surfaces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(OBJECTS)
    np.save(tmp_path / "image.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    launch = [str(file), "--grid", "1", "--block", "1"]
    texture = ["--arg", f"texture(@{tmp_path / 'image.npy'},address=border)", "--arg", "u32:1"]
    surface = ["--arg", "s=surface(f32:zeros(2))"]
    assert main([*launch, *texture, *surface, "--out", "s"]) == 0
    assert capsys.readouterr().out == "s: [0., 4.]\n"
    assert main([*launch, *texture, *surface, "--out", f"s={tmp_path / 's.npz'}", "--format", "json"]) == 0
    (output,) = json.loads(capsys.readouterr().out)["outputs"]
    assert (output["argument"], output["name"], output["type"]) == (None, "s", "float32")
    with np.load(tmp_path / "s.npz") as saved:
        assert saved["s"].tolist() == [0, 4]
    (tmp_path / "k.toml").write_text("""file = "k.ptx"
grid = 1
block = 1
arguments = { image = "texture(@image.npy,filter=linear)", x = "u32:1", s = "surface(f32:ones(2))" }
out = { s = "" }
""")
    assert main(["--launch", str(tmp_path / "k.toml")]) == 0
    assert capsys.readouterr().out == "s: [1., 4.]\n"
    assert main([*launch, *texture, "--arg", "s=f32:zeros(2)"]) == 2
    assert "expected texture(...), sampler(...) or surface(...)" in capsys.readouterr().err
    assert main([*launch, *texture, *surface, "--out", "0"]) == 2
    assert "argument 0 is not a buffer" in capsys.readouterr().err
