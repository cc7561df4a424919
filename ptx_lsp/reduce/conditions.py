"""The conditions that a reduction preserves."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.lint.rule import Rule
from ptx_lsp.reduce.processes import Outcome, Stop, run
from ptx_lsp.reduce.program import Program

PLACEHOLDER: Final = "{}"
_INTERNAL: Final = re.compile(
    r"internal error|assertion|unexpected error|C7\d\d\d.*internal", re.IGNORECASE
)
_VARIABLE: Final = re.compile(r"0x[0-9a-fA-F]+|\d+|'[^']*'")
_CRASHED_IN_SHELL: Final = 128
"""A shell adds the number of the signal that ended a command to this."""


class Condition(Protocol):
    """A condition on a PTX file."""

    @property
    def identity(self) -> str:
        """Equal only for conditions that hold for the same files."""
        ...

    def holds(self, path: Path, timeout_s: float | None, stop: Stop) -> bool:
        """Whether the file satisfies it. A command that takes longer than `timeout_s` fails."""
        ...


@dataclass(frozen=True)
class Command:
    """A command of the shell succeeds (status 0). It runs in the current folder; its temporary files are put
    beside the candidate.
    """

    template: str

    @property
    def identity(self) -> str:
        return f"--if {self.template}"

    def holds(self, path: Path, timeout_s: float | None, stop: Stop) -> bool:
        environment = dict(
            os.environ, TMPDIR=str(path.parent), TMP=str(path.parent), TEMP=str(path.parent)
        )
        return run(self.line(path), timeout_s, stop, environment=environment).status == 0

    def line(self, path: Path) -> str:
        """The command for one file."""
        name = (
            shlex.quote(str(path)) if os.name == "posix" else subprocess.list2cmdline([str(path)])
        )
        if PLACEHOLDER in self.template:
            return self.template.replace(PLACEHOLDER, name)
        return f"{self.template} {name}"


@dataclass(frozen=True)
class Assembler:
    """ptxas with the options that a user gives."""

    ptxas: str
    options: tuple[str, ...] = ()

    def run(self, path: Path, timeout_s: float | None, stop: Stop) -> Outcome:
        command = [self.ptxas, *self.options, "-o", os.devnull, path.name]
        return run(command, timeout_s, stop, folder=str(path.parent), reads_output=True)


@dataclass(frozen=True)
class Crash:
    """ptxas crashes, in the way that `signature` describes."""

    assembler: Assembler
    signature: str

    @property
    def identity(self) -> str:
        return f"--crash {self.assembler} {self.signature}"

    def holds(self, path: Path, timeout_s: float | None, stop: Stop) -> bool:
        return crash_signature(self.assembler.run(path, timeout_s, stop)) == self.signature


def crash_signature(outcome: Outcome) -> str | None:
    """The identity of a crash: its signal and the message of ptxas without numbers and names; None if ptxas
    did not crash.
    """
    internal = next((line for line in outcome.output.splitlines() if _INTERNAL.search(line)), None)
    status = outcome.status
    if status is not None and status >= _CRASHED_IN_SHELL and os.name == "posix" and status != 255:
        status = _CRASHED_IN_SHELL - status
    is_crash = status is not None and (status < 0 or status >= 0xC000_0000)  # Windows: an exception
    if internal is None and not is_crash:
        return None
    said = _VARIABLE.sub("#", internal.split(":", 1)[-1].strip()) if internal else ""
    return f"status {status}: {said}" if is_crash else said


@dataclass(frozen=True)
class Message:
    """ptxas prints a text."""

    assembler: Assembler
    text: str

    @property
    def identity(self) -> str:
        return f"--message {self.assembler} {self.text}"

    def holds(self, path: Path, timeout_s: float | None, stop: Stop) -> bool:
        return self.text in self.assembler.run(path, timeout_s, stop).output


@dataclass(frozen=True)
class Finding:
    """`ptx-lint` has a finding of a rule, given by its name or its code."""

    rule: str

    @property
    def identity(self) -> str:
        return f"--finding {self.rule}"

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of this name or code."""
        return tuple(one for one in all_rules() if self.rule in (one.name, one.code))

    def holds(self, path: Path, timeout_s: float | None, stop: Stop) -> bool:
        return bool(LintSession(Program(path.read_bytes()).module, self.rules).diagnostics)
