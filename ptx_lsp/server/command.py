"""The command `ptx-lsp`."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from ptx_lsp import __version__
from ptx_lsp.command_parser import CommandParser

# Slow imports are deferred until needed: `--version` needs none of them.


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status; see docs/editors.md."""
    parser = _parser()
    options = parser.parse_args(parser.checked(sys.argv[1:] if argv is None else argv))
    _log_to(options.log, options.verbose)
    try:
        if options.check is not None:
            from ptx_lsp.server.check import check

            return check(options.check)
        from ptx_lsp.server.server import Server
        from ptx_lsp.server.transport import serve_stdio, serve_tcp
    except ImportError as error:
        from ptx_lsp.unbuilt import report_unbuilt

        return report_unbuilt("ptx-lsp", error)
    try:
        if options.tcp is None:
            return serve_stdio(Server())
        return serve_tcp(Server, *options.tcp)
    except OSError as error:
        print(f"ptx-lsp: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> CommandParser:
    parser = CommandParser(
        prog="ptx-lsp",
        description="Language server for NVIDIA PTX. Speaks LSP on standard input and output.",
    )
    parser.add_argument("--version", action="version", version=f"ptx-lsp {__version__}")
    parser.add_argument("--stdio", action="store_true", help="the default")
    parser.add_argument(
        "--tcp",
        metavar="HOST:PORT",
        type=_address,
        help=("listen on this address; port 0 selects a free port"),
    )
    parser.add_argument("--log", metavar="FILE", help="the log file (default: standard error)")
    parser.add_argument("--verbose", action="store_true", help="also log every message")
    parser.add_argument(
        "--check", metavar="FILE",
        help=("open FILE, print its findings, send every request, report the response times, "
             "and exit"),
    )  # fmt: skip
    return parser


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is not HOST:PORT, such as 127.0.0.1:2087")
    return host.strip("[]") or "127.0.0.1", int(port)


def _log_to(path: str | None, verbose: bool) -> None:
    logging.basicConfig(
        filename=path,
        level=logging.DEBUG if verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    if not verbose:
        logging.getLogger("pygls").setLevel(logging.WARNING)
        from ptx_lsp.server.request_error import RequestFailedFilter

        for handler in logging.getLogger().handlers:
            handler.addFilter(RequestFailedFilter())


if __name__ == "__main__":
    sys.exit(main())
