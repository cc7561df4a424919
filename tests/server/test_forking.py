"""Servers that are forked for tests."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.server.forking import CAN_FORK

_LEFT_RUNNING = "from tests.server.connection import Connection; left = Connection()"


@pytest.mark.skipif(not CAN_FORK, reason="processes cannot be forked")
def test_a_server_that_is_left_running_ends_with_its_test() -> None:
    """Else the tests would not end after one that has failed."""
    subprocess.run([sys.executable, "-c", _LEFT_RUNNING], timeout=120, check=True)
