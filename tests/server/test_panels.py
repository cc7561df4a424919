"""The requests for panels answer as docs/protocol.md has them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.server.connection import Connection, Json, ResponseError, at, of_file

PROTOCOL = Path(__file__).parents[2] / "docs/protocol.md"
SHOWN: dict[str, Json] = {
    name: json.loads(example)
    for name, example in re.findall(
        r"^## `(ptx/\w+)`$.*?^```json\n(.*?)^```$", PROTOCOL.read_text(encoding="utf-8"), re.M | re.S
    )
}
URI = "file:///kernel.ptx"
KERNEL = """.version 8.0
.target sm_80
.address_size 64
// ptx-run: grid=2,2 block=32 out=u32:zeros(31)
.entry first(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .pred %p1;
    .reg .b64 %rd<3>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 31;
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    @%p1 bra DONE;
    st.global.u32 [%rd1], 1;
    bra.uni DONE;
DONE:
    ret;
}
"""

OLD = KERNEL.replace("first", "second").replace("mul.wide.u32 %rd2, %r1, 4;", "ret;")
OF_FILES_ON_DISK = {
    "ptx/containerMembers", "ptx/memberText", "ptx/memberKernels", "ptx/tritonCache",
}  # fmt: skip
"""They are tested in `containers/`."""
NEEDED: dict[str, dict[str, Json]] = {"ptx/compare": {"old": {"name": "old.ptx", "text": OLD}}}


def differences(shown: Json, sent: Json, path: str = "") -> Iterator[str]:
    """Where what was sent has another shape than the example. `{}` and null in the example stand for
    anything, and so does null that is sent.
    """
    if sent is None or shown is None or shown == {}:
        return
    if isinstance(shown, Mapping):
        if not isinstance(sent, Mapping) or set(shown) != set(sent):
            yield f"{path}: {shown} {sent}"
            return
        for key in shown:
            yield from differences(shown[key], sent[key], f"{path}.{key}")
    elif isinstance(shown, list):
        if not isinstance(sent, list):
            yield f"{path}: {shown} {sent}"
        elif shown:
            for number, one in enumerate(sent):
                yield from differences(shown[min(number, len(shown) - 1)], one, f"{path}[{number}]")
    elif isinstance(shown, float):
        if not isinstance(sent, int | float):
            yield f"{path}: {shown} {sent}"
    elif type(shown) is not type(sent) and not (isinstance(shown, int) and isinstance(sent, float)):
        yield f"{path}: {shown!r} {sent!r}"


def test_all_requests_have_an_example() -> None:
    assert set(SHOWN) == {
        "ptx/kernelReport", "ptx/occupancyCurve", "ptx/pressureProfile", "ptx/controlFlow", "ptx/preview",
        "ptx/machineCode", "ptx/compare", *OF_FILES_ON_DISK,
    }


@pytest.mark.parametrize("method", sorted(SHOWN.keys() - OF_FILES_ON_DISK))
def test_an_answer_has_the_shape_of_the_example(method: str) -> None:
    with Connection() as client:
        client.open(URI, KERNEL)
        found = client.request(method, of_file(URI, **NEEDED.get(method, {})))
        assert isinstance(found, dict)
        assert not list(differences(SHOWN[method], found))


def test_occupancy_of_what_is_asked_for() -> None:
    with Connection() as client:
        client.open(URI, KERNEL)
        asked = of_file(URI, kernel="first", threads=64, registers=128, target="sm_90")
        found = client.request("ptx/occupancyCurve", asked)
        assert (at(found, "point", "threads"), at(found, "point", "registers")) == (64, 128)
        assert at(found, "point", "blocksPerSm") == 8  # 64 threads of 128 registers: 8192 of 65536
        assert at(found, "point", "limiters") == ["registers"]
        assert at(found, "target") == "sm_90"


def test_pressure_of_each_line() -> None:
    with Connection() as client:
        client.open(URI, KERNEL)
        found = client.request("ptx/pressureProfile", of_file(URI))
        lines = {at(pair, 0): at(pair, 1) for pair in _list(at(found, "lines"))}
        assert at(found, "peak", "live") == max(one for one in lines.values() if isinstance(one, int))
        assert lines[10] == 1  # after %r1 is written, before anything else
        assert 19 not in lines


def test_blocks_edges_and_the_exit() -> None:
    with Connection() as client:
        client.open(URI, KERNEL)
        found = client.request("ptx/controlFlow", of_file(URI))
        labels = [at(one, "label") for one in _list(at(found, "blocks"))]
        assert labels == ["block 0", "block 1", "block 2 DONE", "exit"]
        assert at(found, "blocks", 0, "branch") == "divergent"
        keys = ("from", "to", "kind", "condition")
        edges = {tuple(at(one, key) for key in keys) for one in _list(at(found, "edges"))}
        assert edges == {
            (0, 1, "fallthrough", "!%p1"), (0, 2, "taken", "%p1"), (1, 2, "taken", ""), (2, 3, "taken", ""),
        }


def test_the_launch_has_three_sizes_or_is_not_known() -> None:
    with Connection() as client:
        client.open(URI, KERNEL)
        assert at(client.request("ptx/preview", of_file(URI)), "launch", "grid") == [2, 2, 1]
        client.change(URI, 2, [{"text": KERNEL.replace("out=u32", "in=u32")}])
        found = client.request("ptx/preview", of_file(URI))
        assert at(found, "launch", "grid") is None
        assert "is not a parameter" in str(at(found, "error", "message"))


def compared(client: Connection, text: str, **kernels: Json) -> Json:
    old: Json = {"name": "old.ptx", "text": text}
    return client.request("ptx/compare", of_file(URI, old=old, **kernels))


def test_comparison_with_another_text() -> None:
    with Connection() as client:
        client.open(URI, KERNEL)
        client.findings(URI, 1)
        same = compared(client, KERNEL)
        assert at(same, "complete") is True
        assert at(same, "pairs", 0, "same") is True
        found = at(compared(client, KERNEL.replace("setp.lt", "setp.gt")), "pairs", 0)
        assert at(found, "same") is False
        assert at(found, "instructions") == {"setp.gt.u32": -1, "setp.lt.u32": 1}
        registers = at(found, "figures", "registers")
        assert at(registers, "says") == "estimated"
        assert at(registers, "worse") is False
        found = at(compared(client, KERNEL.replace("%r1, 31;", "%r2, 31;")), "pairs", 0)
        assert at(found, "findings") == {"uninitialised-read": -1}
        gone = compared(client, KERNEL + KERNEL[KERNEL.index(".entry") :].replace("first", "third"))
        assert at(gone, "gone", 0, "kernel") == "third"


def test_comparison_of_two_kernels() -> None:
    with Connection() as client:
        client.open(URI, KERNEL)
        empty = ".version 8.0\n.target sm_80\n.address_size 64\n.entry nothing()\n{\n    ret;\n}\n"
        assert at(compared(client, empty), "pairs") == []
        found = at(compared(client, empty, kernel="first", oldKernel="nothing"), "pairs", 0)
        assert (at(found, "old", "kernel"), at(found, "new", "kernel")) == ("nothing", "first")
        assert at(found, "figures", "instructions", "new") == 9
        with pytest.raises(ResponseError, match=r"`old\.ptx` has no kernel `first`"):
            compared(client, empty, kernel="first")
        with pytest.raises(ResponseError, match="`old` must have a `name` and a `text`"):
            client.request("ptx/compare", of_file(URI))


def _list(value: Json) -> list[Json]:
    assert isinstance(value, list)
    return value


@pytest.mark.parametrize("name", ["saxpy", "add_triton_sm90", "scan_nvcc_sm100a", "wmma_nvcc_sm120"])
def test_the_peak_of_live_registers_is_one_figure(name: str) -> None:
    """That of the profile, of its lines, of the report, of hover and of the inlay hint at the peak."""
    text = (Path(__file__).parents[2] / f"examples/{name}.ptx").read_text(encoding="utf-8")
    with Connection(options={"inlayHints": {"liveRegisters": True}}) as client:
        client.open(URI, text)
        kernel = at(client.request("ptx/kernelReport", of_file(URI)), "kernels", 0)
        profile = client.request("ptx/pressureProfile", of_file(URI, kernel=at(kernel, "name")))
        peak, lines = at(profile, "peak", "live"), at(profile, "lines")
        assert isinstance(lines, list)
        lives = [live for one in lines if isinstance(live := at(one, 1), int)]
        assert peak == max(lives) == at(kernel, "registers", "peakLive")
        start = at(kernel, "selectionRange", "start")
        hover = client.request("textDocument/hover", of_file(URI, position=start))
        assert f"at most {peak} registers live at once" in str(at(hover, "contents"))
        hints = client.request("textDocument/inlayHint", of_file(URI, range=at(kernel, "range")))
        assert isinstance(hints, list)
        assert f"{peak} live (peak)" in " ".join(str(at(one, "label")) for one in hints)
