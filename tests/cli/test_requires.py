"""`--requires`: the least version and target, and what demands them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.cli.conftest import GOOD, HEADER, Lint

SCHEMA = json.loads((Path(__file__).parent / "report.schema.json").read_text())


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """A file for sm_80 that sm_75 with PTX ISA 6.3 would do for."""
    path = tmp_path / "kernel.ptx"
    path.write_text(
        f"{HEADER}.entry kernel()\n{{\n\t.reg .b32 %r<4>;\n\tmov.u32 %r1, %laneid;\n"
        "\tmovmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;\n"
        "\tmovmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\n\tret;\n}\n"
    )
    return path


def test_table(lint: Lint, kernel: Path) -> None:
    done = lint("--requires", kernel)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{kernel}: PTX ISA 7.8 for its target sm_80; minimum sm_75 (with PTX ISA 7.8)",
        "  decides  line  what                                             needs",
        "  both        8  movmatrix.sync.aligned.m8n8.trans.b16 (2 times)  "
        "PTX ISA 7.8 and sm_75 or higher",
    ]


def test_the_target_itself_needs_a_version(lint: Lint, good: Path) -> None:
    done = lint("--requires", good)
    assert done.out.splitlines()[0].endswith(
        "PTX ISA 7.0 for its target sm_80; minimum sm_10 (with PTX ISA 2.3)"
    )
    assert done.out.splitlines()[2].split() == [
        "version", "2", ".target", "sm_80", "PTX", "ISA", "7.0",
    ]


def test_what_the_target_lacks(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "hopper.ptx"
    path.write_text(GOOD.replace("ret;", "wgmma.fence.sync.aligned; ret;"))
    (line,) = lint("--requires", "--format", "concise", path).out.splitlines()
    assert line.endswith(": not everything is supported on sm_80; minimum sm_90a (with PTX ISA 8.0)")


def test_json(lint: Lint, kernel: Path) -> None:
    report = json.loads(lint("--requires", "--format", "json", "--target", "sm_75", kernel).out)
    jsonschema.validate(report, SCHEMA)
    (file,) = report["files"]
    assert file["diagnostics"] == []
    assert file["requires"] == {
        "target": "sm_75",
        "ptx_version": "7.8",
        "targets": [{"target": "sm_75", "ptx_version": "7.8"}],
        "because": [
            {
                "line": 8,
                "what": "movmatrix.sync.aligned.m8n8.trans.b16",
                "needs": "PTX ISA 7.8 and sm_75 or higher",
                "times": 2,
                "decides": ["ptx_version", "target"],
            }
        ],
    }


def test_null_where_it_was_not_asked_for(lint: Lint, good: Path) -> None:
    (file,) = json.loads(lint("--format", "json", good).out)["files"]
    assert file["requires"] is None


def test_findings_do_not_count(lint: Lint, bad: Path, tmp_path: Path) -> None:
    assert lint("--requires", bad).status == 0
    done = lint("--requires", bad, tmp_path / "missing.ptx")
    assert done.status == 2
    assert done.out.startswith(f"{bad}: PTX ISA 7.0 ")
    assert "missing.ptx: no such file" in done.err


def test_several_targets_are_refused(lint: Lint, good: Path) -> None:
    done = lint("--requires", "--targets", "sm_80,sm_90", good)
    assert (done.status, done.out) == (2, "")
    assert "use --target instead of --targets" in done.err
