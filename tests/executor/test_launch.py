"""Launches that do not fit the kernel or the hardware end in one clear line, never in a guess."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.launching.parameters import Value
from ptx_lsp.executor.machine.control import Block
from ptx_lsp.executor.machine.observer import Observer

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
PARAMETERS = ".param .u32 n, .param .f32 a, .param .u64 p"
STORE = """
    .reg .b32 %n; .reg .b64 %p;
    ld.param.u32 %n, [n]; ld.param.u64 %p, [p]; st.global.u32 [%p], %n;
"""


def _kernel(body: str = STORE, before: str = "") -> str:
    return f"{HEAD}{before}.entry k({PARAMETERS}) {{ {body} ret; }}\n"


def _fails(kind: str, words: str, text: str = "", **options: object) -> None:
    launch_any = cast("Callable[..., None]", launch)  # what is wrong on purpose is not typed
    given = {"args": [1, 2.0, np.zeros(4, np.uint32)], "grid": 1, "block": 1, **options}
    with pytest.raises(ExecutionError, match=words) as raised:
        launch_any(text or _kernel(), entry="k", **given)
    assert raised.value.kind == kind
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("argument", "words"), [
    (None, "argument 0 is of type `NoneType`, which does not match `n`, `.u32`"),
    (1.5, "type `float`, which does not match"),
    (1 << 32, "4294967296, which does not fit in the 4 bytes of `n`"),
    (-(1 << 31) - 1, "does not fit in"),
    (np.float64(1), "argument 0 has 8 bytes, but `n` has 4"),
])
def test_a_value_that_does_not_fit(argument: object, words: str) -> None:
    _fails("launch", words, args=[argument, 2.0, np.zeros(4, np.uint32)])


@pytest.mark.parametrize(("array", "words"), [
    (np.zeros(8, np.uint32)[::2], "must be a contiguous array"),
    (np.array([None]), "Python objects"),
    (np.zeros(4, ">u4"), "non-native byte order"),
])
def test_an_array_that_cannot_be_a_buffer(array: object, words: str) -> None:
    _fails("launch", words, args=[1, 2.0, array])


@pytest.mark.parametrize(("options", "words"), [
    ({"grid": "1"}, "the grid must have one to three positive sizes"),
    ({"grid": (1, 65536)}, "a grid is at most"),
    ({"grid": (1 << 31) - 1 + 1}, "a grid is at most"),
    ({"grid": (1 << 20, 1 << 13)}, "exceeds the limit of the executor"),
    ({"block": (1, 1, 65)}, "a block is at most"),
    ({"block": (32, 33)}, "a block has at most 1024 threads, not 1056"),
    ({"shared_bytes": -1}, "-1 bytes of shared memory"),
    ({"shared_bytes": 1 << 20}, "1048576 dynamic. exceed the 232448 that a block can have"),
])
def test_a_shape_that_no_device_has(options: dict[str, object], words: str) -> None:
    _fails("launch", words, "", **options)


def _headed(directives: str, body: str = "", target: str = "sm_90") -> str:
    head = HEAD.replace("8.0", "9.0").replace("sm_90", target)
    return f"{head}.entry k({PARAMETERS}) {directives} {{ {body} {STORE} ret; }}\n"


@pytest.mark.parametrize(("directives", "options", "words"), [
    (".reqntid 16, 16", {"block": 256}, "launch it with a block of .16, 16, 1., not .256, 1, 1."),
    (".reqntid 32", {"block": 64}, "`k` has `.reqntid 32`: launch it with a block of .32, 1, 1."),
    (".reqntid 32", {"block": 31}, "not .31, 1, 1."),
    (".reqntid 32 .reqntid 64", {"block": 32}, "`k` has `.reqntid 64`"),
    (".maxntid 8, 4", {"block": 33}, "a block has at most 32 threads, not 33; launch smaller blocks"),
    (".maxntid 1000 .minnctapersm 1", {"block": 1024}, "__launch_bounds__"),
    (".maxclusterrank 8", {"grid": 8, "cluster": (2, 4)}, "a grid of .8, 1, 1. cannot be divided"),
    (".maxclusterrank 4", {"grid": 8, "cluster": 8}, "a cluster has at most 4 blocks, not 8; launch smaller"),
    (".reqnctapercluster 2", {"grid": 4, "cluster": 4}, "a cluster of .2, 1, 1. or without naming one"),
    (".reqnctapercluster 2", {"grid": 3}, "clusters of .2, 1, 1.: each dimension must be a multiple"),
    (".explicitcluster", {}, "the launch must specify the cluster size"),
    ("", {"grid": 17, "cluster": 17}, "a cluster has at most 16 blocks, not 17"),
])
def test_a_shape_that_the_kernel_forbids(
    directives: str, options: dict[str, object], words: str
) -> None:
    _fails("launch", words, _headed(directives), **options)


@pytest.mark.parametrize(("directives", "options"), [
    (".reqntid 16, 16", {"block": (16, 16)}),
    (".maxntid 8, 4", {"block": (4, 8)}),  # the product counts
    (".maxntid 65536, 65536", {"block": 32}),  # it is 0 in 32 bits: no bound
    (".maxclusterrank 4", {"grid": 8, "cluster": 4}),
    (".reqnctapercluster 2", {"grid": 4, "cluster": 2}),
    (".explicitcluster", {"cluster": 1}),
    (".explicitcluster .reqnctapercluster 2", {"grid": 2}),
])
def test_a_shape_that_the_kernel_allows(directives: str, options: dict[str, object]) -> None:
    launch_any = cast("Callable[..., None]", launch)
    result = np.zeros(1, np.uint32)
    launch_any(_headed(directives), entry="k", args=[7, 2.0, result], **{"grid": 1, "block": 1, **options})
    assert result[0] == 7


@pytest.mark.parametrize(("text", "options", "words", "error"), [
    ("", {"block": 1025}, "at most 1024 threads", "INVALID_VALUE"),
    ("", {"grid": (1, 1, 65536)}, "a grid is at most", "INVALID_VALUE"),
    (".reqntid 32", {"block": 64}, "launch it with a block of", "INVALID_VALUE"),
    (".maxntid 32", {"block": 64}, "at most 32 threads", "INVALID_VALUE"),
    (".explicitcluster", {}, "must specify the cluster size", "INVALID_CLUSTER_SIZE"),
    (".maxclusterrank 2", {"grid": 4, "cluster": 4}, "at most 2 blocks", "INVALID_CLUSTER_SIZE"),
    (".reqnctapercluster 2", {"grid": 3}, "cannot be divided", "INVALID_CLUSTER_SIZE"),
    ("", {"shared_bytes": 200_000, "device": "sm_120"}, "exceed the 101376 .* on sm_120", "INVALID_VALUE"),
    ("", {"block": 512, "registers": 129}, "512 threads can have 128 .* uses 129", "LAUNCH_OUT_OF_RESOURCES"),
    ("", {"block": 257, "registers": 255}, "can have 168 .*`.maxntid 257`", "LAUNCH_OUT_OF_RESOURCES"),
    ("", {"grid": 1 << 20, "cooperative": True}, "resident at once", "COOPERATIVE_LAUNCH_TOO_LARGE"),
])
def test_the_error_of_the_driver(text: str, options: dict[str, object], words: str, error: str) -> None:
    _fails("launch", f"{words}.* .CUDA_ERROR_{error}.$", _headed(text), **options)


@pytest.mark.parametrize(("target", "device", "words"), [
    ("sm_90a", "sm_100", "is for `sm_90a`, which sm_100 cannot run .CUDA_ERROR_NO_BINARY_FOR_GPU.$"),
    ("sm_90", "sm_89", "which sm_89 cannot run"),
    ("sm_100f", "sm_120", "which sm_120 cannot run"),
    ("sm_80", "sm_30", "no device `sm_30` is known; the devices are sm_50, "),
    ("sm_80", "H100", "no device `H100` is known"),
])
def test_a_device_that_cannot_run_it(target: str, device: str, words: str) -> None:
    _fails("launch", words, _headed("", target=target), device=device)


def test_the_device_that_is_named() -> None:
    """It may be later than the target of the kernel."""
    text = _headed("", target="sm_80")
    options: dict[str, object] = {"grid": 4, "cluster": 4, "shared_bytes": 150_000}
    _fails("launch", "sm_86 has no clusters of blocks", text, device="sm_86", **options)
    for device in ("sm_90", "sm_90a", "compute_100", None):
        result = np.zeros(1, np.uint32)
        launch(
            text, entry="k", args=[7, 2.0, result], block=1, grid=4, cluster=4, shared_bytes=150_000,
            device=device,
        )
        assert result[0] == 7


def test_registers_that_suffice() -> None:
    for block, registers in ((256, 255), (512, 128), (1024, 64), (1024, 0)):
        result = np.zeros(1, np.uint32)
        launch(_kernel(), entry="k", grid=1, block=block, args=[7, 2.0, result], registers=registers)
        assert result[0] == 7
    _fails("launch", "a thread has at most 255 registers, not 256", registers=256)


@pytest.mark.parametrize(("version", "size", "limit"), [
    ("8.0", 4353, "4352; from `.version 8.1` and sm_70 on it is 32764"), ("8.1", 32765, "32764 .CUDA"),
])
def test_parameters_that_are_too_large(version: str, size: int, limit: str) -> None:
    text = f".version {version}\n.target sm_90\n.address_size 64\n.entry k(.param .b8 p[{size}]) {{ ret; }}\n"
    words = f"the parameters of `k` have {size} bytes; the limit is {limit}"
    _fails("launch", words, text, args=[bytes(size)])
    launch(text.replace(str(size), str(size - 1)), entry="k", grid=1, block=1, args=[bytes(size - 1)])


def test_the_number_of_arguments() -> None:
    words = r"`k` takes 3 arguments, not 1: `\.param \.u32 n`, `\.param \.f32 a`, `\.param \.u64 p`$"
    _fails("launch", words, args=[1])
    text = f"{HEAD}.entry k(.param .b8 p[16]) {{ ret; }}"
    words = "argument 0 is passed as an address of 8 bytes, but `p` has 16"
    _fails("launch", words, text, args=[np.zeros(2)])


def test_the_size_of_shared_memory() -> None:
    """`%total_smem_size` counts in units of the device, 256 bytes before sm_80 and 128 later."""
    body = ".shared .b8 s[100]; .reg .b32 %s; .reg .b64 %q; ld.param.u64 %q, [p]; st.shared.u8 [s], 0;"
    body += "".join(
        f"mov.u32 %s, %{name}_smem_size; st.global.u32 [%q+{at}], %s;"
        for at, name in ((4, "total"), (8, "dynamic"))
    )
    for device, allocated in (("sm_75", 512), ("sm_80", 384), ("sm_120", 384)):
        result = np.zeros(3, np.uint32)
        launch(
            _headed("", body, "sm_75"), entry="k", grid=1, block=1, args=[7, 2.0, result], shared_bytes=200,
            device=device,
        )
        assert result.tolist() == [7, allocated, 200]


def test_a_grid_of_clusters() -> None:
    body = ".reg .b32 %c; .reg .b64 %q; mov.u32 %c, %nctaid.x; ld.param.u64 %q, [p];"
    body += " st.global.u32 [%q+4], %c;"
    text = _headed(".reqntid 1 .reqnctapercluster 4 .blocksareclusters", body)
    result = np.zeros(2, np.uint32)
    launch(text, entry="k", grid=3, block=1, args=[7, 2.0, result])
    assert result.tolist() == [7, 12]


def test_shared_memory_of_the_device() -> None:
    _fails("launch", "49153 bytes of static shared memory", _headed("", ".shared .b8 x[49153];"))
    large = _headed("", ".shared .b8 x[101377];", target="sm_121a")
    _fails("launch", "101377 bytes of static shared memory, but at most 101376 are allowed", large)
    large = _headed("", target="sm_121a")
    _fails("launch", "on any device that runs `sm_121a` code", large, shared_bytes=101377)
    result = np.zeros(1, np.uint32)
    later = _headed("", target="sm_75")  # a later device may run it
    launch(later, entry="k", grid=1, block=1, args=[7, 2.0, result], shared_bytes=232448)
    assert result[0] == 7
    static = _headed("", ".shared .b8 x[232448];", target="sm_90a")
    result[0] = 0
    launch(static, entry="k", grid=1, block=1, args=[7, 2.0, result])
    assert result[0] == 7


def test_variables_that_are_too_large() -> None:
    _fails("launch", "`g` of 99999999999999 bytes", _kernel(before=".global .b8 g[99999999999999];\n"))
    _fails("launch", "bytes of local memory", _kernel(".local .b8 x[99999999999];"))


def test_too_many_initial_values() -> None:
    body = ".reg .b32 %r; ld.global.u32 %r, [g];"
    _fails("unsupported", "`g`", _kernel(body, ".global .u32 g[2] = {1, 2, 3};\n"))


def test_a_register_that_is_not_declared() -> None:
    _fails("unsupported", "`%r2` is not declared", _kernel(".reg .b32 %r1; add.u32 %r1, %r2, 1;"))


def test_a_huge_grid_costs_nothing_before_it_runs() -> None:
    body = ".reg .b32 %i; .reg .pred %q; L: add.u32 %i, %i, 1; setp.ne.u32 %q, %i, -1; @%q bra L;"
    _fails("limit", "time limit exceeded", _kernel(body), grid=(1 << 31) - 1, seconds=0.1)


def test_the_time_of_decoding_counts() -> None:
    class Decoded(Observer):
        def decoded(self, blocks: Sequence[Block]) -> None:
            pytest.fail("it went on after its time")

    _fails("limit", "time limit exceeded", observers=[Decoded()], seconds=0)


def test_numbers_of_every_kind() -> None:
    result = np.zeros(1, np.uint32)
    for number in (-1, np.uint32(0xFFFFFFFF), np.array(0xFFFFFFFF, ">u4")[()], b"\xff" * 4):
        result[:] = 0
        grid = cast("int", np.int64(1))
        launch(_kernel(), entry="k", grid=grid, block=1, args=[number, 1, result])
        assert result[0] == 0xFFFFFFFF


def test_text_of_one_line() -> None:
    value = np.zeros(1, np.uint32)
    launch(_kernel().replace("\n", " "), entry="k", grid=1, block=1, args=[1, 2.0, value])
    assert value[0] == 1


STRUCTURE = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .align 8 .b8 values[32]) {
.reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .b16 %h;
ld.param.u64 %rd1, [values];
ld.param.u16 %h, [values+8];
ld.param.u64 %rd2, [values+16];
ld.param.u32 %r1, [values+24];
cvt.u32.u16 %r2, %h;
st.global.u32 [%rd1], %r1;
st.global.u32 [%rd2], %r2;
ret;
}
"""


def test_structures_with_pointers() -> None:
    first, second = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    structure = (first, np.uint16(7), (second, np.uint32(9)))
    launch(STRUCTURE, entry="k", grid=1, block=1, args=[structure])
    assert (first[0], second[0]) == (9, 7)
    with pytest.raises(ExecutionError, match="argument 0 has 16 bytes, but `values` has 32"):
        launch(STRUCTURE, entry="k", grid=1, block=1, args=[(first, np.uint16(7))])
    wrong = cast(Value, (first, 7))
    with pytest.raises(ExecutionError, match=r"argument 0\[1\] is of type `int`"):
        launch(STRUCTURE, entry="k", grid=1, block=1, args=[wrong])
