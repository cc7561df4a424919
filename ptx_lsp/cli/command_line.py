"""Reads the command line of `ptx-lint`."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.cli.arguments import Options


def parse(argv: Sequence[str]) -> Options:
    """The options of a command line. Raises SystemExit as argparse does: 0 after --help, else 2."""
    options = _simple(argv)
    if options is None:
        from ptx_lsp.cli.option_parser import parsed

        options = parsed(argv)
    options.format = options.formats[-1] if options.formats else "full"
    options.written = []
    return options


def _simple(argv: Sequence[str]) -> Options | None:
    """The options if the words are only paths, formats and options without a value: argparse is slow to
    import.
    """
    options = Options()
    options.paths = []
    words = iter(argv)
    for word in words:
        if not word.startswith("-") or word == "-":
            options.paths.append(word)
            continue
        option, _, value = word.partition("=")
        if option == "--format":
            value = value or next(words, "-")
            if value.startswith("-") or word.endswith("="):
                return None
            options.formats.append(value)
            continue
        name = "quiet" if word == "-q" else word.removeprefix("--").replace("-", "_")
        if getattr(Options, name, None) is not False or word not in {f"--{name.replace('_', '-')}", "-q"}:
            return None
        setattr(options, name, True)
    return options
