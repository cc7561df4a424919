"""Metadata beside PTX: as several versions of Triton wrote it, as XLA does, and as nobody should."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ptx_lsp.containers.kernel_metadata import KernelMetadata
from ptx_lsp.containers.metadata_beside import metadata_beside

TRITON = Path(__file__).parent / "triton"
"""The files of a kernel with 4 warps in clusters of 2 blocks."""


def triton(folder: Path, text: str | bytes) -> KernelMetadata | None:
    """What is known about a kernel with these metadata."""
    beside = folder / "k.json"
    beside.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = metadata_beside(str(folder / "k.ptx"))
    return next(iter(found.values()), None)


@pytest.mark.parametrize(
    ("version", "compiler"),
    [
        ("2.3.1", "Triton"),
        ("3.0.0", "Triton"),
        ("3.1.0", "Triton"),
        ("3.3.0", "Triton 3.3.0"),
        ("3.6.0", "Triton 3.6.0"),
        ("3.9.0", "Triton 3.9.0"),
    ],
)
def test_versions_of_triton(tmp_path: Path, version: str, compiler: str) -> None:
    name = "add_kernel_0123" if version < "3" else "add_kernel"
    options = (("num_warps", 4), ("num_stages", 3), ("num_ctas", 2))
    expected = KernelMetadata(name, 128, 0, 2, "sm_90", compiler, options)
    assert triton(tmp_path, (TRITON / f"{version}.json").read_bytes()) == expected


def test_versions_that_were_not_at_hand(tmp_path: Path) -> None:
    """As their sources write it."""
    row: dict[str, object] = {"num_warps": 8, "num_stages": 2, "shared": 1024, "name": "k_0d1d"}
    oldest = {**row, "debug": False, "arch": 80, "device_type": "cuda"}
    options = (("num_warps", 8), ("num_stages", 2))
    known = KernelMetadata("k_0d1d", 256, 1024, None, "sm_80", "Triton", options)
    assert triton(tmp_path, json.dumps(oldest)) == known
    target = {"capability": 90, "num_warps": 8, "enable_fp_fusion": True}
    second = {**row, "num_ctas": 4, "target": target, "clusterDims": [2, 2, 1], "device_type": "cuda"}
    known = known._replace(cluster_size=4, target="sm_90", options=(*options, ("num_ctas", 4)))
    assert triton(tmp_path, json.dumps(second)) == known


@pytest.mark.parametrize(("version", "shared"), [("3.6.0", 131544), ("3.9.0", 49340)])
def test_extra_warps_of_warp_specialisation_are_threads(tmp_path: Path, version: str, shared: int) -> None:
    """The kernel was compiled with num_warps=8; `.reqntid` is 384."""
    found = triton(tmp_path, (TRITON / f"{version}.warp_specialised.json").read_bytes())
    assert found is not None
    assert (found.threads, found.shared_bytes) == (384, shared)


GOOD: dict[str, object] = {"name": "k", "num_warps": 4, "shared": 64, "num_ctas": 1}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": 7}, {"name": ""}),
        ({"name": ["k"]}, {"name": ""}),
        ({"num_warps": 33}, {"threads": None}),
        ({"num_warps": 0}, {"threads": None}),
        ({"num_warps": 10**30}, {"threads": None}),
        ({"shared": 10**30}, {"shared_bytes": None}),
        ({"num_ctas": -2}, {"cluster_size": None}),
        ({"num_ctas": 17}, {"cluster_size": None}),
        ({"num_ctas": 2.0}, {"cluster_size": None}),
        ({"num_ctas": 2, "cluster_dims": [2, None, 1]}, {"cluster_size": None}),
        ({"num_ctas": 2, "cluster_dims": [2]}, {"cluster_size": None}),
        ({"num_ctas": 2, "cluster_dims": "211"}, {"cluster_size": 2}),
        ({"target": "sm_90"}, {"target": None}),
        ({"target": ["cuda"]}, {"target": None}),
        ({"target": {"backend": "hip", "arch": "gfx942"}}, {"target": None}),
        ({"target": {"backend": "cuda", "arch": -90}}, {"target": None}),
        ({"target": {"backend": "cuda", "arch": True}}, {"target": None}),
        ({"triton_version": "3.1\n\x1b[31m"}, {"compiler": "Triton"}),
        ({"triton_version": 3}, {"compiler": "Triton"}),
    ],
)
def test_values_that_no_launch_has_are_not_known(
    tmp_path: Path, change: dict[str, object], expected: dict[str, object]
) -> None:
    found = triton(tmp_path, json.dumps({**GOOD, **change}))
    assert found is not None
    known = KernelMetadata("k", 128, 64, 1, None, "Triton")._asdict()
    assert found._replace(options=())._asdict() == {**known, **expected}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "7",
        '"num_warps shared"',
        "{}",
        '{"num_warps": 4}',
        '{"num_warps": true, "shared": 64}',
        '{"num_warps": 4, "shared": "many"}',
        '{"num_warps": -4, "shared": 64}',
        '{"num_warps": 4, "shared": -1}',
        '{"num_warps": 4, "shared": NaN}',
        '{"num_warps": 4, "shared": ' + "9" * 5000 + "}",
        '{"num_warps": [4], "shared": 64}',
        "[" * 200_000,
        '{"a":' * 200_000,
        b'{"name": "\xff", "num_warps": 4, "shared": 64}',
        b"\xff\xfe\x00",
        b"\0" * 100,
        b" " * (17 << 20),
    ],
    ids=lambda text: repr(text[:30]),
)
def test_what_is_no_metadata(tmp_path: Path, text: str | bytes) -> None:
    assert triton(tmp_path, text) is None


def test_what_is_no_file(tmp_path: Path) -> None:
    path = str(tmp_path / "k.ptx")
    beside = tmp_path / "k.json"
    assert metadata_beside(path) == {}
    beside.mkdir()
    assert metadata_beside(path) == {}
    beside.rmdir()
    os.mkfifo(beside)  # reading it would wait for ever
    assert metadata_beside(path) == {}
    beside.unlink()
    beside.symlink_to(beside)
    assert metadata_beside(path) == {}
    assert metadata_beside("k\0.ptx") == {}
    assert metadata_beside("") == {}


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    for number, warps in enumerate((4, 8), 1):
        path.write_text(json.dumps({**GOOD, "num_warps": warps}))
        os.utime(path, (number, number))
        assert metadata_beside(str(tmp_path / "k.ptx"))["k"].threads == 32 * warps


LAUNCHES = """\
000: kKernel       \t, kernel = wrapped_add, launch dimensions = blocks: {8, 1, 1}, threads/block: {128, 1, 1}
001: kGemm         \t
002: kSequential   \t
  003: kKernel       \t, kernel = fusion, launch dimensions = blocks: {2, 2, 1}, threads/block: {32, 4, 2}, \
cluster_dim = ClusterDim{2, 1, 1}
  004: kKernel       \t, kernel = twice, launch dimensions = blocks: {1, 1, 1}, threads/block: {64, 1, 1}, \
cluster_dim = nullopt
005: kKernel       \t, kernel = twice, launch dimensions = blocks: {2, 1, 1}, threads/block: {32, 1, 1}, \
cluster_dim = nullopt
006: kKernel       \t, kernel = old, launch dimensions = blocks: {1, 1, 1}, threads/block: {96, 1, 1}, \
shared memory [B]: 0
007: kKernel       \t, kernel = large, launch dimensions = blocks: {1, 1, 1}, threads/block: {1024, 1024, 1}
"""


@pytest.mark.parametrize("name", ["jit_f.ptx", "jit_f.0.ptx", "jit_f.17.ptx"])
def test_launches_of_xla(tmp_path: Path, name: str) -> None:
    (tmp_path / "module_0001.jit_f.thunk_sequence.txt").write_text(LAUNCHES)
    found = metadata_beside(str(tmp_path / f"module_0001.{name}"))
    assert {one.name: (one.threads, one.cluster_size) for one in found.values()} == {
        "wrapped_add": (128, None), "fusion": (256, 2), "twice": (None, None), "old": (96, None),
        "large": (None, None),
    }  # fmt: skip
    assert {(one.compiler, one.shared_bytes, one.target) for one in found.values()} == {("XLA", None, None)}


def test_a_module_without_launches(tmp_path: Path) -> None:
    (tmp_path / "k.thunk_sequence.txt").write_bytes(b"No thunks.\xff\n" + b"kernel = " * 100_000)
    assert metadata_beside(str(tmp_path / "k.ptx")) == {}
