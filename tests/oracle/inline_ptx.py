"""Compares the findings about inline PTX with ptxas: `python -m tests.oracle.inline_ptx FOLDER...`.

Every block in the sources of the folders, which should be repositories that shaped nothing, becomes a PTX
file, and ptxas judges it for each target that the linter considers, up to the first that takes it. Printed
are the blocks of each kind of host, the false errors, and the blocks without an error that ptxas takes for no
target. Blocks with unknown parts have no verdict. `--blocks FILE` also writes the place of every block as
JSON lines.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ptx_lsp import ptxas
from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import language_of
from ptx_lsp.embedded.virtual_module import virtual_module
from ptx_lsp.isa.target import LATEST, Target
from ptx_lsp.lint.configuration.selection import chosen
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.inline.block_linter import BlockLinter
from ptx_lsp.lint.inline.foreign import is_foreign
from ptx_lsp.text import Source


class Found(NamedTuple):
    """A block, where it stands (the line from 1), and the errors about it."""

    path: Path
    line: int
    block: Block
    targets: tuple[Target, ...]
    errors: tuple[Diagnostic, ...]

    @property
    def is_whole(self) -> bool:
        """Whether ptxas can judge it: nothing in it is unknown, or stands in other blocks."""
        block = self.block
        are_known = all(one.type is not None or one.value is not None for one in block.operands)
        is_alone = not (block.shares_braces or block.outer_names)
        if b"_optix_" in block.text.data:  # what only the compiler of OptiX knows
            return False
        return block.operands_known and are_known and is_alone and not block.text.holes


class Verdict(NamedTuple):
    """The first target for which ptxas takes a block, or else what it says for one of them."""

    target: Target | None
    message: str


def blocks(folders: list[Path], linter: BlockLinter) -> Iterator[Found]:
    """The blocks of PTX in all sources below the folders."""
    for path in sorted(one for folder in folders for one in folder.rglob("*")):
        language = language_of(str(path))
        if language is None or not path.is_file():
            continue
        document = HostDocument(Source(path.read_bytes()), language)
        for block in document.blocks:
            if is_foreign(block):
                continue
            line = document.source.line_of(block.start + block.keyword.start) + 1
            found = linter.verdict(block, document.source.data[block.start : block.span.end])
            errors = tuple(one for one in found if one.severity == "error")
            yield Found(path, line, block, linter.targets(block)[0], errors)


def judged(tool: Path, one: Found) -> Verdict | None:
    """The verdict of ptxas; None for what it cannot judge."""
    if not one.is_whole:
        return None
    message = ""
    targets = [target for target in one.targets if str(target) in ptxas.architectures(tool)]
    if not targets:
        return None
    for target in targets:
        text = virtual_module(one.block, str(LATEST), str(target)).data
        report = ptxas.judge(text, ptxas=tool, arch=str(target), optimise="-O0")
        if report.accepted:
            return Verdict(target, "")
        message = message or next((each.text for each in report.messages if each.line), "")
    return Verdict(None, message)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--blocks", type=Path, help="where to write the places of the blocks")
    options = parser.parse_args(arguments)
    tool = ptxas.find()
    if tool is None:
        print("ptxas was not found", file=sys.stderr)
        return 2
    found = list(blocks(options.folders, BlockLinter(chosen(()))))
    if options.blocks is not None:
        places = ({"path": str(one.path), "line": one.line, "host": one.block.host} for one in found)
        options.blocks.write_text("".join(f"{json.dumps(place)}\n" for place in places))
    with ThreadPoolExecutor() as pool:
        verdicts = list(pool.map(partial(judged, tool), found))
    counts = Counter[str]()
    for one, verdict in zip(found, verdicts, strict=True):
        if verdict is None:
            counts["unknown"] += 1
            continue
        kind = f"{'accepted' if verdict.target else 'rejected'}{' with an error' if one.errors else ''}"
        counts[kind] += 1
        if bool(verdict.target) == bool(one.errors):
            told = one.errors[0].message if one.errors else f"ptxas: {verdict.message}"
            print(f"{one.path}:{one.line}: {kind}: {told}")
    by_host = Counter(one.block.host for one in found)
    print(f"{len(found)} blocks:", ", ".join(f"{host} {count}" for host, count in by_host.most_common()))
    print(", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())))
    return 1 if counts["accepted with an error"] or counts["rejected"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
