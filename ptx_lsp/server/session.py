"""The state of one client connection: open files, settings and published diagnostics."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import NamedTuple

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from ptx_lsp.containers.metadata_beside import metadata_beside
from ptx_lsp.demangler import demangled, short_name
from ptx_lsp.ide.cursor.kernel_metrics import NOTHING_KNOWN, KnownFigures
from ptx_lsp.ide.inline.block_places import BlockPlaces
from ptx_lsp.isa.target import Target
from ptx_lsp.lint.configuration.config import FILE_NAMES
from ptx_lsp.lint.configuration.suppression import Suppressions, suppressed
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.module import Module
from ptx_lsp.server.background.machine_code import Disassembling
from ptx_lsp.server.background.measuring import Choice, Measured, Measuring
from ptx_lsp.server.client import Client
from ptx_lsp.server.containers.known_containers import KnownContainers
from ptx_lsp.server.convert import Converter
from ptx_lsp.server.diagnostics_scheduler import (
    DiagnosticsPolicy,
    DiagnosticsScheduler,
    FileDiagnostics,
)
from ptx_lsp.server.inline.host_file import HostFile
from ptx_lsp.server.inline.host_files import HostFiles
from ptx_lsp.server.inline.host_scheduler import HostDiagnostics
from ptx_lsp.server.memory import DELAY, MUCH, give_back
from ptx_lsp.server.openfile import ClientFile, OpenFile, Snapshot
from ptx_lsp.server.progress import Progress
from ptx_lsp.server.ptxas_findings import with_messages
from ptx_lsp.server.publisher import MOST_TOLD, Notify, Publisher, send, too_large, too_many, worst
from ptx_lsp.server.settings import (
    SECTION,
    Configurations,
    EffectiveSettings,
    Settings,
    ptxas_path,
)
from ptx_lsp.server.skeleton import MOST_BYTES
from ptx_lsp.server.targets import merged
from ptx_lsp.server.threads import Threads
from ptx_lsp.server.workspace.index import WorkspaceIndex
from ptx_lsp.text import Edit, Source

_log = logging.getLogger(__name__)


class View(NamedTuple):
    """A file as one request sees it."""

    file: ClientFile
    snapshot: Snapshot
    version: int | None
    """The version of the client's text."""
    convert: Converter
    settings: EffectiveSettings
    client: Client
    measured: Measured
    """The known answer of ptxas for the text."""
    block: BlockPlaces | None = None
    """Where the text stands in the file, if it is a block of inline assembly."""

    @property
    def module(self) -> Module:
        return self.snapshot.module

    @property
    def known(self) -> KnownFigures:
        """Figures of the kernels from elsewhere than the text; read from disk."""
        if self.block is not None:
            return NOTHING_KNOWN
        path = to_fs_path(self.file.uri) if self.file.uri.startswith("file:") else None
        metadata = metadata_beside(path) if path is not None else NOTHING_KNOWN.metadata
        return KnownFigures(self.settings.dynamic_shared, metadata, self.measured.figures)

    def demangled(self, names: Iterable[str]) -> dict[str, str]:
        """The demangled form of each of `names` that has one, if the settings want it."""
        return demangled(names) if self.settings.settings.demangle else {}

    def display_names(self, names: Iterable[str]) -> dict[str, str]:
        """The demangled forms without return types, parameters and template arguments."""
        return {name: short_name(text) for name, text in self.demangled(names).items()}

    def display_name(self, name: str) -> str:
        """One name, mangled if the settings want it so or it has no other form."""
        return self.display_names([name]).get(name, name)

    def offset(self, position: types.Position) -> int:
        return self.convert.offset(position)


class Session:
    """The state of one connection. Everything here runs on the event loop."""

    def __init__(self, server: LanguageServer, notify: Notify, prepare: Callable[[], None]) -> None:
        """`prepare` does early what else the first messages would wait for."""
        self.server = server
        self.prepare = prepare
        self.client = Client()
        self.threads = Threads()
        self.configurations = Configurations()
        self.index = WorkspaceIndex(self.threads, self.configurations)
        self.containers = KnownContainers()
        self.files: dict[str, OpenFile] = {}
        self.is_shut_down = False
        self._closed_bytes = 0
        """The size of the files closed since memory was given back."""
        self._giving_back: asyncio.TimerHandle | None = None
        self._initial = self.settings = Settings()
        """The settings for all files that the client sent unrequested."""
        self._notify = notify
        self.measuring = Measuring(self.threads, self._report_measurement)
        self.disassembling = Disassembling(self.threads, self.measuring)
        self.publisher = Publisher(server, notify, lambda: self.client)
        self.progress = Progress(server, lambda: self.client)
        policy = DiagnosticsPolicy(
            self._rules,
            self._other_targets,
            self._compute_diagnostics,
            self.publisher.publish,
            self.progress.tell,
        )
        self.scheduler = DiagnosticsScheduler(self.threads, policy)
        self.hosts = HostFiles(
            self.threads, self.publisher, lambda: self.client, self.effective_settings, self.report_error
        )
        self._effective_settings: dict[ClientFile, EffectiveSettings] = {}
        self._reported_errors: set[str] = set()
        self._tasks: set[asyncio.Future[None]] = set()

    def initialize(self, params: types.InitializeParams) -> None:
        self.client = Client.of(params)
        self._initial = self.settings = Settings.read(params.initialization_options)
        path, problem = ptxas_path(params.initialization_options, self.client.folders)
        self.measuring.use(path)
        if problem is not None:
            self.report_error(problem)

    def close(self) -> None:
        """The client has disconnected."""
        for task in self._tasks:
            task.cancel()
        self.scheduler.close()
        self.hosts.scheduler.close()
        self.measuring.close()
        self.disassembling.close()
        self.threads.close()

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Starts a background task. Failures are logged."""

        async def logged() -> None:
            try:
                await work
            except Exception:
                _log.exception("in the background")

        task = asyncio.ensure_future(logged())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- files ----------------------------------------------------------------------------------

    def open(self, item: types.TextDocumentItem) -> None:
        self.close_file(item.uri)
        source = Source(item.text.encode("utf-8", "replace"))
        host = self.hosts.open(item, source)
        if host is not None:
            self.start(self.configure(host))
            return
        file = self.files[item.uri] = OpenFile(
            item.uri, item.version, source, self.threads, self._publish_early
        )
        self.start(self.configure(file))

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        file = self.files.get(uri) or self.hosts.files.get(uri)
        if file is None:
            _log.error("change to a file that is not open: %s", params.text_document.uri)
            return
        for change in params.content_changes:
            file.change(params.text_document.version, self._edit(file, change))
        if not params.content_changes:
            file.count(params.text_document.version)
        if file in self._effective_settings:
            self._analyse(file)

    def close_file(self, uri: str) -> None:
        file = self.files.pop(uri, None)
        host = self.hosts.files.get(uri)
        if file is not None:
            self.scheduler.forget(file)
            self.measuring.forget(file)
            self.disassembling.forget(file)
        elif host is not None:
            self.hosts.close_file(host)
        closed = file or host
        if closed is not None:
            self._effective_settings.pop(closed, None)
            self.publisher.forget(closed)
            self._closed_bytes += len(closed.source.data)
            if self._giving_back is not None:
                self._giving_back.cancel()
            self._giving_back = asyncio.get_running_loop().call_later(DELAY, self._give_back)

    def _give_back(self) -> None:
        """Gives memory back once no more files have been closed for a while."""
        self._giving_back = None
        if self._closed_bytes > MUCH or not (self.files or self.hosts.files):
            self._closed_bytes = 0
            self.scheduler.give_back()
            self.hosts.give_back()
            self.start(self.threads.answer(give_back))

    async def view(self, uri: str) -> View | None:
        """The file in its current state; None if it is not open."""
        file = self.files.get(uri)
        if file is None:
            return None
        return self.view_of(file, await file.read())

    def view_of(self, file: OpenFile, snapshot: Snapshot) -> View:
        convert = Converter(file.uri, snapshot.source, self.client)
        measured = self.measuring.measured(file, snapshot.source)
        settings = self.effective_settings(file)
        return View(file, snapshot, snapshot.version, convert, settings, self.client, measured)

    def measured_of_compared(self, file: OpenFile, source: Source) -> Measured:
        """The known answer of ptxas for a text that a file is compared with, with the file's settings."""
        return self.measuring.compared(file, source, self._choice(file))

    async def view_at(
        self, uri: str, position: types.Position, *, with_expressions: bool = False
    ) -> View | None:
        """The file, or the block of inline assembly at a position; None elsewhere in files in other
        languages. `with_expressions`: what is passed for an operand of a block belongs to it.
        """
        if uri not in self.hosts.files:
            return await self.view(uri)
        found = await self.hosts.block_at(uri, position, with_expressions=with_expressions)
        if found is None:
            return None
        file, snapshot, block, convert = found
        settings, measured = self.effective_settings(file), Measured("off")
        return View(
            file, block, snapshot.version, convert, settings, self.client, measured, convert.places
        )

    def effective_settings(self, file: ClientFile) -> EffectiveSettings:
        """The settings of a file, at least until the client has sent more."""
        found = self._effective_settings.get(file)
        return found if found is not None else self.configurations.effective_settings(file.uri, self.settings)

    def _edit(self, file: ClientFile, change: types.TextDocumentContentChangeEvent) -> Edit:
        new = change.text.encode("utf-8", "replace")  # of a lone surrogate, one character is kept
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return Edit(0, len(file.source.data), new)
        start, end = Converter(file.uri, file.source, self.client).span(change.range)
        return Edit(start, end, new)

    # -- settings -------------------------------------------------------------------------------

    async def configure(self, file: ClientFile) -> None:
        """Determines the settings of a file, and analyses it again if they have changed."""
        settings = self.settings
        if self.client.asks_configuration:
            item = types.ConfigurationItem(file.uri, SECTION)
            try:
                asked = self.server.workspace_configuration_async(types.ConfigurationParams([item]))
                answer = await asyncio.wait_for(asked, _PATIENCE)
                settings = Settings.read(answer[0], settings) if answer else settings
            except Exception as error:
                _log.warning("the client did not send its settings: %r", error)
        if file not in (self.files.get(file.uri), self.hosts.files.get(file.uri)):
            return
        wanted = self.configurations.effective_settings(file.uri, settings)
        if wanted.config_error is not None:
            self.report_error(wanted.config_error)
        if self._effective_settings.get(file) != wanted:
            self._effective_settings[file] = wanted
            if isinstance(file, OpenFile):
                file.set_targets(wanted.targets)
            elif isinstance(file, HostFile):
                file.turn_off(wanted.inline_off)
            self._analyse(file)

    def configure_all(self) -> None:
        self.configurations.forget()
        client = self.client
        if client.refreshes_hints:
            send(self.server.workspace_inlay_hint_refresh(None))
        if client.refreshes_lenses:
            send(self.server.workspace_code_lens_refresh(None))
        for file in (*self.files.values(), *self.hosts.files.values()):
            self.start(self.configure(file))

    def report_error(self, text: str) -> None:
        """Reports an error to the user, only once."""
        if text not in self._reported_errors:
            self._reported_errors.add(text)
            _log.warning("%s", text)
            shown = types.ShowMessageParams(types.MessageType.Warning, f"ptx-lsp: {text}")
            self.server.window_show_message(shown)

    def settings_changed(self, told: object) -> None:
        """Called when the client announces a change of settings, with or without their values. Missing values
        keep their initial state.
        """
        self.settings = Settings.read(told, self._initial)
        self.configure_all()

    def files_changed(self, uris: Sequence[str]) -> None:
        """Called for files that the server asked to watch."""
        if any(uri.endswith(FILE_NAMES) for uri in uris):
            self.configure_all()

    async def register(self) -> None:
        """Asks the client for notifications that it sends only on request."""
        wanted: list[types.Registration] = []
        if self.client.watches_files:
            watchers = [types.FileSystemWatcher(f"**/{name}") for name in FILE_NAMES]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            wanted.append(types.Registration("configuration-files", method, options))
        if self.client.registers_configuration:
            method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
            told = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            wanted.append(types.Registration("settings", method, told))
        if wanted:
            await self.server.client_register_capability_async(types.RegistrationParams(wanted))

    # -- findings -------------------------------------------------------------------------------

    async def diagnostics(
        self, uri: str, *, early: bool = False, complete: bool = False
    ) -> tuple[OpenFile, FileDiagnostics] | None:
        """The diagnostics of an open file: all, or if that takes long and they need not be `complete`, those
        known so far. With `early`, they may be known before the file is completely read.
        """
        file = self.files.get(uri)
        if file is None:
            return None
        if file not in self._effective_settings:
            await self.configure(file)
        some = self.client.refreshes_diagnostics and not complete
        found = await self.scheduler.diagnostics(file, at_least_some=some, early=early)
        return (file, found) if found is not None else None

    async def host_diagnostics(self, uri: str) -> tuple[HostFile, HostDiagnostics] | None:
        """The diagnostics of an open file in another language."""
        file = self.hosts.files.get(uri)
        if file is not None and file not in self._effective_settings:
            await self.configure(file)
        return await self.hosts.diagnostics(uri)

    def _analyse(self, file: ClientFile) -> None:
        """Analyses a file that has changed, or whose settings have."""
        if isinstance(file, HostFile):
            self.hosts.scheduler.schedule(file)
        elif isinstance(file, OpenFile):
            choice = self._choice(file)
            self.disassembling.changed(file, choice)
            self.measuring.schedule(file, choice)
            self.scheduler.schedule(file)

    def _choice(self, file: OpenFile) -> Choice:
        wanted = self.effective_settings(file)
        return Choice(wanted.settings.ptxas, wanted.target)

    def _report_measurement(self, file: OpenFile, has_other_messages: bool) -> None:
        """Called when ptxas has finished, or has failed."""
        if self.client.refreshes_lenses:
            send(self.server.workspace_code_lens_refresh(None))
        if MEASURED in self.client.notifications:
            self._notify(MEASURED, {"textDocument": {"uri": file.uri}})
        if has_other_messages:
            self.publisher.expect_more(file)
            self.scheduler.schedule(file)

    def _compute_diagnostics(self, file: OpenFile, lintings: Sequence[LintSession]) -> list[Diagnostic]:
        """The findings to publish; runs in the scheduler's thread."""
        module = lintings[0].module
        source = module.document.source
        if len(source.data) > MOST_BYTES:
            return [too_large(source)]
        found = self._own_diagnostics(file, lintings)
        if not lintings[0].is_complete:
            return found
        messages, rules = self.measuring.messages(file, source), self.effective_settings(file).rules
        return with_messages(found, messages, module, rules)

    def _own_diagnostics(self, file: OpenFile, lintings: Sequence[LintSession]) -> list[Diagnostic]:
        linting = lintings[0]
        rules, source = self.effective_settings(file).rules, linting.module.document.source
        if len(lintings) > 1:
            everything = suppressed(merged(lintings, rules), source, rules.names)
            return worst(everything, source)
        if _IGNORING in source.data:
            found, total = linting.diagnostics, 0
        else:
            found, total = linting.worst(MOST_TOLD)
        found = list(rules.judged(found))
        if total > len(found) and total > MOST_TOLD:
            return [*found, too_many(source, total)]
        if not linting.is_complete:  # a later comment may suppress something
            return list(Suppressions(source).kept(found))
        return suppressed(found, source, rules.names)

    def _publish_early(self, file: OpenFile, damaged: Module) -> None:
        """The errors of syntax, while a large file is still being read."""
        if self.files.get(file.uri) is not file:
            return
        wanted = self.effective_settings(file)
        syntax = [rule for rule in wanted.chosen if rule.name == "syntax-error"]
        linting = LintSession(damaged, syntax)
        found = wanted.rules.judged(linting.diagnostics)
        source = damaged.document.source
        kept = list(Suppressions(source).kept(found))
        snapshot = Snapshot(file.revision, file.version, damaged)
        early = FileDiagnostics(snapshot, linting, kept, is_complete=False, is_early=True)
        self.scheduler.set_early_diagnostics(file, early)
        self.publisher.publish(file, early)

    def _other_targets(self, file: OpenFile) -> tuple[Target, ...]:
        return self.effective_settings(file).targets[1:] if len(file.source.data) <= MOST_BYTES else ()

    def _rules(self, file: OpenFile) -> tuple[Rule, ...]:
        return self.effective_settings(file).chosen if len(file.source.data) <= MOST_BYTES else ()


_IGNORING = b"ptx-lint:"
MEASURED = "ptx/measured"
"""The notification that ptxas has finished with a file, or has failed."""
_PATIENCE = 2.0
"""Seconds that a client has for sending its settings."""
