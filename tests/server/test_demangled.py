"""Mangled names are shown demangled, if the settings want it."""

from __future__ import annotations

import pytest

from tests.server.connection import Connection, Json, at, of_file, position

URI = "file:///k.ptx"
NAME = "_ZN3foo4axpyIfEEvPT_S2_"
CALLED = "_ZN3foo6calledEv"
FULL, SHORT = "void foo::axpy<float>(float*, float*)", "foo::axpy<...>"
TEXT = f""".version 8.5
.target sm_90
.address_size 64
.global .b32 _ZN3foo5tableE[4];
.visible .func {CALLED}() {{ ret; }}
.visible .entry {NAME}(.param .u64 {NAME}_param_0) {{
    .reg .b64 %rd1;
    ld.param.u64 %rd1, [{NAME}_param_0];
    call {CALLED}, ();
    ret;
}}
"""


def _names(found: Json) -> list[Json]:
    assert isinstance(found, list)
    return [at(one, "name") for one in found]


@pytest.mark.parametrize("wanted", [True, False])
def test_demangled_names(wanted: bool) -> None:
    with Connection(options={"demangle": wanted}) as client:
        client.open(URI, TEXT)
        outline = client.request("textDocument/documentSymbol", of_file(URI))
        assert _names(outline) == (
            ["foo::table", "foo::called", SHORT] if wanted else ["_ZN3foo5tableE", CALLED, NAME]
        )
        assert _names(at(outline, 2, "children"))[0] == (
            f"{SHORT} parameter 0" if wanted else f"{NAME}_param_0"
        )
        asked = of_file(URI, position=position(TEXT, f"{NAME}_param_0]"))
        text = str(at(client.request("textDocument/hover", asked), "contents", "value"))
        assert (f"{FULL} parameter 0" in text) == wanted
        asked = of_file(URI, position=position(TEXT, NAME))
        text = str(at(client.request("textDocument/hover", asked), "contents", "value"))
        assert (FULL in text) == wanted
        assert NAME in text
        lenses = client.request("textDocument/codeLens", of_file(URI))
        title = str(at(client.request("codeLens/resolve", at(lenses, 1)), "command", "title"))
        assert title.startswith(f"{SHORT} | ") == wanted
        shown = SHORT if wanted else NAME
        report = client.request("ptx/kernelReport", of_file(URI))
        assert at(report, "kernels", 0, "displayName") == shown
        assert at(report, "kernels", 0, "name") == NAME
        for method in ("occupancyCurve", "controlFlow", "preview", "machineCode"):
            answer = client.request(f"ptx/{method}", of_file(URI))
            assert (at(answer, "kernel"), at(answer, "displayName")) == (NAME, shown)


@pytest.mark.parametrize("wanted", [True, False])
def test_the_call_hierarchy(wanted: bool) -> None:
    kernel, called = (SHORT, "foo::called") if wanted else (NAME, CALLED)
    with Connection(options={"demangle": wanted}) as client:
        client.open(URI, TEXT)
        asked = of_file(URI, position=position(TEXT, CALLED))
        item = at(client.request("textDocument/prepareCallHierarchy", asked), 0)
        assert at(item, "name") == called
        caller = at(client.request("callHierarchy/incomingCalls", {"item": item}), 0, "from")
        assert at(caller, "name") == kernel
        back = client.request("callHierarchy/outgoingCalls", {"item": caller})
        assert at(back, 0, "to", "name") == called


def test_the_kernels_of_a_comparison() -> None:
    with Connection() as client:
        client.open(URI, TEXT)
        old: Json = {"name": "old.ptx", "text": TEXT}
        found = client.request("ptx/compare", of_file(URI, old=old))
        assert at(found, "pairs", 0, "new", "kernel") == NAME
        assert at(found, "pairs", 0, "new", "displayName") == SHORT
