"""A kernel in which one thread of each block starts asynchronous operations, and its text.

It has an array `box` in shared memory, which it fills with the words of `in`, and an mbarrier. Then come the
instructions that are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

WORD = 4
"""Bytes of the elements of `in`, `out` and `box`."""


@dataclass(frozen=True)
class Kernel:
    """One launch of one thread in each block of one cluster.

    `before` are the words in the `box` of every block; `after` those of each block behind `body`, none where
    it is not looked at. `given` has further buffers, by name their specs, and `left` what some of them then
    hold. With `arrivals` each block has an mbarrier `bar` that waits for so many. `unrecorded` says why no
    GPU is asked.
    """

    name: str
    body: str
    why: str
    before: Sequence[int] = ()
    after: Sequence[Sequence[int]] = ()
    given: Mapping[str, str] = field(default_factory=dict[str, str])
    left: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    arrivals: int = 0
    cluster: int = 1
    layout: str = ""
    unrecorded: str = ""


@dataclass(frozen=True)
class File:
    """Kernels with the same version and target."""

    name: str
    title: str
    version: str
    target: str
    kernels: Sequence[Kernel]

    def text(self) -> str:
        head = (
            f"// Made by `python -m tests.oracle.asynchronous.kernels`: {self.title}.\n"
            f".version {self.version}\n.target {self.target}\n.address_size 64\n"
        )
        return head + "".join(f"\n{_text(kernel)}" for kernel in self.kernels)


def bytes_of(words: Sequence[int]) -> bytearray:
    """Words as they lie in memory."""
    return bytearray(b"".join((one & 0xFFFFFFFF).to_bytes(WORD, "little") for one in words))


def words_of(data: bytes | bytearray) -> list[int]:
    return [int.from_bytes(data[at : at + WORD], "little") for at in range(0, len(data), WORD)]


# -- the text of a kernel -----------------------------------------------------------------------


def _text(kernel: Kernel) -> str:
    given = {"in": words(kernel.before)} if kernel.before else {}
    left: dict[str, Sequence[int]] = {}
    if kernel.after:
        left["out"] = [word for block in kernel.after for word in block]
        given["out"] = f"u32:zeros({len(left['out'])})"
    given |= kernel.given
    left |= kernel.left
    specs = " ".join(f"{name}={spec}" for name, spec in given.items())
    lines = [f"// ptx-run: grid={kernel.cluster} block=1 {specs}".rstrip()]
    lines += [f"// expect: {name}={values(one)}  (manual: {kernel.why})" for name, one in left.items()]
    lines += [f"// not recorded: {kernel.unrecorded}"] if kernel.unrecorded else []
    parameters = ", ".join(
        f".param .align 64 .b8 {name}[128]" if spec.startswith("tensor(") else f".param .u64 {name}"
        for name, spec in given.items()
    )
    required = f" .reqnctapercluster {kernel.cluster}" if kernel.cluster > 1 else ""
    lines += [f".visible .entry {kernel.name}({parameters}){required}", "{"]
    for part in (_REGISTERS, *_head(kernel, given), kernel.body, *_tail(kernel), "ret;"):
        lines += [one if one.endswith(":") else f"\t{one}" for one in part.strip().splitlines()]
    return "\n".join([*lines, "}"]) + "\n"


_REGISTERS = """
.reg .pred %p<4>;
.reg .b8 %b<6>;
.reg .b16 %h<6>;
.reg .b32 %box, %bar, %far, %farbar, %rank, %other, %i, %at, %r<12>;
.reg .f32 %f<6>;
.reg .f64 %d<2>;
.reg .b64 %in, %out, %l<10>;
.reg .b128 %w<2>;
"""


def _head(kernel: Kernel, given: Mapping[str, str]) -> Iterator[str]:
    size = max(len(kernel.before), *map(len, kernel.after), 1)
    yield f".shared .align 1024 .b8 box[{size * WORD}];"
    if kernel.arrivals:
        yield ".shared .align 8 .b64 bar;"
    for name, spec in given.items():
        if name not in ("in", "out"):
            yield f".reg .b64 %{name};"
        if spec.startswith("tensor("):
            yield f"mov.b64 %{name}, {name};\ncvta.param.u64 %{name}, %{name};"
        else:
            yield f"ld.param.u64 %{name}, [{name}];"
    yield "mov.u32 %box, box;"
    if kernel.before:
        fill = "ld.global.u32 %r0, [%in];\nst.shared.u32 [%at], %r0;"
        yield _loop("fill", len(kernel.before), fill, "%in")
    if kernel.arrivals:
        layout = kernel.layout
        yield f"mov.u32 %bar, bar;\nmbarrier.init{layout}.shared::cta.b64 [bar], {kernel.arrivals};"
    yield "mov.u32 %rank, %cluster_ctarank;"
    if kernel.cluster > 1:
        yield "fence.mbarrier_init.release.cluster;"
        yield "xor.b32 %other, %rank, 1;\nmapa.shared::cluster.u32 %far, %box, %other;"
        if kernel.arrivals:
            yield "mapa.shared::cluster.u32 %farbar, %bar, %other;"
    yield "fence.proxy.async;"
    if kernel.cluster > 1:
        yield MEET


def _tail(kernel: Kernel) -> Iterator[str]:
    if kernel.after:
        count = len(kernel.after[0])
        yield f"mul.wide.u32 %l0, %rank, {count * WORD};\nadd.u64 %out, %out, %l0;"
        yield _loop("tell", count, "ld.shared.u32 %r0, [%at];\nst.global.u32 [%out], %r0;", "%out")
    if kernel.cluster > 1:
        yield MEET


def _loop(label: str, count: int, body: str, pointer: str) -> str:
    """Something for each word of `box`, with `%at` in shared memory and `pointer` in global memory."""
    return (
        f"mov.u32 %at, %box;\nmov.u32 %i, 0;\n{label}:\n{body}\n"
        f"add.u32 %at, %at, 4;\nadd.u64 {pointer}, {pointer}, 4;\nadd.u32 %i, %i, 1;\n"
        f"setp.lt.u32 %p0, %i, {count};\n@%p0 bra {label};"
    )


MEET = "barrier.cluster.arrive;\nbarrier.cluster.wait;"
"""All blocks of the cluster meet."""


def wait(parity: int = 0, label: str = "again") -> str:
    """Waits until a phase of `bar` is complete."""
    return (
        f"{label}:\nmbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], {parity};\n@!%p0 bra {label};"
    )


def looked(word: int, parity: int) -> str:
    """Puts 1 into a word of `box` if the phase of `bar` is complete, else 0."""
    return (
        f"mbarrier.test_wait.parity.shared::cta.b64 %p0, [bar], {parity};\n" + told(word)
    )


def told(word: int, predicate: str = "%p0") -> str:
    """Puts a predicate into a word of `box`."""
    return f"selp.u32 %r0, 1, 0, {predicate};\nst.shared.u32 [box+{word * WORD}], %r0;"


def words(numbers: Sequence[int]) -> str:
    """The SPEC of a buffer of words."""
    if len(numbers) > 3 and len(set(numbers)) == 1:
        return f"u32:full({len(numbers)},{numbers[0]:#x})"
    if len(numbers) > 3 and list(numbers) == list(range(numbers[0], numbers[0] + len(numbers))):
        return f"u32:arange({numbers[0]},{numbers[-1] + 1})" if numbers[0] else f"u32:arange({len(numbers)})"
    return f"u32:[{','.join(map(hex, numbers))}]"


def values(numbers: Sequence[int]) -> str:
    """`0..7,9*4`: elements as an expectation has them."""
    found: list[str] = []
    at = 0
    while at < len(numbers):
        first, end = numbers[at], at + 1
        while end < len(numbers) and numbers[end] == first:
            end += 1
        run = at + 1
        while run < len(numbers) and numbers[run] == first + run - at:
            run += 1
        if run - at > 2:
            found.append(f"{first}..{numbers[run - 1]}")
        else:
            text = str(first) if first < 1 << 16 else hex(first)
            found.append(text if end == at + 1 else f"{text}*{end - at}")
        at = run if run - at > 2 else end
    return ",".join(found)
