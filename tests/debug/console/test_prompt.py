"""The debugger in a real terminal, with prompt_toolkit: typing, completion, history, interrupts, resizing."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ptx_lsp.debug.terminal.session import HINT, RECORDED_HINT
from tests.debug import kernels
from tests.debug.console.terminal import command

pytest.importorskip("prompt_toolkit")
pytest.importorskip("pyte")

import pty

import pyte

SECONDS = 60
"""Enough on a busy machine."""
ENDLESS = kernels.LOOP.replace("setp.lt.u32 %p, %r1, 100;", "setp.ge.u32 %p, %r1, 0;")


class Screen:
    """A terminal: keys go in, and the screen is looked at."""

    def __init__(self, words: list[str], columns: int) -> None:
        self._screen = pyte.Screen(columns, 40)
        self._screen.write_process_input = self.type  # pyrefly: ignore[method-assign]
        self._stream = pyte.ByteStream(self._screen)
        self._process, self._terminal = pty.fork()
        if not self._process:
            os.execve(words[0], words, {**os.environ, "TERM": "xterm"})
        self.resize(columns)

    def type(self, data: str) -> None:
        os.write(self._terminal, data.encode())

    def enter(self, keys: str) -> None:
        """Types at the next prompt: before it, the terminal itself shows what is typed."""
        self.prompts()
        self.type(keys)

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._screen.resize(40, columns)

    def until(self, holds: Callable[[list[str]], bool]) -> list[str]:
        """The lines of the screen, once they are as wanted."""
        end = time.monotonic() + SECONDS
        while not holds(self.lines):
            assert time.monotonic() < end, "\n".join(self.lines)
            if select.select([self._terminal], [], [], 1)[0]:
                self._stream.feed(os.read(self._terminal, 1 << 16))
        return self.lines

    def shows(self, text: str) -> list[str]:
        return self.until(lambda lines: any(text in line for line in lines))

    def prompts(self) -> list[str]:
        """Waits for the prompt after the last line."""
        return self.until(lambda lines: _last(lines) == "(ptx)")

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    def ended(self) -> int:
        """The status with which the debugger ends."""
        with suppress(OSError):  # the terminal is closed
            while os.read(self._terminal, 1 << 16):
                pass
        _, status = os.waitpid(self._process, 0)
        self._process = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        if self._process:
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
        os.close(self._terminal)


def _last(lines: list[str]) -> str:
    """The last line that is neither empty nor the toolbar."""
    found = [line for line in lines if line and not line.startswith("block (")]
    return found[-1] if found else ""


@contextmanager
def terminal(
    folder: Path, text: str, columns: int = 80, options: tuple[str, ...] = ("--debug",)
) -> Generator[Screen]:
    """A terminal with the debugger, at its first prompt."""
    screen = Screen(command(kernels.written(folder, text), *options), columns)
    try:
        screen.prompts()
        yield screen
    finally:
        screen.close()


def test_typing_and_editing(tmp_path: Path) -> None:
    with terminal(tmp_path, kernels.DIVERGENT) as screen:
        screen.shows(HINT)
        screen.enter("brrk 13\x01\x1b[C\x1b[C\x1b[3~ea\r")  # to the start, two right, delete, "ea"
        screen.shows("(ptx) break 13")
        screen.shows("Breakpoint 1 at divergent: file kernel.ptx, line 13.")
        screen.enter("run\r")
        screen.shows("13      @%p bra low;")
        screen.shows(f"block (0,0,0) thread (0,0,0) [{'#' * 32}] line 13")
        screen.enter("\x1b[A\x1b[A\r")  # history: the breakpoint again
        screen.shows("Breakpoint 2 at divergent")
        screen.enter("next\r")
        screen.shows("[############....................] in focus")
        screen.enter("\r")  # an empty line repeats
        screen.shows("19      mul.wide.u32 %rd1, %r0, 4;")
        screen.enter("\x04")
        assert screen.ended() == 0


def test_a_finding_is_debugged_where_it_was_found(tmp_path: Path) -> None:
    with terminal(tmp_path, kernels.RACE, options=("--debug-on-finding",)) as screen:
        screen.shows(RECORDED_HINT)
        screen.shows("CUDA Exception: race")
        screen.enter("reverse-stepi\r")
        screen.shows("(ptx) reverse-stepi")
        screen.enter("\x04")
        assert screen.ended() == 1


def test_completion(tmp_path: Path) -> None:
    with terminal(tmp_path, kernels.DIVERGENT) as screen:
        screen.enter("sta\t")
        screen.shows("(ptx) start")
        screen.type("\r")
        screen.shows("10      ld.param.u64 %rd0, [out];")
        screen.enter("info cuda bl\t")
        screen.shows("(ptx) info cuda blocks")
        screen.type("\r")
        screen.shows("1 running")
        screen.enter("print %ct\t")
        lines = screen.shows("%ctaid.z")
        assert any("%ctaid.x" in line for line in lines)
        screen.type("x\r")
        screen.shows("$1 = 0")
        screen.enter("break div\t")
        screen.shows("(ptx) break divergent")
        screen.type("\r")
        screen.shows("Breakpoint 1 at divergent")


def test_interrupt_of_an_endless_loop(tmp_path: Path) -> None:
    without_end = "--debug", "--limit", str(1 << 60)  # not before the interrupt, however late that is
    with terminal(tmp_path, ENDLESS, options=without_end) as screen:
        screen.enter("run\r")
        screen.shows("Starting program: loop")
        screen.type("\x03")
        screen.shows("Program received signal SIGINT, Interrupt.")
        screen.enter("print %r1 > 0\r")
        screen.shows("$1 = ")
        screen.enter("nonsense\x03")  # gives up the line
        screen.shows("Quit")
        screen.enter("quit\r")
        assert screen.ended() == 0


def test_tables_fit_the_terminal_also_when_it_is_resized(tmp_path: Path) -> None:
    with terminal(tmp_path, kernels.DIVERGENT, 200) as screen:
        screen.enter(f"tbreak {kernels.JOIN}\r")
        screen.shows("Temporary breakpoint 1")
        screen.enter("run\r")
        screen.shows("Starting program")
        screen.enter("print/w %r1\r")
        wide = screen.shows("131")
        assert sum(line.startswith("lane ") for line in wide) == 1
        screen.resize(60)
        screen.enter("print/w %r1 + 1000\r")
        narrow = screen.shows("1131")
        assert sum(line.startswith("lane ") for line in narrow) > 1
