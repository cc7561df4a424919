"""Kernels for multimem addresses, each of which stands for one place in the memory of each of three GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.oracle.asynchronous.kernel import File, Kernel, bytes_of, words_of

_GPUS = 3
_DONE = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
_TOP, _ALL = 1 << 31, (1 << 32) - 1


def files() -> Iterator[File]:
    yield File(
        "async_multimem", "multimem addresses: loads that reduce, stores, reductions", "9.3", "sm_100a",
        [_integers(), _wide(), _floats(), _precise(), _stores(), _reduced(), _vectors(), *_small()],
    )
    yield File(
        "async_multimem_bulk", "multimem addresses: asynchronous stores, reductions and copies", "9.3",
        "sm_100a", [_later(), *_copies(), *_reductions()],
    )


def _kernel(
    name: str, body: str, why: str, rows: Sequence[Sequence[int]], left: Sequence[Sequence[int]] = (),
    told: Sequence[int] = (), before: Sequence[int] = (),
) -> Kernel:
    """`rows` are the words of each GPU behind the address `%many`, `left` what stands there afterwards;
    `told` is what the kernel puts into `box`.
    """
    words = ",".join(hex(word) for row in rows for word in row)
    return Kernel(
        name, body, why, before or [9] * len(told), [list(told)] if told else [],
        given={"many": f"multimem(u32:[{words}],gpus={_GPUS})"},
        left={"many": [word for row in left or rows for word in row]},
        unrecorded="a multimem address needs several GPUs",
    )


def _loaded(
    cases: Sequence[tuple[str, Sequence[int], int]], size: int
) -> tuple[str, list[list[int]], list[int]]:
    """Loads of `size` bytes one behind the other: instructions, the words of each GPU, and what is told. A
    case has the opcode, what stands in each GPU, and the result.
    """
    lines: list[str] = []
    rows = [bytearray() for _ in range(_GPUS)]
    told = bytearray()
    register, type = {4: ("%r1", "b32"), 8: ("%l1", "b64")}[size]
    for at, (opcode, values, result) in enumerate(cases):
        lines.append(f"multimem.ld_reduce{opcode} {register}, [%many+{size * at}];")
        lines.append(f"st.shared.{type} [box+{size * at}], {register};")
        for row, value in zip(rows, values, strict=True):
            row += value.to_bytes(size, "little")
        told += result.to_bytes(size, "little")
    return "\n".join(lines), [words_of(row) for row in rows], words_of(told)


def _integers() -> Kernel:
    body, rows, told = _loaded([
        (".relaxed.gpu.global.add.u32", (_ALL, 3, 5), 7),
        (".weak.global.add.s32", (_TOP, _TOP, _ALL), _ALL),
        (".weak.min.u32", (5, _ALL, 3), 3),
        (".acquire.sys.global.min.s32", (5, _ALL, 3), _ALL),
        (".global.max.u32", (5, _ALL, 3), _ALL),
        (".weak.global.max.s32", (5, _ALL, 3), 5),
        (".relaxed.cta.global.and.b32", (12, 10, 9), 8),
        (".weak.global.or.b32", (12, 10, 1), 15),
        (".weak.global.xor.b32", (12, 10, 1), 7),
    ], 4)
    return _kernel("integers", body, "what the three GPUs have, reduced", rows, told=told)


def _wide() -> Kernel:
    body, rows, told = _loaded([
        (".relaxed.gpu.global.add.u64", (_ALL, 1, 5), (1 << 32) + 5),
        (".weak.global.min.s64", (5, 1 << 63, 3), 1 << 63),
        (".weak.global.max.u64", (5, 1 << 63, 3), 1 << 63),
        (".weak.global.xor.b64", (5 << 40, 6 << 40, 1), 3 << 40 | 1),
        (".relaxed.sys.global.add.f64", (0x3FF0000000000000, 0xBFF0000000000000, 1), 1),
    ], 8)
    return _kernel("wide", body, "what the three GPUs have, reduced", rows, told=told)


def _floats() -> Kernel:
    """Sums whose order does not matter; pairs of elements side by side."""
    body, rows, told = _loaded([
        (".relaxed.gpu.global.add.f32", (0x3F800000, 0x40000000, 0x40400000), 0x40C00000),
        (".weak.global.add.f16x2", (0x3C006800, 0x40006400, 0x42006400), 0x46006C00),
        (".weak.global.min.f16x2", (0x3C00BC00, 0x4000C000, 0x4200FC00), 0x3C00FC00),
        (".weak.global.max.bf16x2", (0x3F80BF80, 0x4000C000, 0x4040FF80), 0x4040BF80),
        (".weak.global.add.bf16x2", (0x3F804300, 0x40004300, 0x40404300), 0x40C043C0),
    ], 4)
    why = "1+2+3; 2048+1024+1024; 128+128+128; the least and the largest"
    return _kernel("floats", body, why, rows, told=told)


def _precise() -> Kernel:
    """6728 + 6988 + 145 in .f16, and 61.5 + 2208 + 1240 in .bf16: the sum of the rounded sum of any two with
    the third is not the one nearest to all three, which a sum in .f32 becomes.
    """
    body, rows, told = _loaded([
        (".weak.global.add.f16x2", (0x6E925888, 0x6ED36E92, 0x58886ED3), 0x72C472C4),
        (".weak.global.add.acc::f32.f16x2", (0x6E925888, 0x6ED36E92, 0x58886ED3), 0x72C572C5),
        (".relaxed.gpu.global.add.acc::f32.f16x2", (0x68003C00, 0x3C006800, 0x3C003C00), 0x68016801),
        (".weak.global.add.bf16x2", (0x4276450A, 0x450A449B, 0x449B4276), 0x455C455C),
        (".weak.global.add.acc::f32.bf16x2", (0x4276450A, 0x450A449B, 0x449B4276), 0x455B455B),
    ], 4)
    vector = "\n".join((
        "multimem.ld_reduce.relaxed.gpu.global.add.acc::f32.v4.f16 {%h1, %h2, %h3, %h4}, [%many+24];",
        "mov.b32 %r1, {%h1, %h2};\nmov.b32 %r2, {%h3, %h4};",
        "st.shared.u32 [box+20], %r1;\nst.shared.u32 [box+24], %r2;",
        "multimem.ld_reduce.weak.global.max.v2.f16x2 {%r1, %r2}, [%many+24];",
        "st.shared.u32 [box+28], %r1;\nst.shared.u32 [box+32], %r2;",
    ))
    more = ((0, 0x3C006800, 0x68003C00), (0, 0x40003C00, 0x3C003C00), (0, 0x3C003C00, 0x3C00BC00))
    whole = [[*row, *others] for row, others in zip(rows, more, strict=True)]
    return _kernel(
        "precise", f"{body}\n{vector}", "a sum in .f32 keeps what one in the type loses", whole,
        told=[*told, 0x44006801, 0x68013C00, 0x40006800, 0x68003C00],
    )


def _stores() -> Kernel:
    body = """
mov.b32 %r1, 0x11111111;
mov.b32 %r2, 0x22222222;
mov.b64 %l1, 0x4444444433333333;
mov.b16 %h1, 0x5555;
mov.b16 %h2, 0x6666;
multimem.st.relaxed.gpu.global.u32 [%many], %r1;
multimem.st.weak.global.b64 [%many+8], %l1;
multimem.st.release.sys.v2.f16x2 [%many+16], {%r2, %r1};
multimem.st.weak.global.v2.bf16 [%many+24], {%h1, %h2};
"""
    new = {0: 0x11111111, 2: 0x33333333, 3: 0x44444444, 4: 0x22222222, 5: 0x11111111, 6: 0x66665555}
    rows = [[100 * gpu + at for at in range(8)] for gpu in range(_GPUS)]
    left = [[new.get(at, word) for at, word in enumerate(row)] for row in rows]
    return _kernel("stores", body, "the same in each GPU, and no byte more", rows, left)


def _reduced() -> Kernel:
    body = """
mov.b32 %r1, -3;
mov.b64 %l1, 0x100000001;
mov.b64 %d0, 0x3ff0000000000000;
multimem.red.relaxed.gpu.global.add.u32 [%many], %r1;
multimem.red.release.sys.global.max.s32 [%many+4], %r1;
multimem.red.global.add.u64 [%many+8], %l1;
multimem.red.xor.b32 [%many+16], %r1;
multimem.red.relaxed.cta.global.add.f64 [%many+24], %d0;
"""
    one, two, three = 0x3FF00000, 0x40000000, 0x40080000
    rows = [[5, 2, _ALL, 1, 8, 0, 0, 0], [3, _ALL, 1, 1, 9, 0, 0, one], [0, _TOP, 0, 0, _ALL, 0, 0, two]]
    left = [
        [2, 2, 0, 3, 8 ^ _ALL - 2, 0, 0, one], [0, _ALL, 2, 2, 9 ^ _ALL - 2, 0, 0, two],
        [_ALL - 2, _ALL - 2, 1, 1, 2, 0, 0, three],
    ]
    return _kernel("reduced", body, "each GPU's own value with the operand", rows, left)


def _vectors() -> Kernel:
    body = """
mov.b32 %f1, 0x3f800000;
mov.b32 %f2, 0x40000000;
mov.b32 %r1, 0x3c004000;
mov.b32 %r2, 0xbc00c000;
multimem.red.relaxed.gpu.global.add.v2.f32 [%many], {%f1, %f2};
multimem.red.relaxed.gpu.global.max.v2.f16x2 [%many+8], {%r1, %r2};
"""
    rows = [
        [0x3F800000, 0x3F800000, 0x40003C00, 0xC000BC00], [0, 0, 0, 0],
        [0x40000000, 0, 0xBC00, 0xFC007C00],
    ]
    left = [
        [0x40000000, 0x40400000, 0x40004000, 0xBC00BC00], [0x3F800000, 0x40000000, 0x3C004000, 0],
        [0x40400000, 0x40000000, 0x3C004000, 0xBC007C00],
    ]
    return _kernel("vectors", body, "each GPU's own elements with those of the operand", rows, left)


def _small() -> Iterator[Kernel]:
    """Stores of .e4m3 and .e5m2, whose sums the manual does not round."""
    body = """
mov.b32 %r1, 0x12345678;
multimem.st.weak.global.e4m3x4 [%many], %r1;
multimem.st.relaxed.gpu.global.v2.e5m2x4 [%many+8], {%r1, %r1};
"""
    rows = [[gpu] * 4 for gpu in range(_GPUS)]
    left = [[0x12345678, gpu, 0x12345678, 0x12345678] for gpu in range(_GPUS)]
    yield _kernel("small", body, "the same in each GPU", rows, left)


# -- asynchronous ones --------------------------------------------------------------------------


def _later() -> Kernel:
    body = """
mov.b32 %r1, 0x12345678;
mov.b64 %l1, 0x123456789abcdef0;
mov.b32 %f1, 0x3f800000;
mov.b64 %d0, 0x3ff0000000000001;
multimem.st.async.release.gpu.global.u32 [%many], %r1;
multimem.st.async.release.sys.global.b64 [%many+8], %l1;
multimem.st.async.release.gpu.global.f32 [%many+16], %f1;
multimem.st.async.release.sys.global.f64 [%many+24], %d0;
multimem.red.async.release.gpu.global.add.u32 [%many+32], %r1;
multimem.red.async.release.sys.global.add.u64 [%many+40], %l1;
"""
    rows = [[gpu] * 12 for gpu in range(_GPUS)]
    new = [0x12345678, 0, 0x9ABCDEF0, 0x12345678, 0x3F800000, 0, 1, 0x3FF00000]
    left = [
        [gpu if at in (1, 5) else word for at, word in enumerate(new)]
        + [0x12345678 + gpu, gpu, 0x9ABCDEF0 + gpu, 0x12345678 + gpu]
        for gpu in range(_GPUS)
    ]
    return _kernel("later", body, "each in its place in each GPU", rows, left)


def _copies() -> Iterator[Kernel]:
    for name, order, type, mask in (
        ("copy", ".weak", "", 0xFFFF),
        ("copy_b128", ".relaxed.gpu", ".b128", 0xFFFF),
        ("copy_masked", "", ".cp_mask", 0x8421),
        ("copy_masked_b128", ".relaxed.sys", ".cp_mask.b128", 0x1248),
    ):
        opcode = f"multimem.cp.async.bulk{order}.global.shared::cta.bulk_group{type}"
        operand = ", %h1" if "cp_mask" in type else ""
        body = f"mov.b16 %h1, {mask:#x};\n{opcode} [%many+16], [%box], 16{operand};\n{_DONE}"
        before = [0x03020100 + 0x04040404 * at for at in range(4)]
        data = bytes_of(before)
        rows = [[0xE0E0E0E0 + gpu] * 12 for gpu in range(_GPUS)]
        left: list[list[int]] = []
        for row in rows:
            bytes_left = bytes_of(row)
            for at in range(16):
                if mask >> at & 1:
                    bytes_left[16 + at] = data[at]
            left.append(words_of(bytes_left))
        yield _kernel(name, body, "16 bytes, those of the mask, to each GPU", rows, left, before=before)


def _reductions() -> Iterator[Kernel]:
    come = [5, _ALL, 3, 0x10]
    rows = [[1, 2, 3, 4], [5, 6, 7, 8], [_ALL, _TOP, 0, 9]]
    for operation, order, left in (
        (".add.u32", "", [[6, 1, 6, 20], [10, 5, 10, 24], [4, _TOP - 1, 3, 25]]),
        (".min.s32", ".relaxed.gpu", [[1, _ALL, 3, 4], [5, _ALL, 3, 8], [_ALL, _TOP, 0, 9]]),
        (".inc.u32", "", [[2, 3, 0, 5], [0, 7, 0, 9], [0, _TOP + 1, 1, 10]]),
        (".or.b64", ".relaxed.sys", [[5, _ALL, 3, 0x14], [5, _ALL, 7, 0x18], [_ALL, _ALL, 3, 0x19]]),
    ):
        body = (
            f"multimem.cp.reduce.async.bulk{order}.global.shared::cta.bulk_group{operation}"
            f" [%many], [%box], 16;\n{_DONE}"
        )
        yield _kernel(
            f"cp_{operation[1:].replace('.', '_')}", body, "each GPU's own elements", rows, left, before=come
        )
    reduction = "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group"
    body = f"{reduction}.add.f32 [%many], [%box], 16;\n{_DONE}"
    floats = [[0x3F800000, 1, 0x80800001, 0], [1, 0x3F800000, 0, 0], [0x40000000, 2, 0x00800000, 0]]
    yield _kernel(
        "cp_add_f32", body, "subnormal numbers are zeros of their sign", floats,
        [[0x40000000, 0, 0x80000000, 0], [0x3F800000, 0x3F800000, 0x00800000, 0],
         [0x40400000, 0, 0x01000000, 0]],
        before=[0x3F800000, 1, 0x00800000, 0],
    )
    halves = [[0x3C006800, 1, 0, 0], [0x40006801, 0, 0, 0], [0x42000000, 0x7BFF0001, 0, 0]]
    body = f"{reduction}.add.noftz.f16 [%many], [%box], 16;\n{_DONE}"
    yield _kernel(
        "cp_noftz", body, "to nearest even; subnormal numbers are kept", halves,
        [[0x40006800, 0x7BFF0002, 0, 0], [0x42006802, 0x7BFF0001, 0, 0], [0x44003C00, 0x7C000002, 0, 0]],
        before=[0x3C003C00, 0x7BFF0001, 0, 0],
    )
