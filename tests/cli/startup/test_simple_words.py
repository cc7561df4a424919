"""Words without values are read without argparse, and mean the same."""

from __future__ import annotations

import pytest

from ptx_lsp.cli import option_parser
from ptx_lsp.cli.arguments import Options
from ptx_lsp.cli.command_line import parse

_FLAGS = [
    word
    for action in option_parser.parser()._actions  # argparse has no other way to read them
    for word in action.option_strings
    if action.nargs == 0 and word.startswith("--") and action.dest not in {"help", "version"}
]


def _values(options: Options) -> dict[str, object]:
    names = {*Options.__annotations__, *vars(options)} - {"format", "written"}
    return {name: getattr(options, name) for name in names}


@pytest.mark.parametrize(
    "words",
    [
        [], ["a.ptx"], ["-", "b c.ptx", ""], *(["a.ptx", flag, "b.ptx"] for flag in _FLAGS), _FLAGS[:3],
        ["-q", "a.ptx", "--quiet"], ["--format", "json", "a.ptx"], ["a.ptx", "--format=sarif=a b.sarif"],
        ["--format", "", "--format=full", "a.ptx"],
    ],
    ids=" ".join,
)
def test_the_same_without_argparse(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    usual = _values(option_parser.parsed(words))
    monkeypatch.delattr(option_parser, "parsed")
    assert _values(parse(words)) == usual


@pytest.mark.parametrize(
    "words",
    [
        ["--select", "E1"], ["-qq"], ["-q=x"], ["--no_cache"], ["--", "--fix"], ["--ptxas"], ["--config=x"],
        ["--format"], ["--format="], ["--format", "-q"], ["--format=-"], ["--formats", "json"], ["--fix=yes"],
    ],
)
def test_others_need_it(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def parsed(words: object) -> Options:
        asked.append(words)
        return Options()

    monkeypatch.setattr(option_parser, "parsed", parsed)
    parse(words)
    assert asked == [words]
