"""Statements with many parts."""

from __future__ import annotations

from itertools import repeat

from benchmarks.shapes.making import REGISTERS, body, each, file, kernel, shape


@shape(2_000, tested=150)
def modifiers(n: int) -> str:
    return body(REGISTERS, f"add{'.s32' * n} %r1, %r1, 1;")


@shape(2_000, tested=150)
def distinct_modifiers(n: int) -> str:
    return body(REGISTERS, f"add{each('.m#', n)} %r1, %r1, 1;")


@shape(2_000)
def components(n: int) -> str:
    return body(REGISTERS, f"add.s32 %r1{'.x' * n}, %r1, 1;")


@shape(10_000)
def operands(n: int) -> str:
    return body(REGISTERS, f"add.s32 %r1{', %r1' * n};")


@shape(10_000)
def vector(n: int) -> str:
    return body(REGISTERS, f"mov.b64 {{%r1{', %r1' * n}}}, %rd1;")


@shape(10_000)
def missing_operands(n: int) -> str:
    return body(REGISTERS, f"add.s32 {',' * n};")


@shape(10_000)
def linkages(n: int) -> str:
    return file(".visible " * n + ".global .b32 x;\n")


@shape(10_000)
def specifiers(n: int) -> str:
    return file(".global" + " .align 4" * n + " .b32 x;\n")


@shape(10_000)
def attributes(n: int) -> str:
    return file(f".global .attribute({', '.join(repeat('.managed', n))}) .b32 x;\n")


@shape(10_000)
def function_directives(n: int) -> str:
    return file(".visible .entry k()" + " .maxntid 32" * n + "\n{\nret;\n}\n")


@shape(10_000)
def pragmas(n: int) -> str:
    return body('.pragma "nounroll";\n' * n)


@shape(10_000)
def unknown_pragmas(n: int) -> str:
    return body(each('.pragma "abc#";\n', n))


@shape(10_000)
def targets(n: int) -> str:
    return f".version 9.0\n.target {', '.join(repeat('sm_90', n))}\n.address_size 64\n" + kernel(
        ""
    )


@shape(5_000)
def versions(n: int) -> str:
    return (".version 9.0\n.target sm_90\n" * n) + kernel("")
