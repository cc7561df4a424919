"""Rules about blocks of inline assembly: what they report, and the idioms that they leave alone."""

from __future__ import annotations

import pytest

from tests.embedded.reading import findings

_EFFECT = "missing-volatile"
_MEMORY = "missing-memory-clobber"
_EARLY = "missing-early-clobber"


@pytest.mark.parametrize(
    ("statement", "rules"),
    [
        # references
        ('asm("add.u32 %0, %1, 1; // %2" : "=r"(a) : "r"(b));', ["unknown-operand"]),
        ('asm("mov.u32 %0, %[x];" : "=r"(a) : [x] "r"(b));', ["unknown-operand"]),
        ('asm("mov.u32 %0, " REST : "=r"(a) : "r"(b));', []),
        ('asm volatile("" : "+r"(a));', []),
        ('asm volatile("// nothing" :: "r"(a));', []),
        ('asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(a) :: "memory");', []),
        ('asm("mov.u32 %0, 1;" : "=r"(a) : "0"(b));', []),
        ('asm("max.u32 %0, %1, %1;" : "=r"(a) : "r"(b), "r"(c));', ["unused-operand"]),
        ('asm("mov.u32 t, %1;" : "=r"(a) : "n"(7));', ["undeclared-name", "unused-operand"]),
        # accesses
        ('asm("add.u32 %0, %0, 1;" : "+r"(a));', []),
        ('asm volatile("add.u32 %0, %0, 1;" :: "r"(a));', ["written-input"]),
        ('asm("add.u32 %0, %0, 1;" : "=r"(a));', ["uninitialised-output"]),
        ('asm("add.u32 %0, %0, 1;" : "=r"(a) : "0"(b));', []),
        (
            'asm("{.reg .pred p; setp.eq.u32 p, %1, 0; @p mov.u32 %0, 1;}" : "=r"(a) : "r"(b));',
            ["uninitialised-output"],
        ),
        (
            'asm("{.reg .pred p; setp.eq.u32 p, %1, 0; @p mov.u32 %0, 1; @!p mov.u32 %0, 2;}"'
            ' : "=r"(a) : "r"(b));',
            [],
        ),
        # early clobbers
        ('asm("mov.u32 %0, 1; add.u32 %0, %0, %1;" : "=r"(a) : "r"(b));', [_EARLY]),
        ('asm("mov.u32 %0, 1; add.u32 %0, %0, %1;" : "=&r"(a) : "r"(b));', []),
        ('asm("mov.u32 %0, %1; add.u32 %0, %0, %1;" : "=r"(a) : "r"(b));', []),
        ('asm("mov.f32 %0, 0f00000000; cvt.rn.f32.u32 %0, %1;" : "=f"(a) : "r"(b));', []),
        ('asm("add.u32 %0, %1, %2; sub.u32 %0, %0, 1;" : "=r"(a) : "r"(b), "r"(c));', []),
        ('asm("add.u32 %0, %0, 1; add.u32 %0, %0, %1;" : "+r"(a) : "r"(b));', []),
        ('asm("add.u32 %0, %0, 1; add.u32 %0, %0, %1;" : "+r"(a) : "r"(a));', [_EARLY]),
        (
            'asm("{.reg .pred p; setp.eq.u32 p, %1, 0; @p mov.u32 %0, %2; @!p mov.u32 %0, %3;}"'
            ' : "=r"(a) : "r"(b), "r"(c), "r"(d));',
            [],
        ),
        # effects
        ('asm volatile("bar.sync 0;" ::: "memory");', []),
        ('asm("bar.sync 0;");', [_MEMORY]),
        ('asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(a) : "l"(p));', [_MEMORY]),
        ('asm volatile("ld.global.b32 %0, [%1];" : "=r"(a) : "l"(p));', []),
        ('asm("ld.global.b32 %0, [%1];" : "=r"(a) : "l"(p));', [_EFFECT]),
        ('asm("ld.global.b32 %0, [%1];" : "=r"(a) : "l"(p) : "memory");', []),
        ('asm("ld.global.b32 %0, [%1];" : "=r"(a) : "l"(p) CLOBBERS);', []),
        ('asm("ld.global.nc.b32 %0, [%1];" : "=r"(a) : "l"(p));', []),
        ('asm("mov.u32 %0, %%tid.x;" : "=r"(a));', []),
        ('asm("mov.u32 %0, %%clock;" : "=r"(a));', [_EFFECT]),
        ('asm("fence" SUFFIX ".acq_rel.gpu;");', [_MEMORY]),
        ('asm("st.global.b32 [%0], 1;" :: "l"(p));', []),
        ('asm(OPCODE " %0, %1;" : "=r"(a) : "r"(b));', []),
        # names
        ('asm("{ .reg .b32 t; mov.b32 t, %1; mov.b32 %0, t; }" : "=r"(a) : "r"(b));', []),
        ('asm(".reg .b32 t; mov.b32 t, %1; mov.b32 %0, t;" : "=r"(a) : "r"(b));', ["colliding-name"]),
        ('asm(".reg .b32 t%=; mov.b32 t%=, %1; mov.b32 %0, t%=;" : "=r"(a) : "r"(b));', []),
        ('asm(".reg .pred p;");', []),
        # operand lists
        ('asm("add.u32 %0, %1, %2;" : "=r"(a) : "r"(b) "r"(c));', ["missing-comma"]),
        ('asm("mov.u32 %0, %1;" : "=r"(a) : "r"(sizeof(b)));', ["constraint-type"]),
        ('asm("mov.u64 %0, %1;" : "=l"(a) : "l"(sizeof(b)));', []),
    ],
)  # fmt: skip
def test_rules(statement: str, rules: list[str]) -> None:
    found = findings(f"void f() {{ {statement} }}\n", ".cu")
    assert sorted(rule for _, rule, _ in found) == rules


def test_triton_needs_an_output_and_packs_elements() -> None:
    for text in (
        'tl.inline_asm_elementwise("bar.sync 0;", "=r", [], dtype=t, is_pure=False, pack=1)\n',
        'tl.inline_asm_elementwise("cvt.rn.f16x2.f32 $0, $2, $1;", "=r,r,r,r", [x, y], dtype=t,'
        " is_pure=True, pack=2)\n",
    ):
        assert findings(text, ".py") == []


def test_an_argument_in_triton_that_is_not_named() -> None:
    text = (
        'tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r,r", [x, y], dtype=t, is_pure=True, pack=1)\n'
    )
    assert [rule for _, rule, _ in findings(text, ".py")] == ["unused-operand"]


def test_assembly_under_a_condition_on_the_gpu_is_ptx() -> None:
    text = 'void f() { asm volatile("vmovd.wide %0, %1;" : "=r"(a) : "r"(b)); }\n'
    assert findings(text, ".h") == []
    guarded = f"#if __CUDA_ARCH__ >= 800\n{text}#endif\n"
    assert ("error", "unknown-opcode", "vmovd") in findings(guarded, ".h")


def test_names_in_a_scope_that_another_block_opens() -> None:
    text = (
        'void f() { asm("{ .reg .b32 t;"); asm(".reg .b32 u; mov.u32 u, %0; mov.u32 t, u;" :: "r"(a));'
        ' asm("mov.u32 %0, t;" : "=r"(b)); asm("}"); }\n'
    )
    assert findings(text, ".cu") == []
