"""`ptx-lint completion`: shell completion scripts, generated from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

from ptx_lsp.cli.option_parser import Parser, parser
from ptx_lsp.cli.output import print_lines
from ptx_lsp.finding_kinds.registry import KINDS
from ptx_lsp.isa.target import TARGETS
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.lint.results.reporter import reporters
from ptx_lsp.named_tuple import NamedTuple


class Options(argparse.Namespace):
    """The parsed command line."""

    shell: str


class Flag(NamedTuple):
    """One option. `values` are its possible values; None if it takes none, empty for files and text."""

    names: tuple[str, ...]
    summary: str
    values: tuple[str, ...] | None
    separator: str = ""
    """The separator of several values: a comma."""


def run(words: Sequence[str]) -> int:
    """Prints the script. Returns 0."""
    own = Parser(prog="ptx-lint completion", description=__doc__, allow_abbrev=False)
    own.add_argument("shell", choices=tuple(_SHELLS), help="the shell")
    options = own.parse_args(own.checked(words), Options())
    print_lines(_SHELLS[options.shell](list(flags())))
    return 0


_ENDINGS = ("fatbin", "so", "o", "a", "dll", "exe", "ptx")
"""The endings of files with PTX."""


def flags() -> Iterator[Flag]:
    """Every option of `ptx-lint`."""
    for action in parser()._actions:  # argparse has no other way to read them
        if action.option_strings:
            yield _flag(action)


def _flag(action: argparse.Action) -> Flag:
    names, summary = tuple(action.option_strings), (action.help or "").partition(" (")[0]
    if action.nargs == 0:
        return Flag(names, summary, None)
    if action.choices is not None:
        return Flag(names, summary, tuple(map(str, action.choices)))
    known = [rule.name for rule in all_rules()]
    match action.metavar:
        case "T":
            return Flag(names, summary, tuple(map(str, TARGETS)))
        case "A,B":
            return Flag(names, summary, tuple(map(str, TARGETS)), ",")
        case "RULES":
            return Flag(names, summary, tuple(known), ",")
        case "NAME" if "--explain" in names:
            return Flag(names, summary, tuple(dict.fromkeys((*known, *KINDS))))
        case "X[=FILE]":
            return Flag(names, summary, tuple(reporters()))
        case _:
            return Flag(names, summary, ())


def _bash(found: list[Flag]) -> Iterator[str]:
    words = " ".join(name for flag in found for name in flag.names)
    yield "# bash completion of ptx-lint: source <(ptx-lint completion bash)"
    yield "_ptx_lint() {"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" head="" last'
    yield "    COMPREPLY=()"
    yield '    case "$before" in'
    for flag in found:
        if flag.values is None:
            continue
        yield f"        {'|'.join(flag.names)})"
        if not flag.values:
            yield '            COMPREPLY=($(compgen -f -- "$word"))'
        else:
            values = " ".join(flag.values)
            if flag.separator:
                yield '            last="${word##*,}"; head="${word%"$last"}"; word="$last"'
            yield f'            COMPREPLY=($(compgen -P "$head" -W "{values}" -- "$word"))'
        yield "            return ;;"
    yield "    esac"
    yield '    if [[ "$word" == -* ]]; then'
    yield f'        COMPREPLY=($(compgen -W "{words}" -- "$word"))'
    yield "    else"
    endings = " ".join(f'$(compgen -f -X "!*.{ending}" -- "$word")' for ending in _ENDINGS)
    yield f'        COMPREPLY=($(compgen -d -- "$word") {endings})'
    yield "    fi"
    yield "}"
    yield "complete -o filenames -F _ptx_lint ptx-lint"


def _zsh(found: list[Flag]) -> Iterator[str]:
    yield "#compdef ptx-lint"
    yield "# zsh completion of ptx-lint: ptx-lint completion zsh > a folder of $fpath, as _ptx-lint"
    yield "_ptx_lint() {"
    yield "    _arguments -s \\"
    for flag in found:
        summary = _without(flag.summary, "[]':\\")
        if flag.values is None:
            action = ""
        elif not flag.values:
            action = ":file:_files"
        elif flag.separator:
            action = f":value:_sequence compadd - {' '.join(flag.values)}"
        else:
            action = f":value:({' '.join(flag.values)})"
        for name in flag.names:
            yield f"        '{name}[{summary}]{action}' \\"
    yield f"        '*:path:_files -g \"*.({'|'.join(_ENDINGS)})(-.)\"'"
    yield "}"
    yield 'if [[ "${funcstack[1]}" == "_ptx-lint" ]]; then _ptx_lint "$@"'
    yield "else compdef _ptx_lint ptx-lint; fi"


def _fish(found: list[Flag]) -> Iterator[str]:
    yield "# fish completion of ptx-lint: ptx-lint completion fish | source"
    yield "complete -c ptx-lint -f -a '(__fish_complete_suffix .ptx)'"  # other files follow
    for flag in found:
        names = " ".join(
            f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names
        )
        values = ""
        if flag.values is not None:
            values = f" -x -a '{' '.join(flag.values)}'" if flag.values else " -r -F"
        if flag.separator:
            values = f" -x -a '(__fish_append , {' '.join(flag.values or ())})'"
        summary = _without(flag.summary, "\\'")
        yield f"complete -c ptx-lint {names}{values} -d '{summary}'"


def _without(text: str, characters: str) -> str:
    return "".join(character for character in text if character not in characters)


_SHELLS: dict[str, Callable[[list[Flag]], Iterator[str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
