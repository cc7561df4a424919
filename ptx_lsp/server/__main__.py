"""`python -m ptx_lsp.server` is `ptx-lsp`."""

import sys

from ptx_lsp.server.command import main

sys.exit(main())
