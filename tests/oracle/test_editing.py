"""ptxas makes the same machine code of a file that was laid out, or in which names were changed."""

from __future__ import annotations

import random
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptx_lsp import ptxas
from ptx_lsp.ide.editing.formatting import formatting
from ptx_lsp.ide.editing.rename import RenameError, rename
from ptx_lsp.model.module import Module
from tests.ide.cursor import edited
from tests.oracle import corpus

_OLDEST = 75
"""The oldest target that ptxas 13 makes code for."""
_TARGET = re.compile(r"^\s*\.target\s+(sm_(\d+)\w*)", re.MULTILINE)


def _has_code(path: Path) -> bool:
    target = _TARGET.search(path.read_text())
    return target is not None and int(target[2]) >= _OLDEST and path.stat().st_size < 20_000


FILES = [path for path in corpus.files() if _has_code(path)]
TOOL = ptxas.find()
pytestmark = pytest.mark.skipif(TOOL is None, reason="there is no ptxas")


def machine_code(text: str, folder: Path) -> dict[str, bytes]:
    """What ptxas makes of each kernel and function of a text. Sections with debugging data are left out, as
    ptxas puts the text itself there.
    """
    assert TOOL is not None
    target = _TARGET.search(text)
    assert target is not None
    source, out = folder / "a.ptx", folder / "a.cubin"
    source.write_text(text)
    out.unlink(missing_ok=True)
    command = [str(TOOL), f"-arch={target[1]}", str(source), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert out.exists(), done.stderr
    return dict(code_sections(out.read_bytes()))


def code_sections(elf: bytes) -> Iterator[tuple[str, bytes]]:
    """The sections `.text.*` of a 64-bit ELF file."""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, of_names = struct.unpack_from("<3H", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + index * size) for index in range(count)]
    names: int = headers[of_names][4]
    for name, _, _, _, offset, length in headers:
        start = names + name
        text = elf[start : elf.index(b"\0", start)].decode()
        if text.startswith(".text."):
            yield text, elf[offset : offset + length]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_laid_out_it_is_the_same_program(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    module = Module.parse(text)
    assert machine_code(edited(module, formatting(module)), tmp_path) == machine_code(text, tmp_path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_with_other_names_it_is_the_same_program(path: Path, tmp_path: Path) -> None:
    """Registers, ranges of them, labels, and variables of functions, a few of each file after each other."""
    chance = random.Random(path.name)
    text = renamed = path.read_text()
    for number in range(6):
        module = Module.parse(renamed)
        defined = [one for one in module.functions if one.symbol.is_definition]
        symbols = [
            (function, start)
            for function in defined
            for start, symbol in function.body.symbols.items()
            if symbol.kind in ("register", "label")
        ]
        if not symbols:
            break
        function, start = chance.choice(symbols)
        try:
            edits = rename(module, function.item.offset(start), f"%fresh_{number}_")
        except RenameError:
            continue
        renamed = edited(module, edits)
    assert machine_code(renamed, tmp_path) == machine_code(text, tmp_path)
