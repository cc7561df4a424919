"""Random programs of functions, tables and kernels: what ptxas counts as callable, and what the rules do.

    python -m tests.oracle.calls.called [--seed N]        replay the record; or judge other programs now
    python -m tests.oracle.calls.called --update          judge anew, write the record

Each function may have 30 000 bytes of shared memory or a `tcgen05` instruction with one of the two
`.cta_group`; it may call others, by name or alias, take addresses, name tables of functions, and call through
an address. ptxas rejects a program if what a kernel can call has more than 48 KiB, or both groups.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import NamedTuple

from ptx_lsp import ptxas
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module

RECORD = Path(__file__).parents[1] / "verdicts" / "called.txt"
COUNT = 600

_FUNCTIONS = [f"f{number}" for number in range(5)]
_ALIASES = ["g0", "g1"]
_KERNELS = ["k0", "k1"]
_TABLES = ["t0", "t1", "t2"]


class Program(NamedTuple):
    seed: int
    text: str


def programs(first: int, count: int) -> Iterator[Program]:
    """The programs of so many seeds."""
    for seed in range(first, first + count):
        yield Program(seed, _program(Random(seed)))


def is_rejected_here(program: Program) -> bool:
    """Whether the rules find an error."""
    found = LintSession(Module.parse(program.text)).diagnostics
    return any(one.severity == "error" for one in found)


def recorded() -> dict[int, bool]:
    """By the seed, whether ptxas rejected the program."""
    lines = RECORD.read_text().splitlines()
    return {int(seed): word == "rejected" for seed, word in (line.split() for line in lines)}


def judged(every: Sequence[Program], tool: Path) -> dict[int, bool]:
    """The same, now."""
    def is_rejected(program: Program) -> bool:
        return not ptxas.judge(program.text.encode(), ptxas=tool).accepted

    with ThreadPoolExecutor(2) as pool:
        return dict(zip([one.seed for one in every], pool.map(is_rejected, every), strict=True))


def _program(chance: Random) -> str:
    is_tensor = chance.random() < 0.5
    parts = [".version 9.0", f".target {'sm_100a' if is_tensor else 'sm_90'}", ".address_size 64"]
    named = _FUNCTIONS + _ALIASES
    heads = [f".func {name}();" for name in named] + [f".entry {name}();" for name in _KERNELS]
    chance.shuffle(heads)
    parts += heads
    for table in _TABLES:
        linkage = chance.choice(["", "", ".visible ", ".weak "])
        inner = chance.choice(["t0", "t1"]) if table == "t2" else chance.choice(["0", *named, *_KERNELS])
        parts.append(f"{linkage}.global .u64 {table}[2] = {{ {inner}, {chance.choice(['0', *named])} }};")
    parts += [f".alias {alias}, {chance.choice(_FUNCTIONS)};" for alias in _ALIASES]
    bodies = [f".func {name}()" for name in _FUNCTIONS] + [f".entry {name}()" for name in _KERNELS]
    chance.shuffle(bodies)
    for head in bodies:
        own = _own(chance, is_tensor, is_kernel=head.startswith(".entry"))
        actions = "\n".join(_action(chance) for _ in range(chance.choice((0, 1, 1, 2))))
        parts.append(f"{head}\n{{\n.reg .b64 %d;\n{own}\n{actions}\nret;\n}}")
    return "\n".join(parts) + "\n"


def _own(chance: Random, is_tensor: bool, is_kernel: bool) -> str:
    if chance.random() < (0.3 if is_tensor and is_kernel else 0.5):
        return ""
    if is_tensor:
        return f"tcgen05.relinquish_alloc_permit.cta_group::{chance.choice('12')}.sync.aligned;"
    return ".shared .b8 x[30000];"


def _action(chance: Random) -> str:
    name, table = chance.choice(_FUNCTIONS + _ALIASES), chance.choice(_TABLES)
    return chance.choice(
        (
            f"call {name};",
            f"call {name};",
            f"mov.u64 %d, {chance.choice([name, *_KERNELS])};",
            f"mov.u64 %d, {table};",
            f"ld.global.u64 %d, [{table}];",
            f"st.global.u64 [{table}], %d;",
            "{ p: .callprototype _ (); mov.u64 %d, 0; call %d, (), p; }",
            f"{{ .global .u64 local = {chance.choice([name, table])}; mov.u64 %d, local; }}",
            f"{{ .global .u64 local = {chance.choice([name, table])}; ld.global.u64 %d, [local]; }}",
            f"{{ .global .u64 {name}; .global .u64 local = {name}; mov.u64 %d, local; }}",
            f"{{ .reg .b64 {name}; mov.u64 {name}, 0; }}",
            f"{{ list: .calltargets {name}; mov.u64 %d, 0; call %d, (), list; }}",
        )
    )


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="tests.oracle.calls.called", description="what kernels can call")
    options.add_argument("--seed", type=int)
    options.add_argument("--count", type=int, default=COUNT)
    options.add_argument("--update", action="store_true")
    given = options.parse_args(arguments)
    every = list(programs(given.seed or 0, given.count))
    verdicts = recorded() if RECORD.exists() and not given.update and given.seed is None else {}
    if not verdicts:
        tool = ptxas.find()
        if tool is None:
            print("there is no ptxas", file=sys.stderr)
            return 2
        verdicts = judged(every, tool)
    if given.update:
        words = (f"{seed} {'rejected' if bad else 'accepted'}\n" for seed, bad in verdicts.items())
        RECORD.write_text("".join(words))
    found = {one.seed: is_rejected_here(one) for one in every}
    false = [seed for seed, bad in found.items() if bad and not verdicts[seed]]
    missed = [seed for seed, bad in found.items() if not bad and verdicts[seed]]
    print(f"{len(every)} programs, {sum(verdicts.values())} rejected")
    print(f"false errors: {false}; missed: {missed}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
