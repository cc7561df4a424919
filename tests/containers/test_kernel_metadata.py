"""Kernels with the metadata that a compiler wrote beside their file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest

from tests.cli.conftest import Lint
from tests.cli.test_formats import SCHEMA

TRITON = Path(__file__).parent / "triton"
BODY = "{ .reg .b32 %r; ld.shared.u32 %r, [smem]; ret; }"
GIVEN: dict[str, object] = {
    "name": "k", "num_warps": 4, "num_stages": 3, "num_ctas": 2, "shared": 98304, "triton_version": "3.3.0",
    "target": {"backend": "cuda", "arch": 90, "warp_size": 32},
}  # fmt: skip


def written(folder: Path, directives: str = "", metadata: Mapping[str, object] | None = None) -> Path:
    """A file with one kernel, and its metadata."""
    path = folder / "k.ptx"
    head = ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n"
    path.write_text(f"{head}.visible .entry k()\n{directives}\n{BODY}\n")
    if metadata is not None:
        path.with_suffix(".json").write_text(json.dumps(metadata))
    return path


def figures(lint: Lint, path: Path, *options: str) -> dict[str, object]:
    """The one kernel, as JSON has it."""
    report = json.loads(lint("--format", "json", path, *options).out)
    jsonschema.validate(report, SCHEMA)
    (kernel,) = report["files"][0]["kernels"]
    return kernel


def threads(lint: Lint, path: Path, *options: str) -> tuple[object, object]:
    kernel = figures(lint, path, *options)
    return kernel["threads_per_block"], kernel["threads_source"]


def test_they_give_what_directives_leave_open(lint: Lint, tmp_path: Path) -> None:
    kernel = figures(lint, written(tmp_path, metadata=GIVEN))
    assert (kernel["threads_per_block"], kernel["threads_source"]) == (128, "metadata")
    assert (kernel["cluster_size"], kernel["cluster_source"]) == (2, "metadata")
    assert (kernel["dynamic_shared_bytes"], kernel["dynamic_shared_source"]) == (98304, "metadata")
    options = {"num_warps": 4, "num_stages": 3, "num_ctas": 2}
    assert kernel["metadata"] == {"compiler": "Triton 3.3.0", "options": options}
    occupancy = kernel["occupancy"]
    assert isinstance(occupancy, dict)
    assert (occupancy["blocks_per_sm"], occupancy["warps_per_sm"]) == (2, 8)
    assert (occupancy["threads_per_block"], occupancy["limiters"]) == (128, ["shared"])


def test_without_metadata_nothing_is_assumed(lint: Lint, tmp_path: Path) -> None:
    kernel = figures(lint, written(tmp_path))
    assert (kernel["threads_per_block"], kernel["threads_source"]) == (None, "best")
    assert (kernel["cluster_size"], kernel["cluster_source"], kernel["metadata"]) == (1, None, None)


def test_directives_and_options_win(lint: Lint, tmp_path: Path) -> None:
    cases = [
        (".reqntid 128", (), (128, "reqntid")),
        (".maxntid 128", (), (128, "metadata")),
        (".maxntid 512, 1, 1", (), (128, "metadata")),
        (".maxntid 64", (), (64, "maxntid")),
        ("", ("--threads", "256"), (256, "option")),
        (".maxntid 512", ("--threads", "256"), (256, "option")),
        (".maxntid 128", ("--threads", "256"), (128, "metadata")),
    ]
    for directives, options, expected in cases:
        assert threads(lint, written(tmp_path, directives, GIVEN), *options) == expected, directives
    kernel = figures(lint, written(tmp_path, ".reqnctapercluster 2", GIVEN))
    assert (kernel["cluster_size"], kernel["cluster_source"]) == (2, "reqnctapercluster")
    kernel = figures(lint, written(tmp_path, "", GIVEN), "--dynamic-shared", "49152")
    assert (kernel["dynamic_shared_bytes"], kernel["dynamic_shared_source"]) == (49152, "setting")


def test_a_cluster_that_the_target_does_not_have(lint: Lint, tmp_path: Path) -> None:
    path = written(tmp_path, metadata={**GIVEN, "num_ctas": 16})
    path.write_text(path.read_text().replace("sm_90a", "sm_80"))
    occupancy = figures(lint, path)["occupancy"]
    assert isinstance(occupancy, dict)
    assert (occupancy["blocks_per_sm"], occupancy["limiters"]) == (0, ["clusters"])


@pytest.mark.parametrize(
    ("directives", "change", "message"),
    [
        (".reqntid 64", {}, "its block size is 64 and not 128"),
        (".maxntid 64", {}, "its block size is at most 64 and not 128"),
        (".reqnctapercluster 4", {}, "its cluster size is 4 and not 2"),
        ("", {"target": ["cuda", 80]}, "its target is sm_90 and not sm_80"),
        ("", {"name": "other", "num_warps": 1}, ""),
        (".reqntid 128", {}, ""),
    ],
)  # fmt: skip
def test_a_contradiction_is_told_once(
    lint: Lint, tmp_path: Path, directives: str, change: dict[str, object], message: str
) -> None:
    path = written(tmp_path, directives, {**GIVEN, **change})
    told = message.replace(" and not", ", but the metadata of Triton 3.3.0 beside the file say")
    expected = f"warning: {path}: kernel `k`: {told}; the directives are used"
    for options in (("--kernels",), ("--kernels", "--targets", "sm_90a,sm_100")):
        said = [line for line in lint("--quiet", *options, path).err.splitlines() if "metadata" in line]
        assert said == ([f"ptx-lint: {expected}"] if message else [])
    assert lint("--quiet", path).err == ""  # without kernels, they are not read


def test_metadata_without_a_name_are_of_the_only_kernel(lint: Lint, tmp_path: Path) -> None:
    unnamed = {name: value for name, value in GIVEN.items() if name != "name"}
    path = written(tmp_path, "", unnamed)
    assert threads(lint, path) == (128, "metadata")
    path.write_text(f"{path.read_text()}.visible .entry other() {{ ret; }}\n")
    report = json.loads(lint("--format", "json", path).out)
    assert [one["threads_source"] for one in report["files"][0]["kernels"]] == ["best", "best"]


def test_the_table_tells_kernels_of_one_name_apart(lint: Lint, tmp_path: Path) -> None:
    for warps in (4, 8):
        folder = tmp_path / f"HASH{warps}"
        folder.mkdir()
        written(folder, "", {**GIVEN, "num_warps": warps})
    table = lint("--quiet", "--kernels", tmp_path).out
    rows = [line.split() for line in table.splitlines() if "k.ptx" in line]
    for row, warps in zip(rows, (4, 8), strict=True):
        assert {f"{32 * warps}", f"num_warps={warps}", "num_stages=3"} < set(row)
        assert row[-1] == f"{tmp_path / f'HASH{warps}' / 'k.ptx'}:5"
    assert "metadata: the compiler wrote it beside the file" in table
    written(tmp_path, "", GIVEN)
    (tmp_path / "k.json").unlink()
    plain = lint("--quiet", "--kernels", tmp_path / "k.ptx").out
    assert "metadata" not in plain
    assert "cluster" not in plain


def test_a_kernel_of_a_cache(lint: Lint, tmp_path: Path) -> None:
    """All files of its name, with their own paths."""
    for name in ("HASH1", "HASH2", "HASH3"):
        (tmp_path / name).mkdir()
        path = written(tmp_path / name, "", GIVEN)
        if name == "HASH3":
            path.rename(path.with_name("other.ptx"))
    report = json.loads(lint("--format", "json", f"{tmp_path}!k").out)
    expected = [str(tmp_path / name / "k.ptx") for name in ("HASH1", "HASH2")]
    assert [file["path"] for file in report["files"]] == expected
    assert report["files"][0]["kernels"][0]["threads_source"] == "metadata"
    assert len(json.loads(lint("--format", "json", f"{tmp_path}!k", tmp_path).out)["files"]) == 3
    done = lint(f"{tmp_path}!kernel")
    assert (done.status, done.err) == (
        2, f"ptx-lint: error: {tmp_path}!kernel: the folder has no file `kernel.ptx`\n",
    )  # fmt: skip
    (tmp_path / "a!k").mkdir()  # a path that exists is a path
    assert lint("--quiet", tmp_path / "a!k").status != 2


def test_the_files_of_triton(lint: Lint, tmp_path: Path) -> None:
    """With the directives that each version writes."""
    directives = {
        "2.3.1": ".maxntid 128, 1, 1", "3.0.0": ".maxntid 128, 1, 1", "3.1.0": ".maxntid 128, 1, 1",
        "3.3.0": ".reqntid 128, 1, 1", "3.6.0": ".reqntid 128\n.explicitcluster\n.reqnctapercluster 2",
        "3.9.0": ".reqntid 128\n.explicitcluster\n.reqnctapercluster 2",
    }  # fmt: skip
    for version, text in directives.items():
        metadata = json.loads((TRITON / f"{version}.json").read_text())
        path = written(tmp_path, text, metadata)
        path.write_text(path.read_text().replace(" k()", f" {metadata['name']}()"))
        done = lint("--format", "json", path)
        (kernel,) = json.loads(done.out)["files"][0]["kernels"]
        assert (kernel["threads_per_block"], kernel["cluster_size"], done.err) == (128, 2, "")


def test_xla(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "module_0001.jit_f.ptx"
    entries = "".join(f".visible .entry k{one}() .maxntid 1024 {{ ret; }}\n" for one in range(3))
    path.write_text(f".version 8.0\n.target sm_90a\n.address_size 64\n{entries}")
    (tmp_path / "module_0001.jit_f.thunk_sequence.txt").write_text(
        "000: kKernel \t, kernel = k0, launch dimensions = blocks: {8, 1, 1}, threads/block: {128, 1, 1}\n"
        "001: kKernel \t, kernel = k2, launch dimensions = blocks: {8, 1, 1}, threads/block: {16, 4, 1}\n"
    )
    kernels = json.loads(lint("--format", "json", path).out)["files"][0]["kernels"]
    assert [(one["threads_per_block"], one["threads_source"]) for one in kernels] == [
        (128, "metadata"), (1024, "maxntid"), (64, "metadata"),
    ]  # fmt: skip
