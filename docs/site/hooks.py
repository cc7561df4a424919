"""What MkDocs calls: adds the generated pages (`pages.py`)."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))

from pages import pages, without_links_out


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds them to the files of `docs`."""
    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Files of the repository that are no pages are only named."""
    return markdown if page.file.generated_by else without_links_out(markdown)
