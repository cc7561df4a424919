"""The settings of each file, from the client and the project's configuration."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pygls.uris import to_fs_path

from ptx_lsp.isa.target import TARGETS, Target, parse_target
from ptx_lsp.lint.configuration import config
from ptx_lsp.lint.configuration.config import Config, ConfigError
from ptx_lsp.lint.configuration.selection import EVERY, Choice, Rules, UnknownRuleError, chosen
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.launch_blocks import LaunchBlock
from ptx_lsp.server.containers.member_uri import file_and_member
from ptx_lsp.server.json import at, texts

_log = logging.getLogger(__name__)

SECTION = "ptx"
"""The section name under which clients store the settings."""


class Settings(NamedTuple):
    """The client's settings; see docs/editors.md."""

    target: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    live_registers: bool = False
    types: bool = False
    literals: bool = True
    code_lens: bool = True
    dynamic_shared: int | None = None
    """Bytes of dynamic shared memory per block."""
    ptxas: bool = True
    """Whether ptxas runs in the background, if there is one."""
    demangle: bool = True
    """Whether mangled names of C++ and Rust are shown demangled."""
    workspace_diagnostics: bool = False
    """Whether files that are not open are also checked."""
    inline: bool = True
    """Whether blocks of inline assembly are looked for in files in other languages."""
    inline_off: tuple[str, ...] = ()
    """The hosts whose blocks are not looked for."""

    @classmethod
    def read(cls, given: object, otherwise: Settings | None = None) -> Settings:
        """The settings in a JSON object, possibly nested under `SECTION`. Values that are missing or of a
        wrong type are taken from `otherwise`.
        """
        given = at(given, SECTION) or given
        hints, lens, own = at(given, "inlayHints"), at(given, "codeLens"), otherwise or cls()
        inline = at(given, "inline")
        return cls(
            _text(at(given, "target"), own.target),
            texts(at(given, "select"), own.select),
            texts(at(given, "ignore"), own.ignore),
            _flag(at(hints, "liveRegisters"), own.live_registers),
            _flag(at(hints, "types"), own.types),
            _flag(at(hints, "literals"), own.literals),
            _flag(at(lens, "enabled"), own.code_lens),
            _bytes(at(given, "dynamicSharedMemory"), own.dynamic_shared),
            {"auto": True, "off": False}.get(_text(at(given, "ptxas"), ""), own.ptxas),
            _flag(at(given, "demangle"), own.demangle),
            _flag(at(given, "workspaceDiagnostics"), own.workspace_diagnostics),
            _flag(at(inline, "enabled"), own.inline),
            texts(at(inline, "off"), own.inline_off),
        )


class EffectiveSettings(NamedTuple):
    """The settings in effect for one file. `config_error` is the error in the configuration, if any."""

    settings: Settings
    rules: Rules
    chosen: tuple[Rule, ...]
    targets: tuple[Target, ...]
    """The targets to check the file against; if empty, its own."""
    threads: LaunchBlock | None
    dynamic_shared: int | None
    config_error: str | None = None
    inline_off: frozenset[str] = frozenset()
    """The hosts whose blocks of inline assembly are not looked for; `ALL` stands for all."""

    @property
    def target(self) -> Target | None:
        """The target that the editor features use; None for the file's own."""
        return self.targets[0] if self.targets else None


class Configurations:
    """The configuration files of folders, cached and read again when they change."""

    def __init__(self) -> None:
        self._of_folder: dict[Path, Config | ConfigError] = {}
        self._chosen: dict[Rules, tuple[Rule, ...]] = {}

    def forget(self) -> None:
        """A configuration file may have changed."""
        self._of_folder.clear()

    def effective_settings(self, uri: str, settings: Settings) -> EffectiveSettings:
        """The settings of a file: its project's configuration, overridden by the client's settings."""
        path, member = file_and_member(uri)
        complaint = None
        try:
            found = self._config(Path(path).parent) if path is not None else config.DEFAULT
        except ConfigError as error:
            complaint, found = str(error), config.DEFAULT
        own = Choice(settings.select or None, (), settings.ignore)
        try:
            rules = chosen((*config.layers(found, path, member), own))
        except UnknownRuleError as error:
            complaint, rules = f"the settings of rules: {error}", chosen(())
        targets, wrong = _targets((settings.target,) if settings.target else found.targets)
        return EffectiveSettings(
            settings, rules, self._rules(rules), targets, found.threads,
            found.dynamic_shared if settings.dynamic_shared is None else settings.dynamic_shared,
            complaint or wrong, _inline_off(found, settings),
        )

    def is_excluded(self, path: Path) -> bool:
        """Whether a file that is not open is excluded."""
        try:
            return config.is_excluded(self._config(path.parent), path)
        except ConfigError:
            return False

    def _config(self, folder: Path) -> Config:
        found = self._of_folder.get(folder)
        if found is None:
            try:
                found = config.nearest(folder)
            except ConfigError as error:
                found = error
            self._of_folder[folder] = found
        if isinstance(found, ConfigError):
            raise found
        return found

    def _rules(self, rules: Rules) -> tuple[Rule, ...]:
        """The same object for the same rules, so that findings can be reused."""
        if rules not in self._chosen:
            self._chosen[rules] = tuple(rules.chosen())
        return self._chosen[rules]


def ptxas_path(options: object, folders: Iterable[str]) -> tuple[Path | None, str | None]:
    """The ptxas that the initialization options name, and what is wrong with it.

    Only they can name one, and it must be outside the workspace: other settings may come from the workspace,
    which must not choose the program that runs.
    """
    given = _text(at(at(options, SECTION) or options, "ptxasPath"), "")
    if not given:
        return None, None
    path = Path(given).expanduser()
    if not path.is_absolute():
        return None, f"the setting `ptxasPath` is not an absolute path: `{given}`"
    inside = [Path(root).resolve() for folder in folders if (root := to_fs_path(folder)) is not None]
    if any(path.resolve().is_relative_to(root) for root in inside):
        return None, f"the setting `ptxasPath` names a program in the workspace, which is not run: `{given}`"
    return path, None


def _inline_off(found: Config, settings: Settings) -> frozenset[str]:
    return frozenset((*found.inline_off, *settings.inline_off, *(() if settings.inline else (EVERY,))))


def _targets(names: Iterable[str]) -> tuple[tuple[Target, ...], str | None]:
    """The targets of these names, each once, and what is wrong with a name."""
    found: dict[Target, None] = {}
    wrong = None
    for name in names:
        target = parse_target(name)
        if target is not None and target in TARGETS:
            found[target] = None
        else:
            wrong = f"unknown target `{name}`; expected one such as `sm_90` or `sm_100a`"
    return tuple(found), wrong


def _text(value: object, otherwise: str) -> str:
    return value if isinstance(value, str) else otherwise


def _bytes(value: object, otherwise: int | None) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return otherwise


def _flag(value: object, otherwise: bool) -> bool:
    return value if isinstance(value, bool) else otherwise
