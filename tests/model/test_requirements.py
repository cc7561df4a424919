"""The least version and target of a file, and what demands them; ptxas agrees."""

from __future__ import annotations

import re

import pytest

from ptx_lsp import ptxas
from ptx_lsp.isa.features import ATTRIBUTES, FEATURES, TYPES
from ptx_lsp.isa.pragmas import ALWAYS, PRAGMAS
from ptx_lsp.isa.target import TARGETS, VERSIONS, Target, Version, effective, parse_target
from ptx_lsp.model.directives.requirements import Requirements, requirements
from ptx_lsp.model.module import Module
from tests.oracle import corpus

HEADER = ".version 8.5\n.target sm_90\n.address_size 64\n"


def _of(text: str) -> Requirements:
    return requirements(Module.parse(text))


def _kernel(body: str) -> Requirements:
    return _of(f"{HEADER}.entry kernel() {{ .reg .b32 %r<9>; .reg .b64 %d<9>; {body} ret; }}")


class TestLeast:
    def test_nothing_is_demanded(self) -> None:
        found = _of(".version 8.5\n.target sm_90\n.entry kernel() { ret; }")
        assert found.demands == ()
        assert found.targets == (Target(10),)
        assert (found.version(Target(10)), found.version(Target(90))) == ((1, 0), (7, 8))

    def test_plain_target(self) -> None:
        found = _kernel("mov.u32 %r1, %laneid; cp.async.wait_all;")
        assert found.targets == (Target(80),)
        assert found.version(Target(80)) == (7, 0)
        assert found.version(Target(75)) is None
        assert [d.what for d in found.demands] == [".address_size", "%laneid", "cp.async.wait_all"]
        assert [d.what for d in found.deciding_target] == ["cp.async.wait_all"]
        assert [d.what for d in found.deciding_version(Target(80))] == ["cp.async.wait_all"]
        assert found.deciding_version(Target(90)) == ()  # sm_90 itself needs 7.8

    def test_what_a_target_lacks(self) -> None:
        found = _kernel("mov.u32 %r1, %clusterid.x; cp.async.wait_all;")
        assert [d.what for d in found.deciding_version(Target(80))] == ["%clusterid"]
        assert [d.what for d in found.deciding_target] == ["%clusterid"]

    def test_suffixed_targets(self) -> None:
        found = _kernel("wgmma.fence.sync.aligned;")
        assert found.targets == (Target(90, "a"),)
        assert found.version(Target(90, "a")) == (8, 0)
        assert [d.what for d in found.deciding_target] == ["wgmma.fence.sync.aligned"]

    def test_demands_that_exclude_each_other(self) -> None:
        fabric = "wgmma.fence.sync.aligned; tcgen05.wait::ld.sync.aligned;"
        found = _kernel(fabric)
        assert found.targets == ()
        assert [d.what for d in found.deciding_target] == [
            "wgmma.fence.sync.aligned", "tcgen05.wait::ld.sync.aligned",
        ]

    def test_a_higher_target_narrows_what_is_possible(self) -> None:
        later = next(t for t in TARGETS if t == Target(103, "a"))
        found = _kernel("tcgen05.wait::ld.sync.aligned;")
        assert found.version(later) == (8, 8)  # the target's own
        assert found.version(Target(100, "a")) == (8, 6)
        assert Target(90, "a") not in found.targets
        assert Target(100, "a") in found.targets


EXAMPLES = {
    "kernel prototype": ".entry later();",
    "`.param` variable in a body": ".func f() { .param .b32 x; ret; }",
    "kernel in an initial value": ".entry k() { ret; } .global .u64 y[2] = {0, k};",
    "local_maxnreg": '.entry k() { .pragma "local_maxnreg 32"; ret; }',
    "kernel parameter": ".entry f(.param .u32 x) { ret; }",
    "parameter in memory": ".func f(.param .u32 x) { ret; }",
    "unsized parameter": ".func f(.param .b8 x[]);",
    "address in an initial value": ".global .u32 x; .global .u32 y = x;",
    "function in an initial value": ".func f() { ret; } .global .u32 y[2] = {0, f};",
    "generic()": ".global .u32 x; .global .u32 y = generic(x)+4;",
    "mask of an address": ".global .u32 x; .global .u8 y = 0xFF(x);",
    "pointer to an opaque type": ".entry k(.param .u64 .ptr .texref x) { ret; }",
    "time of a file": '.file 1 "a.cu", 5, 6',
    "inlined_at": '.file 1 "a.cu"\n.section .debug_str { name: }\n.entry k() {\n.loc 1 4 5\nexit;\n'
    ".loc 1 2 3, function_name name, inlined_at 1 4 5\nret; }",
    "label in a section": ".section .debug_info { here: .b8 0 }",
    "label and offset in a section": ".section .debug_info { .b8 0, 1 .b32 .debug_str+4 }",
    "distance of labels in a section": ".entry k() { a: ret; b: ret; }\n"
    ".section .debug_info { .b32 b-a }",
    "negative number in a section": ".section .debug_info { .b8 1, -1 }",
    ".f16x2": ".entry k() { .reg .f16x2 x; ret; }",
    ".b128": ".entry k() { .reg .b128 x; ret; }",
    ".texref": ".global .texref x;",
    ".samplerref": ".entry k(.param .u64 .ptr.global x) { ret; }\n.global .samplerref s;",
    ".surfref": ".global .surfref x;",
    ".managed": ".global .attribute(.managed) .u32 x;",
    ".unified": ".global .attribute(.unified(1, 2)) .u32 x;",
    "used_bytes_mask": '.entry k(.param .b32 p) { .reg .b32 r; .pragma "used_bytes_mask 1";\n'
    "ld.param.b32 r, [p]; ret; }",
    "enable_smem_spilling": '.entry k() { .pragma "enable_smem_spilling"; ret; }',
    "mma_throughput": '.entry k() { .pragma "mma_throughput"; ret; }',
    "frequency": '.entry k() { .pragma "frequency 3"; ret; }',
}
"""One for everything in isa/features.py."""


WORDS = {name: word.since for name, word in PRAGMAS.items() if word.since != ALWAYS}


def test_signs_in_a_section() -> None:
    """Each sign between words, and each before a number that begins an item, is a demand; others are not."""
    text = (
        ".section .debug_info {\n.b32 .debug_str+4\n.b32 b - a\n.b8 1 , -1, 2\n.b16 -2\n"
        "// c-d\n.b8 7 /* e+f */\n.b64 .debug_loc +\n64\n}"
    )
    module = Module.parse(text)
    demands = [one for one in requirements(module).demands if one.what.endswith(" in a section")]
    found = [text[slice(*module.span(one.place))] for one in demands]
    assert found == [".debug_str+4", "b - a", ", -1", ".b16 -2", ".debug_loc +\n64"]


@pytest.mark.parametrize("what", [*FEATURES, *TYPES, *ATTRIBUTES, *WORDS])
def test_feature(what: str) -> None:
    since = {**FEATURES, **TYPES, **ATTRIBUTES, **WORDS}[what]
    option = ", texmode_independent" if what == ".samplerref" else ""
    text = f".version 9.5\n.target sm_120{option}\n{EXAMPLES[what]}\n"
    found = _of(text)
    assert [demand.ways for demand in found.demands if demand.what == what] == [(since,)]
    if what != ".unified":  # ptxas wants an option of its own for it
        _agrees_with_ptxas(text, found)


@pytest.mark.parametrize(
    "name",
    [
        "clang_wmma.sm_90.O2.ptx",
        "cub_cub_block.sm90.ptx",
        "llvm_bf16-instructions.2.ptx",
        "llvm_surf-write-cuda.2.ptx",
        "numba_dev.sm80.dbg.ptx",
        "nvcc130_bitonic.sm90.G.ptx",
        "nvcc135_wmma.sm100a.ptx",
        "tinygrad_mm_f32_0.sm_89.ptx",
        "triton_matmul_f16_64x64x32.sm80.ptx",
    ],
)
def test_compiler_output(name: str) -> None:
    text = (corpus.FOLDER / name).read_text()
    found = _of(text)
    _agrees_with_ptxas(text, found)


def _agrees_with_ptxas(text: str, found: Requirements) -> None:
    """At the least version and target the file is accepted, and at one version or target below it is not."""
    if ptxas.find() is None:
        pytest.skip("no ptxas here to compare with")
    own = _target(text)
    for target in {own, *found.targets[:1]}:
        version = found.version(target)
        assert version is not None
        assert _accepted(text, version, target)
        below = [v for v in VERSIONS if effective(v) < effective(version)]
        if below:
            assert not _accepted(text, below[-1], target)
    least = found.targets[0]
    lower = [target for target in TARGETS if not target.suffix and target < least]
    version = found.version(least)
    assert version is not None
    if lower:
        assert not _accepted(text, version, lower[-1])


def _target(text: str) -> Target:
    match = re.search(r"^\.target\s+(\w+)", text, re.MULTILINE)
    target = parse_target(match[1]) if match is not None else None
    assert target is not None
    return target


def _accepted(text: str, version: Version, target: Target) -> bool:
    tool = ptxas.find()
    assert tool is not None
    text = re.sub(r"^\.version\s+\S+", f".version {version}", text, count=1, flags=re.MULTILINE)
    text = re.sub(r"^(\.target\s+)\w+", rf"\g<1>{target}", text, count=1, flags=re.MULTILINE)
    arch = corpus.judging_architecture(text)
    return ptxas.judge(text.encode(), ptxas=tool, arch=arch).accepted
