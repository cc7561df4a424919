"""The text of kernels for matrix.py: pseudo-random words for each thread, results, expectations.

The words are made in the kernel and here by the same few operations, so a kernel takes no data. An operand
takes a word of each thread for each of its registers and keeps of it what its `Field` says, so that sums are
exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import NamedTuple

_MASK = (1 << 32) - 1
_FIRST, _SECOND = 0x9E3779B1, 0x85EBCA77
FILL = """\
	mov.u32 %id, %tid.x;
	mov.u32 %n, %id;
	mov.u32 %base, memory;
more:
	mad.lo.u32 %h, %n, 0x9e3779b1, {salt};
	shr.u32 %s, %h, 15;
	xor.b32 %h, %h, %s;
	mul.lo.u32 %h, %h, 0x85ebca77;
	shr.u32 %s, %h, 13;
	xor.b32 %h, %h, %s;
{kept}	shl.b32 %s, %n, 2;
	add.u32 %s, %s, %base;
	st.shared.b32 [%s], %h;
	add.u32 %n, %n, {threads};
	setp.lt.u32 %p, %n, {count};
	@%p bra more;
	bar.sync 0;
"""


def mixed(number: int, salt: int) -> int:
    """The word with a number, as the loop at the head of each kernel makes it."""
    h = number * _FIRST + salt & _MASK
    h ^= h >> 15
    h = h * _SECOND & _MASK
    return h ^ h >> 13


class Field(NamedTuple):
    """What an operand keeps of a word: its bits under `mask`, with `base` added; a `.f64` has two of each."""

    type: str
    mask: int = _MASK
    base: int = 0

    def of(self, word: int) -> int:
        return (word & self.mask) + self.base & _MASK

    def code(self, register: str, word: str) -> str:
        """The instructions that keep it."""
        if self.mask == _MASK and not self.base:
            return f"mov.b32 {register}, {word};"
        if self.mask & self.base == 0:
            return f"lop3.b32 {register}, {word}, {self.mask:#x}, {self.base:#x}, 0xea;"
        return f"and.b32 {register}, {word}, {self.mask:#x};  add.u32 {register}, {register}, {self.base:#x};"


def split(words: Iterable[int], bits: int, width: int = 32) -> list[int]:
    """Elements of so many bits from registers, the lowest first."""
    return [word >> at & (1 << bits) - 1 for word in words for at in range(0, width, bits)]


def vector(name: str, count: int) -> str:
    """The registers of an operand."""
    return "{" + ", ".join(f"%{name}{at}" for at in range(count)) + "}"


class Kernel:
    """A kernel as it is written. `words` are those of each thread, a multiple of four."""

    def __init__(self, name: str, words: int, salt: int, threads: int = 32) -> None:
        self.name = name
        self._words, self.salt, self.threads = words, salt, threads
        self._declared: dict[str, tuple[str, int]] = {"w": (".b32", words)}
        self._body: list[str] = []
        self._regions: list[str] = []
        self._results: list[tuple[str, str, list[str]]] = []

    def line(self, text: str) -> None:
        self._body.append(f"\t{text}")

    def lines(self, texts: Sequence[str], each: int = 2) -> None:
        """Statements of one sort, several to a line."""
        for at in range(0, len(texts), each):
            self.line("  ".join(texts[at : at + each]))

    def declare(self, name: str, type: str, count: int) -> None:
        """So many registers of a name, or more where there are some already."""
        before = self._declared.get(name, (type, 0))
        assert before[0] == type
        self._declared[name] = (type, max(count, before[1]))

    def operand(self, name: str, field: Field, count: int, first: int) -> list[list[int]]:
        """Gives an operand registers, from word `first` of each thread on; their bits, thread by thread."""
        kind = {"f64": ".f64", "f32": ".f32", "s32": ".s32"}.get(field.type, ".b32")
        self.declare(name, kind, count)
        found = [
            [field.of(self.word(thread, first + at)) for at in range(count)]
            for thread in range(self.threads)
        ]
        if kind == ".f32":
            self.lines(
                [
                    f"{field.code('%h', f'%w{first + at}')}  mov.b32 %{name}{at}, %h;"
                    for at in range(count)
                ]
            )
        else:
            self.lines([field.code(f"%{name}{at}", f"%w{first + at}") for at in range(count)])
        return found

    def doubles(
        self, name: str, low: Field, high: Field, count: int, first: int
    ) -> list[list[int]]:
        """The same with a pair of words for each register."""
        self.declare(name, ".f64", count)
        found: list[list[int]] = []
        for thread in range(self.threads):
            words = [self.word(thread, first + at) for at in range(2 * count)]
            found.append(
                [low.of(words[2 * at]) | high.of(words[2 * at + 1]) << 32 for at in range(count)]
            )
        for at in range(count):
            lower, upper = (f"%w{first + 2 * at + half}" for half in (0, 1))
            self.line(f"{low.code('%h', lower)}  {high.code('%s', upper)}")
            self.line(f"mov.b64 %{name}{at}, {{%h, %s}};")
        return found

    def region(self, name: str, fields: Sequence[Field], count: int, first: int) -> list[int]:
        """Fills shared memory of its own, aligned to a kilobyte, with `count` words of each thread, thread
        after thread; `fields` take turns. %NAME0 has its address; the words.
        """
        self.declare(name, ".b32", 1)
        self._regions.append(f"\t.shared .align 1024 .b32 of_{name}[{count * self.threads}];")
        self.line(f"mov.u32 %{name}0, of_{name};")
        self.line(f"mad.lo.u32 %n, %id, {4 * count}, %{name}0;")
        self.lines(
            [
                f"{fields[at % len(fields)].code('%h', f'%w{first + at}')}  st.shared.b32 [%n+{4 * at}], %h;"
                for at in range(count)
            ]
        )
        return [
            fields[at % len(fields)].of(self.word(thread, first + at))
            for thread in range(self.threads)
            for at in range(count)
        ]

    def word(self, thread: int, at: int) -> int:
        """Word `at` of a thread."""
        return mixed(thread * self._words + at, self.salt)

    def buffer(self, label: str, type: str, values: Iterable[str]) -> None:
        """A parameter, whose address is in %out from now on; the buffer must hold `values` in the end."""
        assert all(label != one for one, _, _ in self._results), label
        self._results.append((label, type, list(values)))
        self.line(f"ld.param.u64 %out, [{label}];")

    def result(
        self, label: str, type: str, registers: Sequence[str], values: Iterable[str]
    ) -> None:
        """Stores registers of each thread, thread after thread, in a buffer that must hold `values`."""
        self.buffer(label, type, values)
        width = 8 if type == "f64" else 4
        self.line(f"mad.wide.u32 %out, %id, {width * len(registers)}, %out;")
        most = gcd(16 // width, len(registers))
        for at in range(0, len(registers), most):
            names = ", ".join(registers[at : at + most])
            place = f"b{8 * width} [%out+{width * at}]"
            self.line(
                f"st.global.v{most}.{place}, {{{names}}};"
                if most > 1
                else f"st.global.{place}, {names};"
            )

    def text(self) -> str:
        """The launch comment, the expectations and the kernel."""
        buffers = " ".join(
            f"{label}={type}:zeros({len(values)})" for label, type, values in self._results
        )
        lines = [f"// ptx-run: grid=1 block={self.threads} {buffers}"]
        lines += [
            f"// expect: {label}={','.join(values)}  (exact)" for label, _, values in self._results
        ]
        parameters = ", ".join(f".param .u64 {label}" for label, _, _ in self._results)
        count = self._words * self.threads
        lines += [
            f".visible .entry {self.name}({parameters})",
            "{",
            f"\t.shared .align 16 .b32 memory[{count}];",
            *self._regions,
            "\t.reg .pred %p;",
            "\t.reg .b32 %id, %n, %base, %h, %s;",
            "\t.reg .b64 %out;",
            *(
                f"\t.reg {type} %{name}<{number}>;"
                for name, (type, number) in self._declared.items()
            ),
            FILL.format(salt=f"{self.salt:#x}", kept="", threads=self.threads, count=count).rstrip(
                "\n"
            ),
            f"\tmad.lo.u32 %s, %id, {4 * self._words}, %base;",
        ]
        for at in range(0, self._words, 4):
            names = ", ".join(f"%w{at + one}" for one in range(4))
            lines.append(f"\tld.shared.v4.b32 {{{names}}}, [%s+{4 * at}];")
        return "\n".join([*lines, *self._body, "\tret;", "}", ""])
