"""Fat binaries in files of their own (`.fatbin`), as `nvcc -fatbin` and `fatbinary` write them."""

from __future__ import annotations

from typing import Final

from ptx_lsp.containers.entry import Format
from ptx_lsp.containers.fat_binaries import MAGIC, fat_binaries

FORMAT: Final = Format("fat binary", (MAGIC,), fat_binaries)
