"""A session at a terminal: reads lines, carries them out, and prints what they say."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Protocol

from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.interpreter import Interpreter
from ptx_lsp.debug.console.report import report, stopped_text
from ptx_lsp.debug.program import Program
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.debug.terminal.debuggee import TerminalDebuggee

PROMPT = "(ptx) "
HINT = 'Type "break LINE" and "run", or "start"; "help" lists the commands.'
RECORDED_HINT = 'Type "reverse-step" or "info threads" at the error; "help" lists the commands.'
"""The first steps, for a person at the terminal."""
_WIDTH = 80
"""Columns of output to a file or another program."""


class Reader(Protocol):
    """Reads the lines of a session. Raises EOFError at the end, KeyboardInterrupt if the user interrupts."""

    def read(self) -> str: ...


class PlainReader:
    """Reads standard input. What does not come from a terminal is printed, as if it were typed."""

    def read(self) -> str:
        is_typed = sys.stdin.isatty()
        print(PROMPT, end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        if not is_typed:
            print(line.rstrip("\r\n"), flush=True)
        return line


class Session:
    """A user and a kernel."""

    def __init__(self, program: Program) -> None:
        """Raises RequestError if the launch is impossible."""
        self.debuggee = TerminalDebuggee(program, _print)
        self.console = Console(self.debuggee, _width)
        self.interpreter = Interpreter(self.console)
        self.debuggee.on_stop = lambda stop: report(self.console, stop)

    def serve(self, reader: Reader) -> bool:
        """Carries out lines until the user quits; whether the kernel was without problems."""
        while not self.console.is_over:
            try:
                line = reader.read()
            except EOFError:
                _print("quit\n")
                break
            except KeyboardInterrupt:
                _print("Quit\n")
                continue
            self.execute(line)
        is_good = not self.debuggee.is_bad
        self.debuggee.end()
        return is_good

    def execute(self, line: str) -> None:
        """Carries out a line; if it fails, says why."""
        try:
            with self.debuggee.interruptible():
                self.interpreter.execute(line)
        except RequestError as error:
            _print(f"{error}\n")
        except Exception as error:  # a defect in one command must not end the session
            _print(f"ptx-run: internal error: {error!r}\n")

    def status(self) -> str:
        """The thread in focus and its lanes, for the line below the prompt."""
        return stopped_text(self.console) if self.debuggee.view is not None else ""


def serve(program: Program, notice: Callable[[str], None], *first: str) -> bool:
    """Debugs a program with the commands `first` and the lines of standard input; whether the kernel was
    without problems. `notice` receives what the user should know. Raises RequestError if the launch is
    impossible.
    """
    session = Session(program)
    if is_interactive():
        _print(f"{HINT if not first else RECORDED_HINT}\n")
    for line in first:
        session.execute(line)
    return session.serve(_reader(session, notice))


def is_interactive() -> bool:
    """Whether a person is at the terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _reader(session: Session, notice: Callable[[str], None]) -> Reader:
    if not is_interactive():
        return PlainReader()
    try:
        from ptx_lsp.debug.terminal.prompt import PromptReader
    except ImportError:
        notice("no completion and no history: install prompt_toolkit (`pip install 'ptx-lsp[debug]'`)")
        return PlainReader()
    return PromptReader(PROMPT, session.interpreter.completions, session.status)


def _print(text: str) -> None:
    print(text, end="", flush=True)


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _WIDTH
    except (OSError, ValueError):  # no terminal
        return _WIDTH
