"""nvdisasm's listings: the recorded ones, and those of the real programs where they are.

`python -m tests.test_nvdisasm` records the listings, with runs of blanks as one blank.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from ptx_lsp import nvdisasm, ptxas
from ptx_lsp.ide.panels.source_lines import source_lines
from ptx_lsp.model.module import Module
from ptx_lsp.nvdisasm import LINES, LIVE, MachineInstruction, SourceLine

TESTS = Path(__file__).parent
RECORDED = TESTS / "data" / "nvdisasm"
TEXTS = {
    "cuda": TESTS / "oracle/corpus/nvcc130_reduce.sm80.lineinfo.ptx",
    "triton": TESTS / "executor/kernels/triton_wgmma_matmul.ptx",
}
LISTINGS = {"lines": LINES, "live": LIVE, "source": ("-c", "-g")}
RELEASE = "13.5"
needs_tools = pytest.mark.skipif(
    ptxas.find() is None or nvdisasm.find(ptxas.find()) is None, reason="there is no ptxas or nvdisasm here"
)


@cache
def real(name: str) -> dict[str, str]:
    """The listings of a text by the real programs."""
    program = ptxas.find()
    assert program is not None
    tool = nvdisasm.find(program)
    arch = ptxas.architecture(TEXTS[name].read_bytes(), program)
    with tempfile.TemporaryDirectory() as folder:
        cubin = f"{folder}/made.cubin"
        command = [str(program), "-lineinfo", "-arch", arch, "-o", cubin, str(TEXTS[name])]
        subprocess.run(command, check=True, capture_output=True)
        return {
            kind: subprocess.run(
                [str(tool), *options, cubin], check=True, capture_output=True, text=True
            ).stdout
            for kind, options in LISTINGS.items()
        }


def recorded(name: str) -> dict[str, str]:
    return {kind: (RECORDED / f"{name}.{kind}.txt").read_text() for kind in LISTINGS}


def source_of_addresses(listing: str) -> dict[tuple[str, int], tuple[str, int]]:
    """What `nvdisasm -g` says of each instruction, read by itself."""
    found: dict[tuple[str, int], tuple[str, int]] = {}
    function, current = "", None
    for line in listing.splitlines():
        if line.lstrip().startswith(".section") and ".text." in line:
            function, current = line.split(".text.")[-1].split(",")[0], None
        elif "//## File" in line:
            path, number = line.split('"')[1], re.search(r"line (\d+)", line)
            assert number is not None
            current = path, int(number[1])
        elif (address := re.match(r"\s*/\*([0-9a-f]{4,})\*/", line)) and current is not None:
            found[function, int(address[1], 16)] = current
    return found


def check(name: str, listings: dict[str, str]) -> None:
    functions = nvdisasm.read(listings["lines"], listings["live"])
    expected = source_of_addresses(listings["source"])
    found = {
        (function, one.address): one.source[0]
        for function, listed in functions.items()
        for one in listed
        if one.source
    }
    assert found == {key: SourceLine(*value) for key, value in expected.items()}
    assert len(found) > 300
    module = Module.parse(TEXTS[name].read_text())
    assert set(functions) == {one.name for one in module.functions if one.is_kernel}
    for function, listed in functions.items():
        check_against_text(module, function, listed)


def check_against_text(
    module: Module, name: str, listed: tuple[MachineInstruction, ...]
) -> None:
    """The PTX lines are those of the kernel, and `.loc` says nearly everywhere what nvdisasm says."""
    function, source = module.definitions[name], module.document.source
    first, last = source.line_of(function.item.start) + 1, source.line_of(function.item.end) + 1
    chains = source_lines(function)
    agree = disagree = 0
    for one in listed:
        assert one.ptx_line is not None
        assert first <= one.ptx_line <= last
        chain = chains.get(one.ptx_line - 1)
        if chain is not None:
            lines = tuple(dict.fromkeys(SourceLine(origin.path, origin.line) for origin in chain))
            agree, disagree = agree + (lines == one.source), disagree + (lines != one.source)
    assert disagree <= 0.05 * agree
    counted = [one.live for one in listed if one.live is not None]
    assert len(counted) > 0.6 * len(listed)  # no counts behind the end of the program
    assert 0 < max(live.general for live in counted) <= 255


@pytest.mark.parametrize("name", TEXTS)
def test_recorded_listings(name: str) -> None:
    check(name, recorded(name))


@needs_tools
@pytest.mark.parametrize("name", TEXTS)
def test_real_listings(name: str) -> None:
    check(name, real(name))


@needs_tools
@pytest.mark.parametrize("name", TEXTS)
def test_the_recorded_listings_are_those_of_the_real_programs(name: str) -> None:
    program = ptxas.find()
    assert program is not None
    if ptxas.version(program) != RELEASE:
        pytest.skip(f"the recordings are of ptxas {RELEASE}")
    assert {kind: squeezed(text) for kind, text in real(name).items()} == recorded(name)


def test_an_instruction_in_full() -> None:
    listed = nvdisasm.read(*(recorded("cuda")[kind] for kind in ("lines", "live")))["redux"]
    first = listed[1]
    assert (first.address, first.text) == (0x10, "S2R R6, SR_TID.X")
    assert first.source == (SourceLine("/src/gen/cuda/reduce.cu", 19),)
    assert first.live is not None
    assert any(one.labels for one in listed)
    deepest = max((one for one in listed), key=lambda one: len(one.source))
    assert [Path(line.path).name for line in deepest.source][-1] == "reduce.cu"
    assert len(deepest.source) > 1


def test_garbage_is_no_machine_code() -> None:
    assert nvdisasm.read("garbage\n/*0000*/\n// | 1 |\n", "\x00 // | x |") == {}


def squeezed(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)


def record() -> None:
    for name in TEXTS:
        for kind, text in real(name).items():
            (RECORDED / f"{name}.{kind}.txt").write_text(squeezed(text))


if __name__ == "__main__":
    record()
