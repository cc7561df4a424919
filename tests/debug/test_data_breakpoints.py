"""Data breakpoints: what a name or an address stands for, and where the kernel stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.debug.adapter.messages import Json, Object
from tests.debug import kernels
from tests.debug.client import Client, connected, objects

_EVERY = """\
.version 8.0
.target sm_80
.address_size 64
.shared .b32 buffer[64];
.const .b32 table[4] = {1, 2, 3, 4};
// ptx-run: grid=2 block=32 out=u32:zeros(64) more=u32:9
.visible .entry every(.param .u64 out, .param .u32 more)
{
	.local .b32 own[4];
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	mov.u32 %r0, %tid.x;
	ld.param.u32 %r1, [more];
	ld.param.u64 %rd0, [out];
	ld.const.u32 %r2, [table+8];
	st.shared.u32 [buffer+4], %r1;
	st.local.u32 [own+8], %r2;
	ld.local.u32 %r3, [own+8];
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r3;
	ret;
}
"""
_LOAD_MORE, _LOAD_OUT, _LOAD_TABLE = 13, 14, 15
_STORE_SHARED, _STORE_LOCAL, _LOAD_LOCAL, _STORE = 16, 17, 18, 21


def _stops(client: Client, path: Path, info: dict[str, Json], access: str = "readWrite") -> list[Json]:
    """The lines that access some data, when it is looked up before the first instruction."""
    client.start(path, stopOnEntry=True)
    frame = client.frame(1)["id"]
    if "scope" in info:
        scopes = objects(client.body("scopes", frameId=frame)["scopes"])
        (number,) = [one["variablesReference"] for one in scopes if one["name"] == info["scope"]]
        info = {"name": info["name"], "variablesReference": number}
    found = client.body("dataBreakpointInfo", **{"frameId": frame, **info})
    assert found["dataId"], found
    given: Json = [{"dataId": found["dataId"], "accessType": access}]
    assert objects(client.body("setDataBreakpoints", breakpoints=given)["breakpoints"])[0]["verified"]
    lines: list[Json] = []
    while (stop := client.go("continue"))["event"] == "stopped":
        lines.append(int(str(stop["text"]).split(":")[0].removeprefix("line ")))
    return lines


@pytest.mark.parametrize(("info", "lines"), [
    ({"name": "0x700000004", "asAddress": True, "bytes": 4}, [_STORE]),
    ({"name": "global:0x70000003c", "asAddress": True}, [_STORE]),
    ({"name": "shared:1:0x4", "asAddress": True, "bytes": 1}, [_STORE_SHARED]),
    ({"name": "shared:1:0x8", "asAddress": True, "bytes": 4}, []),
    ({"name": "local:1:3:0x8", "asAddress": True, "bytes": 4}, [_STORE_LOCAL, _LOAD_LOCAL]),
    ({"name": "local:0:3:0xc", "asAddress": True, "bytes": 4}, []),
    ({"name": "param:0x8", "asAddress": True, "bytes": 4}, [_LOAD_MORE]),
    ({"name": "param:0x0", "asAddress": True, "bytes": 8}, [_LOAD_OUT]),
    ({"name": "buffer"}, [_STORE_SHARED]), ({"name": "own"}, [_STORE_LOCAL, _LOAD_LOCAL]),
    ({"name": "more"}, [_LOAD_MORE]), ({"name": "table"}, [_LOAD_TABLE]),
    ({"name": "table", "bytes": 8}, []),
    ({"name": "[table+8]:u32"}, [_LOAD_TABLE]), ({"name": "shared[4]:u8"}, [_STORE_SHARED]),
    ({"name": "out", "scope": "Global"}, [_STORE, _STORE]),
    ({"name": "own", "scope": "Local"}, [_STORE_LOCAL, _LOAD_LOCAL]),
    ({"name": "more", "scope": "Parameters"}, [_LOAD_MORE]),
])
def test_who_accesses_data(tmp_path: Path, info: dict[str, Json], lines: list[int]) -> None:
    path = kernels.written(tmp_path, _EVERY)
    with connected() as client:
        assert sorted(set(map(str, _stops(client, path, info)))) == sorted(set(map(str, lines)))


@pytest.mark.parametrize(("access", "lines"), [("read", [_LOAD_LOCAL]), ("write", [_STORE_LOCAL])])
def test_reads_or_writes(tmp_path: Path, access: str, lines: list[int]) -> None:
    path = kernels.written(tmp_path, _EVERY)
    with connected() as client:
        info: Object = {"name": "local:0:3:0x8", "asAddress": True, "bytes": 4}
        assert _stops(client, path, info, access) == lines


@pytest.mark.parametrize(("info", "message"), [
    ({"name": "0x10", "asAddress": True}, "there are no 1 bytes at global:0x10"),
    ({"name": "shared:0:0x100", "asAddress": True}, "there are no 1 bytes at shared:0:0x100"),
    ({"name": "param:0x8", "asAddress": True, "bytes": 8}, "there are no 8 bytes at param:0x8"),
    ({"name": "shared:0", "asAddress": True}, "`shared:0` is not a memory reference"),
    ({"name": "here", "asAddress": True}, "`here` is not an address"),
    ({"name": "-1", "asAddress": True}, "`-1` is not an address of 64 bits"),
    ({"name": "out", "bytes": -4}, "between 1 and 1048576 bytes can be watched"),
    ({"name": "%r77"}, "`%r77` is neither a variable nor a register here"),
    ({"name": "1 + 1"}, "`1 + 1` is neither a register nor memory"),
    ({"name": "out", "variablesReference": 999}, "there are no variables 999: the kernel has gone on"),
])
def test_data_that_does_not_exist(tmp_path: Path, info: Object, message: str) -> None:
    path = kernels.written(tmp_path, _EVERY)
    with connected() as client:
        client.start(path, stopOnEntry=True)
        found = client.body("dataBreakpointInfo", **info)
        assert (found["dataId"], found["description"]) == (None, message)


@pytest.mark.parametrize("text", [
    "", "global:0:0", "register:9999:0:0", "shared:0:0x4:x", "param:0:99999999999",
])
def test_identifiers_that_were_not_given_out(tmp_path: Path, text: str) -> None:
    path = kernels.written(tmp_path, _EVERY)
    with connected() as client:
        client.start(path, stopOnEntry=True)
        found = client.body("setDataBreakpoints", breakpoints=[{"dataId": text}])
        assert not objects(found["breakpoints"])[0]["verified"]
