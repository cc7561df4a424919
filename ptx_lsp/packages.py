"""The modules of a package, for what is found by walking one. `pkgutil` would do, but imports slowly."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from ptx_lsp.static_typing import TypeVar

_T = TypeVar("_T")

_ENDINGS = (".py", ".so", ".pyd")


def module_names(path: Iterable[str]) -> list[str]:
    """The names of the modules in the folders of a package (its `__path__`), in order."""
    found: set[str] = set()
    for folder in path:
        with os.scandir(folder) as entries:
            found.update(one.name.partition(".")[0] for one in entries if one.name.endswith(_ENDINGS))
    return sorted(found - {"__init__"})


def discovered(package: ModuleType, name: str, kind: type[_T]) -> tuple[_T, ...]:
    """The values of this kind that the modules of a package define as `name`, in their order."""
    modules = (import_module(f"{package.__name__}.{one}") for one in module_names(package.__path__))
    values: Iterable[object] = (getattr(module, name, None) for module in modules)
    return tuple(value for value in values if isinstance(value, kind))
