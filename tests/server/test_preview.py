"""`ptx/preview` as a panel asks for it."""

from __future__ import annotations

from tests.server.connection import Connection, at, of_file

URI = "file:///kernel.ptx"
KERNEL = """.version 8.0
.target sm_80
.address_size 64
// ptx-run: grid=1 block=3 out=u32:zeros(3)
.entry squares(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    mov.u32 %r1, %tid.x;
    mul.lo.u32 %r2, %r1, %r1;
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""


def test_the_outcome() -> None:
    with Connection() as client:
        client.open(URI, KERNEL)
        found = client.request("ptx/preview", of_file(URI, kernel="squares"))
        assert at(found, "error") is None
        assert at(found, "launch") == {"grid": [1, 1, 1], "block": [3, 1, 1], "line": 3}
        assert at(found, "buffers", 0, "after") == ["0", "1", "4"]
        assert at(found, "instructions") == 21
        written = at(found, "values", 1)
        assert (at(written, "line"), at(written, "name")) == (9, "%r2")
        assert at(written, "lanes", 2) == "4"
        report = client.request("ptx/kernelReport", of_file(URI))
        assert at(report, "kernels", 0, "canPreview") is True


def test_what_went_wrong() -> None:
    with Connection() as client:
        client.open(URI, KERNEL.replace("zeros(3)", "zeros(2)"))
        error = at(client.request("ptx/preview", of_file(URI)), "error")
        assert (at(error, "kind"), at(error, "line")) == ("out-of-bounds", 13)
        assert at(error, "lanes") == ["block (0, 0, 0), thread (2, 0, 0)"]


def test_a_kernel_that_no_comment_launches() -> None:
    with Connection() as client:
        client.open(URI, KERNEL.replace("// ptx-run", "// nothing"))
        found = client.request("ptx/preview", of_file(URI, position={"line": 9, "character": 4}))
        assert at(found, "missing") == "// ptx-run: grid=1 block=32 out=f32:zeros(32)"
        assert at(client.request("ptx/kernelReport", of_file(URI)), "kernels", 0, "canPreview") is False


def test_addresses_are_hexadecimal() -> None:
    """Those of buffers, and what is computed from them."""
    with Connection() as client:
        client.open(URI, KERNEL)
        found = client.request("ptx/preview", of_file(URI))
        values = at(found, "values")
        assert isinstance(values, list)
        lanes = {(at(one, "line"), at(one, "name")): at(one, "lanes", 2) for one in values}
        base = lanes[10, "%rd1"]
        assert isinstance(base, str)
        assert base.startswith("0x7")
        assert lanes[11, "%rd2"] in ("8", "0x0000000000000008")
        assert lanes[12, "%rd1"] == f"{int(base, 16) + 8:#x}"


def test_addresses_in_buffers_are_hexadecimal() -> None:
    text = (
        KERNEL.replace("u32:zeros(3)", "u64:zeros(3)")
        .replace("mul.wide.u32 %rd2, %r1, 4", "mul.wide.u32 %rd2, %r1, 8")
        .replace("st.global.u32 [%rd1], %r2", "st.global.u64 [%rd1], %rd1")
    )
    with Connection() as client:
        client.open(URI, text)
        found = client.request("ptx/preview", of_file(URI))
        assert at(found, "buffers", 0, "before") == ["0", "0", "0"]
        first, second = (str(at(found, "buffers", 0, "after", index)) for index in (0, 1))
        assert first.startswith("0x7")
        assert int(second, 16) == int(first, 16) + 8
