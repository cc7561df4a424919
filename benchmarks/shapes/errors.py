"""Texts with an error in each line."""

from __future__ import annotations

from benchmarks.shapes.making import REGISTERS, body, each, file, kernel, shape


@shape(5_000)
def unknown_opcodes(n: int) -> str:
    return body("foo.s32 %r1, 2;\n" * n)


@shape(3_000, tested=100)
def distinct_unknown_opcodes(n: int) -> str:
    return body(each("foo#.s32 %r1, 2;\n", n))


@shape(5_000)
def undeclared_names(n: int) -> str:
    return body(each("mov.u32 %x#, 1;\n", n))


@shape(2_000)
def near_names(n: int) -> str:
    """Undeclared names, and as many declared ones that are like them."""
    return body(each(".reg .b32 value#;\n", n), each("mov.u32 valeu#, 1;\n", n))


@shape(5_000)
def undeclared_name(n: int) -> str:
    return body("mov.u32 %x, 1;\n" * n)


@shape(5_000)
def undefined_labels(n: int) -> str:
    return body(each("bra L#;\n", n))


@shape(5_000)
def wrong_operands(n: int) -> str:
    return body(REGISTERS, "add.s32 %rd1, %p1, 1;\n" * n)


@shape(5_000)
def wrong_modifiers(n: int) -> str:
    return body(REGISTERS, "add.foo.s32 %r1, %r1, 1;\n" * n)


@shape(10_000)
def junk_lines(n: int) -> str:
    return body(")]) +\n" * n)


@shape(100_000)
def junk(n: int) -> str:
    return body(")" * n)


@shape(100_000)
def semicolons(n: int) -> str:
    return body(";" * n)


@shape(100_000)
def at_signs(n: int) -> str:
    return body("@" * n)


@shape(50_000)
def dots(n: int) -> str:
    return body(". " * n)


@shape(50_000)
def quotes(n: int) -> str:
    return body('"' * n)


@shape(50_000)
def words(n: int) -> str:
    return body("word " * n)


@shape(20_000)
def lines_of_words(n: int) -> str:
    return "The quick brown fox\n" * n


@shape(10_000)
def missing_semicolons(n: int) -> str:
    return body(REGISTERS, "add.s32 %r1, %r1, 1\n" * n)


@shape(10_000)
def missing_commas(n: int) -> str:
    return body("add.s32 %r1 %r1, 1;\n" * n)


@shape(5_000)
def calls_without_commas(n: int) -> str:
    return file(".func f (.param .b32 a);\n", kernel("call f (1 2);\n" * n))


@shape(5_000, tested=500)
def wrong_calls(n: int) -> str:
    """Calls of as many functions, each without its argument."""
    return file(each(".extern .func f# (.param .b32 a);\n", n), kernel(each("call f#;\n", n)))


@shape(5_000, tested=150)
def wrong_calls_beside_errors(n: int) -> str:
    """Indirect calls without the argument, in a function with as many syntax errors."""
    wrong = "call %rd1, P;\nadd.s32 %r1 %r1, 1;\n" * n
    return body(REGISTERS, "P: .callprototype _ (.param .b32 _);\n", wrong)


@shape(50_000)
def null_bytes(n: int) -> str:
    return body("\0" * n)


@shape(10_000)
def unicode(n: int) -> str:
    return body("// \u00e4\U0001f600\n.reg .b32 \u00e4;\n" * n)


@shape(10_000)
def unread_writes(n: int) -> str:
    return body(f".reg .b32 %i<{n}>;\n", each("mov.u32 %i#, 1;\n", n))


@shape(10_000)
def unwritten_reads(n: int) -> str:
    return body(REGISTERS, f".reg .b32 %i<{n}>;\n", each("st.global.u32 [%rd1], %i#;\n", n))
