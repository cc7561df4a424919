"""`tcgen05.ld`, `st`, `cp` and `shift` for matrix.py, by the figures of the manual as compilers have them:
which thread and register a cell of Tensor Memory has, and which lane a row of shared memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tests.oracle.exact.kernel import Field, vector
from tests.oracle.exact.tensor_kernel import TensorKernel

_ANY = Field("b32")
_WORDS = 16
_STEP = 0x10203
_PLACES: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "32x32b": lambda row, column: (row, column),
    "16x64b": lambda row, column: (row % 8 * 4 + column % 2 * 2 + row // 8, column // 2),
    "16x128b": lambda row, column: (row % 8 * 4 + column % 4, column // 4 * 2 + row // 8),
    "16x256b": lambda row, column: (
        row % 8 * 4 + column % 8 // 2, column // 8 * 4 + row // 8 * 2 + column % 2
    ),
}
"""The thread of a warp and its register that have the cell in a row and column."""
_WIDTHS = {"32x32b": 1, "16x64b": 2, "16x128b": 4, "16x256b": 8, "16x32bx2": 1}


def _place(shape: str, row: int, column: int, times: int) -> tuple[int, int]:
    if shape == "16x32bx2":  # the second half of the columns stands behind the first
        return row + column // times * 16, column % times
    return _PLACES[shape](row, column)


def shapes() -> Iterator[TensorKernel]:
    """Stores in a shape, loaded by lanes, and the reverse."""
    for shape, width in _WIDTHS.items():
        each = max(width // 2, 1)
        for number, times in enumerate((1, 2, 8, 128 // each)):
            yield _moved(shape, times, number % 2 * 16 if shape != "32x32b" else 0, packs=False)
            if times < 32:
                yield _moved(shape, times, 0, packs=True)


def _moved(shape: str, times: int, lane: int, *, packs: bool) -> TensorKernel:
    width = _WIDTHS[shape]
    count = times * max(width // 2, 1)
    cells = times * width * (2 if shape == "16x32bx2" else 1)
    columns = cells * (2 if packs else 1)
    high = 16 if shape != "32x32b" else 32
    allocated = max(32, 1 << (columns - 1).bit_length())
    name = f"move_{shape}_x{times}{'_packed' if packs else ''}"
    kernel = TensorKernel(name, _WORDS, times + width, allocated)
    split = f", {columns // 2}" if shape == "16x32bx2" else ""
    address = f"[%t1+{lane << 16}]"
    held = _operand(kernel, count)
    kernel.declare("z", ".b32", 1)
    kernel.line("mov.b32 %z0, 0;")
    for at in range(0, columns, 32):
        zeros = ", ".join(["%z0"] * 32)
        kernel.line(f"tcgen05.st.sync.aligned.32x32b.x32.b32 [%t1+{at}], {{{zeros}}};")
    kernel.line("tcgen05.wait::st.sync.aligned;")
    kernel.line(
        f"tcgen05.st.sync.aligned.{shape}.x{times}{'.unpack::16b' if packs else ''}.b32"
        f" {address}{split}, {vector('a', count)};"
    )
    kernel.line("tcgen05.wait::st.sync.aligned;")
    found = [[0] * columns for _ in range(128)]
    for warp in range(4):
        for row in range(high):
            for column in range(cells):
                thread, register = _place(shape, row, column, times)
                word = held[32 * warp + thread][register]
                cell = found[32 * warp + lane + row]
                if packs:
                    cell[2 * column], cell[2 * column + 1] = word & 0xFFFF, word >> 16
                else:
                    cell[column] = word
    for at in range(0, columns, 128):
        some = min(128, columns - at)
        kernel.load("d", some, at)
        kernel.bits(f"stored_{at}", "d", some, [row[at : at + some] for row in found])
    loaded: list[list[int]] = [[0] * count for _ in range(128)]
    kernel.declare("e", ".b32", count)
    if columns <= 128:  # other cells than the store has written
        before = _operand(kernel, columns)
        kernel.store("a", columns, 0)
    else:
        before = found
    kernel.line(
        f"tcgen05.ld.sync.aligned.{shape}.x{times}{'.pack::16b' if packs else ''}.b32"
        f" {vector('e', count)}, {address}{split};"
    )
    kernel.line("tcgen05.wait::ld.sync.aligned;")
    for warp in range(4):
        for row in range(high):
            for column in range(cells):
                thread, register = _place(shape, row, column, times)
                cell = before[32 * warp + lane + row]
                loaded[32 * warp + thread][register] = (
                    cell[2 * column] & 0xFFFF | (cell[2 * column + 1] & 0xFFFF) << 16
                    if packs else cell[column]
                )
    kernel.bits("loaded", "e", count, loaded)
    kernel.end()
    return kernel


def _operand(kernel: TensorKernel, count: int) -> list[list[int]]:
    """Registers %a; those after the first ones are these, with a number added."""
    held = kernel.operand("a", _ANY, min(count, _WORDS), 0)
    kernel.declare("a", ".b32", count)
    rest = range(_WORDS, count)
    kernel.lines([f"add.u32 %a{at}, %a{at % _WORDS}, {at * _STEP:#x};" for at in rest])
    steps = [at * _STEP if at >= _WORDS else 0 for at in range(count)]
    return [[row[at % _WORDS] + step & 0xFFFFFFFF for at, step in enumerate(steps)] for row in held]


def reductions() -> Iterator[TensorKernel]:
    """`tcgen05.ld.red`"""
    for number, (type, words) in enumerate((
        ("u32", [".min", ".max"]), ("s32", [".min", ".max"]),
        ("f32", [".min", ".max", ".min.abs", ".max.abs", ".min.NaN", ".max.abs.NaN"]),
    )):
        field = Field("b32", 0x80F00000, 0x40000000) if type == "f32" else _ANY
        kernel = TensorKernel(f"reduce_{type}", 8, 7 + number, 32)
        held = kernel.operand("a", field, 8, 0)
        kernel.store("a", 8, 0)
        kernel.declare("r", ".b32", 9)
        for word in words:
            for shape, times in (("32x32b", 8), ("16x32bx2", 4)):
                split = ", 4" if times == 4 else ""
                kernel.line(
                    f"tcgen05.ld.red.sync.aligned.{shape}.x{times}{word}.{type} {vector('r', times)}, %r8,"
                    f" [%t1]{split};"
                )
                kernel.line("tcgen05.wait::ld.sync.aligned;")
                values: list[str] = []
                for thread in range(128):
                    row = held[thread]
                    if times == 4:
                        row = held[thread // 32 * 32 + thread % 16][thread % 32 // 16 * 4 :][:4]
                    values.append(str(_least(row, type, word)))
                kernel.result(f"r{word.replace('.', '_')}_{shape}", "u32", ["%r8"], values)
        kernel.end()
        yield kernel


def _least(words: Sequence[int], type: str, word: str) -> int:
    """The least or greatest of words; floats here are finite, and have the order of their size and sign."""
    if ".abs" in word:
        words = [one & 0x7FFFFFFF for one in words]

    def number(one: int) -> int:
        if type == "u32" or one < 1 << 31:
            return one
        return one - (1 << 32) if type == "s32" else -(one & 0x7FFFFFFF)

    return max(words, key=number) if ".max" in word else min(words, key=number)


class _Copy(NamedTuple):
    """A shape of `tcgen05.cp`: its rows and the bytes of each."""

    shape: str
    rows: int
    bytes: int

    def lanes(self, row: int) -> list[int]:
        """The lanes that receive a row."""
        match self.shape.partition(".")[2]:
            case "warpx2::02_13":
                return [row, row + 64]
            case "warpx2::01_23":
                return [row // 32 * 64 + row % 32, row // 32 * 64 + row % 32 + 32]
            case "warpx4":
                return [row, row + 32, row + 64, row + 96]
            case _:
                return [32 * row if self.rows == 4 else row]


_COPIES = (
    _Copy("128x256b", 128, 32), _Copy("128x128b", 128, 16), _Copy("4x256b", 4, 32),
    _Copy("64x128b.warpx2::02_13", 64, 16), _Copy("64x128b.warpx2::01_23", 64, 16),
    _Copy("32x128b.warpx4", 32, 16),
)


def copies() -> Iterator[TensorKernel]:
    """Eight rows lie together, with 16 bytes of each; the next 16 bytes of wide rows are 4096 bytes later."""
    for number, copy in enumerate(_COPIES):
        for bits, format in ((0, ""), (4, ".b8x16.b4x16_p64"), (6, ".b8x16.b6x16_p32")):
            count = copy.bytes // 4
            name = copy.shape.replace(".", "_").replace(":", "")
            kernel = TensorKernel(f"copy_{name}_{bits}", 20, number + bits, 32)
            data = b"".join(one.to_bytes(4, "little") for one in kernel.region("x", (_ANY,), 16, 0))
            kernel.declare("y", ".b64", 1)
            before = kernel.operand("a", _ANY, count, 0)
            kernel.store("a", count, 0)
            kernel.line("fence.proxy.async.shared::cta;")
            kernel.settle()
            descriptor = 4096 >> 4 << 16 | 256 >> 4 << 32 | 1 << 46
            kernel.line("bfe.u32 %h, %x0, 4, 14;  cvt.u64.u32 %y0, %h;")
            kernel.line(f"or.b64 %y0, %y0, {descriptor:#x};")
            kernel.line(f"@%q1 tcgen05.cp.cta_group::1.{copy.shape}{format} [%t0], %y0;")
            kernel.commit()
            kernel.load("d", count, 0)
            found = [list(row) for row in before]
            for row in range(copy.rows):
                for part in range(copy.bytes // 16):
                    at = row % 8 * 16 + row // 8 * 256 + part * 4096
                    chunk = data[at : at + 16]
                    if bits:
                        packed = int.from_bytes(chunk, "little")
                        codes = [packed >> bits * one & (1 << bits) - 1 for one in range(16)]
                        chunk = bytes(code << 2 if bits == 4 else code for code in codes)
                    for lane in copy.lanes(row):
                        for word in range(4):
                            found[lane][4 * part + word] = int.from_bytes(chunk[4 * word :][:4], "little")
            kernel.bits("copied", "d", count, found)
            kernel.end()
            yield kernel


def commits() -> Iterator[TensorKernel]:
    """Commits with a wide mask and to a generic address."""
    kernel = TensorKernel("commit", 4, 5, 32)
    held = kernel.operand("a", _ANY, 4, 0)
    kernel.store("a", 4, 0)
    kernel.store("a", 4, 4)
    kernel.store("a", 4, 8)
    kernel.declare("y", ".b64", 1)
    kernel.line("mov.u32 %h, done;  cvt.u64.u32 %y0, %h;  cvta.shared.u64 %y0, %y0;")
    found = [row * 3 for row in held]
    for form in (".shared::cluster.multicast::cluster::32b.b64 [done], 1", ".b64 [%y0]"):
        kernel.settle()
        kernel.line("@%q1 tcgen05.shift.cta_group::1.down [%t0+1];")
        kernel.commit(form)
        for lane in range(31):
            found[lane][1:9] = found[lane + 1][1:9]
    kernel.load("d", 4, 0)
    kernel.bits("shifted", "d", 4, [row[:4] for row in found])
    kernel.end()
    yield kernel


def shifts() -> Iterator[TensorKernel]:
    """The lanes of the second warp take what the next lane has, in eight columns from the second on."""
    kernel = TensorKernel("shift", 12, 3, 32)
    held = kernel.operand("a", _ANY, 12, 0)
    kernel.lines([f"mov.b32 %b{at}, %a{at % 12};" for at in range(16)], 4)
    kernel.declare("b", ".b32", 16)
    kernel.store("b", 16, 0)
    kernel.settle()
    kernel.line(f"@%q1 tcgen05.shift.cta_group::1.down [%t0+{(32 << 16) + 2}];")
    kernel.commit(".shared::cluster.multicast::cluster.b64 [done], 1")
    kernel.load("d", 16, 0)
    found = [[row[at % 12] for at in range(16)] for row in held]
    moved = [list(row) for row in found]
    for lane in range(32, 63):
        moved[lane][2:10] = found[lane + 1][2:10]
    kernel.bits("shifted", "d", 16, moved)
    kernel.end()
    yield kernel
