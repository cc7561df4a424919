"""Runs ptxas in the background on the texts of open files, and on those that they are compared with.

A run starts after a pause in typing, on a copy of the text in a private folder. One program runs at a time,
for the file that was changed last. A run is killed when its text changes, its file is closed or the server
ends. Results are kept by the content of the text, so that undoing an edit shows them at once. If ptxas
fails in any way, only its own results are lost.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from ptx_lsp import ptxas
from ptx_lsp.ide.cursor.measurements import Measurements
from ptx_lsp.isa.target import Target
from ptx_lsp.ptxas import INPUT, Message, Outcome, PtxasError, Report, Resources
from ptx_lsp.server.background.kept_messages import kept_messages
from ptx_lsp.server.background.process import run
from ptx_lsp.server.json import Json
from ptx_lsp.server.openfile import OpenFile
from ptx_lsp.server.skeleton import MOST_BYTES
from ptx_lsp.server.threads import Threads
from ptx_lsp.text import Source

_log = logging.getLogger(__name__)

PAUSE = 0.3
"""Seconds without an edit before ptxas runs."""
TIMEOUT = 120.0
"""Seconds that ptxas may take for a text."""
_TIMEOUT_OF_VERSION = 10.0
_KEPT = 100
"""The number of texts whose results are kept."""

State: TypeAlias = Literal["measured", "running", "failed", "off", "absent"]


class Measured(NamedTuple):
    """The answer of ptxas for one text. `problem` is the reason why there is no report, if any."""

    state: State
    version: str = ""
    report: Report | None = None
    problem: str = ""

    @property
    def figures(self) -> Measurements:
        return Measurements(self.version, self.report.kernels if self.report is not None else {})

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.report.messages if self.report is not None else ()


class Choice(NamedTuple):
    """The settings that determine whether and how ptxas runs on a file."""

    is_on: bool = True
    target: Target | None = None
    """None for the file's own."""


class Program(NamedTuple):
    path: Path
    version: str
    architectures: tuple[str, ...]


class _Case:
    """The state of a file, or of the text that it is compared with."""

    def __init__(self, file: OpenFile) -> None:
        self.file = file
        self.source: Source | None = None
        self.choice = Choice()
        self.key = b""
        self.measured = Measured("running")
        self.messages: tuple[Message, ...] = ()
        """What ptxas says; until it has answered, what it said about an earlier text and still holds."""
        self.pause: asyncio.TimerHandle | None = None

    def is_for(self, source: Source, choice: Choice) -> bool:
        """Whether this is about the same text, however it was read."""
        return self.source is not None and self.source.data == source.data and self.choice == choice


class Measuring:
    """The runs of ptxas for all open files. Everything but ptxas itself is on the event loop; `measured` may
    be called in any thread.
    """

    def __init__(self, threads: Threads, changed: Callable[[OpenFile, bool], None]) -> None:
        """`changed` is called when there is a new result, or a reason why there is none, and with whether the
        messages are others.
        """
        self._threads = threads
        self._changed = changed
        self._cases: dict[OpenFile, _Case] = {}
        self._compared: dict[OpenFile, _Case] = {}
        """The text that each file is compared with."""
        self._queue: dict[_Case, None] = {}
        """The one changed last is the last."""
        self._results: OrderedDict[bytes, Measured] = OrderedDict()
        self._path: Path | None = None
        self._program: asyncio.Future[Program | Measured] | None = None
        self._current: tuple[_Case, asyncio.Future[Measured]] | None = None
        self._working: asyncio.Future[None] | None = None
        self._one_of_others = asyncio.Lock()
        """Held by the one text that is no open file's and is measured."""

    def use(self, path: Path | None) -> None:
        """Uses this ptxas; None for the one that is found."""
        self._path = path
        self._program = None

    def measured(self, file: OpenFile, source: Source) -> Measured:
        """The known answer of ptxas for a text of a file."""
        case = self._cases.get(file)
        return case.measured if case is not None and case.source is source else Measured("running")

    def messages(self, file: OpenFile, source: Source) -> Sequence[Message]:
        """The messages of ptxas about a text of a file, as far as they are known."""
        case = self._cases.get(file)
        return case.messages if case is not None and case.source is source else ()

    def schedule(self, file: OpenFile, choice: Choice) -> None:
        """Call this after each change of a file or of its settings."""
        case = self._cases.setdefault(file, _Case(file))
        if case.source is file.source and case.choice == choice:
            return
        earlier, messages = case.source, case.messages if case.choice == choice else ()
        self._begin(case, file.source, choice, PAUSE)
        if case.measured.state == "measured":
            case.messages = case.measured.messages
            self._changed(file, bool(messages or case.messages))
        elif case.measured.state == "running" and earlier is not None:
            case.messages = kept_messages(messages, earlier, file.source)
        else:
            case.messages = ()

    def compared(self, file: OpenFile, source: Source, choice: Choice) -> Measured:
        """The known answer of ptxas for a text that a file is compared with. If there is none, ptxas runs,
        and the file is reported as changed then.
        """
        own = self._cases.get(file)
        if own is not None and own.is_for(source, choice):
            return own.measured
        case = self._compared.setdefault(file, _Case(file))
        if not case.is_for(source, choice):
            self._begin(case, source, choice, 0)
        return case.measured

    async def of_text(self, data: bytes, choice: Choice) -> Measured:
        """The answer of ptxas for a text that no open file has. It runs when it is done with those."""
        if not choice.is_on:
            return Measured("off")
        key = text_key(data, choice.target)
        async with self._one_of_others:
            while self._working is not None and not self._working.done():
                await asyncio.wait((self._working,))
            known = self._results.get(key)
            return known if known is not None else self._kept(key, await self._judged(data, choice.target))

    def _begin(self, case: _Case, source: Source, choice: Choice, pause: float) -> None:
        self._stop(case)
        case.source, case.choice, case.key = source, choice, b""
        data = source.data
        if not choice.is_on:
            case.measured = Measured("off")
            return
        if len(data) > MOST_BYTES:
            case.measured = Measured("off", problem="the file is too large for the editor")
            return
        case.key = text_key(data, choice.target)
        known = self._results.get(case.key)
        if known is not None:
            self._results.move_to_end(case.key)
            case.measured = known
            return
        case.measured = Measured("running")
        case.pause = asyncio.get_running_loop().call_later(pause, self._start, case)

    def forget(self, file: OpenFile) -> None:
        """Stops the work on a file that was closed."""
        for cases in (self._cases, self._compared):
            case = cases.pop(file, None)
            if case is not None:
                self._stop(case)

    def close(self) -> None:
        """Ends everything."""
        for file in list(self._cases):
            self.forget(file)
        for one in (self._working, self._program):
            if one is not None:
                one.cancel()

    def _stop(self, case: _Case) -> None:
        self._queue.pop(case, None)
        if case.pause is not None:
            case.pause.cancel()
        if self._current is not None and self._current[0] is case:
            self._current[1].cancel()

    # -- the work -------------------------------------------------------------------------------

    def _start(self, case: _Case) -> None:
        self._queue[case] = None
        if self._working is None or self._working.done():
            self._working = asyncio.ensure_future(self._work())

    async def _work(self) -> None:
        while self._queue:
            case = next(reversed(self._queue))
            del self._queue[case]
            key = case.key
            assert case.source is not None
            task = asyncio.ensure_future(self._judged(case.source.data, case.choice.target))
            self._current = case, task
            try:
                await asyncio.wait((task,))
            finally:
                self._current = None
                task.cancel()  # if this is cancelled itself
            if task.cancelled():
                continue
            found = self._kept(key, task.result())
            is_open = case in (self._cases.get(case.file), self._compared.get(case.file))
            if is_open and case.key == key:  # not changed meanwhile
                is_new, case.messages = case.messages != found.messages, found.messages
                case.measured = found
                self._changed(case.file, is_new)

    def _kept(self, key: bytes, found: Measured) -> Measured:
        """A result, from now on known."""
        if found.state == "measured":
            self._results[key] = found
            if len(self._results) > _KEPT:
                self._results.popitem(last=False)
        return found

    async def _judged(self, data: bytes, target: Target | None) -> Measured:
        """Never raises an Exception: a failure is a result, too."""
        program = await self.program()
        if isinstance(program, Measured):
            return program
        try:
            with tempfile.TemporaryDirectory(prefix="ptx-lsp-", ignore_cleanup_errors=True) as folder:
                report = await judge(program, data, target, folder)
            return Measured("measured", program.version, report)
        except PtxasError as error:
            _log.warning("%s", error)
            return Measured("failed", program.version, problem=str(error))
        except Exception as error:
            _log.exception("ptxas")
            return Measured("failed", program.version, problem=f"{type(error).__name__}: {error}")

    async def program(self) -> Program | Measured:
        """The program, or why there is none; it is searched for once."""
        if self._program is None:
            self._program = asyncio.ensure_future(self._find())
        return await asyncio.shield(self._program)

    async def _find(self) -> Program | Measured:
        try:
            path = await self._threads.answer(ptxas.find, self._path)
            if path is None:
                return Measured("absent", problem="ptxas was not found")
            told = [await run([str(path), word], _TIMEOUT_OF_VERSION) for word in ("--version", "--help")]
            version = ptxas.read_version(path, told[0].output)
        except PtxasError as error:
            _log.warning("%s", error)
            return Measured("absent", problem=str(error))
        _log.info("ptxas %s: %s", version, path)
        return Program(path, version, ptxas.read_architectures(told[1].output))


def text_key(data: bytes, target: Target | None) -> bytes:
    """The key of the results for a text and a target."""
    return blake2b(data, key=str(target or "").encode()).digest()


def state_json(found: Measured) -> Json:
    """Whether ptxas has measured a text, for requests beyond LSP."""
    return {"state": found.state, "version": found.version or None, "problem": found.problem or None}


def measured_json(found: Resources, version: str) -> Json:
    """The resources of a kernel, for requests beyond LSP."""
    return {
        "registers": found.registers,
        "spillStoreBytes": found.spill_store_bytes,
        "spillLoadBytes": found.spill_load_bytes,
        "stackBytes": found.stack_bytes,
        "sharedBytes": found.shared_bytes,
        "ptxas": version,
    }


async def judge(
    program: Program, data: bytes, target: Target | None, folder: str, output: str | None = None
) -> Report:
    """The report of ptxas on a copy of the text in `folder`. If `output` is given, that file there gets the
    machine code. Raises PtxasError.
    """
    if target is not None and str(target) not in program.architectures:
        raise PtxasError(f"ptxas {program.version} does not support {target}")
    arch = str(target) if target is not None else ptxas.architecture_among(data, program.architectures)
    work = ptxas.judging(program.path, arch, output=output)
    Path(folder, INPUT).write_bytes(data)
    options = next(work)
    while True:
        outcome = await run([str(program.path.absolute()), *options], TIMEOUT, folder)
        try:
            options = work.send(outcome)
        except StopIteration as done:
            return _checked(outcome, done.value)


def _checked(outcome: Outcome, report: Report) -> Report:
    """Raises PtxasError if a program that accepts the text says nothing that ptxas would say."""
    if outcome.status == 0 and not report.kernels and not report.functions and "ptxas" not in outcome.output:
        raise PtxasError(f"ptxas printed {outcome.output[:60]!r}")
    return report
