"""Braces, parentheses and operators in each other."""

from __future__ import annotations

from benchmarks.shapes.making import REGISTERS, body, each, file, shape


@shape(8_000)
def unclosed_braces(n: int) -> str:
    return body("{\n" * n)


@shape(8_000)
def unclosed_kernels(n: int) -> str:
    return file(each(".visible .entry k#(.param .u64 p)\n{\nadd.s32 %r1, %r1, 1;\n", n))


@shape(8_000)
def stray_braces(n: int) -> str:
    return body("}\n" * n)


@shape(8_000)
def nested_blocks(n: int) -> str:
    return body(REGISTERS, "{\n.reg .b32 %a;\nmov.u32 %a, %r1;\n" * n, "}\n" * n)


@shape(20_000)
def sibling_blocks(n: int) -> str:
    return body(
        REGISTERS, "{\n.reg .b32 %a;\nmov.u32 %a, %r1;\nst.global.u32 [%rd1], %a;\n}\n" * n
    )


@shape(4_000)
def guarded_blocks(n: int) -> str:
    return body(REGISTERS, "@%p1 {\nadd.s32 %r1, %r1, 1;\n" * n, "}\n" * n)


@shape(3_000)
def nested_parentheses(n: int) -> str:
    return file(f".global .b32 x = {'(' * n}1{')' * n};\n")


@shape(3_000)
def unclosed_parentheses(n: int) -> str:
    return file(f".global .b32 x = {'(' * n}1;\n")


@shape(3_000)
def nested_vectors(n: int) -> str:
    return body(REGISTERS, f"mov.b64 %rd1, {'{' * n}%r1{'}' * n};")


@shape(3_000)
def nested_addresses(n: int) -> str:
    return body(REGISTERS, f"ld.global.u32 %r1, {'[' * n}%rd1{']' * n};")


@shape(3_000)
def nested_initializers(n: int) -> str:
    return file(f".global .b32 x[1] = {'{' * n}1{'}' * n};\n")


@shape(3_000)
def nested_dimensions(n: int) -> str:
    return file(f".global .b32 x{'[2]' * n};\n")


@shape(3_000)
def unary_operators(n: int) -> str:
    return file(f".global .b32 x = {'-~' * n}1;\n")


@shape(3_000)
def conditional_operators(n: int) -> str:
    return file(f".global .b32 x = {'1 ? 2 : ' * n}1;\n")


@shape(3_000)
def casts(n: int) -> str:
    return file(f".global .b32 x = {'(.s64)' * n}1;\n")


@shape(20_000)
def terms(n: int) -> str:
    return file(f".global .b32 x = 1{' + 1' * n};\n")


@shape(20_000)
def terms_of_precedence(n: int) -> str:
    return file(f".global .b32 x = 1{' + 2 * 3 - 1 << 0' * n};\n")


@shape(3_000)
def nested_aggregates(n: int) -> str:
    return file(".struct a {\n" * n + ".u32 x;\n" + "};\n" * n)
