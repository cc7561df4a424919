"""Lints one file, in this process or in another one."""

from __future__ import annotations

import gc
import math
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager

from ptx_lsp.cli.inputs import Input, InputError, read
from ptx_lsp.cli.settings import Settings
from ptx_lsp.isa.target import TARGETS, Target, parse_target
from ptx_lsp.lint.configuration import budget
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.configuration.suppression import Suppressions, suppressed
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.failures import collected_failures
from ptx_lsp.lint.results.debug_lines import SourceLocations
from ptx_lsp.lint.results.fingerprint import add_fingerprints
from ptx_lsp.lint.results.report import FileReport, Kernel, Needed, Reported, by_place, reported
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source

if TYPE_CHECKING:
    from ptx_lsp.containers.kernel_metadata import KernelMetadata
    from ptx_lsp.lint.fixes.fix_application import FixResult
    from ptx_lsp.ptxas import Resources


class Judged(NamedTuple):
    """The findings of a file on one target, and its kernels for that target."""

    found: list[Reported]
    kernels: list[Kernel]
    complaints: tuple[str, ...] = ()
    """The reasons why ptxas could not run, why a budget could not be checked against a kernel, or why the
    metadata do not describe one.
    """


def check(one: Input, settings: Settings, is_last: bool = False) -> FileReport:
    """The report of one input. Never raises an Exception: the report contains any failure. If `is_last`, the
    memory of the module is left to the end of the process or to the garbage collector.
    """
    with collected_failures() as failures, _uninterrupted():
        try:
            source = Source(read(one))
            if settings.language is None:
                report = _check(one.path, source, settings, is_last)
            elif settings.requires:
                raise InputError("--requires supports PTX files only")
            else:
                report = _check_host(one.path, source, settings)
        except InputError as error:
            if one.was_found and settings.language is not None:
                return FileReport(one.path, language=settings.language)  # not text
            return FileReport(one.path, error=str(error), container=one.container)
        except Exception as error:
            return FileReport(one.path, error=_internal(error), container=one.container)
    told = tuple([f"{text}: {located(error)}" for text, error in failures])
    return report._replace(failures=told, container=one.container)


def _check_host(path: str, source: Source, settings: Settings) -> FileReport:
    from ptx_lsp.cli.checking.check_host import check_host

    return check_host(path, source, settings)


def _internal(error: Exception) -> str:
    """The message for an error that no input causes."""
    from ptx_lsp.unbuilt import unbuilt

    return unbuilt(error) or f"internal error, please report it: {located(error)}"


def located(error: BaseException) -> str:
    """An exception in one line, with the place where it was raised."""
    import traceback
    from pathlib import Path

    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"


def _check(path: str, source: Source, settings: Settings, is_last: bool) -> FileReport:
    document = Document.read(source)
    fixed: tuple[str, ...] = ()
    if settings.fix:
        document, fixed = _mended(document, settings)
        source = document.source
    comments = Suppressions(source)
    wanted = tuple(parse_target(name) for name in settings.targets) or (None,)
    judged: list[Judged] = []
    modules: list[Module] = []
    module, linting = None, None
    for number, target in enumerate(wanted, 1):
        module = Module(document, module, target, settings.threads)
        modules.append(module)
        linting = LintSession(module, settings.rules.awake(module), linting)
        judged.append(_judge(linting, target, settings, comments, number == len(wanted)))
        settings = settings._replace(details=False)  # they are the same for every target
    assert module is not None
    found = merged([one.found for one in judged], settings.targets)
    found = _with_unused(found, comments, settings.rules, module)
    add_fingerprints(found)
    report = FileReport(
        path,
        str(module.version) if module.version else None,
        settings.targets[0] if len(settings.targets) == 1 else own_target(module),
        settings.targets,
        tuple(found),
        tuple(kernel for one in judged for kernel in one.kernels),
        complaints=tuple(dict.fromkeys(text for one in judged for text in one.complaints)),
        needed=_needed(module) if settings.requires else None,
        fixed=fixed,
        text=source.data if fixed else None,
    )
    if not is_last:
        for module in modules:
            module.dispose(module)
    return report


def _needed(module: Module) -> Needed:
    from ptx_lsp.cli.checking.requirements import needed

    return needed(module)


def _mended(document: Document, settings: Settings) -> FixResult:
    """The document after the fixes of what is found and not silenced."""
    from ptx_lsp.lint.fixes.fix_application import apply_fixes

    target = parse_target(settings.targets[0]) if settings.targets else None
    rules = settings.rules.chosen()
    module, linting = None, None

    def judge(document: Document) -> list[Diagnostic]:
        nonlocal module, linting
        module = Module(document, module, target, settings.threads)
        linting = LintSession(module, rules, linting)
        names = settings.rules.names
        return list(settings.rules.judged(suppressed(linting.diagnostics, document.source, names)))

    return apply_fixes(document, judge, settings.fix == "unsafe")


def own_target(module: Module) -> str | None:
    """The target in the file itself, even if the module has another one; ptxas uses the last of a list."""
    names = [name.text for name in module.target_names if parse_target(name.text) in TARGETS]
    return names[-1] if names else None


def _judge(
    linting: LintSession,
    target: Target | None,
    settings: Settings,
    comments: Suppressions,
    is_last: bool,
) -> Judged:
    module, source = linting.module, linting.module.document.source
    kept = list(settings.rules.judged(comments.kept(linting.once(is_last))))
    origins = SourceLocations(module)
    found: list[Reported] | None = None
    measured, complaints = None, list[str]()
    if settings.ptxas is not None:
        from ptx_lsp.cli.checking import assembler

        try:
            answer = assembler.ask(source, settings.ptxas, target, settings.maxrregcount)
        except assembler.PtxasError as error:
            complaints.append(str(error))
        else:
            measured = answer.kernels
            if settings.ptxas_messages:
                found = assembler.with_messages(kept, answer, source, comments, origins.of)
    if found is None:
        found = list(reported(kept, source, origins.of))
    rows = _kernels(module, settings, measured)
    if settings.metadata is not None:
        complaints += _contradictions(module, rows, settings.metadata)
    if settings.budgets and budget.OVER_BUDGET in settings.rules.names:
        over = list(budget.broken(rows, settings.budgets))
        complaints += budget.unchecked(over)
        found += _unsilenced(budget.reported(over, module), comments, settings.rules)
        found.sort(key=by_place)
    return Judged(found, rows, tuple(complaints))


def _unsilenced(
    found: Iterable[Reported], comments: Suppressions, rules: Rules
) -> Iterator[Reported]:
    """The findings that no comment suppresses, with the configured severity."""
    own = dict(rules.severities)
    for one in found:
        line = one.mark.start.line - 1
        if not comments.silence_lines(one.rule, one.code, line, line):
            yield one._replace(severity=own.get(one.rule, one.severity))


def _with_unused(
    found: list[Reported], comments: Suppressions, rules: Rules, module: Module
) -> list[Reported]:
    """The findings, plus findings about comments that suppress none of them."""
    told = rules.judged(comments.unused(rules.names))
    unused = list(reported(told, module.document.source, SourceLocations(module).of))
    return sorted([*found, *unused], key=by_place) if unused else found


def _kernels(
    module: Module, settings: Settings, measured: Mapping[str, Resources] | None = None
) -> list[Kernel]:
    """The kernels. The analyses are slow to import and to run, so this is called only on request."""
    if not (settings.kernels or settings.budgets):
        return []
    from ptx_lsp.lint.results.kernels import kernels

    threads = math.prod(settings.threads) if settings.threads is not None else None
    return kernels(
        module, measured, threads, settings.details, settings.maxrregcount,
        settings.dynamic_shared, settings.metadata, settings.fingerprints,
    )


def _contradictions(
    module: Module, rows: Iterable[Kernel], metadata: Mapping[str, KernelMetadata]
) -> Iterator[str]:
    """One line for each figure of a kernel that contradicts its metadata."""
    from ptx_lsp.lint.results.metadata import contradictions, metadata_of

    functions = {one.name: one for one in module.functions if one.is_kernel}
    for row in rows:
        known = metadata_of(functions[row.name], metadata)
        yield from contradictions(row, known, own_target(module))


def merged(by_target: list[list[Reported]], targets: tuple[str, ...]) -> list[Reported]:
    """The findings for several targets as one list. A finding that only some targets have names them."""
    if len(by_target) == 1:
        return by_target[0]
    having: dict[Reported, tuple[list[str], list[str]]] = {}
    for target, found in zip(targets, by_target, strict=True):
        for one in found:
            names, notes = having.setdefault(one._replace(notes=()), ([], []))
            names.append(target)
            notes.extend(note for note in one.notes if note not in notes)
    found = (
        one._replace(
            targets=tuple(names) if len(names) < len(targets) else (), notes=tuple(notes)
        )
        for one, (names, notes) in having.items()
    )
    return sorted(found, key=by_place)


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Prevents the garbage collector from repeatedly traversing the growing tree of a file, which would
    double the time. The garbage is collected at the end.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
