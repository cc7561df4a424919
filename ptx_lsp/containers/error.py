"""The error of containers."""

from __future__ import annotations


class ContainerError(Exception):
    """A container or member that cannot be read. The message is one line without the path."""
