"""The modules of a package, for what is found by walking one. `pkgutil` would do, but imports slowly."""

from __future__ import annotations

import os
from collections.abc import Iterable

_ENDINGS = (".py", ".so", ".pyd")


def module_names(path: Iterable[str]) -> list[str]:
    """The names of the modules in the folders of a package (its `__path__`), in order."""
    found: set[str] = set()
    for folder in path:
        with os.scandir(folder) as entries:
            found.update(one.name.partition(".")[0] for one in entries if one.name.endswith(_ENDINGS))
    return sorted(found - {"__init__"})
