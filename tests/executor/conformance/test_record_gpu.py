"""Recording and replaying the answers of a GPU; what needs none is tested with the executor in its place."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from ptx_lsp import ptxas
from ptx_lsp.executor import launch, tensor_map
from ptx_lsp.executor.launching.instruction_harness import (
    HEADER,
    InstructionHarness,
    instruction_harness,
)
from ptx_lsp.executor.launching.object_specs import Object
from ptx_lsp.executor.launching.specs import Value
from ptx_lsp.executor.machine.texture import Opaque
from ptx_lsp.isa.target import Target, Version
from tests.executor.conformance.conformance_kernel import KERNELS
from tests.executor.conformance.cuda import CudaError, Description, Gpu
from tests.executor.conformance.cuda_tensor import encoded
from tests.executor.conformance.lines import FOLDER
from tests.executor.conformance.record_gpu import (
    ANSWERS,
    differing,
    kernels,
    main,
    record,
    record_kernels,
)

ROOT = Path(__file__).parents[3]
_BOUNDED = (".approx", ".full")
"""The manual promises no bits of these."""


class Here:
    """The executor as a device; it knows no `mul24`."""

    description = Description("Reference Executor", Version(13, 5), Target(107, "a"))

    def run(self, kernel: InstructionHarness) -> list[tuple[int, ...]]:
        if "mul24" in kernel.text:
            raise CudaError("cuModuleLoadData failed: a PTX JIT compilation failed (218)")
        return kernel.run()

    def launch(
        self, text: str, entry: str, grid: Sequence[int], block: Sequence[int],
        arguments: Sequence[Value | Object],
        shared_bytes: int = 0, cluster: Sequence[int] = (), bind: Mapping[str, Opaque] | None = None,
    ) -> None:
        if entry == "matches":
            raise CudaError("cuLaunchKernel failed")
        launch(
            text, entry=entry, grid=grid, block=block, args=arguments, shared_bytes=shared_bytes,
            cluster=cluster or None, bind=bind,
        )


def test_ptxas_takes_every_kernel() -> None:
    judge = ptxas.find()
    if judge is None:
        pytest.skip("no ptxas")
    left = [
        kernel.text.removeprefix(HEADER).replace(" k(", f" k{number}(", 1)
        for number, (_, kernel) in enumerate(kernels())
    ]
    for target in TARGETS:
        refused = _refused(target, left, judge)
        accepted = [part for part in left if part not in refused]
        assert _refused(target, accepted, judge) == set()
        left = [part for part in left if part in refused]
    assert left == []


TARGETS = ("sm_107a", "sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_80")
"""Some instructions exist on some of these only."""


def _refused(target: str, parts: list[str], judge: Path) -> set[str]:
    """The kernels in which ptxas finds an error; it makes no code of them."""
    header = HEADER.replace("sm_107a", target)
    report = ptxas.judge(
        (header + "\n".join(parts)).encode(), ptxas=judge, arch=target.replace("sm_", "compute_")
    )
    wrong = [one.line for one in report.messages if one.line is not None]
    assert report.accepted or wrong
    refused: set[str] = set()
    line = header.count("\n")
    for part in parts:
        length = part.count("\n") + 1
        if any(line < one <= line + length for one in wrong):
            refused.add(part)
        line += length
    return refused


def test_what_is_recorded(tmp_path: Path) -> None:
    path, refused = record(Here(), tmp_path, [FOLDER / "integer.txt"])
    assert path.name == "reference_executor.txt"
    text = path.read_text(encoding="utf-8")
    source = "# gpu Reference Executor, sm_107a, driver for CUDA 13.5"
    assert f"add.sat.s32  0x7fffffff, 0x1 -> 0x7fffffff  {source}\n" in text
    assert "mul24" not in text
    assert {place.split()[1] for place, _ in refused} == {"mul24.lo.u32", "mul24.hi.u32"}
    assert all(why.startswith("cuModuleLoadData failed") for _, why in refused)
    assert replayed(path) == []


def test_a_wrong_answer_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "gpu.txt"
    path.write_text("add.u32  1, 2 -> 4  # gpu here\nsin.approx.f32  0x3f800000 -> 0  # gpu here\n")
    assert replayed(path) == ["gpu.txt:1 add.u32: (3,), and the GPU (4,)"]


def test_what_is_recorded_of_kernels(tmp_path: Path) -> None:
    path = tmp_path / "gpu.kernels"
    refused = record_kernels(Here(), path, [KERNELS / "vote.ptx"])
    assert [place.split()[1] for place, _ in refused] == ["matches"]
    assert "vote.ptx votes out=0x0,0x1,0x0,0x55555555,0x1,0x0\n" in path.read_text()
    assert differing(path) == []
    refused = record_kernels(Here(), path, [KERNELS / "stops.ptx", KERNELS / "async_multimem.ptx"])
    assert {why for _, why in refused} == {"`trap` stops it", "a multimem address needs several GPUs"}
    path.write_text("vote.ptx votes out=0x1,0x1,0x0,0x55555555,0x1,0x0\n")
    assert len(differing(path)) == 1


def test_recorded_answers() -> None:
    """What GPUs answered, if any was asked yet, is what the executor gives, bit for bit, wherever bits are
    promised.
    """
    assert [wrong for path in sorted(ANSWERS.glob("*.txt")) for wrong in replayed(path)] == []
    assert [wrong for path in sorted(ANSWERS.glob("*.kernels")) for wrong in differing(path)] == []


def replayed(path: Path) -> list[str]:
    """Where the executor and recorded answers differ."""
    wrong: list[str] = []
    for group, kernel in kernels(paths=[path]):
        if any(one in group[0].spelling for one in _BOUNDED):
            continue
        for line, found in zip(group, kernel.run(), strict=True):
            want = line.raw(line.results)
            if found != want and not _payload(found, want, line.result_types):
                wrong.append(f"{line.place} {line.spelling}: {found}, and the GPU {want}")
    return wrong


def _payload(found: tuple[int, ...], want: tuple[int, ...], types: tuple[str, ...]) -> bool:
    """Whether they differ in the payload of an `.f64` NaN only, which no one promises."""
    infinity = 0x7FF << 52
    return all(
        a == b or (type == ".f64" and a & infinity == b & infinity == infinity and a << 12 and b << 12)
        for a, b, type in zip(found, want, types, strict=True)
    )


def test_without_a_gpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.executor.conformance.cuda._NAMES", ("no-such-driver.so",))
    monkeypatch.setattr("tests.executor.conformance.cuda.find_library", _no_driver)
    assert main() == 2
    error = capsys.readouterr().err
    assert error.startswith("record-gpu: there is no NVIDIA driver on this machine")
    assert "a CUDA GPU is needed" in error


def _no_driver(name: str) -> str:
    return "no-such-driver.so"


def test_the_head_of_a_kernel() -> None:
    head = Description("NVIDIA H200", Version(12, 8), Target(90, "a")).header
    assert head == ".version 8.8\n.target sm_90a\n.address_size 64\n"
    with pytest.raises(CudaError, match=r"CUDA 99\.0 is not known here"):
        _ = Description("?", Version(99, 0), Target(90)).header


DRIVER = r"""
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef int R;
R cuInit(unsigned f) { return f; }
R cuDeviceGetCount(int *n) { *n = 1; return 0; }
R cuDeviceGet(int *d, int at) { *d = 7 + at; return 0; }
R cuDevicePrimaryCtxRetain(void **c, int d) { *c = (void *)(intptr_t)(d + 1); return d != 7; }
R cuCtxSetCurrent(void *c) { return c != (void *)8; }
R cuDeviceGetName(char *s, int n, int d) { strncpy(s, "Fake GPU", n); return d != 7; }
R cuDriverGetVersion(int *v) { *v = 12080; return 0; }
R cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 9 : a == 76 ? 0 : -1; return d != 7; }
R cuModuleLoadData(void **m, const char *t) { *m = (void *)t; return strstr(t, "refused") ? 218 : 0; }
R cuModuleGetFunction(void **f, void *m, const char *n) { *f = m; return strcmp(n, "k"); }
R cuModuleUnload(void *m) { return 0; }
R cuMemAlloc_v2(uint64_t *p, size_t n) { *p = (uint64_t)(uintptr_t)malloc(n); return 0; }
R cuMemFree_v2(uint64_t p) { free((void *)(uintptr_t)p); return 0; }
R cuMemcpyHtoD_v2(uint64_t d, const void *s, size_t n) { memcpy((void *)(uintptr_t)d, s, n); return 0; }
R cuMemcpyDtoH_v2(void *d, uint64_t s, size_t n) { memcpy(d, (void *)(uintptr_t)s, n); return 0; }
R cuCtxSynchronize(void) { return 0; }
R cuGetErrorString(int e, const char **s) { *s = "a PTX JIT compilation failed"; return 0; }
R cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                 unsigned shared, void *stream, void **args, void **extra) {
  if (gy * gz * by * bz != 1 || shared || stream || extra) return 1;
  uint32_t *a = *(uint32_t **)args[0], *b = *(uint32_t **)args[1], *d = *(uint32_t **)args[2];
  for (unsigned i = 0; i < gx * bx; i++) d[i] = a[i] + b[i];
  return 0;
}
typedef struct {
  unsigned gx, gy, gz, bx, by, bz, shared;
  void *stream;
  struct { int id; char gap[4]; unsigned x, y, z; char rest[52]; } *attributes;
  unsigned count;
} Config;
R cuLaunchKernelEx(const Config *c, void *f, void **args, void **extra) {
  if (c->count != 1 || c->attributes->id != 4 || c->attributes->y * c->attributes->z != 1) return 1;
  (**(uint32_t **)args[2]) = c->attributes->x;
  return cuLaunchKernel(f, c->gx, c->gy, c->gz, c->bx, c->by, c->bz, c->shared, c->stream, args, extra)
      || ((*(uint32_t **)args[2])[0] += c->attributes->x, 0);
}
R cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                         const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave,
                         int swizzle, int promotion, int fill) {
  if ((uintptr_t)map % 64 || rank != 2 || interleave || promotion) return 1;
  uint32_t found[] = {type, sizes[0], sizes[1], strides[0], box[1], steps[0], swizzle, fill};
  memcpy(map, &address, 8);
  memcpy((char *)map + 8, found, sizeof found);
  return 0;
}
"""


def test_the_driver_is_called_as_it_wants(tmp_path: Path) -> None:
    """A driver of our own, which can add."""
    source, library = tmp_path / "driver.c", tmp_path / "driver.so"
    source.write_text(DRIVER)
    command = ["cc", "-shared", "-fPIC", "-o", str(library), str(source)]
    if sys.platform == "win32" or subprocess.run(command, check=False).returncode:
        pytest.skip("no C compiler")
    gpu = Gpu(str(library))
    assert str(gpu.description) == "Fake GPU, sm_90a, driver for CUDA 12.8"
    rows = [(1, 2), (0xFFFFFFFF, 3), (5, 5)]
    assert gpu.run(instruction_harness("add.u32", rows, (".u32", ".u32"), (".u32",))) == [(3,), (2,), (10,)]
    kept = [np.array([1, 2], "u4"), np.array([3, 4], "u4"), np.zeros(2, "u4"), np.uint32(7)]
    gpu.launch("", "k", (1,), (2,), kept)
    assert list(np.asarray(kept[2])) == [4, 6]
    gpu.launch("", "k", (2,), (1,), kept, cluster=(2,))
    assert list(np.asarray(kept[2])) == [6, 6]
    with pytest.raises(CudaError, match=r"cuModuleLoadData failed: a PTX JIT compilation failed \(218\)"):
        gpu.run(instruction_harness("refused.u32", rows, (".u32", ".u32"), (".u32",)))
    gpu.launch("", "k", (1,), (2,), [*kept[:3], tensor_map(np.zeros((4, 16), "f4"), box=(2, 8))])


def test_tensor_maps_as_the_driver_wants_them() -> None:
    """What is given to the driver, by its own numbers for types and swizzling."""
    called: list[tuple[object, ...]] = []

    def call(*arguments: object) -> None:
        called.append(tuple(_plain(one) for one in arguments))

    bf16 = tensor_map(
        np.zeros((4, 64), "u2"), box=(2, 64), steps=(1, 2), type=".bf16", swizzle="128B", atomicity="64B",
        fill="nan",
    )
    found = encoded(bf16, 0x1000, call)
    assert found.address % 64 == 0
    assert called == [(
        "cuTensorMapEncodeTiled", found.address, 9, 2, 0x1000, [64, 4], [128], [64, 2], [2, 1], 0, 6, 0, 1,
    )]
    called.clear()
    pixels = tensor_map(
        np.zeros((2, 5, 6, 8), "u4"), box=(1, 1, 1, 8), lower=(-1, -2), upper=(-3, -4), channels=8, pixels=16
    )
    encoded(pixels, 64, call)
    assert called[0][0] == "cuTensorMapEncodeIm2col"
    assert called[0][2:] == (
        2, 4, 64, [8, 6, 5, 2], [32, 192, 960], [-2, -1], [-4, -3], 8, 16, [1, 1, 1, 1], 0, 0, 0, 0,
    )
    called.clear()
    wide = tensor_map(
        np.zeros((2, 5, 6, 8), "u4"), box=(1, 1, 1, 8), steps=(1, 1, 3, 1), lower=(-1,), upper=(-2,),
        channels=8, swizzle="64B", wide="W128",
    )
    encoded(wide, 64, call)
    assert called[0][0] == "cuTensorMapEncodeIm2colWide"
    assert called[0][2:] == (
        2, 4, 64, [8, 6, 5, 2], [32, 192, 960], -1, -2, 8, 0, [1, 3, 1, 1], 0, 1, 2, 0, 0,
    )
    called.clear()
    slices = tensor_map(
        np.zeros((2, 3, 6, 8), "u2"), box=(2, 1, 4), steps=(1, 1, 2), interleave="16B", fill="zeros"
    )
    encoded(slices, 64, call)
    assert called[0][2:] == (1, 3, 64, [6, 3, 2], [96, 288], [4, 1, 2], [2, 1, 1], 1, 0, 0, 0)


def _plain(value: object) -> object:
    if isinstance(value, ctypes.Array):
        return list(cast("ctypes.Array[ctypes.c_int]", value))
    return value.value if isinstance(value, ctypes.c_int | ctypes.c_uint32 | ctypes.c_void_p) else value
