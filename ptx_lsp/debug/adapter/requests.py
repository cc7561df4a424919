"""All requests that the debug adapter answers."""

from __future__ import annotations

from ptx_lsp.debug.adapter import (
    bytes_and_code,
    data_breakpoints,
    focus,
    inspection,
    lifecycle,
    movement,
    sources,
    stops,
)
from ptx_lsp.debug.adapter.messages import Channel
from ptx_lsp.debug.adapter.session import Handler, Session

HANDLERS: dict[str, Handler] = {
    name: handler
    for module in (
        lifecycle, stops, data_breakpoints, movement, inspection, bytes_and_code, focus, sources,
    )
    for name, handler in module.HANDLERS.items()
}


def new_session(channel: Channel) -> Session:
    """The session of a client."""
    return Session(channel, HANDLERS)
