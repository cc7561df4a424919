"""Holds the rules on `wgmma` and `setmaxnreg` against what ptxas says of generated kernels.

    python -m tests.oracle.wgmma                    replay the record, print the table
    python -m tests.oracle.wgmma --seed 7 --show 5  other kernels, judged now; with disagreements
    python -m tests.oracle.wgmma --update           judge anew, write the record

A kernel is a pipeline as people write it (fence, operations, commit, wait, use; in a row, in a loop, with a
second group in flight, with matrix A in registers, in divergent code), with or without one thing planted in
it. For each family of ptxas's notes the table says in how many kernels ptxas and the linter both speak, only
one of them does, or both are silent. What the linter alone says is explained in `ONLY_HERE`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from ptx_lsp import ptxas
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module

RECORD = Path(__file__).parent / "verdicts" / "advice_wgmma.txt"
COUNT, SEED = 400, 1

FAMILIES: Final[dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    "registers in flight": (
        frozenset(("C7511", "C7513", "C7514", "C7515", "C7517", "C7518")),
        frozenset(("wgmma-in-flight", "wgmma-not-waited")),
    ),
    "serialised": (frozenset(("C7509", "C7510", "C7519")), frozenset(("wgmma-serialised",))),
    "setmaxnreg ignored": (frozenset(("C7506", "C7508")), frozenset(("setmaxnreg-ignored",))),
    "setmaxnreg.dec": (frozenset(("C7406",)), frozenset(("setmaxnreg-count",))),
}
"""ptxas's notes and the rules that speak of the same."""
_FATAL: Final = "C7406"
"""After it ptxas says nothing else."""
_TOO_SMALL: Final = "C7602"
"""The registers do not suffice for one instruction: ptxas stops there."""

ONLY_HERE: Final = frozenset(("write early", "write A early", "constant early", "scaled early"))
"""What PTX forbids, and ptxas makes good without a note where it can, by a register or a wait of its own."""


class Kernel(NamedTuple):
    planted: str
    text: str


class Verdict(NamedTuple):
    kernel: Kernel
    notes: frozenset[str]


# -- kernels ------------------------------------------------------------------------------------

_FENCE = "wgmma.fence.sync.aligned;"
_COMMIT = "wgmma.commit_group.sync.aligned;"
_INDIRECT = "P: .callprototype _ (); ld.global.u64 %rd5, [%rd1+512]; call %rd5, (), P;"
_EXTERNAL = "call external;"
_RECURSIVE = "{ .param .b32 a; st.param.b32 [a], %r1; call recursive, (a); }"
_PLANTED: Final = (
    "nothing", "nothing", "copy", "read early", "write early", "write A early", "constant early",
    "scaled early", "no wait", "wrong wait", "fence outside", "guarded", "indirect call", "external call",
    "recursive call", "setmaxnreg", "setmaxnreg", "setmaxnreg", "read other", "wait elsewhere",
)
_HEADS: Final = (
    "", ".maxntid 256", ".reqntid 256", ".reqntid 256\n.minnctapersm 1", ".maxnreg 168", ".maxnreg 64",
    ".maxntid 384\n.minnctapersm 1", ".reqntid 256\n.minnctapersm 20", ".maxntid 128\n.maxnreg 96",
    ".minnctapersm 1", ".maxntid 1024\n.minnctapersm 2",
)
_FUNCTIONS = """\
.extern .func external();
.func recursive(.param .b32 x)
{
.reg .pred %p; .reg .b32 %r<3>;
ld.param.u32 %r1, [x];
setp.eq.u32 %p, %r1, 0;
@%p ret;
sub.u32 %r2, %r1, 1;
{ .param .b32 a; st.param.b32 [a], %r2; call recursive, (a); }
ret;
}
"""


def kernels(count: int, seed: int) -> list[Kernel]:
    """The same for the same seed."""
    return [_kernel(Random(f"{seed} {number}")) for number in range(count)]


def _kernel(random: Random) -> Kernel:
    planted = random.choice(_PLANTED)
    form = random.choice(("row", "loop", "two groups", "divergent"))
    if planted == "fence outside":
        form = "divergent"
    body = [*_setup(), *_Pipeline(random, planted).lines(form), *_uses(random, planted)]
    head = ""
    if planted == "setmaxnreg":
        head = random.choice(_HEADS)
        body[0:0] = _requests(random)
    prefix = _FUNCTIONS if planted in ("external call", "recursive call") else ""
    return Kernel(planted, _module(prefix, head, body))


def _module(prefix: str, head: str, body: Sequence[str]) -> str:
    return "\n".join((
        ".version 8.6", ".target sm_90a", ".address_size 64", prefix,
        ".visible .entry kernel(.param .u64 out, .param .u32 n)", head, "{",
        ".reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .f32 %f<40>;",
        "ld.param.u64 %rd1, [out];", "ld.param.u32 %r3, [n];", "mov.u32 %r1, %tid.x;", *body, "ret;", "}", "",
    ))


def _setup() -> Iterator[str]:
    yield "ld.global.v2.u64 {%rd2, %rd3}, [%rd1+16];"
    yield "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1+32];"
    for number in range(12):
        yield f"ld.global.f32 %f{number}, [%rd1+{1024 + 4 * number}];"


def _requests(random: Random) -> list[str]:
    calls = [_INDIRECT] if random.random() < 0.2 else []
    found = [
        f"setmaxnreg.{random.choice(('inc', 'dec'))}.sync.aligned.u32 {8 * random.randint(3, 30)};"
        for _ in range(random.randint(1, 3))
    ]
    return [line for request in found for line in (request, "st.global.u32 [%rd1+256], %r1;")] + calls


def _uses(random: Random, planted: str) -> Iterator[str]:
    for number in range(0, 12, 4):
        yield f"st.global.v4.f32 [%rd1+{4096 + 4 * number}], {_accumulator(number // 4)};"
    match planted:
        case "external call":
            yield _EXTERNAL
        case "recursive call":
            yield _RECURSIVE
        case "indirect call":
            yield _INDIRECT
        case "copy":
            yield "st.global.f32 [%rd1+8192], %f20;"
        case "write A early":
            yield "st.global.u32 [%rd1+8192], %r4;"
        case _:
            pass


def _accumulator(number: int) -> str:
    return f"{{%f{4 * number}, %f{4 * number + 1}, %f{4 * number + 2}, %f{4 * number + 3}}}"


class _Pipeline:
    def __init__(self, random: Random, planted: str) -> None:
        self.random = random
        self.planted = planted
        self.in_registers = planted == "write A early" or random.random() < 0.4
        self.guard = "@%p4 " if planted == "guarded" else ""

    def lines(self, form: str) -> list[str]:
        start = ["setp.lt.u32 %p4, %r1, 99;"] if self.guard else []
        match form:
            case "row":
                return [*start, _FENCE, *self.group(0), *self.wait(0)]
            case "loop":
                return [
                    *start, "mov.u32 %r10, 0;", "LOOP:", _FENCE, *self.group(0), *self.wait(0),
                    "add.u32 %r10, %r10, 1;", "setp.lt.u32 %p1, %r10, %r3;", "@%p1 bra LOOP;",
                ]
            case "two groups":
                first, second = self.group(0), self.group(1, plain=True)
                use = "st.global.f32 [%rd1+64], %f0;"
                if self.planted == "wrong wait":
                    use = "st.global.f32 [%rd1+64], %f4;"
                return [*start, _FENCE, *first, _FENCE, *second, *self.wait(1), use, *self.wait(0)]
            case _:
                return [*start, *self.divergent()]

    def divergent(self) -> list[str]:
        branch = ["setp.lt.u32 %p2, %r1, 77;", "@%p2 bra PAST;"]
        outside = self.planted == "fence outside"
        head = [_FENCE, *branch] if outside else [*branch, _FENCE]
        if self.planted == "wait elsewhere":
            return [*head, *self.group(0), "PAST:", *self.wait(0)]
        return [*head, *self.group(0), *self.wait(0), "PAST:"]

    def group(self, number: int, plain: bool = False) -> list[str]:
        """Operations, with what is planted among them or behind them, up to the commit."""
        count = self.random.randint(1, 3)
        first = [self.operation(number) for _ in range(count)]
        planted = [] if plain else self.early(number)
        if self.random.random() < 0.5:
            return [*first, *planted, self.operation(number), _COMMIT]
        return [*first, _COMMIT, *planted]

    def operation(self, number: int) -> str:
        a = "{%r4, %r5, %r6, %r7}" if self.in_registers else "%rd2"
        tail = "1, 1, 1, 0" if self.in_registers else "1, 1, 1, 0, 0"
        shape = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
        return f"{self.guard}{shape} {_accumulator(number)}, {a}, %rd3, {tail};"

    def early(self, number: int) -> list[str]:
        register = f"%f{4 * number + self.random.randrange(4)}"
        match self.planted:
            case "read early":
                return [f"st.global.f32 [%rd1+64], {register};"]
            case "scaled early":
                return [f"mul.f32 {register}, {register}, 0f3F000000;"]
            case "write early":
                return [f"ld.global.f32 {register}, [%rd1+64];"]
            case "constant early":
                return [f"mov.f32 {register}, 0f3F800000;"]
            case "write A early":
                return ["ld.global.u32 %r4, [%rd1+64];"]
            case "copy":
                return [f"mov.f32 %f20, {register};"]
            case "read other":
                return ["st.global.f32 [%rd1+64], %f11;"]
            case _:
                return []

    def wait(self, count: int) -> list[str]:
        return [] if self.planted == "no wait" and count == 0 else [f"wgmma.wait_group.sync.aligned {count};"]


# -- judges -------------------------------------------------------------------------------------


def judged(found: Sequence[Kernel]) -> list[Verdict]:
    """What ptxas says of each."""
    tool = ptxas.find()
    if tool is None:
        raise FileNotFoundError("ptxas is not installed")

    def notes(kernel: Kernel) -> Verdict:
        options = ["-c"] if kernel.planted == "external call" else []
        command = [str(tool), "-arch", "sm_90a", "-v", "-o", "/dev/null", *options, "/dev/stdin"]
        done = subprocess.run(command, input=kernel.text, capture_output=True, text=True, check=False)
        return Verdict(kernel, frozenset(re.findall(r"\((C7\d\d\d)\)", done.stdout + done.stderr)))

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(notes, found))


def rules_of(kernel: Kernel) -> frozenset[str]:
    """The rules that speak."""
    return frozenset(found.rule for found in LintSession(Module.parse(kernel.text)).diagnostics)


def recorded() -> list[Verdict]:
    """The record of this repository: a line for each kernel, with ptxas's notes."""
    lines = RECORD.read_text().splitlines()
    found = kernels(len(lines), SEED)
    return [
        Verdict(kernel, frozenset(line.split()[1:])) for kernel, line in zip(found, lines, strict=True)
    ]


def write(verdicts: Sequence[Verdict]) -> str:
    lines = (" ".join((f"{n}:", *sorted(one.notes))) for n, one in enumerate(verdicts))
    return "\n".join(lines) + "\n"


class Compared(NamedTuple):
    family: str
    verdict: Verdict
    says_ptxas: bool
    says_linter: bool


def compare(verdicts: Sequence[Verdict]) -> Iterator[Compared]:
    """For each kernel and family whether each of the two speaks."""
    for verdict in verdicts:
        if _TOO_SMALL in verdict.notes:
            continue
        rules = rules_of(verdict.kernel)
        for family, (notes, own) in FAMILIES.items():
            if family == "setmaxnreg.dec" or _FATAL not in verdict.notes:
                yield Compared(family, verdict, bool(notes & verdict.notes), bool(own & rules))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="wgmma", description="the rules on wgmma against ptxas")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.update or options.seed != SEED:
        verdicts = judged(kernels(options.count, options.seed))
        if options.update and options.seed == SEED:
            RECORD.write_text(write(verdicts))
    else:
        verdicts = recorded()
    figures: Counter[tuple[str, bool, bool]] = Counter()
    planted: Counter[tuple[str, str, str]] = Counter()
    for one in compare(verdicts):
        figures[one.family, one.says_ptxas, one.says_linter] += 1
        if one.says_ptxas != one.says_linter:
            who = "ptxas" if one.says_ptxas else "linter"
            planted[one.family, who, one.verdict.kernel.planted] += 1
            if planted[one.family, who, one.verdict.kernel.planted] <= options.show:
                print(f"-- {one.family}: only {who}, {one.verdict.kernel.planted}, {set(one.verdict.notes)}")
                print(one.verdict.kernel.text)
    print("| family | both | only ptxas | only the linter | neither |\n|---|--:|--:|--:|--:|")
    for family in FAMILIES:
        row = [figures[family, ptxas, linter] for ptxas in (True, False) for linter in (True, False)]
        print(f"| {family} | {' | '.join(map(str, row))} |")
    for (family, who, what), count in sorted(planted.items()):
        print(f"{family}: only {who}: {what}: {count}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
