"""What the tests of editors say of an editor that has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.editors.terminal import HAS_TMUX, terminal, until

pytestmark = pytest.mark.skipif(not HAS_TMUX, reason="no tmux: make editors")


def test_a_program_that_has_ended_is_named_with_what_it_said(tmp_path: Path) -> None:
    with terminal(["sh", "-c", "echo on the first line; read _; exit 3"], tmp_path, {}) as screen:
        screen.shows("on the first line")
        screen.check()
        screen.press("Enter")
        until(screen.has_ended, bool)
        with pytest.raises(
            AssertionError, match=r"has ended:\non the first line\nPane is dead \(status 3"
        ):
            screen.check()
