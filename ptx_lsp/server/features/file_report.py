"""`ptx/fileReport`: the kernels of a PTX file that need not be open, with their metrics.

Open files go first: the analysis stops after each few milliseconds, and ptxas runs when it is done with them.
A client that no longer needs an answer cancels the request.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from ptx_lsp.ide.cursor.kernel_metrics import kernel_metrics
from ptx_lsp.lint.configuration.suppression import suppressed
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.server.background.measuring import Choice, Measured
from ptx_lsp.server.containers.member_uri import is_member, path_of
from ptx_lsp.server.convert import Converter
from ptx_lsp.server.feature import handler, uri_of
from ptx_lsp.server.features.panels import KernelReport, kernels_of, on_kernel_report, report_json
from ptx_lsp.server.json import Json
from ptx_lsp.server.openfile import ClientFile, Snapshot
from ptx_lsp.server.ptxas_findings import with_messages
from ptx_lsp.server.request_error import RequestFailedError
from ptx_lsp.server.session import Session, View
from ptx_lsp.server.settings import EffectiveSettings
from ptx_lsp.server.targets import merged
from ptx_lsp.server.threads import Threads
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source

_MOST_BYTES: Final = 2 << 20
"""Larger files must be open."""
_TURN: Final = 0.02
"""Seconds of analysis before that of open files may go on."""


@handler("ptx/fileReport")
async def on_file_report(session: Session, asked: object) -> Json:
    """As `ptx/kernelReport`, but waits for ptxas."""
    uri = uri_of(asked)
    if uri in session.files:
        return await on_kernel_report(session, asked)
    source = await session.threads.read(_read, uri)
    wanted = session.configurations.effective_settings(uri, session.settings)
    measured = await session.measuring.of_text(source.data, Choice(wanted.settings.ptxas, wanted.target))
    text = await session.threads.read(_Text, source, wanted)
    steps = text.steps()
    while not await session.threads.analyse(text.advance, steps, session.threads):
        pass
    snapshot = text.snapshot
    convert = Converter(uri, source, session.client)
    file = ClientFile(uri, None, source)
    view = View(file, snapshot, None, convert, wanted, session.client, measured)
    return await session.threads.answer(_report, view, text)


def _read(uri: str) -> Source:
    path = None if is_member(uri) else path_of(uri)
    if path is None:
        raise RequestFailedError(f"`{uri}` is not a file")
    try:
        if Path(path).stat().st_size > _MOST_BYTES:
            raise RequestFailedError(f"the file is larger than {_MOST_BYTES >> 20} MiB; open it")
        return Source(Path(path).read_bytes())
    except OSError as error:
        raise RequestFailedError(f"`{path}` cannot be read: {error.strerror}") from error


class _Text:
    """A text on disk, and the analysis of it for each target."""

    def __init__(self, source: Source, wanted: EffectiveSettings) -> None:
        document = Document.read(source)
        self._wanted = wanted
        self._snapshots = [
            Snapshot(0, None, Module(document, None, target)) for target in wanted.targets or (None,)
        ]
        """They cut the cycles in their modules when this is no longer used."""
        self._lintings = [
            LintSession(one.module, wanted.chosen, staged=True) for one in self._snapshots
        ]

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshots[0]

    def steps(self) -> Iterator[object]:
        return chain.from_iterable(one.steps() for one in self._lintings)

    def advance(self, steps: Iterator[object], threads: Threads) -> bool:
        """Whether everything is analysed now."""
        end = time.monotonic() + _TURN
        for _ in steps:
            threads.give_way()
            if time.monotonic() > end:
                return False
        return True

    def findings(self, measured: Measured) -> list[Diagnostic]:
        rules, module = self._wanted.rules, self.snapshot.module
        found = suppressed(merged(self._lintings, rules), module.document.source, rules.names)
        return with_messages(found, measured.messages, module, rules)


def _report(view: View, text: _Text) -> Json:
    module, known = view.module, view.known
    kernels = tuple(kernels_of(module))
    report = KernelReport(view, text.findings(view.measured), module, known, kernels)
    return report_json(report, [kernel_metrics(one, known) for one in kernels])
