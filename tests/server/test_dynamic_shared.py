"""Launch suggestions that run, and dynamic shared memory wherever occupancy is shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.connection import Connection, Json, at, of_file

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 smem[];
.visible .entry k(.param .u64 out)
DIRECTIVES
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r3, smem;
    shl.b32 %r2, %r1, 2;
    add.u32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.shared.u32 %r2, [%r3];
    st.global.u32 [%rd1], %r2;
    ret;
}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Connection]:
    with Connection() as client:
        yield client


@pytest.fixture
def client(server: Connection) -> Connection:
    """Without the settings of the test before."""
    server.notify("workspace/didChangeConfiguration", {"settings": {"dynamicSharedMemory": None}})
    return server


@pytest.mark.parametrize(
    ("directives", "words"),
    [
        (".reqntid 256", "grid=1 block=256 shared=49152"),
        (".maxntid 64, 2", "grid=1 block=64,2 shared=49152"),
        (".reqntid 32, 1, 4 .maxntid 128", "grid=1 block=32,1,4 shared=49152"),
        (".maxntid 4096", "grid=1 block=32 shared=49152"),
        (".maxntid 0", "grid=1 block=32 shared=49152"),
        (".reqnctapercluster 2, 3", "grid=2,3 block=32 shared=49152"),
        (".explicitcluster", "grid=1 block=32 cluster=1 shared=49152"),
        (".blocksareclusters .reqntid 64 .reqnctapercluster 2", "grid=1 block=64 shared=49152"),
        ("", "grid=1 block=32 shared=49152"),
    ],
)
def test_a_suggestion_runs(client: Connection, directives: str, words: str) -> None:
    """Its grid, block, cluster and memory are as the kernel demands, so that it runs when it is accepted."""
    text = KERNEL.replace("DIRECTIVES", directives).replace(".version 8.0", ".version 9.0")
    before, entry, after = text.partition(".visible")
    client.open("file:///k.ptx", text)
    missing = at(client.request("ptx/preview", of_file("file:///k.ptx")), "missing")
    assert isinstance(missing, str)
    assert missing.startswith(f"// ptx-run: {words} out=f32:zeros(")
    client.open("file:///k.ptx", f"{before}{missing}\n{entry}{after}")
    assert at(client.request("ptx/preview", of_file("file:///k.ptx")), "error") is None


def test_called_functions_use_it_too(client: Connection) -> None:
    text = KERNEL.replace("DIRECTIVES", "").replace(
        ".visible", ".func f() { .reg .b32 %r; ld.shared.u32 %r, [smem]; ret; }\n.visible"
    )
    begin, end = text.index("    mov.u32 %r3, smem"), text.index("    st.global")
    text = f"{text[:begin]}    call.uni f;\n{text[end:]}"
    client.open("file:///k.ptx", text)
    missing = at(client.request("ptx/preview", of_file("file:///k.ptx")), "missing")
    assert isinstance(missing, str)
    assert " shared=49152 " in missing


def test_a_wrong_launch_names_the_remedy(client: Connection) -> None:
    for comment, remedy in [
        ("grid=1 block=32 out=u32:zeros(32)", "set `shared=BYTES`, or `ptx-run --shared BYTES`"),
        ("grid=1 block=64 shared=128 out=u32:zeros(64)", "128 of them dynamic: set `shared=BYTES`"),
        ("grid=1 block=128 shared=512 out=u32:zeros(64)", "has `.maxntid 64`"),
    ]:
        text = KERNEL.replace("DIRECTIVES", ".maxntid 64")
        client.open("file:///k.ptx", text.replace(".visible", f"// ptx-run: {comment}\n.visible"))
        error = at(client.request("ptx/preview", of_file("file:///k.ptx")), "error")
        assert remedy in str(at(error, "message"))


METADATA = {"name": "k", "shared": 98304, "num_warps": 8, "target": {"backend": "cuda"}}


@pytest.mark.parametrize(
    ("comment", "setting", "metadata", "expected", "percent"),
    [
        ("", None, None, {"bytes": None, "source": "unknown"}, 100.0),
        ("", None, METADATA, {"bytes": 98304, "source": "metadata"}, 25.0),
        ("", None, {**METADATA, "name": "other"}, {"bytes": None, "source": "unknown"}, 100.0),
        ("", None, {"shared": "many"}, {"bytes": None, "source": "unknown"}, 100.0),
        ("", 49152, METADATA, {"bytes": 49152, "source": "setting"}, 50.0),
        ("shared=24576", 49152, METADATA, {"bytes": 24576, "source": "launch comment"}, 100.0),
        ("shared=0", None, METADATA, {"bytes": 0, "source": "launch comment"}, 100.0),
        ("seed=1", None, METADATA, {"bytes": 98304, "source": "metadata"}, 25.0),
    ],
)
def test_what_says_how_much_it_is(
    client: Connection, tmp_path: Path, comment: str, setting: int | None, metadata: Json, expected: Json,
    percent: float,
) -> None:
    """The launch comment, then the setting, then Triton's metadata; in every view."""
    path = tmp_path / "k.ptx"
    if metadata is not None:
        path.with_suffix(".json").write_text(json.dumps(metadata))
    text = KERNEL.replace("DIRECTIVES", ".reqntid 256")
    if comment:
        launch = f"// ptx-run: grid=1 block=256 {comment} out=u32:zeros(256)"
        text = text.replace(".visible", f"{launch}\n.visible")
    client.notify("workspace/didChangeConfiguration", {"settings": {"dynamicSharedMemory": setting}})
    client.open(path.as_uri(), text)
    kernel = at(client.request("ptx/kernelReport", of_file(path.as_uri())), "kernels", 0)
    assert at(kernel, "dynamicShared") == expected
    assert at(kernel, "occupancy", "percent") == percent
    curve = client.request("ptx/occupancyCurve", of_file(path.as_uri()))
    size = at(expected, "bytes")
    assert at(curve, "dynamicShared") == expected
    assert at(curve, "own", "sharedBytes") == (size or 0)
    assert at(curve, "point", "percent") == percent
    line = text.count("\n", 0, text.index("entry k"))
    place: Json = {"line": line, "character": 16}
    found = client.request("textDocument/hover", of_file(path.as_uri(), position=place))
    hover = str(at(found, "contents"))
    lenses = client.request("textDocument/codeLens", of_file(path.as_uri()))
    assert isinstance(lenses, list)
    titles = [str(at(client.request("codeLens/resolve", one), "command", "title")) for one in lenses]
    for told in (hover, next(one for one in titles if "registers" in one)):
        if size is None:
            assert f"at most {percent:g} % occupancy" in told
            assert "dynamic shared memory unknown" in told
        else:
            assert f"at most {percent:g} %" not in told
            assert f"{size} bytes of dynamic shared memory ({at(expected, 'source')})" in told


def test_a_kernel_without_it_tells_nothing_of_it(client: Connection) -> None:
    text = KERNEL.replace("DIRECTIVES", "")
    text = text.replace(".extern .shared .align 16 .b8 smem[]", ".shared .b8 smem[128]")
    client.notify("workspace/didChangeConfiguration", {"settings": {"dynamicSharedMemory": 4096}})
    client.open("file:///k.ptx", text)
    kernel = at(client.request("ptx/kernelReport", of_file("file:///k.ptx")), "kernels", 0)
    assert at(kernel, "dynamicShared") == {"bytes": 0, "source": "none"}
    curve = client.request("ptx/occupancyCurve", of_file("file:///k.ptx"))
    assert at(curve, "own", "sharedBytes") == 128


def test_the_interval_of_the_estimate(client: Connection) -> None:
    """The occupancy at both ends of the estimate, for the block asked for; none for other registers."""
    text = KERNEL.replace("DIRECTIVES", ".reqntid 256")
    client.open("file:///k.ptx", text)
    report = client.request("ptx/kernelReport", of_file("file:///k.ptx"))
    registers = at(report, "kernels", 0, "registers")
    curve = client.request("ptx/occupancyCurve", of_file("file:///k.ptx", sharedBytes=65536))
    for number, end in enumerate(("low", "high")):
        one = at(curve, "interval", number)
        assert at(one, "registers") == at(registers, end)
        assert at(one, "percent") == 37.5
    curve = client.request("ptx/occupancyCurve", of_file("file:///k.ptx", registers=200))
    assert at(curve, "interval") is None


def test_block_and_cluster_sizes_of_the_metadata(client: Connection, tmp_path: Path) -> None:
    """In all views, also after they change on disk."""
    path = tmp_path / "k.ptx"
    client.open(path.as_uri(), KERNEL.replace("DIRECTIVES", ".maxntid 512"))

    def shown() -> tuple[object, ...]:
        kernel = at(client.request("ptx/kernelReport", of_file(path.as_uri())), "kernels", 0)
        names = ("threadsPerBlock", "threadsSource", "clusterSize")
        return (*(at(kernel, name) for name in names), at(kernel, "occupancy", "warpsPerSm"))

    assert shown()[:3] == (512, "maxntid", 1)
    for warps, resident in ((8, 16), (4, 8)):
        path.with_suffix(".json").write_text(json.dumps({**METADATA, "num_warps": warps, "num_ctas": 2}))
        os.utime(path.with_suffix(".json"), (warps, warps))
        assert shown() == (32 * warps, "metadata", 2, resident)
    curve = client.request("ptx/occupancyCurve", of_file(path.as_uri()))
    assert at(curve, "own", "threads") == 128
    place: Json = {"line": 4, "character": 16}
    hover = client.request("textDocument/hover", of_file(path.as_uri(), position=place))
    assert "with 128 threads per block (metadata)" in str(hover)
