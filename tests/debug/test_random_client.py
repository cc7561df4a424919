"""Random requests: `random_client.py`."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from threading import Thread

import pytest

from ptx_lsp.debug.adapter.messages import Channel
from ptx_lsp.debug.adapter.requests import new_session
from tests.debug.client import SECONDS, connected
from tests.debug.random_client import ask_at_random, garbage
from tests.strength import seeds


@pytest.mark.parametrize("seed", range(5))
def test_random_requests(seed: int, tmp_path: Path) -> None:
    with connected() as client:
        ask_at_random(client, seed, 100, tmp_path)


@pytest.mark.parametrize("seed", seeds(10, 40))
def test_bytes_that_are_no_messages(seed: int) -> None:
    sent: list[bytes] = []
    channel = Channel(BytesIO(garbage(seed)).read, sent.append)
    thread = Thread(target=new_session(channel).serve)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive()
    assert not any(b"internal error" in one for one in sent)
