"""Whether a worker runs the same code as the process that sends the work."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ptx_lsp import __version__
from ptx_lsp.parallel.jobs import JobsError

_PACKAGE = "ptx_lsp"


class Code(NamedTuple):
    """The versions of the project and of Python, and a digest of the project's sources and data."""

    version: str
    python: str
    digest: str


@cache
def own_code() -> Code:
    """The code of this process."""
    digest = hashlib.sha256()
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        for name, path in sorted(_sources(folder, _PACKAGE)):
            digest.update(f"{name}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return Code(__version__, f"{sys.version_info[0]}.{sys.version_info[1]}", digest.hexdigest())


def refuse_other_code(code: Code) -> None:
    """Raises JobsError if this process, a worker, has other code."""
    own = own_code()
    if own == code:
        return
    where = f"the worker on {platform.node()}"
    if own.version != code.version:
        raise JobsError(f"{where} has ptx-lsp {own.version}; it needs {code.version}, as here")
    if own.python != code.python:
        raise JobsError(f"{where} runs Python {own.python}; it needs {code.python}, as here")
    raise JobsError(f"{where} has ptx-lsp {own.version} from other sources than here")


def _sources(folder: str, name: str) -> Iterator[tuple[str, Path]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _sources(entry.path, f"{name}.{entry.name}")
            elif entry.name.endswith((".py", ".json")):  # some results depend on data, too
                yield f"{name}.{entry.name}", Path(entry.path)
