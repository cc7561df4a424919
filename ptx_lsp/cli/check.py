"""Lints one file, in this process or in another one."""

from __future__ import annotations

import gc
import logging
import traceback
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ptx_lsp.cli import assembler
from ptx_lsp.cli.inputs import Input, InputError, read
from ptx_lsp.cli.requirements import needed
from ptx_lsp.isa.target import TARGETS, Target, parse_target
from ptx_lsp.lint.engine import Linting
from ptx_lsp.lint.report import FileReport, Kernel, Reported, by_place, reported
from ptx_lsp.lint.selection import Rules
from ptx_lsp.lint.suppression import Suppressions, unused_rules
from ptx_lsp.model.module import Module
from ptx_lsp.ptxas import Resources
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source


class Settings(NamedTuple):
    """What is wanted of each file; small, as it is sent to other processes."""

    rules: Rules
    targets: tuple[str, ...] = ()
    """Judged for in place of the file's own."""
    ptxas: Path | None = None
    ptxas_messages: bool = True
    requires: bool = False
    """Whether to tell what a file needs."""
    kernels: bool = False
    """Whether the figures of kernels are wanted."""
    details: bool = False
    """Whether a page is to show them."""
    threads: int | None = None
    """The size of a block where the kernel leaves it open."""


class Judged(NamedTuple):
    """What one target has against a file, and the kernels as they are for it."""

    found: list[Reported]
    kernels: list[Kernel]
    complaint: str | None = None
    """Why ptxas could not be asked."""


def check(one: Input, settings: Settings) -> FileReport:
    """All about one input. Never raises an Exception: what goes wrong is told in the report."""
    with _failures() as failures, _uninterrupted():
        try:
            report = _check(one.path, Source(read(one)), settings)
        except InputError as error:
            return FileReport(one.path, error=str(error))
        except Exception as error:
            return FileReport(one.path, error=f"internal error, please report it: {located(error)}")
    return report._replace(failures=tuple(failures))


def located(error: BaseException) -> str:
    """An exception in one line, with where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"


def _check(path: str, source: Source, settings: Settings) -> FileReport:
    document = Document.parse(source)
    rules = settings.rules.chosen()
    comments = Suppressions(source)
    wanted = tuple(parse_target(name) for name in settings.targets) or (None,)
    judged: list[Judged] = []
    module, linting = None, None
    for target in wanted:
        module = Module(document, module, target)
        linting = Linting(module, rules, linting)
        judged.append(_judge(linting, target, settings, comments))
        settings = settings._replace(details=False)  # they are the same for every target
    assert module is not None
    found = merged([one.found for one in judged], settings.targets)
    return FileReport(
        path,
        str(module.version) if module.version else None,
        settings.targets[0] if len(settings.targets) == 1 else own_target(module),
        settings.targets,
        tuple(_with_unused(found, comments, settings.rules, source)),
        tuple(kernel for one in judged for kernel in one.kernels),
        complaints=tuple(one.complaint for one in judged if one.complaint is not None),
        needed=needed(module) if settings.requires else None,
    )


def own_target(module: Module) -> str | None:
    """The target of the file itself, whatever the module was made for; ptxas takes the last of a list."""
    names = [name.text for name in module.target_names if parse_target(name.text) in TARGETS]
    return names[-1] if names else None


def _judge(
    linting: Linting, target: Target | None, settings: Settings, comments: Suppressions
) -> Judged:
    module, source = linting.module, linting.module.document.source
    kept = settings.rules.judged(comments.kept(linting.diagnostics))
    found = list(reported(kept, source))
    if settings.ptxas is None:
        return Judged(found, _kernels(module, settings))
    try:
        answer = assembler.ask(source, settings.ptxas, target)
    except assembler.PtxasError as error:
        return Judged(found, _kernels(module, settings), str(error))
    if settings.ptxas_messages:
        found = assembler.with_messages(found, answer, source, comments)
    return Judged(found, _kernels(module, settings, answer.kernels))


def _with_unused(
    found: Iterable[Reported], comments: Suppressions, rules: Rules, source: Source
) -> list[Reported]:
    """The findings, with those on comments that have silenced none of them."""
    diagnostics = (
        one for rule in unused_rules(rules.names) for one in comments.unused(rule, rules.names)
    )
    unused = list(reported(rules.judged(diagnostics), source))
    return sorted([*found, *unused], key=by_place) if unused else list(found)


def _kernels(
    module: Module, settings: Settings, measured: Mapping[str, Resources] | None = None
) -> list[Kernel]:
    """The analyses take long to import, and longer to run: only where someone wants to know."""
    if not settings.kernels:
        return []
    from ptx_lsp.lint.kernels import kernels

    return kernels(module, measured, settings.threads, settings.details)


def merged(by_target: list[list[Reported]], targets: tuple[str, ...]) -> Iterable[Reported]:
    """The findings for several targets as one list: those that only some have say which."""
    if len(by_target) == 1:
        return by_target[0]
    having: dict[Reported, tuple[list[str], list[str]]] = {}
    for target, found in zip(targets, by_target, strict=True):
        for one in found:
            names, notes = having.setdefault(one._replace(notes=()), ([], []))
            names.append(target)
            notes.extend(note for note in one.notes if note not in notes)
    found = [
        one._replace(
            targets=tuple(names) if len(names) < len(targets) else (), notes=tuple(notes)
        )
        for one, (names, notes) in having.items()
    ]
    return sorted(found, key=by_place)


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Keeps the garbage collector from walking the growing tree of a file again and again, which takes
    as long as all the rest. What the file leaves behind is collected at the end.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _failures() -> Generator[list[str]]:
    """Collects what the engine logs, in place of printing it at once."""
    log = logging.getLogger("ptx_lsp")
    collected: list[str] = []
    handler = _Collector(collected)
    log.addHandler(handler)
    try:
        yield collected
    finally:
        log.removeHandler(handler)


class _Collector(logging.Handler):
    def __init__(self, collected: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._collected = collected

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        text = record.getMessage()
        self._collected.append(f"{text}: {located(error)}" if error is not None else text)

