"""What every device provides: formatted output and the heap; the kernels are from nvcc."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.decoding.formatted_output import Arguments, formatted
from ptx_lsp.executor.launching.preview import preview_kernels
from ptx_lsp.executor.machine.heap import Heap
from ptx_lsp.model.module import Module

NVCC = Path(__file__).parent / "kernels" / "nvcc_runtime.ptx"

PRINTED = """\
[42|   42|42   |00042|+42| 42|-42]
[4294967254|52|052|2a|2A|0x2a|0X2A|0000002a]
[-210|210|ffffffffffffffff|-7|8|-9120|56|56416]
[3.141590|3.141590e+00|3.14159|3.14159E-10|0x1.921f9f01b866ep+1|3|     3.142|3.14e+00  |+3.1|3.]
[hello|     hello|hello     |he|k|    z|%]
[      42|3.14|    3.142|42    |42    ]
no arguments 100%
constant and (null), (nil)
[3.141590 200 -3]
%y 42 %l
1
1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 %d
"""


def test_formats() -> None:
    """The text is that of C's `printf`; the results count arguments, at most 32."""
    printed: list[str] = []
    text, taken = np.frombuffer(b"hello\0", np.uint8).copy(), np.zeros(14, np.int32)
    launch(
        NVCC, entry="formats", grid=1, block=1, args=[np.int32(42), 3.14159, text, taken],
        console=printed.append,
    )
    assert "".join(printed) == PRINTED
    assert taken.tolist() == [7, 8, 8, 10, 6, 11, 0, 3, 3, 1, 1, 32, 0, -1]


INT, LONG, FLOAT = "<i", "<q", "<d"


@pytest.mark.parametrize(("form", "type", "value", "text"), [  # the texts are from glibc
    ("%.0d", INT, 0, ""), ("%+.0d", INT, 0, "+"), ("%#.0o", INT, 0, "0"), ("%5.3d", INT, -7, " -007"),
    ("%010.4d", INT, 42, "      0042"), ("%-+8d", INT, 5, "+5      "), ("%+u", INT, 5, "5"),
    ("%#x", INT, 0, "0"), ("%#010x", INT, 255, "0x000000ff"), ("%#.5o", INT, 8, "00010"),
    ("%hhu", INT, -1, "255"), ("%hd", INT, 40000, "-25536"), ("%jd", LONG, -(1 << 40), "-1099511627776"),
    ("%lX", LONG, -1, "FFFFFFFFFFFFFFFF"), ("%5c", INT, 65, "    A"), ("%-5c|", INT, 65, "A    |"),
    ("%08.2f", FLOAT, -3.14159, "-0003.14"), ("% .3e", FLOAT, 0.0, " 0.000e+00"),
    ("%f", FLOAT, -0.0, "-0.000000"),
    ("%08f", FLOAT, float("inf"), "     inf"), ("%+E", FLOAT, float("nan"), "+NAN"),
    ("%.f", FLOAT, 2.5, "2"), ("%g", FLOAT, 1e-5, "1e-05"), ("%#g", FLOAT, 1.0, "1.00000"),
    ("%a", FLOAT, 1.0, "0x1p+0"), ("%.0a", FLOAT, 1.9999999, "0x2p+0"),
    ("%.3A", FLOAT, -1e300, "-0X1.7E4P+996"),
    ("%a", FLOAT, 5e-324, "0x0.0000000000001p-1022"), ("%012.2a", FLOAT, 0.0, "0x0000.00p+0"),
    ("%.20a", FLOAT, 0.5, "0x1.00000000000000000000p-1"), ("%p", LONG, 4096, "0x1000"),
    ("%20p", LONG, 0, "               (nil)"), ("%s", LONG, 0, "(null)"), ("%.3s", LONG, 0, ""),
    ("%8.1s|", LONG, 1, "       t|"), ("%", INT, 1, "%"), ("%5%", INT, 1, "%"), ("%k%d", INT, 1, "%k1"),
])
def test_one_conversion(form: str, type: str, value: float, text: str) -> None:
    data = struct.pack(type, value)
    arguments = Arguments(0, lambda start, size: data[start : start + size])
    assert formatted(form, arguments, lambda address: "text" if address == 1 else "?") == text


def test_the_order_of_output(capsys: pytest.CaptureFixture[str]) -> None:
    """By default it goes to the standard output; of several seeds, that of the first is shown."""
    want = sorted(f"odd {t}" if t % 2 else f"even {t} of 9" for t in range(128))
    for seeds in (0, 3):
        launch(NVCC, entry="threads", grid=2, block=64, args=[np.int32(9)], seeds=seeds)
        first = capsys.readouterr().out
        assert sorted(first.splitlines()) == want
        launch(NVCC, entry="threads", grid=2, block=64, args=[np.int32(9)], seeds=seeds)
        assert capsys.readouterr().out == first


def test_output_in_previews(capsys: pytest.CaptureFixture[str]) -> None:
    text = "// ptx-run: entry=threads grid=1 block=1 s32:5\n" + NVCC.read_text()
    (preview,) = preview_kernels(Module.parse(text))
    assert (preview.problem, preview.console) == ("", "even 0 of 5\n")
    assert not capsys.readouterr().out


def test_freed_memory_is_used_again() -> None:
    """64 threads allocate 28 MB in all."""
    failed = np.zeros(2, np.int32)
    launch(NVCC, entry="reuse", grid=1, block=64, args=[failed, np.int32(200)])
    assert failed.tolist() == [0, 0]


@pytest.mark.parametrize("seed", range(3))
def test_allocations_do_not_overlap(seed: int) -> None:
    """Against a list of the bytes that are taken."""
    random = np.random.default_rng(seed)
    heap, taken, live = Heap(0x1000, 4096), np.zeros(4096, np.bool_), dict[int, int]()
    for _ in range(2000):
        sizes = random.integers(0, 600, random.integers(1, 4)).astype(np.uint64)
        for address, size in zip(heap.allocate(sizes).tolist(), sizes.tolist(), strict=True):
            if not address:
                assert taken.sum() > 4096 - 16 * 600  # what is free is in pieces
                continue
            where = taken[address - 0x1000 :][:size]
            assert where.size == size
            assert address % 16 == 0
            assert not where.any()
            where[:] = True
            live[address] = size
        while live and random.random() < 0.6:
            address = list(live)[int(random.integers(len(live)))]
            assert heap.free(address) == ""
            taken[address - 0x1000 :][: live.pop(address)] = False
    for address in live:
        assert heap.free(address) == ""
    assert heap.allocate(np.array([4096], np.uint64)).all()


@pytest.mark.parametrize(("what", "kind", "words"), [
    (1, "out-of-bounds", "in memory of the heap that `malloc` has not returned"),
    (2, "use-after-free", "in memory of the heap that `free` has given back"),
    (3, "heap", "is freed twice"),
    (4, "heap", "is freed, but `malloc` has not returned it"),
])
def test_misuse_of_the_heap(what: int, kind: str, words: str) -> None:
    given = np.array([what, 0], np.int32)
    try:
        findings = launch(NVCC, entry="misuse", grid=1, block=1, args=[given], check=True)
    except ExecutionError as error:
        findings = error.findings
    assert [one.kind for one in findings] == [kind]
    assert words in findings[0].message


def test_proper_use_of_the_heap() -> None:
    for count in (1, 64):
        findings = launch(NVCC, entry="misuse", grid=2, block=count, args=[np.zeros(2, np.int32)], check=True)
        assert not findings
