"""Texts of shapes that make programs slow: each shape in any size, legal or not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import NamedTuple

from benchmarks.inputs import HEADER


class Shape(NamedTuple):
    """`text` makes a text of any size; `size` is one that takes about a second."""

    text: Callable[[int], str]
    size: int
    tested: int
    """That of a test."""


SHAPES: dict[str, Shape] = {}


def shape(size: int, tested: int = 0) -> Callable[[Callable[[int], str]], Callable[[int], str]]:
    def add(text: Callable[[int], str]) -> Callable[[int], str]:
        SHAPES[text.__name__.replace("_", "-")] = Shape(text, size, tested or max(12, size // 200))
        return text

    return add


def _kernel(body: str, parameters: str = "", name: str = "k") -> str:
    return f".visible .entry {name}({parameters})\n{{\n{body}\nret;\n}}\n"


def _file(*parts: str) -> str:
    return HEADER + "".join(parts)


def _body(*parts: str) -> str:
    return _file(_kernel("\n".join(parts)))


def _each(template: str, n: int) -> str:
    """`template` with `#` for each number below n, and `$` for the number after it."""
    return "".join([template.replace("#", str(i)).replace("$", str(i + 1)) for i in range(n)])


_REGISTERS = """\
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
"""

# -- nesting --------------------------------------------------------------------------------------


@shape(8_000)
def unclosed_braces(n: int) -> str:
    return _body("{\n" * n)


@shape(8_000)
def unclosed_kernels(n: int) -> str:
    return _file(_each(".visible .entry k#(.param .u64 p)\n{\nadd.s32 %r1, %r1, 1;\n", n))


@shape(8_000)
def stray_braces(n: int) -> str:
    return _body("}\n" * n)


@shape(8_000)
def nested_blocks(n: int) -> str:
    return _body(_REGISTERS, "{\n.reg .b32 %a;\nmov.u32 %a, %r1;\n" * n, "}\n" * n)


@shape(20_000)
def sibling_blocks(n: int) -> str:
    return _body(
        _REGISTERS, "{\n.reg .b32 %a;\nmov.u32 %a, %r1;\nst.global.u32 [%rd1], %a;\n}\n" * n
    )


@shape(4_000)
def guarded_blocks(n: int) -> str:
    return _body(_REGISTERS, "@%p1 {\nadd.s32 %r1, %r1, 1;\n" * n, "}\n" * n)


@shape(3_000)
def nested_parentheses(n: int) -> str:
    return _file(f".global .b32 x = {'(' * n}1{')' * n};\n")


@shape(3_000)
def unclosed_parentheses(n: int) -> str:
    return _file(f".global .b32 x = {'(' * n}1;\n")


@shape(3_000)
def nested_vectors(n: int) -> str:
    return _body(_REGISTERS, f"mov.b64 %rd1, {'{' * n}%r1{'}' * n};")


@shape(3_000)
def nested_addresses(n: int) -> str:
    return _body(_REGISTERS, f"ld.global.u32 %r1, {'[' * n}%rd1{']' * n};")


@shape(3_000)
def nested_initializers(n: int) -> str:
    return _file(f".global .b32 x[1] = {'{' * n}1{'}' * n};\n")


@shape(3_000)
def nested_dimensions(n: int) -> str:
    return _file(f".global .b32 x{'[2]' * n};\n")


@shape(3_000)
def unary_operators(n: int) -> str:
    return _file(f".global .b32 x = {'-~' * n}1;\n")


@shape(3_000)
def conditional_operators(n: int) -> str:
    return _file(f".global .b32 x = {'1 ? 2 : ' * n}1;\n")


@shape(3_000)
def casts(n: int) -> str:
    return _file(f".global .b32 x = {'(.s64)' * n}1;\n")


@shape(20_000)
def terms(n: int) -> str:
    return _file(f".global .b32 x = 1{' + 1' * n};\n")


@shape(20_000)
def terms_of_precedence(n: int) -> str:
    return _file(f".global .b32 x = 1{' + 2 * 3 - 1 << 0' * n};\n")


@shape(3_000)
def nested_aggregates(n: int) -> str:
    return _file(".struct a {\n" * n + ".u32 x;\n" + "};\n" * n)


# -- control flow ---------------------------------------------------------------------------------


@shape(1_000)
def scattered_branches(n: int) -> str:
    """Three branches behind each label, to labels all over the place."""
    labels = [
        f"L{i}:\n"
        + "".join([f"@%p{k + 1} bra L{(i * m + 7 * k) % n};\n" for k, m in enumerate((7, 31, 101))])
        for i in range(n)
    ]
    return _body(_REGISTERS, *labels)


@shape(1_000)
def scattered_updates(n: int) -> str:
    """The same with a register that changes in each block, and barriers."""
    labels = [
        f"L{i}:\nadd.s32 %r{i % 7}, %r{i % 5}, {i};\nbar.sync 0;\n"
        + "".join([f"@%p{k + 1} bra L{(i * m + 7 * k) % n};\n" for k, m in enumerate((7, 31, 101))])
        for i in range(n)
    ]
    return _body(_REGISTERS, *labels)


@shape(1_000)
def nested_loops(n: int) -> str:
    inner = [f"@%p1 bra L{i};\n" for i in reversed(range(n))]
    return _body(_REGISTERS, _each("L#:\n", n), "add.s32 %r1, %r1, 1;\n", *inner)


@shape(1_000)
def nested_counting_loops(n: int) -> str:
    inner = [
        f"add.s32 %i{i}, %i{i}, 1;\nsetp.lt.s32 %p2, %i{i}, 9;\n@%p2 bra L{i};\n"
        for i in reversed(range(n))
    ]
    return _body(
        _REGISTERS,
        f".reg .b32 %i<{n}>;\n",
        _each("mov.u32 %i#, 0;\nL#:\n", n),
        "bar.sync 0;\n",
        *inner,
    )


@shape(1_000)
def nested_ifs(n: int) -> str:
    ends = [f"E{i}:\nadd.s32 %r2, %r2, 1;\n" for i in reversed(range(n))]
    return _body(
        _REGISTERS, _each("setp.eq.u32 %p2, %r1, #;\n@%p2 bra E#;\n", n), "bar.sync 0;\n", *ends
    )


@shape(5_000)
def chain_of_ifs(n: int) -> str:
    return _body(
        _REGISTERS,
        _each("setp.eq.u32 %p2, %r1, #;\n@%p2 bra E#;\nadd.s32 %r2, %r1, %r2;\nE#:\n", n),
    )


@shape(5_000)
def chain_of_loops(n: int) -> str:
    return _body(
        _REGISTERS, _each("L#:\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p2, %r2, #;\n@%p2 bra L#;\n", n)
    )


@shape(10_000)
def chain_of_branches(n: int) -> str:
    return _body(_REGISTERS, _each("bra L#;\nL#:\n", n))


@shape(10_000)
def chain_backwards(n: int) -> str:
    """Blocks one after the other, run from the last to the first."""
    blocks = [f"L{i}:\nadd.s32 %r{i % 7}, %r1, %r2;\nbra L{i - 1};\n" for i in range(1, n)]
    return _body(_REGISTERS, f"bra L{n - 1};", *blocks, "L0:")


@shape(2_000)
def loops_backwards(n: int) -> str:
    """Blocks that run from the last to the first, with a way back from each to the last."""
    blocks = [
        f"L{i}:\nadd.s32 %r{i % 7}, %r1, %r2;\n@%p1 bra L{n - 1};\nbra L{i - 1};\n"
        for i in range(1, n)
    ]
    return _body(_REGISTERS, f"bra L{n - 1};", *blocks, "L0:")


@shape(5_000)
def early_exits(n: int) -> str:
    return _body(
        _REGISTERS, _each("setp.eq.u32 %p2, %r1, #;\n@%p2 bra END;\nbar.sync 0;\n", n), "END:\n"
    )


@shape(2_000)
def ladder(n: int) -> str:
    """An irreducible graph: two columns of blocks, with branches from each to the next of the other."""
    rungs = [
        f"A{i}:\n@%p1 bra B{i + 1};\n@%p2 bra B{max(0, i - 1)};\nbra A{i + 1};\n" for i in range(n)
    ]
    rungs += [f"A{n}:\n"]
    rungs += [
        f"B{i}:\n@%p1 bra A{i + 1};\n@%p2 bra A{max(0, i - 1)};\nbra B{i + 1};\n" for i in range(n)
    ]
    return _body(_REGISTERS, "@%p1 bra B0;", *rungs, f"B{n}:\n")


@shape(2_000)
def jump_to_all(n: int) -> str:
    """Loops that share a head: a branch back to the first block from each."""
    return _body(_REGISTERS, "HEAD:\n", _each("add.s32 %r2, %r1, %r2;\n@%p1 bra HEAD;\n", n))


@shape(2_000)
def one_entry_each(n: int) -> str:
    """A loop that is entered at each of its blocks."""
    first = _each("@%p1 bra L#;\n", n)
    return _body(_REGISTERS, first, _each("L#:\nadd.s32 %r2, %r1, %r2;\n", n), "bra L0;\n")


@shape(20_000)
def jump_table(n: int) -> str:
    names = ", ".join([f"L{i}" for i in range(n)])
    return _body(_REGISTERS, f"TS: .branchtargets {names};\nbrx.idx %r1, TS;\n", _each("L#:\n", n))


@shape(200)
def jump_tables(n: int) -> str:
    names = ", ".join([f"L{i}" for i in range(n)])
    return _body(
        _REGISTERS,
        f"TS: .branchtargets {names};\n",
        _each("L#:\nadd.s32 %r2, %r1, %r2;\nbrx.idx %r2, TS;\n", n),
    )


@shape(300)
def interference(n: int) -> str:
    """Values that are alive through a chain of loops, each changed in some."""
    loops = [
        f"L{i}:\n" + f"add.s32 %i{i}, %i{(i * 7) % n}, %i{(i * 3) % n};\n@%p1 bra L{i};\n"
        for i in range(n)
    ]
    return _body(
        _REGISTERS,
        f".reg .b32 %i<{n}>;\n",
        _each("mov.u32 %i#, %tid.x;\n", n),
        *loops,
        _each("st.global.u32 [%rd1], %i#;\n", n),
    )


@shape(1_000)
def joins(n: int) -> str:
    """Many registers that change on both sides of many branches."""
    parts = [
        f"@%p1 bra T{i};\nadd.s32 %i{i}, %i{i}, 1;\nbra J{i};\nT{i}:\nsub.s32 %i{i}, %i{i}, 1;\nJ{i}:\n"
        for i in range(n)
    ]
    ends = _each("st.global.u32 [%rd1], %i#;\n", n)
    return _body(
        _REGISTERS,
        f".reg .b32 %i<{n}>;\n",
        _each("mov.u32 %i#, 0;\n", n),
        "HEAD:\n",
        *parts,
        "@%p2 bra HEAD;\n",
        ends,
    )


# -- straight code --------------------------------------------------------------------------------


@shape(20_000)
def one_line(n: int) -> str:
    return _body(_REGISTERS, "add.s32 %r1, %r1, 1; " * n)


@shape(40_000)
def short_instructions(n: int) -> str:
    return _body("ret;" * n)


@shape(30_000)
def labels(n: int) -> str:
    return _body(_each("L#:\n", n))


@shape(20_000)
def used_labels(n: int) -> str:
    return _body(_each("L#:\nbra L#;\n", n))


@shape(20_000)
def writes_of_one(n: int) -> str:
    return _body(_REGISTERS, "mov.u32 %r1, 5;\n" * n)


@shape(20_000)
def chain_of_values(n: int) -> str:
    return _body(
        _REGISTERS,
        f".reg .b32 %i<{n + 1}>;\nmov.u32 %i0, %tid.x;\n",
        _each("add.s32 %i$, %i#, 1;\n", n),
    )


@shape(20_000)
def chain_of_addresses(n: int) -> str:
    return _body(
        _REGISTERS,
        f".reg .b64 %i<{n + 1}>;\ncvta.to.global.u64 %i0, %rd1;\n",
        _each("add.s64 %i$, %i#, 4;\nst.global.u32 [%i$], %r1;\n", n),
    )


@shape(20_000)
def predicates(n: int) -> str:
    return _body(
        _REGISTERS,
        f".reg .pred %q<{n}>;\n",
        _each("setp.eq.u32 %q#, %r1, #;\n@%q# add.s32 %r2, %r2, 1;\n", n),
    )


@shape(10_000)
def all_alive(n: int) -> str:
    """Values that are all alive at once."""
    return _body(
        _REGISTERS,
        f".reg .b32 %i<{n}>;\n",
        _each("ld.global.u32 %i#, [%rd1+#];\n", n),
        _each("st.global.u32 [%rd1+#], %i#;\n", n),
    )


@shape(10_000)
def tree_of_additions(n: int) -> str:
    return _body(
        _REGISTERS,
        f".reg .f32 %i<{2 * n}>;\n",
        _each("ld.global.f32 %i#, [%rd1+#];\n", n),
        "".join([f"add.f32 %i{n + i}, %i{2 * i}, %i{2 * i + 1};\n" for i in range(n)]),
    )


@shape(20_000)
def stores(n: int) -> str:
    return _body(_REGISTERS, _each("st.global.u32 [%rd1+4*#], %r1;\n", n).replace("4*", ""))


@shape(20_000)
def barriers(n: int) -> str:
    return _body(_REGISTERS, "bar.sync 0;\n" * n)


@shape(10_000)
def shared_accesses(n: int) -> str:
    return _file(
        ".shared .b32 buffer[1024];\n",
        _kernel(
            _REGISTERS
            + "mov.u64 %rd1, buffer;\n"
            + "ld.shared.u32 %r1, [%rd1];\nst.shared.u32 [%rd1+4], %r1;\n" * n
        ),
    )


@shape(20_000)
def async_copies(n: int) -> str:
    return _body(_REGISTERS, "cp.async.ca.shared.global [%r1], [%rd1], 16;\n" * n)


# -- declarations ---------------------------------------------------------------------------------


@shape(20_000)
def registers(n: int) -> str:
    return _body(_each(".reg .b32 %a#;\n", n))


@shape(20_000)
def registers_in_one_line(n: int) -> str:
    return _body(f".reg .b32 {', '.join([f'%a{i}' for i in range(n)])};\n")


@shape(20_000)
def registers_used(n: int) -> str:
    return _body(_each(".reg .b32 %a#;\nmov.u32 %a#, 1;\n", n))


@shape(10_000_000)
def range_of_registers(n: int) -> str:
    return _body(f".reg .b32 %i<{n}>;\nmov.u32 %i0, 1;\n")


@shape(20_000)
def same_register(n: int) -> str:
    return _body(".reg .b32 %a;\n" * n)


@shape(20_000)
def overlapping_ranges(n: int) -> str:
    return _body(_each(".reg .b32 %a<$>;\n", n))


@shape(20_000)
def variables(n: int) -> str:
    return _file(_each(".global .b32 x#;\n", n), _kernel(""))


@shape(20_000)
def shared_variables(n: int) -> str:
    return _body(_each(".shared .b32 x#;\n", n))


@shape(20_000)
def same_variable(n: int) -> str:
    return _file(".global .b32 x;\n" * n)


@shape(10_000)
def same_kernel(n: int) -> str:
    return _file(_kernel("") * n)


@shape(10_000)
def same_label(n: int) -> str:
    return _body("L:\n" * n)


@shape(50_000)
def initializer(n: int) -> str:
    return _file(f".global .b32 x[{n}] = {{{', '.join(repeat('1', n))}}};\n")


@shape(20_000)
def initializer_of_names(n: int) -> str:
    return _file(".global .b32 y;\n", f".global .b64 x[{n}] = {{{', '.join(repeat('y', n))}}};\n")


@shape(5_000)
def kernels(n: int) -> str:
    return _file(_each(".visible .entry k#()\n{\nret;\n}\n", n))


@shape(3_000)
def kernels_with_work(n: int) -> str:
    return _file(
        *[
            _kernel(_REGISTERS + "@%p1 bra A;\nst.global.u32 [%rd1], %r1;\nA:", name=f"k{i}")
            for i in range(n)
        ]
    )


@shape(5_000)
def prototypes(n: int) -> str:
    return _file(_each(".extern .func (.param .b32 r) f# (.param .b32 a);\n", n))


@shape(5_000)
def repeated_prototype(n: int) -> str:
    return _file(".extern .func (.param .b32 r) f (.param .b32 a);\n" * n)


@shape(5_000)
def call_prototypes(n: int) -> str:
    return _body(_each("P#: .callprototype (.param .b32 _) _ (.param .b32 _);\n", n))


@shape(10_000)
def parameters(n: int) -> str:
    return _file(_kernel("", ",\n".join([f".param .u32 p{i}" for i in range(n)])))


@shape(10_000)
def parameters_read(n: int) -> str:
    read = _each("ld.param.u32 %r1, [p#];\n", n)
    return _file(_kernel(_REGISTERS + read, ",\n".join([f".param .u32 p{i}" for i in range(n)])))


@shape(3_000)
def call_chain(n: int) -> str:
    """Functions that call the next, the last first."""
    functions = [f".func f{i}()\n{{\ncall f{i - 1};\nret;\n}}\n" for i in range(1, n)]
    return _file(".func f0()\n{\nret;\n}\n", *functions, _kernel(f"call f{n - 1};"))


@shape(3_000)
def recursion(n: int) -> str:
    """Functions that call each other in a circle."""
    functions = [
        f".func f{i}()\n{{\ncall f{(i + 1) % n};\nbar.sync 0;\nret;\n}}\n" for i in range(n)
    ]
    return _file(_each(".func f#();\n", n), *functions, _kernel("call f0;"))


@shape(200)
def call_everything(n: int) -> str:
    calls = _each("call f#;\n", n)
    return _file(
        _each(".func f#();\n", n), *[f".func f{i}()\n{{\n{calls}ret;\n}}\n" for i in range(n)]
    )


@shape(1_000)
def doubling_calls(n: int) -> str:
    """Functions that call the one before twice: 2^n calls in all."""
    functions = [
        f".func f{i}()\n{{\ncall f{i - 1};\ncall f{i - 1};\nret;\n}}\n" for i in range(1, n)
    ]
    return _file(".func f0()\n{\nret;\n}\n", *functions, _kernel(f"call f{n - 1};"))


@shape(5_000)
def calls(n: int) -> str:
    return _file(
        ".func (.reg .b32 r) f (.reg .b32 a)\n{\nmov.u32 r, a;\nret;\n}\n",
        _kernel(_REGISTERS + "call (%r1), f, (%r1);\n" * n),
    )


@shape(3_000)
def call_sequences(n: int) -> str:
    sequence = (
        "{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], %r1;\n"
        "call (r), f, (a);\nld.param.b32 %r1, [r];\n}\n"
    )
    return _file(
        ".extern .func (.param .b32 r) f (.param .b32 a);\n", _kernel(_REGISTERS + sequence * n)
    )


@shape(10_000)
def arguments(n: int) -> str:
    return _file(
        f".extern .func f ({', '.join([f'.param .b32 a{i}' for i in range(n)])});\n",
        _kernel(_REGISTERS + f"call f, ({', '.join(repeat('%r1', n))});"),
    )


@shape(5_000)
def indirect_calls(n: int) -> str:
    functions = _each(".func f#()\n{\nret;\n}\n", n)
    names = ", ".join([f"f{i}" for i in range(n)])
    return _file(
        functions, _kernel(_REGISTERS + f"T: .calltargets {names};\n" + "call %rd1, T;\n" * 3)
    )


@shape(5_000)
def aliases(n: int) -> str:
    return _file(".func f()\n{\nret;\n}\n", _each(".func g#();\n.alias g#, f;\n", n))


# -- single statements ----------------------------------------------------------------------------


@shape(2_000, tested=150)
def modifiers(n: int) -> str:
    return _body(_REGISTERS, f"add{'.s32' * n} %r1, %r1, 1;")


@shape(2_000, tested=150)
def distinct_modifiers(n: int) -> str:
    return _body(_REGISTERS, f"add{_each('.m#', n)} %r1, %r1, 1;")


@shape(2_000)
def components(n: int) -> str:
    return _body(_REGISTERS, f"add.s32 %r1{'.x' * n}, %r1, 1;")


@shape(10_000)
def operands(n: int) -> str:
    return _body(_REGISTERS, f"add.s32 %r1{', %r1' * n};")


@shape(10_000)
def vector(n: int) -> str:
    return _body(_REGISTERS, f"mov.b64 {{%r1{', %r1' * n}}}, %rd1;")


@shape(10_000)
def missing_operands(n: int) -> str:
    return _body(_REGISTERS, f"add.s32 {',' * n};")


@shape(10_000)
def linkages(n: int) -> str:
    return _file(".visible " * n + ".global .b32 x;\n")


@shape(10_000)
def specifiers(n: int) -> str:
    return _file(".global" + " .align 4" * n + " .b32 x;\n")


@shape(10_000)
def attributes(n: int) -> str:
    return _file(f".global .attribute({', '.join(repeat('.managed', n))}) .b32 x;\n")


@shape(10_000)
def function_directives(n: int) -> str:
    return _file(".visible .entry k()" + " .maxntid 32" * n + "\n{\nret;\n}\n")


@shape(10_000)
def pragmas(n: int) -> str:
    return _body('.pragma "nounroll";\n' * n)


@shape(10_000)
def unknown_pragmas(n: int) -> str:
    return _body(_each('.pragma "abc#";\n', n))


@shape(10_000)
def targets(n: int) -> str:
    return f".version 9.0\n.target {', '.join(repeat('sm_90', n))}\n.address_size 64\n" + _kernel(
        ""
    )


@shape(5_000)
def versions(n: int) -> str:
    return (".version 9.0\n.target sm_90\n" * n) + _kernel("")


# -- names, comments and strings ------------------------------------------------------------------


@shape(500_000)
def long_name(n: int) -> str:
    return _file(_kernel(f".reg .b32 %{'a' * n};\nmov.u32 %{'a' * n}, %{'b' * n};"))


@shape(500_000)
def long_opcode(n: int) -> str:
    return _body(f"{'a' * n}.s32 %r1, %r1;")


@shape(500_000)
def long_modifier(n: int) -> str:
    return _body(f"add.{'a' * n} %r1, %r1;")


@shape(500_000)
def long_number(n: int) -> str:
    return _file(f".global .b64 x = 1{'0' * n};\n")


@shape(500_000)
def long_float(n: int) -> str:
    return _file(f".global .f64 x = 1{'0' * n}.5;\n", f".global .f64 y = 1.{'3' * n};\n")


@shape(500_000)
def long_comment(n: int) -> str:
    return _body("/*" + " a\n" * (n // 3) + "*/", "// " + "b" * n)


@shape(500_000)
def open_comment(n: int) -> str:
    return _body("/*" + " a;\n" * (n // 4))


@shape(4_000)
def open_comments(n: int) -> str:
    return _body("/* \n" * n)


@shape(500_000)
def long_string(n: int) -> str:
    return _body(f'.pragma "{"a" * n}";')


@shape(4_000)
def open_strings(n: int) -> str:
    return _body('.pragma "a;\n' * n)


@shape(20_000)
def comments(n: int) -> str:
    return _body("// a comment\n" * n)


@shape(4_000)
def comments_between(n: int) -> str:
    return _body(_REGISTERS, "add.s32 /* a */ %r1, // b\n %r1, 1;\n" * n)


@shape(20_000)
def comments_in_one(n: int) -> str:
    return _body(_REGISTERS, "add.s32 %r1,\n" + "// b\n" * n + " %r1, 1;\n")


@shape(500_000)
def spaces(n: int) -> str:
    return _body(_REGISTERS, f"add.s32 %r1,{' ' * n}%r1, 1;")


@shape(500_000)
def line_ends(n: int) -> str:
    return _body(_REGISTERS, f"add.s32 %r1,{chr(10) * n}%r1, 1;")


@shape(20_000)
def suppressions(n: int) -> str:
    return _body(".reg .b32 %a;\n" + "mov.u32 %a, 1; // ptx-lint: ignore[dead-write]\n" * n)


@shape(20_000)
def preprocessor_lines(n: int) -> str:
    return _file("# 1 2 3\n" * n)


@shape(20_000)
def locations(n: int) -> str:
    return _file(
        '.file 1 "a.cu"\n', _kernel(_REGISTERS + _each(".loc 1 # 3\nadd.s32 %r1, %r1, 1;\n", n))
    )


@shape(10_000)
def inlined_locations(n: int) -> str:
    lines = _each(".loc 1 # 3, function_name $f, inlined_at 1 5 3\nadd.s32 %r1, %r1, 1;\n", n)
    return _file(
        '.file 1 "a.cu"\n', _kernel(_REGISTERS + lines), ".section .debug_str\n{\n$f:\n.b8 97\n}\n"
    )


@shape(20_000)
def debug_data(n: int) -> str:
    return _file(".section .debug_info\n{\n" + ".b8 1,2,3,4\n" * n + "}\n")


@shape(10_000)
def debug_labels(n: int) -> str:
    return _file(
        _kernel(_each("$L__tmp#:\n", n)),
        ".section .debug_info\n{\n" + _each(".b64 $L__tmp#\n", n) + "}\n",
    )


# -- errors ---------------------------------------------------------------------------------------


@shape(5_000)
def unknown_opcodes(n: int) -> str:
    return _body("foo.s32 %r1, 2;\n" * n)


@shape(3_000, tested=100)
def distinct_unknown_opcodes(n: int) -> str:
    return _body(_each("foo#.s32 %r1, 2;\n", n))


@shape(5_000)
def undeclared_names(n: int) -> str:
    return _body(_each("mov.u32 %x#, 1;\n", n))


@shape(2_000)
def near_names(n: int) -> str:
    """Undeclared names, and as many declared ones that are like them."""
    return _body(_each(".reg .b32 value#;\n", n), _each("mov.u32 valeu#, 1;\n", n))


@shape(5_000)
def undeclared_name(n: int) -> str:
    return _body("mov.u32 %x, 1;\n" * n)


@shape(5_000)
def undefined_labels(n: int) -> str:
    return _body(_each("bra L#;\n", n))


@shape(5_000)
def wrong_operands(n: int) -> str:
    return _body(_REGISTERS, "add.s32 %rd1, %p1, 1;\n" * n)


@shape(5_000)
def wrong_modifiers(n: int) -> str:
    return _body(_REGISTERS, "add.foo.s32 %r1, %r1, 1;\n" * n)


@shape(10_000)
def junk_lines(n: int) -> str:
    return _body(")]) +\n" * n)


@shape(100_000)
def junk(n: int) -> str:
    return _body(")" * n)


@shape(100_000)
def semicolons(n: int) -> str:
    return _body(";" * n)


@shape(100_000)
def at_signs(n: int) -> str:
    return _body("@" * n)


@shape(50_000)
def dots(n: int) -> str:
    return _body(". " * n)


@shape(50_000)
def quotes(n: int) -> str:
    return _body('"' * n)


@shape(50_000)
def words(n: int) -> str:
    return _body("word " * n)


@shape(20_000)
def lines_of_words(n: int) -> str:
    return "The quick brown fox\n" * n


@shape(10_000)
def missing_semicolons(n: int) -> str:
    return _body(_REGISTERS, "add.s32 %r1, %r1, 1\n" * n)


@shape(10_000)
def missing_commas(n: int) -> str:
    return _body("add.s32 %r1 %r1, 1;\n" * n)


@shape(5_000)
def calls_without_commas(n: int) -> str:
    return _file(".func f (.param .b32 a);\n", _kernel("call f (1 2);\n" * n))


@shape(50_000)
def null_bytes(n: int) -> str:
    return _body("\0" * n)


@shape(10_000)
def unicode(n: int) -> str:
    return _body("// \u00e4\U0001f600\n.reg .b32 \u00e4;\n" * n)


@shape(10_000)
def unread_writes(n: int) -> str:
    return _body(f".reg .b32 %i<{n}>;\n", _each("mov.u32 %i#, 1;\n", n))


@shape(10_000)
def unwritten_reads(n: int) -> str:
    return _body(_REGISTERS, f".reg .b32 %i<{n}>;\n", _each("st.global.u32 [%rd1], %i#;\n", n))
