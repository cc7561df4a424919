"""Constant folding of ptxas: results of instructions with constant operands, read from its machine code.

1. Each instruction stands in a kernel of its own, which moves constants into its operands and stores its
   results.
2. It counts as folded where the kernel does nothing but load its parameter, move constants and store them:
   one other instruction, and nothing is said of its results.
3. A constant is an operand that nvdisasm prints, or the bits 32 to 63 of the instruction: `HFMA2 R5, -RZ, RZ,
   1.875, 0` shows two halves of what it moves.

`nvdisasm` is $NVDISASM, on PATH, or from the package `nvidia-cuda-nvdisasm`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import NamedTuple

from ptx_lsp.isa.types import TYPES, Kind

_PACKAGE = "nvidia-cuda-nvdisasm"
_HEADER_LINES = 3
_LINES = 4
"""Those of a kernel."""
_SECTION = re.compile(r"(?ms)^\.text\.k(\d+):(.*?)(?=^\.text\.|\Z)")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(@\S+ )?(\S+) ?([^;]*?)\s*;\s*/\* (0x[0-9a-f]{16}) \*/")
_REFUSED = re.compile(r"line (\d+); (?:error|fatal)")
_NUMBER = re.compile(r"-?0x[0-9a-f]+")
_OFFSET = re.compile(r"\+(0x[0-9a-f]+)\]")
_RESULT_BYTES = 8
"""Results are stored so many bytes apart."""


class Constant(NamedTuple):
    """An instruction (an opcode with its modifiers), the types of its operands ("#": written as a number) and
    of its results, and its operands as bits.
    """

    spelling: str
    types: tuple[str, ...]
    result_types: tuple[str, ...]
    operands: tuple[int, ...]


def disassembler() -> str | None:
    """NVIDIA's `nvdisasm`."""
    found = os.environ.get("NVDISASM") or shutil.which("nvdisasm")
    if found:
        return found
    try:
        listed = files(_PACKAGE) or []
    except PackageNotFoundError:
        return None
    return next((str(one.locate()) for one in listed if one.name in ("nvdisasm", "nvdisasm.exe")), None)


def folded(
    instructions: Sequence[Constant], header: str, tools: tuple[Path, str]
) -> list[tuple[int, ...] | None]:
    """The results of each instruction as bits; None where ptxas refuses it or does not compute it.

    `header` is that of a PTX file of three lines; `tools` are ptxas and nvdisasm.
    """
    found: list[tuple[int, ...] | None] = [None] * len(instructions)
    left: list[int] = list(range(len(instructions)))
    with tempfile.TemporaryDirectory(prefix="ptx-lsp-") as folder:
        source, made = Path(folder, "input.ptx"), Path(folder, "made.cubin")
        while left:
            source.write_text(header + "".join(_kernel(at, instructions[at]) for at in left))
            refused = _refused(tools[0], source, made, header)
            if not refused:
                break
            left = [at for number, at in enumerate(left) if number not in refused]
        if not left:
            return found
        command = [tools[1], "-hex", "-c", str(made)]
        listing = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout
    for number, text in _SECTION.findall(listing):
        types = instructions[int(number)].result_types
        found[int(number)] = read(text, [_width(type) for type in types])
    return found


def read(listing: str, widths: Sequence[int]) -> tuple[int, ...] | None:
    """The constants of such widths that a kernel stores, from its listing by `nvdisasm -hex`."""
    registers = {"RZ": 0, "URZ": 0}
    stored: dict[int, int] = {}
    for guard, opcode, text, raw in _INSTRUCTION.findall(listing):
        operands = [one.strip().removesuffix(".reuse") for one in text.split(",")]
        if opcode == "EXIT" and not guard:
            break
        if guard:
            return None
        if opcode.partition(".")[0] == "STG":
            stored.update(_stored(opcode, operands, registers))
        elif not _moved(opcode, operands, int(raw, 16) >> 32, registers):
            return None
    places = [_RESULT_BYTES * at for at in range(len(widths))]
    if any(place not in stored for place in places):
        return None
    return tuple(stored[place] & (1 << width) - 1 for place, width in zip(places, widths, strict=True))


def _stored(
    opcode: str, operands: Sequence[str], registers: Mapping[str, int]
) -> Iterator[tuple[int, int]]:
    """The constants that one instruction stores, by their places."""
    offset = _OFFSET.search(operands[0])
    modifiers = opcode.split(".")
    words = 4 if "128" in modifiers else 2 if "64" in modifiers else 1
    first = operands[-1]
    names = [first if first == "RZ" else f"R{int(first[1:]) + at}" for at in range(words)]
    for at in range(0, words, 2):
        values = [registers.get(name) for name in names[at : at + 2]]
        if None not in values:
            place = (int(offset[1], 16) if offset else 0) + 4 * at
            yield place, sum(value << 32 * number for number, value in enumerate(values) if value)


def _moved(
    opcode: str, operands: Sequence[str], bits: int, registers: dict[str, int]
) -> bool:
    """Follows an instruction; whether it is one that moves constants, or loads from the parameters."""
    match opcode, operands:
        case ["LDC" | "LDC.64" | "LDCU" | "LDCU.64" | "ULDC" | "ULDC.64", [into, of]]:
            registers.pop(into, None)
            registers.pop(_next(into), None)
            return of.startswith("c[0x0]")
        case ["MOV" | "IMAD.MOV.U32", [into, *_, of]] if of.startswith("c[0x0]"):
            registers.pop(into, None)
            return True
        case [("MOV" | "UMOV"), [into, of]] | [("IMAD.MOV.U32" | "IMAD.U32"), [into, "RZ", "RZ", of]]:
            value = registers.get(of, bits if _NUMBER.fullmatch(of) else None)
        case [("MOV.64" | "UMOV.64"), [into, of]] if _NUMBER.fullmatch(of):
            value = int(of, 16)
            registers[_next(into)] = value >> 32 & 0xFFFFFFFF
        case [("HFMA2" | "HFMA2.MMA"), [into, "-RZ", "RZ", _, _]]:
            value = bits
        case ["CS2R", [into, "SRZ"]]:
            value = registers[_next(into)] = 0
        case ["CS2R.32", [into, "SRZ"]]:
            value = 0
        case _:
            return False
    if value is None:
        return False
    registers[into] = value & 0xFFFFFFFF
    return True


def _next(register: str) -> str:
    kind = register.rstrip("0123456789")
    return f"{kind}{int(register.removeprefix(kind)) + 1}"


def _refused(tool: Path, source: Path, made: Path, header: str) -> set[int]:
    """The numbers of the kernels that ptxas refuses."""
    architecture = re.search(r"\.target (\w+)", header)
    assert architecture is not None
    command = [str(tool), "-arch", architecture[1], "-o", str(made), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    found = {(int(line) - 1 - _HEADER_LINES) // _LINES for line in _REFUSED.findall(done.stderr)}
    if done.returncode and not found:
        raise RuntimeError(done.stderr)
    return found


def _kernel(number: int, one: Constant) -> str:
    """Four lines."""
    registers: list[str] = []
    moves: list[str] = []
    operands: list[str] = []
    for at, (type, value) in enumerate(zip(one.types, one.operands, strict=True)):
        if type == "#":
            operands.append(str(value))
            continue
        registers.append(f".reg {_holder(type)} %a{at};")
        operands.append(f"%a{at}")
        move = "mov.pred" if type == ".pred" else f"mov.b{max(_width(type), 16)}"
        moves.append(f"{move} %a{at}, {value & (1 << _width(type)) - 1:#x};")
    stores: list[str] = []
    for at, type in enumerate(one.result_types):
        registers.append(f".reg {_holder(type)} %d{at};")
        if type == ".pred":
            stores.append(f"selp.b32 %w, 1, 0, %d{at}; st.global.b32 [%at+{_RESULT_BYTES * at}], %w;")
        else:
            stores.append(f"st.global.b{_width(type)} [%at+{_RESULT_BYTES * at}], %d{at};")
    results = "|".join(f"%d{at}" for at in range(len(one.result_types)))
    return "\n".join([
        f".visible .entry k{number}(.param .u64 out) {{ .reg .b64 %at; .reg .b32 %w; {' '.join(registers)}",
        f"ld.param.u64 %at, [out]; {' '.join(moves)}",
        f"{one.spelling} {', '.join([results, *operands])};",
        f"{' '.join(stores)} ret; }}\n",
    ])


def _holder(type: str) -> str:
    """The type of a register: integers of 8 bits go in 16."""
    if type == ".pred":
        return ".pred"
    return f".b{max(TYPES[type].width, 16 if TYPES[type].kind in (Kind.SIGNED, Kind.UNSIGNED) else 8)}"


def _width(type: str) -> int:
    return 1 if TYPES[type].kind is Kind.PREDICATE else TYPES[type].width
