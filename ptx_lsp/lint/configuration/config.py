"""The configuration that `ptx-lint` and the language server share.

It is `ptx-lint.toml`, or `[tool.ptx-lint]` in `pyproject.toml`, in the folder of a file or its nearest
parent. Nothing is inherited from further parents.
"""

from __future__ import annotations

import os
from functools import lru_cache

from ptx_lsp.lint.configuration.budget import Budgets
from ptx_lsp.lint.configuration.config_values import (
    BUDGET,
    FLAG,
    HOST,
    PATH,
    PATTERN,
    REGISTERS,
    RULE,
    SEVERITY,
    SHARED,
    TARGET,
    THREADS,
    Kind,
    Schema,
    T,
    Table,
    WrongValueError,
    choice_of,
    list_of,
    only,
    table,
    table_of,
)
from ptx_lsp.lint.configuration.containment import is_file, is_folder, violation
from ptx_lsp.lint.configuration.patterns import matches
from ptx_lsp.lint.configuration.selection import Choice, Rules, chosen
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from pathlib import Path, PurePath

    from ptx_lsp.lint.diagnostic import Severity
    from ptx_lsp.model.launch_blocks import LaunchBlock

OWN_FILE, SHARED_FILE = "ptx-lint.toml", "pyproject.toml"
FILE_NAMES = (OWN_FILE, SHARED_FILE)
"""The first of these files in a folder that configures ptx-lint applies."""


class ConfigError(Exception):
    """An invalid configuration; the message names the file and a valid alternative."""


class Config(NamedTuple):
    """One configuration. File patterns are relative to `folder`."""

    path: Path | None = None
    """None: there is no file."""
    folder: str = ""
    rules: Choice = Choice()
    files: tuple[tuple[str, Choice], ...] = ()
    """Settings per file pattern; of several that match, later ones take precedence."""
    exclude: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    threads: LaunchBlock | None = None
    maxrregcount: int | None = None
    dynamic_shared: int | None = None
    ptxas: bool = False
    fail_on: Literal["error", "warning", "info"] | None = None
    min_severity: Severity | None = None
    budgets: Budgets = ()
    baseline: Path | None = None
    cache_dir: Path | None = None
    inline_off: tuple[str, ...] = ()
    """The hosts of inline PTX to leave out; `ALL` for all."""
    containers: bool = False
    """Whether to check the PTX in all containers in folders."""


DEFAULT = Config()
"""The configuration if there is no file."""


def find(folder: str | PurePath) -> Path | None:
    """The configuration file of a folder: its own, or that of the nearest parent.

    Raises ConfigError if a `pyproject.toml` on the way is not valid TOML.
    """
    above = _whole(folder)
    while True:
        own, shared = os.path.join(above, OWN_FILE), os.path.join(above, SHARED_FILE)
        if is_file(own):
            return _path(own)
        if is_file(shared) and _part(shared) is not None:
            return _path(shared)
        folder, above = above, os.path.dirname(above)
        if above == folder:
            return None


def read(path: Path) -> Config:
    """The configuration in a file. Raises ConfigError."""
    own = _part(str(path))
    if own is None:
        raise ConfigError(f"`{path}` has no `[tool.ptx-lint]`")
    return parse(own, str(path), path.parent)._replace(path=path)


def nearest(folder: str | PurePath) -> Config:
    """The configuration for the files of a folder. Raises ConfigError."""
    path = find(folder)
    return read(path) if path is not None else DEFAULT._replace(folder=_whole(folder))


def parse(given: Table, origin: str, folder: Path) -> Config:
    """The configuration in a table, for example from an editor. Raises ConfigError, which names `origin`."""
    try:
        only(given, tuple(KEYS))
        targets = _get(given, "targets", list_of(TARGET)) or ()
        if "target" in given:
            if targets:
                raise WrongValueError("`target` and `targets` cannot be combined")
            targets = (TARGET.read(given["target"], "target"),)
        level = _get(given, "fail-on", _LEVEL)
        return Config(
            folder=str(folder),
            rules=_choice(given, ""),
            files=(
                *((pattern, Choice(ignore=words)) for pattern, words in _ignores(given)),
                *(_get(given, "files", _FILES) or ()),
            ),
            exclude=_get(given, "exclude", list_of(PATTERN)) or (),
            targets=targets,
            threads=_get(given, "threads", THREADS),
            maxrregcount=_get(given, "maxrregcount", REGISTERS),
            dynamic_shared=_get(given, "dynamic-shared", SHARED),
            ptxas=_get(given, "ptxas", FLAG) or False,
            fail_on=cast(Literal["error", "warning", "info"] | None, level),
            min_severity=_get(given, "min-severity", SEVERITY),
            budgets=_get(given, "budgets", _BUDGETS) or (),
            baseline=_place(given, "baseline", folder),
            cache_dir=_place(given, "cache-dir", folder),
            inline_off=_get(given, "inline-off", list_of(HOST)) or (),
            containers=_get(given, "containers", FLAG) or False,
        )
    except WrongValueError as error:
        raise ConfigError(f"`{origin}`: {error}") from error


def effective(
    config: Config, path: str | PurePath | None, *above: Choice, member: str | None = None
) -> Rules:
    """The rules for one file or member; None stands for a text without a file.

    `above` are layers with precedence, such as the command line. Raises UnknownRuleError for unknown names in
    them.
    """
    return chosen((*layers(config, path, member), *above))


def layers(config: Config, path: str | PurePath | None, member: str | None = None) -> tuple[Choice, ...]:
    """The rule layers of the configuration for one file, or for a member of a container. A pattern matches a
    member if it matches the path of the container, or `CONTAINER!MEMBER`.
    """
    if path is None or not config.files:
        return (config.rules,)
    names = _names(config, path, member)
    return (config.rules, *(choice for pattern, choice in config.files if _matches(pattern, names)))


def is_excluded(config: Config, path: str | PurePath, member: str | None = None) -> bool:
    """Whether `exclude` matches a file or member, or a folder that contains it."""
    if not config.exclude:
        return False
    names = _names(config, path, member)
    return any(_matches(pattern, names) for pattern in config.exclude)


def _names(config: Config, path: str | PurePath, member: str | None) -> tuple[PurePath, ...]:
    inside = relative(config, path)
    return (inside,) if member is None else (inside, inside.with_name(f"{inside.name}!{member}"))


def _matches(pattern: str, names: tuple[PurePath, ...]) -> bool:
    return any(matches(pattern, name) for name in names)


def relative(config: Config, path: str | PurePath) -> PurePath:
    """A path relative to the folder of the configuration, as patterns use it."""
    whole, folder = _whole(path), _whole(config.folder)
    try:
        return _path(os.path.relpath(whole, folder))
    except ValueError:  # another drive
        return _path(whole)


def schema() -> dict[str, Schema]:
    """The JSON schema of `ptx-lint.toml`."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Configuration of ptx-lint",
        "type": "object",
        "additionalProperties": False,
        "properties": _properties(KEYS),
    }


def _properties(keys: dict[str, tuple[dict[str, Schema], str]]) -> dict[str, Schema]:
    return {key: {**kind, "description": summary} for key, (kind, summary) in keys.items()}


def _part(path: str) -> Table | None:
    """The ptx-lint table of a file; None if a `pyproject.toml` has none. Raises ConfigError."""
    try:
        status = os.stat(path)
        whole = _toml(path, status.st_mtime_ns, status.st_size)
    except UnicodeDecodeError as error:
        raise ConfigError(f"`{path}` is not UTF-8 text") from error
    except ValueError as error:
        raise ConfigError(f"`{path}` is not valid TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"`{path}` is nested too deeply") from error
    except OSError as error:
        raise ConfigError(f"`{path}` cannot be read: {error.strerror}") from error
    if os.path.basename(path) != SHARED_FILE:
        return whole
    try:
        tools = table(whole.get("tool", {}), "tool")
        return table(tools["ptx-lint"], "tool.ptx-lint") if "ptx-lint" in tools else None
    except WrongValueError as error:
        raise ConfigError(f"`{path}`: {error}") from error


@lru_cache(maxsize=256)
def _toml(path: str, changed_ns: int, size: int) -> Table:
    """A cached file: the file of a whole tree is requested in every folder. The file of other tools has
    nothing for us, and is not parsed.
    """
    with open(path, "rb") as file:
        text = file.read().removeprefix(b"\xef\xbb\xbf").decode()
    if os.path.basename(path) == SHARED_FILE and not any(map(_may_configure, text.splitlines())):
        return {}
    import tomllib  # slow to import

    return cast(Table, tomllib.loads(text))


def _may_configure(line: str) -> bool:
    """Whether a line of a `pyproject.toml` begins `tool.ptx-lint`, or all of `tool`."""
    word = line.lstrip(" \t[\"'")
    rest = word.removeprefix("tool").lstrip(" \t\"'")
    return word.startswith("tool") and (not rest.startswith(".") or "ptx-lint" in rest)


def _get(given: Table, key: str, kind: Kind[T]) -> T | None:
    return kind.read(given[key], key) if key in given else None


def _place(given: Table, key: str, folder: Path) -> Path | None:
    """A path to read or write: only inside the project, and never a file on which a reader could block."""
    text = _get(given, key, PATH)
    if text is None:
        return None
    reason = violation(text, folder)
    if reason is not None:
        raise WrongValueError(
            f"`{key}` must be a path inside the folder of the configuration, not `{text}`: "
            f"{reason}; only --{key} can name other places"
        )
    place = folder / text
    is_there, what = (is_folder, "a folder") if key == "cache-dir" else (is_file, "a file")
    if os.path.lexists(place) and not is_there(place):
        raise WrongValueError(f"`{key}` must be {what}, which `{text}` is not")
    return place


def _whole(path: str | PurePath) -> str:
    """Absolute and without `..`; links are kept, as patterns speak of paths as they are given."""
    return os.path.abspath(path)


def _path(path: str) -> Path:
    from pathlib import Path  # slow to import

    return Path(path)


def _choice(given: Table, inside: str) -> Choice:
    def at(key: str) -> str:
        return f"{inside}.{key}" if inside else key

    rules = list_of(RULE)
    return Choice(
        rules.read(given["select"], at("select")) if "select" in given else None,
        rules.read(given.get("extend-select", []), at("extend-select")),
        rules.read(given.get("ignore", []), at("ignore")),
        _SEVERITIES.read(given.get("severity", {}), at("severity")),
    )


def _choice_of_files(value: object, key: str) -> Choice:
    given = table(value, key)
    only(given, tuple(_CHOICE), key)
    return _choice(given, key)


def _ignores(given: Table) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return _get(given, "per-file-ignores", _IGNORES) or ()


_LEVEL = choice_of(("error", "warning", "info"))
_SEVERITIES = table_of(SEVERITY, RULE)
_CHOICE: dict[str, tuple[dict[str, Schema], str]] = {
    "select": (
        list_of(RULE).schema,
        (
            "Run only these rules: names, codes or prefixes of codes. By default, all rules but "
            "hints run."
        ),
    ),
    "extend-select": (list_of(RULE).schema, "Also run these rules."),
    "ignore": (list_of(RULE).schema, "Skip these rules, even if selected."),
    "severity": (_SEVERITIES.schema, "The severity of the findings of a rule."),
}
_IGNORES = table_of(list_of(RULE), PATTERN)
_BUDGETS = table_of(list_of(BUDGET), PATTERN)
_FILES = table_of(
    Kind(
        _choice_of_files,
        {"type": "object", "additionalProperties": False, "properties": _properties(_CHOICE)},
    ),
    PATTERN,
)
KEYS: dict[str, tuple[dict[str, Schema], str]] = {
    **_CHOICE,
    "files": (_FILES.schema, "Settings for some files, by a pattern of their paths."),
    "per-file-ignores": (
        _IGNORES.schema,
        "Rules to skip on some files, by a pattern: the short form of `files`.",
    ),
    "exclude": (list_of(PATTERN).schema, "Files and folders to skip within folders."),
    "target": (TARGET.schema, "Check against this target instead of the file's own."),
    "targets": (list_of(TARGET).schema, "Check against each of these targets."),
    "threads": (THREADS.schema, "Threads per block, for kernels that do not fix it."),
    "maxrregcount": (
        REGISTERS.schema,
        ("Registers per thread at most, for kernels whose directives set no limit."),
    ),
    "dynamic-shared": (
        SHARED.schema,
        "Bytes of dynamic shared memory per block, for kernels whose launch comment does not give it.",
    ),
    "ptxas": (FLAG.schema, "Whether to run ptxas as well."),
    "fail-on": (_LEVEL.schema, "The least severe finding that makes the exit status 1."),
    "min-severity": (SEVERITY.schema, "The least severe finding in reports for people."),
    "budgets": (_BUDGETS.schema, "Limits on what kernels may use, by a pattern of their names."),
    "baseline": (PATH.schema, "The file of known findings, inside the folder of this file."),
    "cache-dir": (PATH.schema, "The folder of the cache, inside the folder of this file."),
    "inline-off": (
        list_of(HOST).schema,
        "The hosts whose inline PTX is not checked, such as `triton`; `ALL` for all.",
    ),
    "containers": (
        FLAG.schema,
        "Whether to check the PTX in libraries, objects, archives and executables within folders.",
    ),
}
"""Every key of the configuration: its schema and a description."""
