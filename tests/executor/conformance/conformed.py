"""Which forms of the instruction table tests/conformance has a line or a kernel for.

    python -m tests.executor.conformance.conformed            prints the forms that have none, and the share
    python -m tests.executor.conformance.conformed --update   renews what docs/coverage.md says of it

A form is one line of the manual's syntax. It counts as executable unless docs/coverage.md says that nothing
of its row is executed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ptx_lsp.executor.launching.instruction_harness import HEADER
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.schema.notation import Form
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.module import Module
from tests.executor.conformance.conformance_kernel import KERNELS
from tests.executor.conformance.record_gpu import kernels
from tests.oracle.instructions.executed import PAGE
from tests.oracle.instructions.judge import sections


class Of(NamedTuple):
    """A form with its row and the section of the table that it stands in."""

    section: str
    entry: Entry
    form: Form


def executable() -> Iterator[Of]:
    """The forms that the executor runs, in the order of the table."""
    for section, rows in sections().items():
        part = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
        refused = set(re.findall(r"(?m)^\| `([^`]+)` .*\| no \|$", part))
        for row in rows:
            if row.name not in refused:
                forms = [form for form in row.forms if all(place.name != _UNKNOWN for place in form.places)]
                yield from (Of(section, row, form) for form in forms)


_UNKNOWN = "value"
"""Nobody says what a copy does with a value in place of its mbarrier, which ptxas takes."""


@cache
def conformed() -> frozenset[int]:
    """The identities of the forms that lines and kernels execute."""
    blocks = [_instruction(group[0].spelling, kernel.text) for group, kernel in kernels()]
    text = "\n".join([HEADER, ".entry k()", "{", *blocks, "}", ""])
    found = {id(form) for _, form in forms(text)}
    for path in sorted(KERNELS.glob("*.ptx")):
        found.update(id(form) for _, form in forms(path.read_text(encoding="utf-8")))
    return frozenset(found)


def _instruction(spelling: str, text: str) -> str:
    """A block with the one instruction that the kernel of a line is about."""
    kept = [one for one in text.splitlines() if one.startswith((".reg ", f"{spelling} "))]
    return "\n".join(["{", *kept, "}"])


def forms(text: str) -> Iterator[tuple[str, Form]]:
    """The spelling and the form of each instruction in a PTX text."""
    module = Module.parse(text)
    for function in module.functions:
        for node in function.body.instructions:
            match = resolve(node.opcode.text).match(arguments(function, node))
            if match is not None:
                yield node.opcode.text, match.candidate.form


def share() -> tuple[int, int]:
    """How many executable forms have a line or a kernel, and how many there are."""
    every = list(executable())
    return sum(id(one.form) in conformed() for one in every), len(every)


def sentence() -> str:
    """The share, as docs/coverage.md tells it."""
    done, every = share()
    return (
        f"tests/conformance has lines or kernels for {done} of {every} forms that the executor runs"
        f" ({100 * done / every:.1f} %)."
    )


def renewed(page: str) -> str:
    """The page of coverage with that sentence, behind the one on what the executor runs."""
    page = re.sub(r"(?m)^tests/conformance has .*\n+", "", page)
    return re.sub(r"(?m)^(The executor runs .*\n\n)", lambda head: f"{head[1]}{sentence()}\n\n", page)


def main(arguments: list[str]) -> int:
    if arguments == ["--update"]:
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    for one in executable():
        if id(one.form) not in conformed():
            print(f"{one.section}: {one.form.text}")
    print(sentence())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
