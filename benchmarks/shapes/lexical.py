"""Long names, numbers, comments, strings and blanks, and lines for debuggers."""

from __future__ import annotations

from benchmarks.shapes.making import REGISTERS, body, each, file, kernel, shape


@shape(500_000)
def long_name(n: int) -> str:
    return file(kernel(f".reg .b32 %{'a' * n};\nmov.u32 %{'a' * n}, %{'b' * n};"))


@shape(500_000)
def long_opcode(n: int) -> str:
    return body(f"{'a' * n}.s32 %r1, %r1;")


@shape(500_000)
def long_modifier(n: int) -> str:
    return body(f"add.{'a' * n} %r1, %r1;")


@shape(500_000)
def long_number(n: int) -> str:
    return file(f".global .b64 x = 1{'0' * n};\n")


@shape(500_000)
def long_float(n: int) -> str:
    return file(f".global .f64 x = 1{'0' * n}.5;\n", f".global .f64 y = 1.{'3' * n};\n")


@shape(500_000)
def long_comment(n: int) -> str:
    return body("/*" + " a\n" * (n // 3) + "*/", "// " + "b" * n)


@shape(500_000)
def open_comment(n: int) -> str:
    return body("/*" + " a;\n" * (n // 4))


@shape(4_000)
def open_comments(n: int) -> str:
    return body("/* \n" * n)


@shape(500_000)
def long_string(n: int) -> str:
    return body(f'.pragma "{"a" * n}";')


@shape(4_000)
def open_strings(n: int) -> str:
    return body('.pragma "a;\n' * n)


@shape(20_000)
def comments(n: int) -> str:
    return body("// a comment\n" * n)


@shape(4_000)
def comments_between(n: int) -> str:
    return body(REGISTERS, "add.s32 /* a */ %r1, // b\n %r1, 1;\n" * n)


@shape(20_000)
def comments_in_one(n: int) -> str:
    return body(REGISTERS, "add.s32 %r1,\n" + "// b\n" * n + " %r1, 1;\n")


@shape(500_000)
def spaces(n: int) -> str:
    return body(REGISTERS, f"add.s32 %r1,{' ' * n}%r1, 1;")


@shape(500_000)
def line_ends(n: int) -> str:
    return body(REGISTERS, f"add.s32 %r1,{chr(10) * n}%r1, 1;")


@shape(20_000)
def suppressions(n: int) -> str:
    return body(".reg .b32 %a;\n" + "mov.u32 %a, 1; // ptx-lint: ignore[dead-write]\n" * n)


@shape(20_000)
def preprocessor_lines(n: int) -> str:
    return file("# 1 2 3\n" * n)


@shape(20_000)
def locations(n: int) -> str:
    return file(
        '.file 1 "a.cu"\n', kernel(REGISTERS + each(".loc 1 # 3\nadd.s32 %r1, %r1, 1;\n", n))
    )


@shape(10_000)
def inlined_locations(n: int) -> str:
    lines = each(".loc 1 # 3, function_name $f, inlined_at 1 5 3\nadd.s32 %r1, %r1, 1;\n", n)
    return file(
        '.file 1 "a.cu"\n', kernel(REGISTERS + lines), ".section .debug_str\n{\n$f:\n.b8 97\n}\n"
    )


@shape(20_000)
def debug_data(n: int) -> str:
    return file(".section .debug_info\n{\n" + ".b8 1,2,3,4\n" * n + "}\n")


@shape(10_000)
def debug_labels(n: int) -> str:
    return file(
        kernel(each("$L__tmp#:\n", n)),
        ".section .debug_info\n{\n" + each(".b64 $L__tmp#\n", n) + "}\n",
    )
