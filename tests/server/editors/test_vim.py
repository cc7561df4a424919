"""Real Vim with ALE and `editors/vim/ptx.vim` in `~/.vim/plugin`, as docs/editors.md tells: keys are pressed
on a terminal, and Vim is asked what came of them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.server.connection import Json
from tests.server.editors.terminal import HAS_TMUX, Terminal, a_home, terminal, until
from tests.server.test_features import TEXT

PLUGIN = Path(__file__).parents[3] / "editors" / "vim" / "ptx.vim"
VIM = shutil.which("vim")
VIMRC = """set nocompatible
filetype plugin on
packadd! ale
"""


def _has_ale() -> bool:
    if VIM is None:
        return False
    look = ["-c", "packadd ale", "-c", "if exists('g:loaded_ale') | quit | endif", "-c", "cquit"]
    done = subprocess.run([VIM, "-N", "-es", "-u", "NONE", *look], check=False, timeout=60)
    return done.returncode == 0


pytestmark = pytest.mark.skipif(
    not (HAS_TMUX and _has_ale()), reason="no Vim with ALE, or no tmux: make editors"
)


class Vim:
    """A running Vim, which shows `kernel.ptx`."""

    def __init__(self, screen: Terminal, folder: Path) -> None:
        self.screen = screen
        self.file = folder / "kernel.ptx"
        self._numbers = count()

    def ask(self, expression: str) -> Json:
        """The value of an expression."""
        answer = self.file.parent / f"answer{next(self._numbers)}"
        self.command(f"call writefile([json_encode({expression})], '{answer}.part')")
        self.command(f"call rename('{answer}.part', '{answer}')")
        until(answer.exists, bool)
        return json.loads(answer.read_text())

    def until(self, expression: str, good: Callable[[str], bool]) -> str:
        """The value as JSON, once it is good."""
        return until(lambda: json.dumps(self.ask(expression)), good)

    def type(self, *keys: str) -> None:
        self.screen.press(*keys)

    def command(self, text: str) -> None:
        self.screen.press("Escape", f":{text}", "Enter")

    def go(self, text: str) -> None:
        """Where `text` begins."""
        self.command(f"call cursor(1, 1) | call search('\\V{text}', 'c')")


FOUND = "map(copy(ale#engine#GetLoclist(bufnr('kernel.ptx'))), 'v:val.text')"
TEXT_NOW = "join(getbufline('kernel.ptx', 1, '$'), '|')"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vim]:
    home = tmp_path_factory.mktemp("home")
    environment = a_home(home, TEXT)
    (home / ".vim" / "plugin").mkdir(parents=True)
    shutil.copy(PLUGIN, home / ".vim" / "plugin")
    (home / ".vimrc").write_text(VIMRC)
    with terminal([str(VIM), "kernel.ptx"], home, environment) as screen:
        screen.shows(".version 8.5")
        yield Vim(screen, home)


@pytest.fixture
def vim(running: Vim) -> Vim:
    """It shows the text as it was at first, and has told of the finding in it."""
    running.file.write_text(TEXT)  # ALE writes what it renames
    running.command("only! | edit! kernel.ptx")
    running.until(FOUND, lambda told: "%r9" in told and told.count('", "') == 0)
    return running


def test_findings_come_and_go_while_typing(vim: Vim) -> None:
    assert vim.ask("&filetype") == "ptx"
    vim.screen.shows(">>    add.s32 %r3, %r9, 1;")
    vim.go("add.s32")
    vim.type("i", "x")
    vim.until(FOUND, lambda told: "`xadd`" in told)
    vim.type("u")
    vim.until(FOUND, lambda told: "`xadd`" not in told and "%r9" in told)


def test_hover(vim: Vim) -> None:
    vim.go("mul.wide")
    vim.command("ALEHover")
    vim.screen.shows("mul.wide.u32", "Multiplies two integers")


def test_definition(vim: Vim) -> None:
    vim.go("DONE;")
    vim.command("ALEGoToDefinition")
    vim.until("getline('.')", lambda line: line == '"DONE:"')


def test_references(vim: Vim) -> None:
    vim.go("DONE;")
    vim.command("ALEFindReferences")
    vim.screen.shows("ALEPreviewWindow", "kernel.ptx:22:14")


def test_rename(vim: Vim) -> None:
    vim.go("DONE;")
    vim.command("ALERename")
    vim.screen.shows("New name: DONE")
    vim.type("C-u", "FINISH", "Enter")
    vim.until(TEXT_NOW, lambda text: "bra FINISH;" in text and "|FINISH:|" in text)


def test_code_action(vim: Vim) -> None:
    vim.go("%r9")
    vim.command("ALECodeAction")
    vim.screen.shows("on this line")
    vim.type("1", "Enter")
    vim.until(TEXT_NOW, lambda text: ".reg .b32 %r<10>;" in text)
    vim.until(FOUND, lambda told: "not declared" not in told)


def test_completion(vim: Vim) -> None:
    vim.go("DONE:")
    vim.type("A", "Enter", "rsq", "C-x", "C-o")
    vim.screen.shows("rsqrt")
    vim.until(TEXT_NOW, lambda text: "|DONE:|rsqrt|" in text)
