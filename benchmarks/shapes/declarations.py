"""Many registers, variables, functions and parameters, and calls."""

from __future__ import annotations

from itertools import repeat

from benchmarks.shapes.making import REGISTERS, body, each, file, kernel, shape


@shape(20_000)
def registers(n: int) -> str:
    return body(each(".reg .b32 %a#;\n", n))


@shape(20_000)
def registers_in_one_line(n: int) -> str:
    return body(f".reg .b32 {', '.join([f'%a{i}' for i in range(n)])};\n")


@shape(20_000)
def registers_used(n: int) -> str:
    return body(each(".reg .b32 %a#;\nmov.u32 %a#, 1;\n", n))


@shape(10_000_000)
def range_of_registers(n: int) -> str:
    return body(f".reg .b32 %i<{n}>;\nmov.u32 %i0, 1;\n")


@shape(20_000)
def same_register(n: int) -> str:
    return body(".reg .b32 %a;\n" * n)


@shape(20_000)
def overlapping_ranges(n: int) -> str:
    return body(each(".reg .b32 %a<$>;\n", n))


@shape(20_000)
def ranges_beside_names(n: int) -> str:
    ranges = [f".reg .b32 %a{i}_<9>;\n" for i in range(n)]
    return body(*ranges, each("L#: mov.b32 %a#_3, L#;\n", n))


@shape(20_000)
def clashing_ranges(n: int) -> str:
    names = [f".reg .b32 %a{n - i};\n" for i in range(n)]
    return body(*names, ".reg .b32 %a<2>;\n" * n)


@shape(20_000)
def variables(n: int) -> str:
    return file(each(".global .b32 x#;\n", n), kernel(""))


@shape(20_000)
def shared_variables(n: int) -> str:
    return body(each(".shared .b32 x#;\n", n))


@shape(20_000)
def same_variable(n: int) -> str:
    return file(".global .b32 x;\n" * n)


@shape(10_000)
def same_kernel(n: int) -> str:
    return file(kernel("") * n)


@shape(10_000)
def same_label(n: int) -> str:
    return body("L:\n" * n)


@shape(50_000)
def initializer(n: int) -> str:
    return file(f".global .b32 x[{n}] = {{{', '.join(repeat('1', n))}}};\n")


@shape(20_000)
def initializer_of_names(n: int) -> str:
    return file(".global .b32 y;\n", f".global .b64 x[{n}] = {{{', '.join(repeat('y', n))}}};\n")


@shape(5_000)
def kernels(n: int) -> str:
    return file(each(".visible .entry k#()\n{\nret;\n}\n", n))


@shape(3_000)
def kernels_with_work(n: int) -> str:
    return file(
        *[
            kernel(REGISTERS + "@%p1 bra A;\nst.global.u32 [%rd1], %r1;\nA:", name=f"k{i}")
            for i in range(n)
        ]
    )


@shape(5_000)
def prototypes(n: int) -> str:
    return file(each(".extern .func (.param .b32 r) f# (.param .b32 a);\n", n))


@shape(5_000)
def repeated_prototype(n: int) -> str:
    return file(".extern .func (.param .b32 r) f (.param .b32 a);\n" * n)


@shape(5_000)
def call_prototypes(n: int) -> str:
    return body(each("P#: .callprototype (.param .b32 _) _ (.param .b32 _);\n", n))


@shape(10_000)
def parameters(n: int) -> str:
    return file(kernel("", ",\n".join([f".param .u32 p{i}" for i in range(n)])))


@shape(10_000)
def parameters_read(n: int) -> str:
    read = each("ld.param.u32 %r1, [p#];\n", n)
    return file(kernel(REGISTERS + read, ",\n".join([f".param .u32 p{i}" for i in range(n)])))


@shape(3_000)
def call_chain(n: int) -> str:
    """Functions that call the next, the last first."""
    functions = [f".func f{i}()\n{{\ncall f{i - 1};\nret;\n}}\n" for i in range(1, n)]
    return file(".func f0()\n{\nret;\n}\n", *functions, kernel(f"call f{n - 1};"))


@shape(3_000)
def recursion(n: int) -> str:
    """Functions that call each other in a circle."""
    functions = [
        f".func f{i}()\n{{\ncall f{(i + 1) % n};\nbar.sync 0;\nret;\n}}\n" for i in range(n)
    ]
    return file(each(".func f#();\n", n), *functions, kernel("call f0;"))


@shape(200)
def call_everything(n: int) -> str:
    calls = each("call f#;\n", n)
    return file(
        each(".func f#();\n", n), *[f".func f{i}()\n{{\n{calls}ret;\n}}\n" for i in range(n)]
    )


@shape(1_000)
def doubling_calls(n: int) -> str:
    """Functions that call the one before twice: 2^n calls in all."""
    functions = [
        f".func f{i}()\n{{\ncall f{i - 1};\ncall f{i - 1};\nret;\n}}\n" for i in range(1, n)
    ]
    return file(".func f0()\n{\nret;\n}\n", *functions, kernel(f"call f{n - 1};"))


@shape(5_000)
def calls(n: int) -> str:
    return file(
        ".func (.reg .b32 r) f (.reg .b32 a)\n{\nmov.u32 r, a;\nret;\n}\n",
        kernel(REGISTERS + "call (%r1), f, (%r1);\n" * n),
    )


@shape(3_000)
def call_sequences(n: int) -> str:
    sequence = (
        "{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], %r1;\n"
        "call (r), f, (a);\nld.param.b32 %r1, [r];\n}\n"
    )
    return file(
        ".extern .func (.param .b32 r) f (.param .b32 a);\n", kernel(REGISTERS + sequence * n)
    )


@shape(10_000)
def arguments(n: int) -> str:
    return file(
        f".extern .func f ({', '.join([f'.param .b32 a{i}' for i in range(n)])});\n",
        kernel(REGISTERS + f"call f, ({', '.join(repeat('%r1', n))});"),
    )


@shape(5_000)
def indirect_calls(n: int) -> str:
    functions = each(".func f#()\n{\nret;\n}\n", n)
    names = ", ".join([f"f{i}" for i in range(n)])
    return file(
        functions, kernel(REGISTERS + f"T: .calltargets {names};\n" + "call %rd1, T;\n" * 3)
    )


@shape(5_000)
def aliases(n: int) -> str:
    return file(".func f()\n{\nret;\n}\n", each(".func g#();\n.alias g#, f;\n", n))
