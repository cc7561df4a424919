"""The entry point of the process `ptx-lint`."""

import gc


def main() -> int:
    """Runs the command line. The collector is off even before the command is imported: a short process has
    little garbage.
    """
    gc.disable()
    try:
        from ptx_lsp.cli.lint import main

        return main()
    except ImportError as error:
        from ptx_lsp.unbuilt import report_unbuilt

        return report_unbuilt("ptx-lint", error)
