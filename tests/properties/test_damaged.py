"""Kernels with many mistakes at once: no rule and no analysis may fail on them.

A rule that raises is logged and fails the test (tests/conftest.py).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from benchmarks.analyses import ANALYSES
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.module import Module
from tests.oracle import corpus
from tests.strength import seeds

TEXTS = [text for path in corpus.files() if len(text := path.read_text()) < 20_000]
MARKS = "[]{}%.,_@!|;:"

Damage = Callable[[random.Random, str], str]

DAMAGES: tuple[Damage, ...] = (
    lambda _, line: re.sub(r",\s*[^,;]*;", ";", line),
    lambda _, line: re.sub(r"^(\s*(?:@!?%\w+ )?\S+)\s.*;", r"\1;", line),
    lambda _, line: re.sub(r"^(\s*(?:@!?%\w+ )?\w+)\S*", r"\1", line),
    lambda _, line: line.replace("%r", "%rd", 1),
    lambda _, line: "",
    lambda _, line: line + line,
    lambda chance, line: re.sub(r"\d+", chance.choice(("0", "-1", "7", str(1 << 64))), line, count=1),
    lambda chance, line: line + chance.choice(MARKS),
    lambda chance, line: chance.choice(MARKS) + line,
)


@pytest.mark.parametrize("seed", seeds(15, 60))
def test_no_rule_or_analysis_fails(seed: int) -> None:
    chance = random.Random(seed)
    lines = chance.choice(TEXTS).split("\n")
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(lines))
        lines[at] = chance.choice(DAMAGES)(chance, lines[at])
    check("\n".join(lines))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("text", range(len(TEXTS)))
def test_the_same_damage_everywhere(text: int, damage: Damage) -> None:
    chance = random.Random(text)
    head, brace, rest = TEXTS[text].partition("{")
    check(head + brace + "\n".join(damage(chance, line) for line in rest.split("\n")))


def check(text: str) -> None:
    module = Module.parse(text)
    assert all(d.message for d in LintSession(module, rules=all_rules()).diagnostics)
    for function in module.functions:
        for analysis in ANALYSES.values():
            analysis(function)
