"""Long runs say which files are being tested, and name failures at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest

def test_good(): pass

def test_bad(): assert False

@pytest.mark.skip(reason="for a reason")
def test_ugly(): pass
"""
RUN = """
import sys, pytest, tests.progress
tests.progress._SECONDS = 0.0
sys.exit(pytest.main(["-p", "tests.progress", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


def test_lines_of_a_run(tmp_path: Path) -> None:
    file = tmp_path / "test_three.py"
    file.write_text(TESTS)
    command = [sys.executable, "-c", RUN, "--rootdir", str(tmp_path), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    lines = done.stdout.partition("=== FAILURES")[0].splitlines()
    assert [line[line.find("]") + 1 :] for line in lines if "test_three" in line] == [
        " 1 of 3 tests: test_three.py",
        "FAILED test_three.py::test_bad (call): assert False",
        " 2 of 3 tests: test_three.py",
        " 3 of 3 tests: test_three.py",
    ]
    assert "1 failed, 1 passed, 1 skipped" in done.stdout
