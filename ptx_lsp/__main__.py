"""`python -m ptx_lsp` is `ptx-lint`."""

import sys

from ptx_lsp.cli.entry import main

sys.exit(main())
