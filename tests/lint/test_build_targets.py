"""The targets in `compile_commands.json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptx_lsp.lint.configuration.build_targets import build_targets


@pytest.mark.parametrize(
    ("options", "targets"),
    [
        ("-arch=sm_90a", ("sm_90a",)),
        ("-arch compute_80", ("sm_80",)),
        (
            "-gencode arch=compute_80,code=sm_86 -gencode=arch=compute_90a,code=[compute_90a,sm_90a]",
            ("sm_80", "sm_90a"),
        ),
        ('"--generate-code=arch=compute_75,code=[sm_75]"', ("sm_75",)),
        ("--cuda-gpu-arch=sm_70 --offload-arch=sm_100f", ("sm_70", "sm_100f")),
        ("-arch=native -march=x86-64", ()),
    ],
)
def test_options(tmp_path: Path, options: str, targets: tuple[str, ...]) -> None:
    source = tmp_path / "src" / "a.cu"
    build = tmp_path / "build"
    build.mkdir()
    command = {"directory": str(build), "command": f"nvcc {options} -c x.cu", "file": "../src/a.cu"}
    (build / "compile_commands.json").write_text(json.dumps([command]))
    assert build_targets(str(source)) == targets
    assert build_targets(str(source.with_name("header.cuh"))) == targets


def test_of_one_file_and_of_all(tmp_path: Path) -> None:
    commands = [
        {"directory": ".", "command": f"nvcc -arch={target} {name}", "file": name}
        for name, target in (("a.cu", "sm_80"), ("b.cu", "sm_90"))
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))
    assert build_targets(str(tmp_path / "b.cu")) == ("sm_90",)
    assert build_targets(str(tmp_path / "c.cuh")) == ("sm_80", "sm_90")


def test_arguments(tmp_path: Path) -> None:
    arguments = ["nvcc", "-gencode", "arch=compute_90a,code=sm_90a", "-arch", "sm_80"]
    commands = [{"directory": ".", "arguments": arguments, "file": "a.cu"}, {"file": 1}, "x"]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))
    assert build_targets(str(tmp_path / "a.cu")) == ("sm_90a", "sm_80")


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1}', "[" * 100_000])
def test_damaged(tmp_path: Path, text: str) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    assert build_targets(str(tmp_path / "a.cu")) == ()
