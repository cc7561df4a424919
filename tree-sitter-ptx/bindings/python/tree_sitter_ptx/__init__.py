"""The tree-sitter grammar of NVIDIA PTX, and its queries.

`language()` is for `tree_sitter.Language`. The queries are strings, read when they are first asked
for: `HIGHLIGHTS_QUERY`, `FOLDS_QUERY`, `LOCALS_QUERY`, `TAGS_QUERY`, `INDENTS_QUERY`,
`INJECTIONS_QUERY`.
"""

from tree_sitter_ptx._binding import language

_QUERIES = ("highlights", "folds", "locals", "tags", "indents", "injections")

__all__ = [
    "FOLDS_QUERY",
    "HIGHLIGHTS_QUERY",
    "INDENTS_QUERY",
    "INJECTIONS_QUERY",
    "LOCALS_QUERY",
    "TAGS_QUERY",
    "language",
]

FOLDS_QUERY: str
HIGHLIGHTS_QUERY: str
INDENTS_QUERY: str
INJECTIONS_QUERY: str
LOCALS_QUERY: str
TAGS_QUERY: str


def __getattr__(name: str) -> str:
    query = name.removesuffix("_QUERY").lower()
    if query not in _QUERIES or not name.endswith("_QUERY"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pathlib import Path  # slow to import, and only queries need it

    here = Path(__file__).resolve()
    for folder in (here.parent / "queries", here.parents[3] / "queries"):  # installed, or in place
        path = folder / f"{query}.scm"
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            globals()[name] = text
            return text
    raise FileNotFoundError(f"the query `{query}.scm` is not installed")
