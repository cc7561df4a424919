"""`ptx-lint config`: checks the configuration, and shows the settings of a file and the JSON schema."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ptx_lsp.cli.arguments import UsageError
from ptx_lsp.cli.inputs import file_of
from ptx_lsp.cli.option_parser import Parser
from ptx_lsp.cli.output import print_lines
from ptx_lsp.lint.configuration.config import (
    Config,
    ConfigError,
    effective,
    find,
    nearest,
    read,
    schema,
)
from ptx_lsp.lint.registry import all_rules


class Options(argparse.Namespace):
    """The parsed command line."""

    what: str
    path: str | None


def run(words: Sequence[str]) -> int:
    """Prints the requested information. Returns 0, or 2 if a configuration is invalid. Raises UsageError."""
    parser = Parser(prog="ptx-lint config", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "what", choices=("check", "show", "schema"),
        help="check: validate the configuration; show: print the settings for PATH; schema: print the JSON "
        "schema of ptx-lint.toml, for editors",
    )
    parser.add_argument(
        "path", nargs="?", metavar="PATH", help="a configuration file, or a file or directory to lint"
    )
    options = parser.parse_args(parser.checked(words), Options())
    if options.what == "schema":
        print_lines([json.dumps(schema(), indent=2)])
        return 0
    try:
        config = _config(options.path)
        lines = list(_shown(config, options.path) if options.what == "show" else _checked(config))
    except ConfigError as error:
        raise UsageError(str(error)) from error
    print_lines(lines)
    return 0


def _config(path: str | None) -> Config:
    place = Path(file_of(path) if path is not None else ".")
    if not place.exists():
        raise UsageError(f"`{path}`: no such file or directory")
    if place.suffix == ".toml":
        return read(place)
    return nearest(place if place.is_dir() else place.parent)


def _checked(config: Config) -> Iterator[str]:
    if config.path is None:
        yield "No configuration found: no `ptx-lint.toml`, and no `pyproject.toml` with `[tool.ptx-lint]`."
        return
    effective(config, None)
    yield f"{config.path}: valid."
    above = find(Path(config.folder).parent)
    if above is not None:
        yield f"{above} is not used below {config.folder}."


def _shown(config: Config, path: str | None) -> Iterator[str]:
    """In the words of the configuration file."""
    yield f"# {config.path or 'defaults (no configuration file)'}"
    place = file_of(path) if path is not None else ""
    file = place if Path(place).is_file() and not place.endswith(".toml") else None
    member = path[len(place) + 1 :] if path is not None and path != place else None
    rules = effective(config, file, member=member)
    off = [rule.name for rule in all_rules() if rule.name not in rules.names]
    yield f"# {len(all_rules()) - len(off)} rules run{f' on {path}' if file else ''}; these do not:"
    yield f"ignore = {_list(off)}"
    if config.exclude:
        yield f"exclude = {_list(config.exclude)}"
    if config.targets:
        yield f"targets = {_list(config.targets)}"
    if config.threads is not None:
        x, *others = config.threads
        size = "x".join(map(str, config.threads))
        yield f"threads = {x if others == [1, 1] else json.dumps(size)}"
    if config.maxrregcount is not None:
        yield f"maxrregcount = {config.maxrregcount}"
    if config.dynamic_shared is not None:
        yield f"dynamic-shared = {config.dynamic_shared}"
    yield f"ptxas = {str(config.ptxas).lower()}"
    if config.containers:
        yield "containers = true"
    yield f"fail-on = {json.dumps(config.fail_on or 'error')}"
    if config.min_severity is not None:
        yield f"min-severity = {json.dumps(config.min_severity)}"
    for key, place in (("baseline", config.baseline), ("cache-dir", config.cache_dir)):
        if place is not None:
            yield f"{key} = {json.dumps(place.relative_to(config.folder).as_posix())}"
    if rules.severities:
        yield "\n[severity]"
        yield from (f"{name} = {json.dumps(severity)}" for name, severity in rules.severities)
    if config.budgets:
        yield "\n[budgets]"
        for pattern, budgets in config.budgets:
            yield f"{json.dumps(pattern)} = {_list([budget.text for budget in budgets])}"


def _list(words: Sequence[str]) -> str:
    return json.dumps(list(words))
