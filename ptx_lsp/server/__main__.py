"""`python -m ptx_lsp.server` runs `ptx-lsp`."""

import sys

from ptx_lsp.server.command import main

sys.exit(main())
