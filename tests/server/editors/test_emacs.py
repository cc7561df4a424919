"""Real Emacs with `editors/emacs/ptx-mode.el` in its init file, as docs/editors.md tells: keys are pressed on
a terminal, and Emacs is asked what came of them.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.server.editors.terminal import HAS_TMUX, PATIENCE, Terminal, a_home, terminal, until
from tests.server.test_features import TEXT

MODE = Path(__file__).parents[3] / "editors" / "emacs" / "ptx-mode.el"
EMACS = shutil.which("emacs")
EMACSCLIENT = shutil.which("emacsclient")


def _has_eglot() -> bool:
    if EMACS is None or EMACSCLIENT is None:
        return False
    tell = "(progn (package-initialize) (kill-emacs (if (locate-library \"eglot\") 0 1)))"
    return subprocess.run([EMACS, "--batch", "--eval", tell], check=False, timeout=60).returncode == 0


pytestmark = pytest.mark.skipif(
    not (HAS_TMUX and _has_eglot()), reason="no Emacs with eglot, or no tmux: make editors"
)


class Emacs:
    """A running Emacs, which shows `kernel.ptx`."""

    def __init__(self, screen: Terminal, socket: Path) -> None:
        self.screen = screen
        self._socket = socket

    def ask(self, expression: str) -> str:
        """The value of a Lisp expression in the buffer that is shown."""
        inside = f"(with-current-buffer (window-buffer) {expression})"
        command = [str(EMACSCLIENT), "-s", str(self._socket), "--eval", inside]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            self.screen.check()
        return done.stdout.strip() or done.stderr

    def until(self, expression: str, good: Callable[[str], bool]) -> str:
        """The value, once it is good."""
        return until(lambda: self.ask(expression), good)

    def go(self, text: str) -> None:
        """Where `text` ends."""
        here = f'(progn (goto-char (point-min)) (search-forward "{text}") (set-window-point nil (point)))'
        assert self.ask(here).isdigit()

    def type(self, *keys: str) -> None:
        self.screen.press(*keys)

    def command(self, name: str, *words: str) -> None:
        """M-x, and answers to what it asks."""
        self.screen.press("M-x", name, "Enter")
        for word in words:
            self.screen.press(word, "Enter")

DIAGNOSTICS = "(mapcar 'flymake-diagnostic-text (flymake-diagnostics))"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emacs]:
    """As a person would start it, but for what lets the tests ask it, with no compiler at work, and with time
    for a server that starts slowly: after 30 s, Emacs would go on without it.
    """
    home = tmp_path_factory.mktemp("home")
    environment = a_home(home, TEXT)
    init = home / ".emacs.d" / "init.el"
    init.parent.mkdir()
    init.write_text(f'(load "{MODE}")\n')
    listen = (
        f'(setq server-socket-dir "{home}" inhibit-startup-screen t '
        "native-comp-deferred-compilation nil native-comp-jit-compilation nil "
        f"eglot-connect-timeout {PATIENCE})"
    )
    command = [str(EMACS), "-nw", "--eval", listen, "-f", "server-start", "kernel.ptx"]
    with terminal(command, home, environment) as screen:
        yield Emacs(screen, home / "server")


@pytest.fixture
def emacs(running: Emacs) -> Emacs:
    """It shows the text as it was at first, and has told of the finding in it."""
    running.until('(get-buffer-window "kernel.ptx")', lambda window: window.startswith("#<window"))
    running.type("C-g")
    running.ask('(select-window (get-buffer-window "kernel.ptx"))')
    running.ask("(progn (delete-other-windows) (revert-buffer t t) (goto-char (point-min)))")
    running.until(DIAGNOSTICS, lambda told: "%r9" in told and told.count("ptx-lint") == 1)
    return running


def test_mode_and_highlighting(emacs: Emacs) -> None:
    assert emacs.ask("major-mode") == "ptx-mode"
    assert emacs.ask("comment-start") == '"// "'
    for text, face in {
        ".version": "keyword", "mul.f": "type", "%r2": "variable-name", "DONE": "constant",
        "bra": "function-name", "kernel.cu": "string",
    }.items():  # fmt: skip
        emacs.go(f"{text}:" if text == "DONE" else text)
        back = 2 if text == "DONE" else 1
        shown = emacs.ask(f"(progn (font-lock-ensure) (get-text-property (- (point) {back}) 'face))")
        assert shown == f"font-lock-{face}-face", text


def test_findings_come_and_go_while_typing(emacs: Emacs) -> None:
    emacs.screen.shows("Flymake[1 0]", "[eglot:")
    emacs.go("add.s32")
    emacs.type("C-a", "typo ")
    emacs.until(DIAGNOSTICS, lambda told: "syntax-error" in told)
    emacs.type("C-_")
    emacs.until(DIAGNOSTICS, lambda told: "syntax-error" not in told and "%r9" in told)


def test_hover(emacs: Emacs) -> None:
    emacs.go("mul.wi")
    emacs.type("M-b", "M-b")
    emacs.screen.shows("mul.wide.u32: Multiplies two integers")


def test_completion(emacs: Emacs) -> None:
    emacs.go("DONE:")
    emacs.type("C-e", "Enter", "add.rn.f32 %f", "C-M-i")
    emacs.screen.shows("%f1 .reg .f32", "%f3 .reg .f32")


def test_definition_and_references(emacs: Emacs) -> None:
    emacs.go("bra D")
    emacs.type("M-.")
    emacs.until("(thing-at-point 'line t)", lambda line: "DONE:" in line)
    emacs.type("M-?")
    shown = emacs.screen.shows("*xref*", "@%p1 bra DONE;")
    assert shown.count("DONE:") == 2, "in the text, and in the list"


def test_rename(emacs: Emacs) -> None:
    emacs.go("bra D")
    emacs.command("eglot-rename", "FINISH")
    text = emacs.until("(buffer-string)", lambda text: "FINISH:" in text)
    assert "bra FINISH;" in text


def test_code_action(emacs: Emacs) -> None:
    emacs.go("%r9")
    emacs.type("C-b")
    emacs.command("eglot-code-actions")
    emacs.screen.shows("(default Declare `%r<10>`):")
    emacs.type("Enter")
    emacs.until("(buffer-string)", lambda text: ".reg .b32 %r<10>;" in text)
    emacs.until(DIAGNOSTICS, lambda told: "not declared" not in told)


def test_formatting(emacs: Emacs) -> None:
    emacs.command("eglot-format-buffer")
    emacs.until("(buffer-string)", lambda text: "mul.wide.u32        %rd2, %r2, 4;" in text)
