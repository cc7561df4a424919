"""What MkDocs calls: adds the generated pages (`pages.py`)."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

from pages import pages


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds them to the files of `docs`."""
    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    return files
