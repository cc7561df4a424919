"""An editor on a terminal: tmux presses the keys and keeps the screen."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")
PATIENCE = 120
"""Seconds, after which a test fails: machines can be slow, and a test that goes well waits for nothing."""
HAS_TMUX = shutil.which("tmux") is not None


class Terminal:
    """A program on a terminal of 110 columns and 40 lines."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    def press(self, *keys: str) -> None:
        """Presses keys by their names in tmux; other texts are typed."""
        whole = (f"{key[:-1]}\\;" if key.endswith(";") else key for key in keys)  # tmux would end there
        self._tmux("send-keys", "-t", "it", *whole)

    def screen(self, *, colours: bool = False) -> str:
        """What is to be seen; with `colours` as a terminal is told them."""
        return self._tmux("capture-pane", "-p", *(["-e"] if colours else []), "-t", "it")

    def idle(self) -> None:
        """Waits for longer than programs do to tell Escape from what begins with it."""
        time.sleep(0.3)

    def shows(self, *awaited: str) -> str:
        """The screen, once all of these are on it."""
        return until(self.screen, lambda screen: all(text in screen for text in awaited))

    def check(self) -> None:
        """Fails with what it said last if the program has ended."""
        if self.has_ended():
            server = int(self._tmux("display-message", "-p", "#{pid}"))
            os.kill(server, signal.SIGCHLD)  # tmux 3.3 misses some, and does not know the exit status then
            lines = until(self._all_lines, lambda lines: any("Pane is dead" in one for one in lines))
            raise AssertionError("the editor has ended:\n" + "\n".join(filter(None, lines)))

    def has_ended(self) -> bool:
        return self._tmux("list-panes", "-t", "it", "-F", "#{pane_dead}").strip() != "0"

    def _all_lines(self) -> list[str]:
        """Also those above the screen: tmux scrolls it when a program ends."""
        return self._tmux("capture-pane", "-p", "-S", "-", "-t", "it").splitlines()

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), "-f", "/dev/null", *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
        return done.stdout


@contextmanager
def terminal(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]
) -> Generator[Terminal]:
    """Runs a program in `folder`, and ends it with all that it has started in the terminal."""
    socket = folder / "tmux"
    settings = [f"{key}={value}" for key, value in environment.items()]
    start = ["env", "TERM=screen-256color", "LANG=C.UTF-8", *settings, *map(str, command)]
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    place = ["-s", "it", "-x", "110", "-y", "40", "-c", str(folder)]
    kept = [";", "set-option", "-g", "remain-on-exit", "on"]  # the screen of a program that has ended
    subprocess.run([*tmux, "new-session", "-d", *place, *start, *kept], check=True, timeout=60)
    try:
        yield Terminal(socket)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, timeout=60)


def until(look: Callable[[], _T], good: Callable[[_T], bool]) -> _T:
    """Looks again and again until it is good. Fails with what was seen last."""
    end = time.monotonic() + PATIENCE
    while not good(seen := look()):
        assert time.monotonic() < end, seen
        time.sleep(0.1)
    return seen


def a_home(home: Path, text: str) -> dict[str, str]:
    """Makes a home with `kernel.ptx` in it and `ptx-lsp` on its path; returns the environment of a program
    that is at home there.
    """
    server = home / "bin" / "ptx-lsp"
    server.parent.mkdir()
    python = os.pathsep.join(path for path in sys.path if path)
    server.write_text(
        f'#!/bin/sh\nPYTHONPATH="{python}" exec "{sys.executable}" -m ptx_lsp.server "$@"\n'
    )
    server.chmod(0o755)
    (home / "kernel.ptx").write_text(text)
    return {
        "HOME": str(home),
        "PATH": f"{server.parent}{os.pathsep}{os.environ.get('PATH', '')}",
        **{f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "DATA", "CACHE")},
    }
