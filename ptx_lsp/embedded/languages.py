"""The languages that PTX is embedded in, with their files and grammars."""

from __future__ import annotations

from functools import cache

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

    from tree_sitter import Parser


class Language(NamedTuple):
    """A language. `suffixes` are the endings of its files, `ids` its identifiers in the Language Server
    Protocol, and `grammar` the Python package with its tree-sitter grammar, if there is one. `comment` begins
    comments up to the end of the line.
    """

    name: str
    suffixes: tuple[str, ...]
    ids: tuple[str, ...]
    grammar: str | None
    comment: str = "//"


LANGUAGES: Final = (
    Language("cuda", (".cu", ".cuh"), ("cuda", "cuda-cpp"), "tree_sitter_cuda"),
    Language(
        "cpp",
        (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"),
        ("c", "cpp", "objective-cpp"),
        "tree_sitter_cuda",
    ),
    Language("python", (".py",), ("python",), "tree_sitter_python", "#"),
    Language("rust", (".rs",), ("rust",), "tree_sitter_rust"),
    Language("julia", (".jl",), ("julia",), "tree_sitter_julia", "#"),
    Language("llvm", (".ll",), ("llvm", "llvm-ir"), None, ";"),
    Language("mlir", (".mlir",), ("mlir",), None),
    Language("mojo", (".mojo", ".🔥"), ("mojo",), None, "#"),
)
_BY_SUFFIX: Final = {suffix: one for one in LANGUAGES for suffix in one.suffixes}
_BY_NAME: Final = {one.name: one for one in LANGUAGES}
_BY_ID: Final = {name: one for one in LANGUAGES for name in one.ids}


class MissingGrammarError(Exception):
    """The grammar of a language is not installed. The message says which package has it."""


def language_of(path: str) -> Language | None:
    """The language of a file, by the ending of its name."""
    dot = path.rfind(".")
    return _BY_SUFFIX.get(path[dot:].lower()) if dot >= 0 else None


def language_with_id(name: str) -> Language | None:
    """The language with an identifier of the Language Server Protocol."""
    return _BY_ID.get(name)


def language_named(name: str) -> Language:
    """The language with a name. Raises KeyError."""
    return _BY_NAME[name]


@cache
def parser(grammar: str) -> Parser:
    """A parser for a grammar. Raises MissingGrammarError."""
    import importlib

    from tree_sitter import Language as Grammar
    from tree_sitter import Parser

    try:
        capsule: object = vars(importlib.import_module(grammar))["language"]()
    except ImportError as error:
        package = grammar.replace("_", "-")
        raise MissingGrammarError(f"install `{package}` to check inline PTX here") from error
    return Parser(Grammar(capsule))
