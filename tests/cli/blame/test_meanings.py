"""Explanations of messages. `messages.txt` has those of ptxas 13.5, from experiments and its own texts, and
some of older versions from public logs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.cli.blame.meanings import MEANINGS, advice, meaning

MESSAGES = (Path(__file__).parent / "messages.txt").read_text().splitlines()


@pytest.mark.parametrize("text", MESSAGES)
def test_messages_are_explained(text: str) -> None:
    found = meaning(text)
    assert found
    assert "{" not in found.replace("{ .", "")
    assert found[-1] in ".`"


def test_every_explanation_is_that_of_some_message() -> None:
    found = {meaning(text).partition("`")[0] for text in MESSAGES}
    for pattern, explanation in MEANINGS:
        assert explanation.partition("`")[0] in found, pattern


def test_names_are_filled_in() -> None:
    assert meaning("Unknown symbol 'zz'").startswith("`zz` is not declared")
    assert meaning("Illegal modifier '.a' for instruction 'b'").startswith("`b` does not have `.a`")
    assert meaning("something new") == ""


@pytest.mark.parametrize(
    ("path", "how"),
    [
        ("/tmp/tmpxft_000039bc_00000000-6_row.ptx", "-keep"), ("/tmp/tmpshyxatol.ptx", "~/.triton/cache"),
        ("/tmp/jl_3AZwTS5w3o.ptx", "@device_code_ptx"), ("application ptx input", "driver"),
        ("/tmp/tempfile-host-1234-5", "--xla_dump_to"),
        ("/tmp/k-cuda-nvptx64-nvidia-cuda-sm_80-1.s", "-save-temps"),
        ("other", "--ptx"),
    ],
)
def test_how_to_get_the_ptx(path: str, how: str) -> None:
    assert how in advice(path)
