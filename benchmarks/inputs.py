"""Large PTX files that ptxas accepts, made of the kernels of real compilers."""

from __future__ import annotations

import re
from itertools import count, cycle
from pathlib import Path

from ptx_lsp.isa.target import Target
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module

CORPUS = Path(__file__).parents[1] / "tests" / "oracle" / "corpus"
HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
_TARGET = Target(90)


def of_lines(lines: int) -> bytes:
    """A file of about `lines` lines for sm_90: the kernels of the corpus, over and over, each with a name
    of its own.
    """
    parts = [HEADER]
    size = parts[0].count("\n")
    for (name, text), number in zip(cycle(kernels()), count()):
        part = re.sub(rf"(\.entry\s+){re.escape(name)}\b", rf"\g<1>{name}_{number}", text, count=1)
        parts.append(part)
        size += part.count("\n")
        if size >= lines:
            return "".join(parts).encode()
    raise AssertionError


def kernels() -> list[tuple[str, str]]:
    """Name and text of the kernels that need nothing of their module, and are legal on sm_90."""
    found: list[tuple[str, str]] = []
    for path in sorted(CORPUS.glob("*.ptx")):
        module = Module.parse(path.read_text())
        target = module.target
        if target is None or target > _TARGET or len(module.target_names) > 1:
            continue
        for function in module.functions:
            if not function.is_kernel or function.node.body is None or function.linked:
                continue
            item = function.item
            text = module.document.source.text[item.start : item.end]
            text = re.sub(r"^\s*\.loc\b.*\n", "", text, flags=re.MULTILINE)
            alone = LintSession(Module.parse(HEADER + text)).diagnostics
            if not any(one.severity == "error" for one in alone):
                found.append((function.name, text + "\n"))
    return found
