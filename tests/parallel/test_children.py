"""Processes in which a worker runs its calls."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest

from ptx_lsp.parallel import children
from ptx_lsp.parallel.call import call_bytes
from ptx_lsp.parallel.children import Child, Children, run_in_child
from ptx_lsp.parallel.part import Raised


def test_one_process_after_the_other() -> None:
    first = pickle.loads(run_in_child(call_bytes(os.getpid)))
    assert first != os.getpid()
    assert pickle.loads(run_in_child(call_bytes(os.getpid))) == first
    with pytest.raises(BrokenExecutor, match="status 3"):
        run_in_child(call_bytes(os._exit, 3))
    assert pickle.loads(run_in_child(call_bytes(os.getpid))) not in {first, os.getpid()}


def test_what_a_call_raises_and_prints() -> None:
    answer: object = pickle.loads(run_in_child(call_bytes(int, "x")))
    assert isinstance(answer, Raised)
    with pytest.raises(ValueError, match="invalid literal"):
        answer.reraise()
    assert pickle.loads(run_in_child(call_bytes(print, "no answer"))) is None


def begin_and_wait(mark: Path) -> None:
    mark.touch()
    time.sleep(1000)


def test_a_process_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    """Even while it runs a call."""
    child, mark = Child(), tmp_path / "begun"
    thread = threading.Thread(target=child.answer, args=(call_bytes(begin_and_wait, mark),))
    thread.start()
    while not mark.exists():
        time.sleep(0.01)
    assert child.end() == 0
    thread.join()


def test_a_process_without_work_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "IDLE_S", 0.01)
    pool = Children()
    child = pool.take()
    pool.give(child)
    assert child.wait() == 0
    assert pool.take() is not child


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_what_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(RuntimeError, match=f"cannot run {program}: it ended with status 1"):
        Child()
