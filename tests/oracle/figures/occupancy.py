"""Compares `ptx_lsp.analyses.occupancy.calculator` with NVIDIA's calculator, the header `cuda_occupancy.h`.

    python -m tests.oracle.figures.occupancy --header PATH         compile the header, judge the sweep anew
    python -m tests.oracle.figures.occupancy --header PATH --update  the same, and record the header's answers

PATH is the header or its folder (the PyPI package `nvidia-cuda-runtime` has it); a C compiler `cc` must
be at hand. The sweep is always the same: blocks drawn by chance, half of their numbers at or near a
step. What the header does not know of a device (registers, threads and shared memory of an SM) it is
told from `ptx_lsp.isa.device_limits`; the rest is its own.
"""

from __future__ import annotations

import argparse
import lzma
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import NamedTuple
from zlib import crc32

from ptx_lsp.analyses.occupancy.calculator import (
    UNLIMITED,
    BlockResources,
    Limiter,
    Occupancy,
    occupancy_of,
)
from ptx_lsp.analyses.occupancy.curves import best_block_size
from ptx_lsp.isa.device_limits import LIMITS, MAX_STATIC_SHARED_BYTES

RECORDED = Path(__file__).parent / "occupancy_answers.xz"
PROGRAM = Path(__file__).parent / "occupancy_header.c"
BLOCKS_EACH = 6000
BEST_EACH = 60
"""For each target: blocks in the sweep, and kernels whose best block size is asked."""
CHUNK = 100

_FACTORS: dict[Limiter, int] = {
    "warps": 1,
    "registers": 2,
    "shared": 4,
    "blocks": 8,
    "barriers": 16,
}


class Answer(NamedTuple):
    """What the header says of one block. Limits above 65535 are told as that."""

    blocks: int
    factors: int
    """Bits; see `_FACTORS`."""
    registers: int
    shared: int
    warps: int
    barriers: int
    """Of these four, how many blocks each allows."""
    allocated_registers: int
    """In units of 256, for one block."""
    allocated_shared: int
    """In units of 128 bytes, for one block."""


class Best(NamedTuple):
    """The block size with the highest occupancy, and how many such blocks."""

    threads: int
    blocks: int


class Case(NamedTuple):
    """A block, or a kernel whose best block size is asked, on the target `sm_<number>`."""

    number: int
    block: BlockResources

    def __str__(self) -> str:
        return f"sm_{self.number} {self.block}"


def sweep() -> Iterator[Case]:
    """All blocks of the comparison, always the same."""
    for number in LIMITS:
        random = Random(number)
        for _ in range(BLOCKS_EACH):
            yield Case(number, _block(number, random))


def kernels() -> Iterator[Case]:
    """All kernels whose best block size is compared; their number of threads means nothing."""
    for number in LIMITS:
        random = Random(1000 + number)
        for _ in range(BEST_EACH):
            yield Case(number, _block(number, random)._replace(threads=32))


def _block(number: int, random: Random) -> BlockResources:
    """Only `random.random()` is the same in every version of Python."""

    def below(end: int) -> int:
        return int(random.random() * end)

    device = LIMITS[number]
    threads = below(1060) + 1 if below(2) else 32 * (below(33) + 1)
    registers = below(256) if below(2) else min(255, 8 * below(33) + below(2))
    shared = 0
    match below(5):
        case 0:
            shared = below(device.shared_bytes_opt_in + 3000)
        case 1:
            shared = below(20_000)
        case 2:  # the last size that so many blocks may have, or one more byte
            each = device.shared_bytes_per_sm // (below(device.blocks_per_sm) + 1)
            shared = max(0, each - device.shared_bytes_reserved + below(2))
        case 3:
            shared = (device.shared_bytes_opt_in, MAX_STATIC_SHARED_BYTES)[below(2)] + below(2)
        case _:
            pass
    barriers = 1 if below(3) else below(17)
    carveout = 100 if below(2) else below(101)
    return BlockResources(threads, registers, shared, barriers, 1, carveout, below(8) > 0)


def computed(case: Case) -> Answer:
    """What `ptx_lsp.analyses.occupancy.calculator` says, in the header's terms."""
    result = occupancy_of(LIMITS[case.number], case.block)
    limits = result.limits
    return Answer(
        result.blocks_per_sm,
        _factors(result),
        min(limits.registers, 65535),
        min(limits.shared, 65535),
        limits.warps,
        min(limits.barriers, 65535),
        result.registers_per_block // 256,
        result.shared_bytes_per_block // 128,
    )


def _factors(result: Occupancy) -> int:
    """The header names what limits blocks apart from barriers, and besides barriers where they
    limit; we name barriers alone where only they do.
    """
    limits = dict(zip(result.limits._fields, result.limits, strict=True))
    apart = min(result.limits._replace(barriers=UNLIMITED))
    names = {name for name, limit in limits.items() if limit == apart} - {"barriers", "clusters"}
    if "barriers" in result.limiters:
        names.add("barriers")
    if apart == result.blocks_per_sm and names != set(result.limiters):
        return -1
    return sum(bit for name, bit in _FACTORS.items() if name in names)


def computed_best(case: Case) -> Best:
    """What `best_block_size` says."""
    best = best_block_size(occupancy_of(LIMITS[case.number], case.block))
    return Best(best.block.threads if best.blocks_per_sm else 0, best.blocks_per_sm)


def judge(header: Path) -> tuple[list[Answer], list[Best]]:
    """The header's answers to the sweep. Raises CalledProcessError where it does not compile."""
    rows = _ask(header, chain(map(_line, sweep()), (f"best {_line(case)}" for case in kernels())))
    count = BLOCKS_EACH * len(LIMITS)
    return [Answer(*row) for row in rows[:count]], [Best(*row) for row in rows[count:]]


def answers(header: Path, cases: Iterable[Case]) -> list[Answer]:
    """The header's answers to any blocks. Raises CalledProcessError where it does not compile."""
    return [Answer(*row) for row in _ask(header, map(_line, cases))]


def _ask(header: Path, lines: Iterable[str]) -> list[list[int]]:
    folder = header if header.is_dir() else header.parent
    with tempfile.TemporaryDirectory() as place:
        program = Path(place, "occupancy")
        subprocess.run(["cc", "-O2", "-I", folder, PROGRAM, "-o", program], check=True)
        done = subprocess.run(
            [program], input="".join(lines), capture_output=True, text=True, check=True
        )
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


def _line(case: Case) -> str:
    device, block = LIMITS[case.number], case.block
    numbers = (
        *divmod(case.number, 10),
        device.threads_per_sm,
        device.registers_per_block,
        device.shared_bytes_per_sm,
        device.shared_bytes_opt_in,
        device.shared_bytes_reserved,
        block.threads,
        block.registers_per_thread,
        block.shared_bytes,
        block.barriers,
        block.carveout_percent,
        block.opt_in,
    )
    return " ".join(str(int(number)) for number in numbers) + "\n"


class Record(NamedTuple):
    """The header's answers as recorded. Of a block, how many are resident and the factors; of the rest, a
    checksum for each `CHUNK` blocks.
    """

    brief: list[tuple[int, int]]
    checksums: list[int]
    best: list[Best]


def brief(answers: Sequence[Answer], best: list[Best]) -> Record:
    """What is recorded of the answers."""
    chunks = [answers[start : start + CHUNK] for start in range(0, len(answers), CHUNK)]
    checksums = [crc32(" ".join(map(str, chain.from_iterable(c))).encode()) for c in chunks]
    return Record([(one.blocks, one.factors) for one in answers], checksums, best)


def recorded() -> Record:
    """The record, from its file."""
    found = Record([], [], [])
    for line in lzma.decompress(RECORDED.read_bytes()).decode().splitlines():
        word, *numbers = line.split()
        values = [int(number) for number in numbers]
        pairs = zip(values[::2], values[1::2], strict=True)
        if word == "best":
            found.best.extend(Best(*pair) for pair in pairs)
        else:
            found.checksums.append(int(word, 16))
            found.brief.extend(pairs)
    return found


def write(record: Record) -> None:
    """Writes the record: a line for each `CHUNK` blocks, their checksum first, and one for the best
    sizes. `xzcat` shows it.
    """
    lines = [
        _numbers(f"{checksum:08x}", record.brief[number * CHUNK : (number + 1) * CHUNK])
        for number, checksum in enumerate(record.checksums)
    ]
    text = "".join([*lines, _numbers("best", record.best)])
    RECORDED.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def _numbers(word: str, pairs: Iterable[tuple[int, int]]) -> str:
    return " ".join([word, *map(str, chain.from_iterable(pairs))]) + "\n"


def disagreements(record: Record) -> Iterator[str]:
    """Each case with what the header says and what we do, where they differ."""
    found = [computed(case) for case in sweep()]
    ours = brief(found, [computed_best(case) for case in kernels()])
    for case, answer, theirs in zip(sweep(), found, record.brief, strict=True):
        if (answer.blocks, answer.factors) != theirs:
            yield f"{case}: header {theirs}, here {answer}"
    for number, (here, there) in enumerate(zip(ours.checksums, record.checksums, strict=True)):
        if here != there:
            yield f"blocks {number * CHUNK} to {(number + 1) * CHUNK - 1} of the sweep differ"
    for case, here, there in zip(kernels(), ours.best, record.best, strict=True):
        if here != there:
            yield f"best block size for {case}: header {there}, here {here}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--header", type=Path, required=True, help="cuda_occupancy.h or its folder")
    parser.add_argument("--update", action="store_true", help="record the header's answers")
    options = parser.parse_args()
    judged, best = judge(options.header)
    record = brief(judged, best)
    if options.update:
        write(record)
    found = [
        f"{case}: header {there}, here {here}"
        for case, there in zip(sweep(), judged, strict=True)
        if (here := computed(case)) != there
    ]
    found += disagreements(record)
    same = record == recorded()
    print(*found[:20], sep="\n", end="\n" if found else "")
    print(f"{len(judged)} blocks and {len(best)} best sizes judged, {len(found)} differ")
    print("as recorded" if same else "the record says otherwise: --update?")
    return 1 if found or not same else 0


if __name__ == "__main__":
    sys.exit(main())
