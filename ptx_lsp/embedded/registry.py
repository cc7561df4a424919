"""The hosts, found by walking the package `hosts`."""

from __future__ import annotations

from functools import cache

from ptx_lsp.embedded import hosts as package
from ptx_lsp.embedded.host import Host
from ptx_lsp.packages import discovered


@cache
def hosts(language: str) -> tuple[Host, ...]:
    """The hosts in a language. They are discovered, not listed."""
    return tuple(host for host in _all() if language in host.languages)


@cache
def _all() -> tuple[Host, ...]:
    return discovered(package, "HOST", Host)


def host_names() -> tuple[str, ...]:
    """The names of all hosts."""
    return tuple(host.name for host in _all())
