"""A process that runs calls for the process that started it.

Standard input has requests, standard output the answers; the length of each precedes it. The process ends
with its standard input, that is, with the process that started it, even while it runs a call.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
from queue import SimpleQueue
from typing import IO

from ptx_lsp.parallel.part import Raised

_LENGTH = 8
"""Bytes of a length."""
READY = b""
"""The first message, before any answer."""


def send(stream: IO[bytes], data: bytes) -> None:
    """Writes one message. Raises OSError."""
    stream.write(len(data).to_bytes(_LENGTH, "little"))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """The next message, or None if the other process has ended."""
    head = stream.read(_LENGTH)
    length = int.from_bytes(head, "little")
    data = stream.read(length) if len(head) == _LENGTH else b""
    return data if len(head) == _LENGTH and len(data) == length else None


def main() -> None:
    """Answers requests until the other process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a call prints is no answer
    requests = SimpleQueue[bytes]()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    send(answers, READY)
    is_first = True
    while True:
        answer = _answer(requests.get())
        if is_first:
            gc.freeze()  # modules stay
            is_first = False
        send(answers, answer)


def _read(requests: SimpleQueue[bytes]) -> None:
    while (data := receive(sys.stdin.buffer)) is not None:
        requests.put(data)
    os._exit(0)


def _answer(request: bytes) -> bytes:
    """The pickled result of a call, or a `Raised`."""
    try:
        return pickle.dumps(pickle.loads(request), protocol=5)
    except Exception as error:
        return pickle.dumps(Raised.of(error))


if __name__ == "__main__":
    main()
