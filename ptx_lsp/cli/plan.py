"""The settings of each file: the command line on top of the file's nearest configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ptx_lsp.cli.arguments import STANDARD_INPUT_NAME, Options, UsageError
from ptx_lsp.cli.inputs import Input, file_of
from ptx_lsp.cli.selection import checked_targets
from ptx_lsp.cli.settings import Settings
from ptx_lsp.embedded.languages import Language, language_of
from ptx_lsp.lint.configuration import config
from ptx_lsp.lint.configuration.budget import Budgets, idle
from ptx_lsp.lint.configuration.config import DEFAULT, Config, ConfigError
from ptx_lsp.lint.configuration.selection import (
    EVERY,
    OVER_BUDGET,
    PTXAS,
    Choice,
    Rules,
    UnknownRuleError,
    chosen,
    did_you_mean,
)
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.lint.results.reporter import BinaryReporter, Reporter, find
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from ptx_lsp.cli.checking.cache import Cache
    from ptx_lsp.containers.kernel_metadata import KernelMetadata
    from ptx_lsp.lint.diagnostic import Severity


class Plan:
    """The settings of every input. Raises UsageError if the command line or a configuration requests
    something that does not exist.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._is_cached = not options.no_cache and not os.environ.get("PTX_LINT_NO_CACHE")
        self._configs: dict[str, Config] = {}
        """By folder."""
        self._by_file: dict[Path, Config] = {}
        self._choice = Choice(
            tuple(options.select) if options.select else None,
            tuple(options.extend_select),
            tuple(options.ignore),
        )
        self._moved: tuple[str, str] | None = None
        self._rules: dict[tuple[Choice, ...], Rules] = {}
        self._program: Path | None = None
        self._looked_for_program = False
        self.notes: list[str] = []
        """The remarks to print before anything else."""
        self._targets = checked_targets(
            [options.target] if options.target is not None else options.targets
        )
        names = {options.format, *(name for name, _ in options.written)}
        written = [one for name in names if (one := find(name)) is not None]
        self._texts_have_kernels = any(one.has_kernels for one in written if isinstance(one, Reporter))
        self._has_binary_reports = any(isinstance(one, BinaryReporter) for one in written)
        self._kernels: dict[tuple[Path, Budgets], set[str]] = {}
        """The names of the kernels to which budgets may apply."""
        self._in_folders: set[Path] = set()
        """The configurations of files that were found in folders."""
        self._chosen(())  # a rule that does not exist is reported even without files

    @property
    def here(self) -> Config:
        """The settings of the run as a whole."""
        return self._config("")

    @property
    def containers(self) -> bool:
        """Whether all containers in directories are opened."""
        return self._options.containers or self.here.containers

    def files(self, inputs: Iterable[Input]) -> list[Path]:
        """The configurations that apply to any of the inputs."""
        configs = [*(self._config_of(one) for one in inputs), self.here]
        found = {one.path for one in {id(one): one for one in configs}.values()}
        return [path for path in found if path is not None]

    @property
    def fail_on(self) -> str:
        """The lowest severity that fails the run."""
        return self._options.fail_on or self.here.fail_on or "error"

    @property
    def min_severity(self) -> Severity:
        """The lowest severity in reports for people. Whoever selects rules wants to see what they find."""
        options, own = self._options, self.here
        given = options.min_severity or own.min_severity
        if given is not None:
            return given
        choices = (self._choice, own.rules, *(choice for _, choice in own.files))
        if any(one.select is not None or one.extend_select for one in choices):
            return "hint"
        return "info" if self.fail_on == "info" else "warning"

    def cache(self) -> Cache | None:
        """The cache folder, if caching is enabled. Raises UsageError if a configuration names a folder that
        is not a cache.
        """
        options = self._options
        if not self._is_cached:
            return None
        from pathlib import Path

        from ptx_lsp.cli.checking.cache import Cache, default_folder

        own = self.here.cache_dir if options.cache_dir is None else None
        folder = Path(options.cache_dir) if options.cache_dir is not None else own or default_folder()
        if folder is None:
            return None
        cache = Cache(folder)
        if not cache.claim() and own is not None:
            raise UsageError(
                f"`{self.here.path}`: `cache-dir` must be new, empty or created by ptx-lint, but "
                f"`{own}` contains other files; --cache-dir accepts any directory"
            )
        return cache

    def baseline(self) -> Path | None:
        """The baseline file. Raises UsageError if one is to be written and none is named."""
        options = self._options
        if options.no_baseline or options.requires:
            return None
        path = _path(options.baseline) if options.baseline is not None else self.here.baseline
        if path is None and (options.update_baseline or options.ratchet):
            raise UsageError("no baseline file: use --baseline FILE, or set `baseline` in the configuration")
        return path

    def wanted(self, one: Input) -> bool:
        """Whether a file is linted: not if it was found in a folder and is excluded."""
        if one.data is not None or not (one.was_found or self._options.force_exclude):
            return True
        own = self._config_of(one)
        if one.was_found and EVERY in own.inline_off and _language(one) is not None:
            return False
        return not config.is_excluded(own, self._named(one) or one.path, one.member)

    def settings(self, one: Input) -> Settings:
        """The settings of one file."""
        options, own = self._options, self._config_of(one)
        rules = self._chosen(config.layers(own, self._named(one), one.member))
        program = self._ptxas() if options.ptxas is not None or own.ptxas else None
        language = _language(one)
        if options.requires:
            name = language.name if language is not None else None
            return Settings(Rules(frozenset()), self._targets, requires=True, language=name)
        targets = self._targets or own.targets
        if len(targets) > 1 and (options.fix or options.diff):
            raise UsageError("fixes support one target: use --target instead of --targets")
        kernels = self.needs_kernels or self._has_binary_reports
        dynamic = own.dynamic_shared if options.dynamic_shared is None else options.dynamic_shared
        return Settings(
            rules,
            targets,
            program,
            PTXAS in rules.names,
            kernels=kernels,
            fingerprints=self._has_binary_reports,
            budgets=own.budgets,
            fix=self._fixes(one),
            details=options.report is not None,
            threads=own.threads if options.threads is None else options.threads,
            maxrregcount=next(
                (limit for limit in (options.maxrregcount, one.maxrregcount) if limit is not None),
                own.maxrregcount,
            ),
            dynamic_shared=dynamic,
            language=language.name if language is not None else None,
            inline_off=own.inline_off if language is not None else (),
            build_targets=_build_targets(one, language),
            metadata=_metadata(one) if kernels or own.budgets else None,
        )

    def _fixes(self, one: Input) -> Literal["", "safe", "unsafe"]:
        """The fixes that are applied: none to a member of a container, which is not written."""
        options = self._options
        if one.container is not None or not (options.fix or options.diff):
            return ""
        return "unsafe" if options.unsafe_fixes else "safe"

    @property
    def needs_kernels(self) -> bool:
        """Whether kernels are needed after the reports that are written while files are checked."""
        options = self._options
        return options.kernels or options.report is not None or self._texts_have_kernels

    def note_kernels(self, one: Input, settings: Settings, file: FileReport) -> None:
        """Takes the kernels of a file, for `idle_budgets`."""
        path = self._config_of(one).path
        if path is not None and OVER_BUDGET in settings.rules.names:
            self._in_folders.update([path] if one.was_found else [])
            found = self._kernels.setdefault((path, settings.budgets), set())
            found.update(kernel.name for kernel in file.kernels)

    def idle_budgets(self) -> list[str]:
        """The warnings about budgets that match no kernel: a misspelt name would let every kernel pass. Named
        files may be a few of many; if a folder is named, its kernels count as all kernels.
        """
        return [
            f"warning: {path}: no kernel matches the budget pattern `{pattern}`"
            f"{did_you_mean(pattern, sorted(names))}"
            for (path, budgets), names in self._kernels.items()
            if path in self._in_folders
            for pattern in idle(budgets, names)
        ]

    def judge_as(self, old: str, new: str) -> None:
        """Treats `old`, or each input below it, as if it were at its place in `new`."""
        old, new = file_of(old), file_of(new)
        in_folder = os.path.isdir(new) and not os.path.isdir(old)
        self._moved = old, os.path.join(new, os.path.basename(os.path.normpath(old))) if in_folder else new

    def _config_of(self, one: Input) -> Config:
        name = self._named(one)
        return self._config(os.path.split(name)[0] if name is not None else "")

    def _config(self, folder: str) -> Config:
        options = self._options
        if options.no_config:
            return DEFAULT
        found = self._configs.get(folder)
        if found is None:
            try:
                found = self._configs[folder] = self._read(folder)
            except ConfigError as error:
                raise UsageError(str(error)) from error
        return found

    def _read(self, folder: str) -> Config:
        """Each file once, for however many folders it counts. Raises ConfigError."""
        named = self._options.config
        path = _path(named) if named is not None else config.find(folder)
        if path is None:
            return config.nearest(folder)
        if path not in self._by_file:
            self._by_file[path] = config.read(path)
        return self._by_file[path]

    def _named(self, one: Input) -> str | None:
        """The path of an input for patterns, and the folder in which its configuration is searched."""
        if one.data is not None and one.file == STANDARD_INPUT_NAME:
            return None
        if self._moved is None:
            return one.file
        old, new = self._moved
        return os.path.normpath(os.path.join(new, os.path.relpath(one.file, old)))

    def _chosen(self, below: tuple[Choice, ...]) -> Rules:
        layers = (*below, self._choice)
        if layers not in self._rules:
            try:
                self._rules[layers] = chosen(layers)
            except UnknownRuleError as error:
                raise UsageError(str(error)) from error
        return self._rules[layers]

    def _ptxas(self) -> Path | None:
        """The program that --ptxas requests; if there is none, one message reports it."""
        if self._looked_for_program:
            return self._program
        self._looked_for_program = True
        from ptx_lsp import ptxas

        named = self._options.ptxas
        try:
            self._program = ptxas.find(_path(named) if named else None)
            if self._program is not None:
                ptxas.version(self._program)
        except ptxas.PtxasError as error:
            raise UsageError(f"--ptxas: {error}") from error
        if self._program is None:
            self.notes.append(
                "warning: ptxas was not found on PATH, in CUDA_HOME or CUDA_PATH, or in the package "
                "nvidia-cuda-nvcc; continuing without it"
            )
        return self._program


def _language(one: Input) -> Language | None:
    return language_of(one.path) if one.container is None else None


def _metadata(one: Input) -> Mapping[str, KernelMetadata] | None:
    from ptx_lsp.containers.metadata_beside import metadata_beside

    is_file = one.data is None and one.container is None
    return (metadata_beside(one.path) if is_file else None) or None


def _build_targets(one: Input, language: Language | None) -> tuple[str, ...]:
    if language is None or language.name not in ("cuda", "cpp") or one.data is not None:
        return ()
    from ptx_lsp.lint.configuration.build_targets import build_targets

    return build_targets(one.path)


def _path(path: str) -> Path:
    from pathlib import Path  # slow to import

    return Path(path)
