"""A real server process for each test, and a client that knows what it may expect."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp import ClientServerConfig, LanguageClient

COMMAND = [sys.executable, "-m", "ptx_lsp.server.command"]
CAPABILITIES = Path(__file__).with_name("capabilities")


def capabilities(name: str) -> types.InitializeParams:
    """What a real editor sent when it started a server."""
    sent = json.loads((CAPABILITIES / f"{name}.json").read_text(encoding="utf-8"))
    wanted = get_converter().structure(sent["capabilities"], types.ClientCapabilities)
    options = {"ptxas": "off"}  # what the tests expect must not depend on the machine
    return types.InitializeParams(
        capabilities=wanted, process_id=None, initialization_options=options
    )


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def neovim() -> AsyncIterator[LanguageClient]:
    """A client that can much, for all tests of a module."""
    async for started in _started("nvim-0.11.4"):
        yield started


async def _started(editor: str) -> AsyncIterator[LanguageClient]:
    started = await ClientServerConfig(COMMAND, server_env=dict(os.environ)).start()
    assert isinstance(started, LanguageClient)
    started.feature(types.CLIENT_REGISTER_CAPABILITY)(_agree)
    for method in (types.WORKSPACE_INLAY_HINT_REFRESH, types.WORKSPACE_CODE_LENS_REFRESH):
        started.feature(method)(_agree)
    await started.initialize_session(capabilities(editor))
    yield started
    await started.shutdown_session()
    await started.stop()


def _agree(_: types.RegistrationParams | None) -> None:
    """To whatever the server asks for."""
