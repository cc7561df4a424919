"""`ptx-lint` on sources with inline PTX."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Lint

GUARDED = """
__device__ void f(int a) {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
#endif
}
"""
BAD = 'asm volatile("mov.u32 %0,\\n\\t" "%%tid.y, 1;" : "=r"(x));\n'


def source(folder: Path, text: str, name: str = "a.cu") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_finding_at_its_place(lint: Lint, tmp_path: Path) -> None:
    path = source(tmp_path, f"void f(int x) {{\n  {BAD}}}\n")
    done = lint(path, "--format", "concise")
    assert done.status == 1
    assert done.out == f"{path}:2:44: error[operand-count] expected 2 operands (`d, sreg`), found 3\n"


def test_unknown_instruction_in_a_header(lint: Lint, tmp_path: Path) -> None:
    text = 'inline void f(int x) { asm volatile("setctarank.shared.u32 %0, %0, 1;" :: "r"(x)); }'
    assert "unknown-opcode" in lint(source(tmp_path, text, "a.h"), "--format", "concise").out


def test_json(lint: Lint, tmp_path: Path) -> None:
    path = source(tmp_path, f"void f(int x) {{\n  {BAD}}}\n")
    (file,) = json.loads(lint(path, "--format", "json").out)["files"]
    assert (file["path"], file["language"], file["blocks"]) == (str(path), "cuda", 1)
    assert file["diagnostics"][0]["start"] == {"line": 2, "column": 44}
    assert file["kernels"] == []


def test_folder(lint: Lint, tmp_path: Path) -> None:
    source(tmp_path, f"void f(int x) {{ {BAD} }}\n")
    source(tmp_path, "int main() { return 0; } // asm\n", "b.cpp")
    source(tmp_path, "x = 1\n", "c.py")
    (tmp_path / "d.h").write_bytes(b"\xff\xfea\0")
    done = lint(tmp_path, "--format", "json")
    assert [Path(file["path"]).name for file in json.loads(done.out)["files"]] == ["a.cu"]
    assert done.err == ""


def test_nothing_in_a_folder(lint: Lint, tmp_path: Path) -> None:
    source(tmp_path, "int x;\n", "b.cpp")
    done = lint(tmp_path)
    assert (done.status, done.out) == (0, "Nothing checked.\n")
    assert "no inline PTX found" in done.err


def test_other_machines(lint: Lint, tmp_path: Path) -> None:
    statements = ('volatile("rdtsc" : "=a"(x))', '("" ::: "memory")', '("mov %%eax, %0;" : "=r"(x))')
    text = f"void f() {{ {''.join(f'asm {one};' for one in statements)} }}"
    for name in ("a.cpp", "a.cu", "a.h"):
        assert lint(source(tmp_path, text, name)).status == 0


@pytest.mark.parametrize(
    ("targets", "found"),
    [([], []), (["sm_90"], []), (["sm_80"], []), (["sm_80", "sm_90"], [])],
)
def test_a_guard_leaves_targets_out(
    lint: Lint, tmp_path: Path, targets: list[str], found: list[str]
) -> None:
    path = source(tmp_path, GUARDED)
    options = [] if not targets else ["--targets", ",".join(targets)]
    files = json.loads(lint(path, *options, "--format", "json").out)["files"]
    assert [one["rule"] for one in files[0]["diagnostics"]] == found


def test_targets(lint: Lint, tmp_path: Path) -> None:
    path = source(tmp_path, GUARDED.replace(">= 900", ">= 700"))
    assert lint(path).status == 0
    assert "requires PTX ISA 7.8 and sm_90" in lint(path, "--target", "sm_80").out
    only_one = lint(path, "--targets", "sm_80,sm_90", "--format", "concise").out
    assert "not supported on `sm_80`; it requires" in only_one


def test_any_target_will_do(lint: Lint, tmp_path: Path) -> None:
    """`vote` without `.sync` was removed for sm_70, but is right for sm_50."""
    vote = "{.reg .pred p; setp.ne.u32 p, %1, 0; vote.all.pred p, p; selp.u32 %0, 1, 0, p;}"
    path = source(tmp_path, f'void f(int x) {{ asm("{vote}" : "=r"(x) : "r"(x)); }}\n')
    assert "error" not in lint(path, "--format", "concise").out
    assert "error[removed-form]" in lint(path, "--target", "sm_90", "--format", "concise").out


def test_registers_of_floats(lint: Lint, tmp_path: Path) -> None:
    """nvcc 13.5 passes a `float` in a `.f32` register up to sm_90, and in a `.b32` register after that."""
    path = source(tmp_path, 'void f(float x) { asm("add.u32 %0, %0, 1;" : "+f"(x)); }\n')
    assert lint(path, "--target", "sm_90").status == 1
    assert lint(path, "--target", "sm_100").status == 0
    assert lint(path).status == 0


def test_targets_of_the_build(lint: Lint, tmp_path: Path) -> None:
    path = source(tmp_path, GUARDED.replace(">= 900", ">= 700"))
    for target, status in (("sm_80", 1), ("sm_90", 0)):
        commands = [{"directory": ".", "command": f"nvcc -arch={target} a.cu", "file": "a.cu"}]
        (tmp_path / "compile_commands.json").write_text(json.dumps(commands) + " " * status)
        assert lint(path).status == status


def test_fix(lint: Lint, tmp_path: Path) -> None:
    path = source(tmp_path, 'void f(int x) { asm("mov.u32 %0,\\n" "\\t%%tid.x" : "=r"(x)); }\n')
    done = lint("--fix", path)
    assert done.status == 0
    assert path.read_text() == 'void f(int x) { asm("mov.u32 %0,\\n" "\\t%%tid.x;" : "=r"(x)); }\n'


def test_suppressed(lint: Lint, tmp_path: Path) -> None:
    path = source(tmp_path, f"void f(int x) {{\n  {BAD.rstrip()} // ptx-lint: ignore[operand-count]\n}}\n")
    assert lint(path).status == 0


def test_off(lint: Lint, tmp_path: Path) -> None:
    path = source(tmp_path, f"void f(int x) {{ {BAD} }}\n")
    (tmp_path / "ptx-lint.toml").write_text('inline-off = ["cuda"]\n')
    assert lint(path).status == 0
    (tmp_path / "ptx-lint.toml").write_text('inline-off = ["cud"]\n')
    done = lint(path)
    assert done.status == 2
    assert "unknown host `cud`; did you mean `cuda`?" in done.err


def test_standard_input(monkeypatch: pytest.MonkeyPatch, lint: Lint) -> None:
    import io
    import sys

    class Stream:
        buffer = io.BytesIO(f"void f(int x) {{ {BAD} }}\n".encode())

    monkeypatch.setattr(sys, "stdin", Stream())
    assert lint("-", "--stdin-filename", "a.cu").status == 1


def test_a_finding_for_several_targets_names_them_once(lint: Lint, tmp_path: Path) -> None:
    path = source(tmp_path, 'void f() { asm volatile("barrier.cluster.wait;" ::: "memory"); }\n')
    found = lint(path, "--targets", "sm_70,sm_80,sm_90", "--format", "concise").out
    assert found.count("needs-target") == 1
    assert "not supported on `sm_70`, `sm_80`; it requires" in found
