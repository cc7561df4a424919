"""`ldmatrix` and `stmatrix` for matrix.py: rows of shared memory in an order of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.oracle.exact.kernel import Field, Kernel, mixed, split, vector

_WORDS = 8
_ROWS = 32 * _WORDS // 4
"""Rows of 16 bytes in shared memory."""
_PADDED = {"b6x16_p32": 6, "b4x16_p64": 4, "s4": 4}
"""The bits of elements that lie close together at the beginning of a row of 16."""


def halves() -> Iterator[Kernel]:
    """8x8 matrices of 16 bits."""
    for turned in (False, True):
        kernel = Kernel("load_turned" if turned else "load", _WORDS, 16 + turned)
        rows = _rows_of(kernel)
        for count, space in ((1, ".shared"), (2, ".shared::cta"), (4, "")):
            opcode = f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if turned else ''}{space}.b16"
            found = [split(row, 16) for row in rows]
            registers = [
                [_of_matrix(found[8 * at : 8 * at + 8], lane, turned) for at in range(count)]
                for lane in range(32)
            ]
            _load(kernel, opcode, count, registers)
        yield kernel
        yield _stored("store_turned" if turned else "store", ".m8n8", ".b16", turned)


def bytes_of_matrices() -> Iterator[Kernel]:
    """16x16 and 8x16 matrices of 8 bits and less, and 16x8 matrices that are stored."""
    for format in ("b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"):
        kernel = Kernel(f"load_{format.rpartition('.')[2]}", _WORDS, len(format))
        rows = [_elements(row, format) for row in _rows_of(kernel)]
        for count in (1, 2):
            # Figure 105: a thread has 4 neighbours of a column of memory, and of the column 8 further on.
            registers = [
                [
                    _packed([rows[16 * matrix + lane % 4 * 4 + i][lane // 4 + 8 * half] for i in range(4)], 8)
                    for matrix in range(count) for half in range(2)
                ]
                for lane in range(32)
            ]
            opcode = f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.{format}"
            _load(kernel, opcode, 2 * count, registers)
        if format != "b8":
            _load_short(kernel, rows, format)
        yield kernel
    kernel = Kernel("load_s4", _WORDS, 4)
    _load_short(kernel, [_elements(row, "s8.s4") for row in _rows_of(kernel)], "s8.s4")
    yield kernel
    yield _stored("store_bytes", ".m16n8", ".b8", turned=True)


def _load_short(kernel: Kernel, rows: Sequence[Sequence[int]], format: str) -> None:
    """8x16: a thread has 4 neighbours of a row (Figure 106)."""
    for count in (1, 2, 4):
        registers = [
            [
                _packed(rows[8 * matrix + lane // 4][lane % 4 * 4 : lane % 4 * 4 + 4], 8)
                for matrix in range(count)
            ]
            for lane in range(32)
        ]
        _load(kernel, f"ldmatrix.sync.aligned.m8n16.x{count}.shared.{format}", count, registers)


def _rows_of(kernel: Kernel) -> list[list[int]]:
    """Gives each thread the address of a row, %row and the generic %wide; the words of the rows."""
    kernel.declare("row", ".b32", 1)
    kernel.declare("wide", ".b64", 1)
    kernel.line(f"mad.lo.u32 %h, %id, 11, 5;  and.b32 %h, %h, {_ROWS - 1};")
    kernel.line("shl.b32 %h, %h, 4;  add.u32 %row0, %h, %base;")
    kernel.line("cvt.u64.u32 %wide0, %row0;  cvta.shared.u64 %wide0, %wide0;")
    return [
        [mixed((thread * 11 + 5) % _ROWS * 4 + at, kernel.salt) for at in range(4)] for thread in range(32)
    ]


def _load(kernel: Kernel, opcode: str, count: int, registers: Sequence[Sequence[int]]) -> None:
    generic = "shared" not in opcode
    kernel.declare("d", ".b32", count)
    kernel.line(f"{opcode} {vector('d', count)}, [{'%wide0' if generic else '%row0'}];")
    shape, number = opcode.split(".")[3:5]
    values = [hex(word) for words in registers for word in words]
    kernel.result(f"{shape}_{number}", "b32", [f"%d{at}" for at in range(count)], values)


def _of_matrix(rows: Sequence[Sequence[int]], lane: int, turned: bool) -> int:
    """Two neighbours of a row (Figure 104), or of a column."""
    g, t = lane // 4, lane % 4
    return _packed([rows[2 * t + i][g] if turned else rows[g][2 * t + i] for i in range(2)], 16)


def _elements(row: Sequence[int], format: str) -> list[int]:
    """The 16 elements of a row as bytes: less than 8 bits are the lower ones, integers have their sign."""
    name = format.rpartition(".")[2]
    bits = _PADDED.get(name, 8)
    whole = _packed(row, 32)
    found = [whole >> bits * at & (1 << bits) - 1 for at in range(16)]
    return [(one ^ 8) - 8 & 255 for one in found] if name == "s4" else found


def _packed(parts: Sequence[int], bits: int) -> int:
    return sum(part << bits * at for at, part in enumerate(parts))


def _stored(name: str, shape: str, type: str, turned: bool) -> Kernel:
    """Stores one, two and four matrices; row i of a matrix goes where thread i says."""
    kernel = Kernel(name, _WORDS, sum(map(ord, name)))
    held = kernel.operand("r", Field("b32"), 4, 0)
    kernel.declare("row", ".b32", 1)
    kernel.declare("d", ".b32", 4)
    kernel.line("bar.sync 0;")
    for count in (1, 2, 4):
        rows = 8 * count
        kernel.line(f"mad.lo.u32 %h, %id, 3, 1;  and.b32 %h, %h, {rows - 1};")
        kernel.line("shl.b32 %h, %h, 4;  add.u32 %row0, %h, %base;")
        space = {1: ".shared", 2: ".shared::cta", 4: ""}[count]
        address = "%row0"
        if not space:
            kernel.declare("wide", ".b64", 1)
            kernel.line("cvt.u64.u32 %wide0, %row0;  cvta.shared.u64 %wide0, %wide0;")
            address = "%wide0"
        opcode = f"stmatrix.sync.aligned{shape}.x{count}{'.trans' if turned else ''}{space}{type}"
        kernel.line(f"{opcode} [{address}], {vector('r', count)};")
        kernel.line("bar.sync 0;")
        kernel.line(f"mad.lo.u32 %h, %id, {4 * count}, %base;")
        names = [f"%d{at}" for at in range(count)]
        several = f".v{count}" if count > 1 else ""
        kernel.line(f"ld.shared{several}.b32 {'{' + ', '.join(names) + '}' if several else names[0]}, [%h];")
        kernel.line("bar.sync 0;")
        memory = [[0] * 4 for _ in range(rows)]
        for matrix in range(count):
            words = [one[matrix] for one in held]
            for row in range(8):
                memory[((8 * matrix + row) * 3 + 1) % rows] = _row_of(words, row, shape, turned)
        values = [hex(word) for row in memory for word in row]
        kernel.result(f"x{count}", "b32", names, values)
    return kernel


def _row_of(words: Sequence[int], row: int, shape: str, turned: bool) -> list[int]:
    """The words of a row of memory."""
    if shape == ".m16n8":  # Figure 108: held as sums of `mma` are; a row of memory is a column of the matrix
        column = [0] * 16
        for lane, word in enumerate(words):
            for i, element in enumerate(split([word], 8)):
                if lane % 4 * 2 + i % 2 == row:
                    column[lane // 4 + i // 2 * 8] = element
        return [_packed(column[at : at + 4], 8) for at in range(0, 16, 4)]
    if not turned:
        return list(words[4 * row : 4 * row + 4])
    column = [words[4 * at + row // 2] >> 16 * (row % 2) & 0xFFFF for at in range(8)]
    return [_packed(column[at : at + 2], 16) for at in range(0, 8, 2)]
