"""CUDA sources in strings of Python."""

from __future__ import annotations

import pytest

from tests.embedded.reading import (
    block_in,
    check_edits,
    check_places,
    findings,
    operands_of,
    read,
)

KERNEL = r"""
kernel = cupy.RawKernel('''
// asm("commented out;");
extern "C" __global__ void f(unsigned *p) {
    unsigned a;
    asm volatile("{ .reg .b32 t;\\n\\t"
                 "ld.global.u32 %0, [%1]; }" : "=r"(a) : "l"(p + 1) : "memory");
}
''', "f")
"""


def test_a_kernel() -> None:
    block = block_in(KERNEL, ".py")
    assert (block.host, block.language) == ("cuda-in-python", "python")
    assert block.text.data == b"{ .reg .b32 t;\n\tld.global.u32 %0, [%1]; }"
    assert operands_of(block) == [("%0", ".b32", "write", "a"), ("%1", ".b64", "read", "p + 1")]
    assert block.clobbers_memory
    check_places(read(KERNEL, ".py"))


def test_findings_stand_at_their_place_in_the_string() -> None:
    text = KERNEL.replace("ld.global.u32", "ld.globl.u32")
    assert [(rule, place) for _, rule, place in findings(text, ".py")] == [
        ("wrong-modifier", ".globl")
    ]


@pytest.mark.parametrize(
    "text",
    [
        """source = "asm(\\"mov.u32 a, 1;\\\\n\\");"\n""",
        """source = r'asm("mov.u32 a, 1;\\n");'\n""",
        """source = f'''asm("mov.u32 a, 1;" "{{ }}" : "=r"({a}));'''\n""",
    ],
)
def test_what_is_edited_is_read_again(text: str) -> None:
    assert check_edits(text, ".py") > 20


def test_holes_are_no_errors() -> None:
    text = """
source = f'''
asm volatile("{op}.u32 %0, {value};\\\\n"
             "{more}; mov.u32 %0, q;" : "=r"(x));
'''
"""
    assert block_in(text, ".py").text.holes
    assert findings(text, ".py") == []


@pytest.mark.parametrize(
    "text",
    [
        """T = 'asm("{{ mov.{type} %0, 1; }}" : "=r"(x));'\nuse(T.format(type="u32"))\n""",
        """T = 'asm("{ mov.%s %%0, 1; }" : "=r"(x));'\nuse(T % "u32")\n""",
        """use('asm("{{ mov.{type} %0, 1; }}" : "=r"(x));'.format(type=t))\n""",
        """use('asm("{ mov.%s %%0, 1; }" : "=r"(x));' % t)\n""",
    ],
)
def test_templates_are_read_as_they_are_formatted(text: str) -> None:
    assert block_in(text, ".py").text.data.startswith(b"{ mov.")
    assert b" %0, 1; }" in block_in(text, ".py").text.data
    assert findings(text, ".py") == []


def test_a_string_in_parts() -> None:
    text = """use('asm volatile("mov.u32 %0, '\n    + n + ';"' ': "=r"(x));')\n"""
    assert block_in(text, ".py").text.data == b"mov.u32 %0, _hole0;"


@pytest.mark.parametrize(
    "text",
    [
        '''def f():\n    """asm("wrong %0;" : "=r"(x));"""\n''',
        """find('asm volatile("wrong')\n""",
        """find(r'asm volatile \\("wrong"\\)')\n""",
        """print("asm (see below) is not PTX")\n""",
    ],
)
def test_what_is_no_source_has_no_blocks(text: str) -> None:
    assert read(text, ".py").blocks == ()


def test_guards_in_the_source() -> None:
    text = """
source = '''
#if __CUDA_ARCH__ >= 900
asm volatile("fence.proxy.async;" ::: "memory");
#endif
'''
"""
    assert block_in(text, ".py").guard is not None
