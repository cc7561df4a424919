"""The hosts, found by walking the package `hosts`."""

from __future__ import annotations

import importlib
from functools import cache

from ptx_lsp.embedded import hosts as package
from ptx_lsp.embedded.host import Host
from ptx_lsp.packages import module_names


@cache
def hosts(language: str) -> tuple[Host, ...]:
    """The hosts in a language. They are discovered, not listed."""
    return tuple(host for host in _all() if language in host.languages)


@cache
def _all() -> tuple[Host, ...]:
    found: list[Host] = []
    for name in module_names(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{name}")
        host: object = getattr(module, "HOST", None)
        if isinstance(host, Host):
            found.append(host)
    return tuple(found)


def host_names() -> tuple[str, ...]:
    """The names of all hosts."""
    return tuple(host.name for host in _all())
