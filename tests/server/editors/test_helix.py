"""Real Helix with `editors/helix/languages.toml` and what `install.sh` makes, as docs/editors.md tells: keys
are pressed on a terminal, and the screen is read.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.editors.terminal import HAS_TMUX, Terminal, a_home, terminal, until
from tests.server.test_features import TEXT

FILES = Path(__file__).parents[3] / "editors" / "helix"
HELIX = shutil.which("hx")
RUNTIME = {"HELIX_RUNTIME": os.environ["HELIX_RUNTIME"]} if "HELIX_RUNTIME" in os.environ else {}
pytestmark = pytest.mark.skipif(not HAS_TMUX or HELIX is None, reason="no Helix, or no tmux")
FOUND = "`%r9` is not declared"


class Helix:
    """A running Helix, which shows `kernel.ptx` in its normal mode."""

    def __init__(self, screen: Terminal, file: Path, environment: dict[str, str]) -> None:
        self.screen = screen
        self.file = file
        self.environment = environment

    def type(self, *keys: str) -> None:
        self.screen.press(*keys)

    def go(self, text: str) -> None:
        """Selects `text` where it stands first."""
        self.type("g", "g", f"/{text}", "Enter")

    def normal(self) -> None:
        """Back from anywhere. A key that comes too soon would be taken for Alt with that key."""
        for _ in range(2):
            self.type("Escape")
            self.screen.idle()
        self.screen.shows(" NOR ")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Helix]:
    home = tmp_path_factory.mktemp("home")
    environment = a_home(home, TEXT) | RUNTIME
    folder = home / "config" / "helix"
    folder.mkdir(parents=True)
    shutil.copy(FILES / "languages.toml", folder)
    subprocess.run(["sh", str(FILES / "install.sh"), str(folder)], check=True, timeout=240)
    with terminal([str(HELIX), "kernel.ptx"], home, environment) as screen:
        screen.shows(" NOR ", " kernel.ptx")
        yield Helix(screen, home / "kernel.ptx", environment)


@pytest.fixture
def helix(running: Helix) -> Helix:
    """It shows the text as it was at first, and has told of the finding in it."""
    running.normal()
    running.file.write_text(TEXT)
    running.type(":reload", "Enter")
    until(running.screen.screen, lambda seen: FOUND in seen and " 1  1 sel " in seen and "FINISH" not in seen)
    return running


def test_health(running: Helix) -> None:
    """What Helix itself says of the set-up."""
    done = subprocess.run(
        [str(HELIX), "--health", "ptx"], check=True, capture_output=True, text=True, timeout=60,
        env={**os.environ, **running.environment, "NO_COLOR": "1"},
    )  # fmt: skip
    for line in ("\u2713 ptx-lsp: ", "Tree-sitter parser: \u2713", "Highlight queries: \u2713",
                 "Indent queries: \u2713", "Tags queries: \u2713"):  # fmt: skip
        assert line in done.stdout


def test_highlighting(helix: Helix) -> None:
    """What is of one kind has one colour, and other kinds have others."""
    shown = helix.screen.screen(colours=True)
    words = ("setp", "bra", r"\.reg", "256")
    found = [re.search(rf"\x1b\[(\d+)m(?:\x1b\[49m)?{word}", shown) for word in words]
    colours = [one and one[1] for one in found]
    assert colours[0] == colours[1]
    assert len(set(colours)) == 3


def test_findings_come_and_go_while_typing(helix: Helix) -> None:
    helix.go("add.s32")
    helix.type("i", "x")
    helix.screen.shows("`xadd`")
    helix.normal()
    helix.type("u")
    until(helix.screen.screen, lambda seen: "`xadd`" not in seen and FOUND in seen)


def test_hover(helix: Helix) -> None:
    helix.go("setp")
    helix.type("Space", "k")
    helix.screen.shows("Compares two")


def test_completion(helix: Helix) -> None:
    helix.go("DONE:")
    helix.type("A", "Enter", "rsq")
    helix.screen.shows("rsqrt")
    helix.type("Tab", "Enter")
    helix.screen.shows("  rsqrt")


def test_definition_and_references(helix: Helix) -> None:
    helix.go("DONE;")
    helix.type("g", "d")
    helix.screen.shows("30:1")
    helix.type("g", "r")
    helix.screen.shows("kernel.ptx:22", "kernel.ptx:30")


def test_rename(helix: Helix) -> None:
    helix.go("DONE;")
    helix.type("Space", "r")
    helix.screen.shows("rename-to:")
    helix.type("C-u", "FINISH", "Enter")
    helix.screen.shows("bra FINISH;", "FINISH:")


def test_code_action(helix: Helix) -> None:
    helix.go("%r9")
    helix.type("Space", "a")
    helix.screen.shows("on this line")
    helix.type("Enter")
    helix.screen.shows(".reg .b32 %r<10>;")
    until(helix.screen.screen, lambda seen: FOUND not in seen)


def test_formatting(helix: Helix) -> None:
    helix.type(":format", "Enter")
    helix.screen.shows("mul.wide.u32        %rd2, %r2, 4;")
