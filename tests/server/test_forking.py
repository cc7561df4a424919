"""Servers that are forked for tests."""

from __future__ import annotations

import subprocess
import sys

_LEFT_RUNNING = "from tests.server.connection import Connection; left = Connection()"


def test_a_server_that_is_left_running_ends_with_its_test() -> None:
    """Else the tests would not end after one that has failed."""
    subprocess.run([sys.executable, "-c", _LEFT_RUNNING], timeout=120, check=True)
