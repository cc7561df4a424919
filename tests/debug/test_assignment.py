"""Values that users give to registers and memory: `setVariable` and `setExpression`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptx_lsp.debug.adapter.messages import Object
from tests.debug import kernels
from tests.debug.client import Client, connected, objects

_EVERY = kernels.LOOP.replace(
    ".reg .b32 %r<3>;",
    ".reg .b32 %r<3>; .reg .pred %q; .reg .b16 %h; .reg .u16 %w; .reg .s32 %s; .reg .f16 %e; .reg .f32 %f;"
    " .reg .f64 %d; .reg .b64 %l; .reg .b128 %x; .reg .v2 .f32 %v;",
).replace(".version 8.0", ".version 8.5").replace(
    "mov.u32 %r1, 0;",
    "mov.u32 %r1, 0; setp.eq.u32 %q, %r0, 0; mov.b16 %h, 1; mov.u16 %w, 1; mov.s32 %s, 1; mov.b16 %e, 0x3C00;"
    " mov.f32 %f, 0f3F800000; mov.f64 %d, 0d3FF0000000000000; mov.b64 %l, 1; mov.b128 %x, {%l, %l};"
    " mov.b32 %v.x, %r0; mov.b32 %v.y, %r0;",
).replace(".target sm_80", ".target sm_90")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Object]]:
    """A client whose kernel stands, and the stop."""
    path = kernels.written(tmp_path_factory.mktemp("every"), _EVERY)
    with connected() as client:
        yield client, client.start(path, [kernels.COUNT])


@pytest.mark.parametrize(("to", "text", "value"), [
    ("%r1", "-1", "4294967295"), ("%r1", "0xffffffff", "4294967295"), ("%s", "-7", "-7"),
    ("%s", "0xffffffff", "-1"), ("%r1", "1.5", "1069547520"), ("%r1", "true", "1"),
    ("%r1", "%tid.x + 5", "5"), ("%l", "0xffffffffffffffff", "18446744073709551615"),
    ("%h", "65535", "65535"), ("%h", "1.0", "15360"), ("%w", "-32768", "32768"),
    ("%x", "0x112233445566778899aabbccddeeff00", "22774453838368691933757882222884355840"),
    ("%x", "-1", "340282366920938463463374607431768211455"), ("%x", "(%tid.x + 1) << 40", "1099511627776"),
    ("%f", "nan", "nan"), ("%f", "-inf", "-inf"), ("%f", "inf", "inf"), ("%f", "0x1.8p-3", "0.1875"),
    ("%f", "0f40490FDB", "3.1415927"), ("%f", "1e-45", "1e-45"), ("%f", "0x7fc00000", "nan"),
    ("%f", "3", "3.0"),
    ("%d", "-0x1p1023", "-8.98846567431158e+307"), ("%d", "nan", "nan"), ("%e", "65504", "6.55e+04"),
    ("%v", "{1.5, -2}", "{1.5, -2.0}"), ("%v.y", "4", "4.0"), ("%q", "true", "true"), ("%q", "0", "false"),
    ("%q", "%r0 == 0", "true"), ("%r1@5", "77", "77"), ("%r1@lane 6", "78", "78"),
    ("[%rd0]:f32", "0x1p-2", "0.25"), ("[%rd0+4]:f32x2", "{nan, 1}", "{nan, 1.0}"), ("[%rd0]:s8", "-3", "-3"),
    ("[%rd0]:u64", "0xfedcba9876543210", "18364758544493064720"), ("[[out]:u64 + 8]", "7", "7"),
    ("param[0]:u64", "param[0]:u64 + 0", "30064771072"),
])
def test_values(session: tuple[Client, Object], to: str, text: str, value: str) -> None:
    client, stop = session
    frame = client.frame(stop["threadId"])["id"]
    assert client.body("setExpression", expression=to, value=text, frameId=frame)["value"] == value
    assert client.value(to, stop) == value


@pytest.mark.parametrize(("to", "text", "message"), [
    ("%r1", "0x100000000", "`0x100000000` does not fit into 32 bits"),
    ("%s", "-2147483649", "`-2147483649` does not fit into 32 bits"),
    ("%h", "65536", "`65536` does not fit into 16 bits"),
    ("%w", "1.5", "`1.5` is not a whole number"), ("%s", "nan", "`nan` is not a whole number"),
    ("%x", "1.5", "`1.5` is not a whole number"),
    ("%x", f"{1 << 128}", f"`{1 << 128}` does not fit into 128 bits"),
    ("%f", "1e39", "`1e39` does not fit into a float of 32 bits"),
    ("%f", "0x100000000", "`0x100000000` does not fit into 32 bits"),
    ("%e", "65520", "`65520` does not fit into a float of 16 bits"),
    ("%d", "0x1p1024", "`0x1p1024` is not a number"),
    ("%v", "1", "expected 2 elements, such as `{1, 2}`, found `1`"),
    ("%v", "{1}", "expected 2 elements, such as `{1, 2}`, found `{1}`"),
    ("%f", "{1, 2}", "expected one value, found `{1, 2}`"),
    ("%q", "2", "`2` is neither true nor false"), ("%r1", "", "the expression is empty"),
    ("%r1", "[%rd0]:u32x2", "`[%rd0]:u32x2` has several elements"),
    ("%r9", "1", "`%r9` is not a register here"), ("%r1@32", "1", "the warp has no lane 32"),
    ("%tid.x", "1", "`%tid.x` is not a register here"), ("7", "1", "`7` is not a register here"),
    ("%r1 + 1", "1", "`%r1 + 1` is neither a register nor memory"),
    ("[%rd0]:u8", "256", "`256` does not fit into 8 bits"),
    ("[0]:u32", "1", "there are no 4 bytes at global:0x0"),
    ("[1.5]", "1", "an address must be a whole number"),
    ("x[0]", "1", "`x` is not a state space; expected one of global, const, shared, local, param"),
    ("[%rd0+126]:u32", "1", "there are no 4 bytes at global:0x70000007e"),
])
def test_values_that_do_not_fit(session: tuple[Client, Object], to: str, text: str, message: str) -> None:
    client, _ = session
    assert client.refused("setExpression", expression=to, value=text) == message


def test_one_lane_of_the_warp(session: tuple[Client, Object]) -> None:
    client, stop = session
    frame = client.frame(stop["threadId"])["id"]
    scopes = objects(client.body("scopes", frameId=frame)["scopes"])
    numbers = {one["name"]: one["variablesReference"] for one in scopes}
    warp = numbers["Warp"]
    assert client.body("setVariable", variablesReference=warp, name="%h", value="3")["value"] == "3"
    registers = objects(client.body("variables", variablesReference=warp)["variables"])
    lanes = next(one["variablesReference"] for one in registers if one["name"] == "%r0")
    assert client.body("setVariable", variablesReference=lanes, name="lane 9", value="900")["value"] == "900"
    assert [client.value(f"%r0@{lane}", stop) for lane in (8, 9, 10)] == ["8", "900", "10"]
    assert [client.value(f"%h@{lane}", stop) for lane in (0, 31)] == ["3", "3"]
    refused = client.refused("setVariable", variablesReference=numbers["Findings"], name="x", value="1")
    assert refused == "these values cannot be changed"
