"""Each rule's own documentation is true: its example fires it, and what to use instead is silent."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ptx_lsp import ptxas
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import language_of
from ptx_lsp.lint.configuration.rule_index import entry_of, rule_index
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.configuration.suppression import suppressed
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.inline.block_linter import BlockLinter
from ptx_lsp.lint.registry import all_rules, rules_of
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.module import Module
from ptx_lsp.text import Source

_KINDS = "EWPS"
SECTIONS = ("What it does", "Why it matters", "Example", "Use instead", "Fix safety")


def _code(rule: Rule, section: str) -> str:
    language = "ptx" if rule.on_block is None else "cuda"
    match = re.search(rf"## {section}\n```{language}\n(.*?)```", rule.documentation, re.DOTALL)
    assert match is not None, f"{rule.name} has no code under {section!r}"
    return match[1]


def _fired(rule: Rule, text: str) -> set[str]:
    """The rules that fire, but those of a milder kind: what shows an error may be an unfinished program."""
    worst = _KINDS.index(rule.code[0])
    return {d.rule for d in _diagnostics(rule, text) if _KINDS.index(d.code[0]) <= worst}


def _diagnostics(rule: Rule, text: str) -> list[Diagnostic]:
    """The findings in an example: a PTX file, or for a rule about blocks a CUDA file."""
    if rule.on_block is not None:
        language = language_of("example.cu")
        assert language is not None
        source = Source.of(text)
        everything = Rules(frozenset(one.name for one in all_rules()))
        return BlockLinter(everything).diagnostics(HostDocument(source, language))
    module = Module.parse(text)
    names = {rule.name for rule in all_rules()}
    return suppressed(LintSession(module, all_rules()).diagnostics, module.document.source, names)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
class TestDocumentation:
    def test_has_every_section(self, rule: Rule) -> None:
        assert re.findall(r"^## (.*)$", rule.documentation, re.MULTILINE) == list(SECTIONS)
        assert rule.summary.endswith(".")

    def test_example_fires_this_rule_alone(self, rule: Rule) -> None:
        assert _fired(rule, _code(rule, "Example")) == {rule.name}

    def test_use_instead_is_silent(self, rule: Rule) -> None:
        assert _fired(rule, _code(rule, "Use instead")) == set()

    @pytest.mark.parametrize("line_end", ["\n", "\r\n"])
    def test_fix_gives_use_instead(self, rule: Rule, line_end: str) -> None:
        text = _code(rule, "Example").replace("\n", line_end)
        source = Source.of(text)
        fixes = [d.fix for d in _diagnostics(rule, text) if d.fix is not None and d.rule == rule.name]
        for edit in sorted((e for fix in fixes for e in fix.edits), reverse=True):
            source = source.edited(edit)
        if fixes:
            assert source.data.decode() == _code(rule, "Use instead").replace("\n", line_end)

    def test_ptxas_agrees(self, rule: Rule) -> None:
        """An E1xx example is rejected and a W2xx one accepted; what to use instead always is."""
        path = ptxas.find()
        if path is None:
            pytest.skip("no ptxas here; tests/oracle replays its recorded verdicts")
        if rule.on_block is not None:
            _nvcc_agrees(rule, path)
            return
        if rule.name in REJECTED_BY_TOOLCHAIN:
            return
        arch = "sm_90" if rule.name in FOUND_BY_CODEGEN else "compute_90"
        assert _is_accepted(_code(rule, "Example"), path, arch) == (rule.code[0] != "E")
        assert _is_accepted(_code(rule, "Use instead"), path, "compute_90")


def _nvcc_agrees(rule: Rule, ptxas: Path) -> None:
    """The same for a rule about inline assembly, by nvcc."""
    nvcc = ptxas.with_name("nvcc")
    if not nvcc.exists() or shutil.which("gcc") is None:
        pytest.skip("no nvcc with a host compiler here")
    assert _compiles(_code(rule, "Example"), nvcc) == (rule.code[0] != "E")
    assert _compiles(_code(rule, "Use instead"), nvcc)


def _compiles(text: str, nvcc: Path) -> bool:
    """Whether nvcc makes machine code of CUDA source."""
    with TemporaryDirectory() as folder:
        source = Path(folder, "example.cu")
        source.write_text(text, encoding="utf-8")
        command = [nvcc, "-arch=sm_90", "-cubin", "-rdc=true", "-o", source.with_suffix(".cubin"), source]
        return subprocess.run(command, capture_output=True, check=False, cwd=folder).returncode == 0


def _is_accepted(text: str, path: Path, arch: str) -> bool:
    own = next((one for one in ("90a", "100a") if f".target sm_{one}" in text), "90")
    return ptxas.judge(text.encode(), ptxas=path, arch=arch.replace("90", own)).accepted


FOUND_BY_CODEGEN = frozenset(
    {
        "load-before-call", "memory-limit", "mixed-cta-group", "narrow-pointer", "setmaxnreg-count",
        "undefined-function", "unknown-pragma",
    }
)
"""Rules whose example ptxas rejects only when it makes code."""
REJECTED_BY_TOOLCHAIN: frozenset[str] = frozenset()
"""Rules whose example ptxas 13 cannot be asked about, each with the reason beside it."""


def test_names_and_codes_are_unique() -> None:
    rules = all_rules()
    assert len({rule.name for rule in rules}) == len(rules)
    assert len({rule.code for rule in rules}) == len(rules)


def test_the_index_has_every_rule_under_the_name_of_its_file() -> None:
    assert rule_index() == tuple(map(entry_of, all_rules()))
    for entry in rule_index():
        assert [one.name for one in rules_of([entry.module])] == [entry.name]
