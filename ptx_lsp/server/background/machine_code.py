"""Assembles and disassembles open files, on request.

The runs are those of `measuring`: on a copy of the text, in the background, killed when the text changes.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ptx_lsp import nvdisasm
from ptx_lsp.isa.target import Target
from ptx_lsp.nvdisasm import MachineInstruction
from ptx_lsp.ptxas import PtxasError, Report
from ptx_lsp.server.background.measuring import (
    Choice,
    Measured,
    Measuring,
    Program,
    judge,
    text_key,
)
from ptx_lsp.server.background.process import run
from ptx_lsp.server.openfile import ClientFile
from ptx_lsp.server.skeleton import MOST_BYTES
from ptx_lsp.server.threads import Threads
from ptx_lsp.text import Source

_log = logging.getLogger(__name__)

_CUBIN = "output.cubin"
_TIMEOUT = 60.0
"""Seconds that nvdisasm may take."""
_MOST_OUTPUT = 256 << 20
_KEPT = 8
"""The number of texts whose machine code is kept."""


class MachineCode(NamedTuple):
    """The machine code of a text. `problem` is the reason why there is none, if any."""

    version: str = ""
    report: Report | None = None
    functions: Mapping[str, tuple[MachineInstruction, ...]] = {}
    problem: str = ""


class Disassembling:
    """The machine code of open files. Everything but the programs is on the event loop."""

    def __init__(self, threads: Threads, measuring: Measuring) -> None:
        self._threads = threads
        self._measuring = measuring
        self._results: OrderedDict[bytes, MachineCode] = OrderedDict()
        self._running: dict[ClientFile, tuple[bytes, asyncio.Future[MachineCode]]] = {}

    async def machine_code(self, file: ClientFile, source: Source, target: Target | None) -> MachineCode:
        """The machine code of a text of a file for `target`, else for the file's own target."""
        if len(source.data) > MOST_BYTES:
            return MachineCode(problem="the file is too large for the editor")
        key = text_key(source.data, target)
        if key in self._results:
            return self._results[key]
        earlier = self._running.get(file)
        if earlier is None or earlier[0] != key:
            self.forget(file)
            task = asyncio.ensure_future(self._disassemble(source.data, target))
            self._running[file] = key, task
        else:
            task = earlier[1]
        await asyncio.wait((task,))
        if self._running.get(file) == (key, task):
            del self._running[file]
        if task.cancelled():
            return MachineCode(problem="the text has changed")
        found = task.result()
        if not found.problem:
            self._results[key] = found
            if len(self._results) > _KEPT:
                self._results.popitem(last=False)
        return found

    def changed(self, file: ClientFile, choice: Choice) -> None:
        """Ends the work on a file whose text or target is another one now. Other settings do not matter: they
        may be known after the first request only.
        """
        if file in self._running:
            key, _ = self._running[file]
            if not choice.is_on or key != text_key(file.source.data, choice.target):
                self.forget(file)

    def forget(self, file: ClientFile) -> None:
        """Ends the work on a file that was closed, or on its earlier text."""
        running = self._running.pop(file, None)
        if running is not None:
            running[1].cancel()

    def close(self) -> None:
        """Ends everything."""
        for file in list(self._running):
            self.forget(file)

    async def _disassemble(self, data: bytes, target: Target | None) -> MachineCode:
        """Never raises an Exception: a failure is a result, too."""
        program = await self._measuring.program()
        if isinstance(program, Measured):
            return MachineCode(problem=program.problem)
        try:
            tool = await self._threads.answer(nvdisasm.find, program.path)
            if tool is None:
                return MachineCode(program.version, problem="nvdisasm was not found")
            return await self._with(program, tool, data, target)
        except PtxasError as error:
            return MachineCode(program.version, problem=str(error))
        except Exception as error:
            _log.exception("machine code")
            return MachineCode(program.version, problem=f"{type(error).__name__}: {error}")

    async def _with(
        self, program: Program, tool: Path, data: bytes, target: Target | None
    ) -> MachineCode:
        with tempfile.TemporaryDirectory(prefix="ptx-lsp-", ignore_cleanup_errors=True) as folder:
            report = await judge(program, data, target, folder, _CUBIN)
            if not report.accepted:
                return MachineCode(program.version, report, problem=_rejection(report))
            listings: list[str] = []
            for options in (nvdisasm.LINES, nvdisasm.LIVE):
                done = await run([str(tool), *options, _CUBIN], _TIMEOUT, folder, _MOST_OUTPUT)
                if done.status:
                    raise PtxasError(f"`{tool}` ended with {done.status}: {done.output[:200].strip()}")
                listings.append(done.output)
        functions = await self._threads.answer(nvdisasm.read, *listings)
        return MachineCode(program.version, report, functions)


def _rejection(report: Report) -> str:
    for one in report.messages:
        if one.severity in ("error", "fatal"):
            where = f"line {one.line}: " if one.line is not None else ""
            return f"ptxas rejects the text: {where}{one.text}"
    return "ptxas rejects the text"
