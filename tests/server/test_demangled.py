"""Mangled names are shown demangled, if the settings want it."""

from __future__ import annotations

import pytest

from tests.server.connection import Connection, Json, at, of_file, position

URI = "file:///k.ptx"
NAME = "_ZN3foo4axpyIfEEvPT_S2_"
FULL, SHORT = "void foo::axpy<float>(float*, float*)", "foo::axpy<...>"
TEXT = f""".version 8.5
.target sm_90
.address_size 64
.global .b32 _ZN3foo5tableE[4];
.visible .entry {NAME}(.param .u64 p) {{ ret; }}
"""


def _names(found: Json) -> list[Json]:
    assert isinstance(found, list)
    return [at(one, "name") for one in found]


@pytest.mark.parametrize("wanted", [True, False])
def test_demangled_names(wanted: bool) -> None:
    with Connection(options={"demangle": wanted}) as client:
        client.open(URI, TEXT)
        outline = client.request("textDocument/documentSymbol", of_file(URI))
        assert _names(outline) == (["foo::table", SHORT] if wanted else ["_ZN3foo5tableE", NAME])
        asked = of_file(URI, position=position(TEXT, NAME))
        text = str(at(client.request("textDocument/hover", asked), "contents", "value"))
        assert (FULL in text) == wanted
        assert NAME in text
        lenses = client.request("textDocument/codeLens", of_file(URI))
        title = str(at(client.request("codeLens/resolve", at(lenses, 0)), "command", "title"))
        assert title.startswith(f"{SHORT} | ") == wanted
        shown = SHORT if wanted else NAME
        report = client.request("ptx/kernelReport", of_file(URI))
        assert at(report, "kernels", 0, "displayName") == shown
        assert at(report, "kernels", 0, "name") == NAME
        for method in ("occupancyCurve", "controlFlow", "preview"):
            answer = client.request(f"ptx/{method}", of_file(URI))
            assert (at(answer, "kernel"), at(answer, "displayName")) == (NAME, shown)
