"""Long runs of instructions."""

from __future__ import annotations

from benchmarks.shapes.making import REGISTERS, body, each, file, kernel, shape


@shape(20_000)
def one_line(n: int) -> str:
    return body(REGISTERS, "add.s32 %r1, %r1, 1; " * n)


@shape(40_000)
def short_instructions(n: int) -> str:
    return body("ret;" * n)


@shape(30_000)
def labels(n: int) -> str:
    return body(each("L#:\n", n))


@shape(20_000)
def used_labels(n: int) -> str:
    return body(each("L#:\nbra L#;\n", n))


@shape(20_000)
def writes_of_one(n: int) -> str:
    return body(REGISTERS, "mov.u32 %r1, 5;\n" * n)


@shape(20_000)
def chain_of_values(n: int) -> str:
    return body(
        REGISTERS,
        f".reg .b32 %i<{n + 1}>;\nmov.u32 %i0, %tid.x;\n",
        each("add.s32 %i$, %i#, 1;\n", n),
    )


@shape(20_000)
def chain_of_addresses(n: int) -> str:
    return body(
        REGISTERS,
        f".reg .b64 %i<{n + 1}>;\ncvta.to.global.u64 %i0, %rd1;\n",
        each("add.s64 %i$, %i#, 4;\nst.global.u32 [%i$], %r1;\n", n),
    )


@shape(20_000)
def predicates(n: int) -> str:
    return body(
        REGISTERS,
        f".reg .pred %q<{n}>;\n",
        each("setp.eq.u32 %q#, %r1, #;\n@%q# add.s32 %r2, %r2, 1;\n", n),
    )


@shape(10_000)
def all_alive(n: int) -> str:
    """Values that are all alive at once."""
    return body(
        REGISTERS,
        f".reg .b32 %i<{n}>;\n",
        each("ld.global.u32 %i#, [%rd1+#];\n", n),
        each("st.global.u32 [%rd1+#], %i#;\n", n),
    )


@shape(10_000)
def tree_of_additions(n: int) -> str:
    return body(
        REGISTERS,
        f".reg .f32 %i<{2 * n}>;\n",
        each("ld.global.f32 %i#, [%rd1+#];\n", n),
        "".join([f"add.f32 %i{n + i}, %i{2 * i}, %i{2 * i + 1};\n" for i in range(n)]),
    )


@shape(20_000)
def stores(n: int) -> str:
    return body(REGISTERS, each("st.global.u32 [%rd1+4*#], %r1;\n", n).replace("4*", ""))


@shape(20_000)
def barriers(n: int) -> str:
    return body(REGISTERS, "bar.sync 0;\n" * n)


@shape(10_000)
def shared_accesses(n: int) -> str:
    return file(
        ".shared .b32 buffer[1024];\n",
        kernel(
            REGISTERS
            + "mov.u64 %rd1, buffer;\n"
            + "ld.shared.u32 %r1, [%rd1];\nst.shared.u32 [%rd1+4], %r1;\n" * n
        ),
    )


@shape(20_000)
def async_copies(n: int) -> str:
    return body(REGISTERS, "cp.async.ca.shared.global [%r1], [%rd1], 16;\n" * n)
