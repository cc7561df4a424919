"""The fixture of tests of the command."""

from tests.cli.conftest import lint

__all__ = ["lint"]
