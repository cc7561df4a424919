"""The text of a function in LLVM's intermediate representation, instruction by instruction.

A *vector* has an element for each lane of a warp; masks of lanes are integers of 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.arithmetic.program import DType
from ptx_lsp.executor.machine.launch_config import WARP_SIZE

_BITS = 8
_FLOATS = {2: "half", 4: "float", 8: "double"}
_LINEAR: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "shl": lambda a, b: a << min(b, 64),
}
_SUFFIXES = {"half": "f16", "float": "f32", "double": "f64"}


class NotLoweredError(Exception):
    """Something has no native code."""


@dataclass(frozen=True)
class Value:
    """An operand of instructions, with its type: `i64`, `ptr`, `<32 x float>`."""

    type: str
    text: str
    each: int | None = None
    """The integer in each lane of a constant vector."""
    known: tuple[int, ...] | None = None
    """The integers in the lanes of a constant vector, modulo 2^bits."""

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


@dataclass(frozen=True)
class LaneOffsets:
    """A vector as what its first lane has, and how much more each lane has: 0 the first, and the same in all
    iterations of a loop.
    """

    first: Value
    offsets: Value


def scalar_type(dtype: DType) -> str:
    """The type of an element of an array."""
    if dtype.kind == "b":
        return "i1"
    return _FLOATS[dtype.itemsize] if dtype.kind == "f" else f"i{_BITS * dtype.itemsize}"


def vector_of(scalar: str, count: int = WARP_SIZE) -> str:
    return f"<{count} x {scalar}>"


def vector_type(dtype: DType) -> str:
    return vector_of(scalar_type(dtype))


def element_of(type: str) -> str:
    """The type of an element of a vector; any other itself."""
    return type.rpartition(" x ")[2].rstrip(">") if type.startswith("<") else type


def integer(value: int, type: str) -> Value:
    """A constant, in each lane where `type` is a vector."""
    bits = int(element_of(type)[1:])
    value &= (1 << bits) - 1
    text = ("true" if value else "false") if bits == 1 else str(value)
    if type.startswith("<"):
        text = f"<{', '.join([f'{element_of(type)} {text}'] * _count(type))}>"
        return Value(type, text, value, (value,) * _count(type))
    return Value(type, text)


ALL_LANES = integer(-1, f"i{WARP_SIZE}")
"""The mask of a group to which all lanes of its warp belong."""


def sequence(values: Sequence[int], scalar: str) -> Value:
    """A constant vector."""
    bits = int(scalar[1:])
    known = tuple(one & ((1 << bits) - 1) for one in values)
    if len(set(known)) == 1:
        return integer(known[0], vector_of(scalar, len(known)))
    text = f"<{', '.join(f'{scalar} {one}' for one in known)}>"
    return Value(vector_of(scalar, len(known)), text, known=known)


def signed(offsets: Value) -> list[int] | None:
    """The integers of a constant vector, as they are with a sign."""
    half = 1 << (int(element_of(offsets.type)[1:]) - 1)
    return None if offsets.known is None else [(one + half) % (2 * half) - half for one in offsets.known]


def constant(value: np.generic) -> Value:
    """A constant of NumPy's in each lane."""
    dtype = value.dtype
    if dtype.kind == "b":
        return integer(int(value), vector_type(dtype))
    bits = int(np.asarray(value).view(f"u{dtype.itemsize}"))
    whole = integer(bits, vector_of(f"i{_BITS * dtype.itemsize}"))
    if dtype.kind != "f":
        return whole
    return Value(vector_type(dtype), f"bitcast ({whole} to {vector_type(dtype)})")


def _count(type: str) -> int:
    return int(type[1:].partition(" ")[0]) if type.startswith("<") else 1


class Code:
    """Instructions so far, and what they declare outside of the function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.slots: list[str] = []
        """The allocations at the beginning of the function."""
        self.declarations: dict[str, str] = {}
        self._count = 0
        self._widened: dict[str, Value] = {}
        self._ahead: list[str] | None = None
        self._tracks = False
        self.unless = ""
        """Where to go if what has no lane offsets after all was thought to have some; "" for nowhere."""
        self._offsets: dict[str, LaneOffsets] = {}

    def name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    # -- structure ------------------------------------------------------------------------------

    def begin(self, label: str) -> None:
        self.lines.append(f"{label}:")

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")

    def branch(self, condition: Value, yes: str, no: str, *, likely: bool | None = None) -> None:
        """Jumps to `yes` where a condition holds, else to `no`."""
        weights = {None: "", True: ", !prof !0", False: ", !prof !1"}[likely]
        self.do(f"br {condition}, label %{yes}, label %{no}{weights}")

    def slot(self, type: str, stem: str = "slot") -> Value:
        """A variable of the function."""
        name = f"%{self.name(stem)}"
        self.slots.append(f"  {name} = alloca {type}")
        return Value("ptr", name)

    # -- loops ----------------------------------------------------------------------------------

    @contextmanager
    def loop(self) -> Generator[None]:
        """The instructions of a loop: those on lane offsets come before what there is so far."""
        begun = len(self.lines)
        ahead: list[str] = []
        self._ahead = ahead
        try:
            with self.tracking():
                yield
        finally:
            self.lines[begun:begun] = ahead
            self._ahead = None

    @contextmanager
    def tracking(self) -> Generator[None]:
        """Instructions on vectors with lane offsets have results with lane offsets."""
        self._tracks = True
        try:
            yield
        finally:
            self._tracks = False
            self._offsets.clear()

    @contextmanager
    def ahead(self) -> Generator[None]:
        """Instructions on lane offsets: before the loop, since they are the same in all of its iterations."""
        inside, ahead = self.lines, self._ahead
        self.lines, self._ahead, self._tracks = inside if ahead is None else ahead, None, False
        try:
            yield
        finally:
            self.lines, self._ahead, self._tracks = inside, ahead, True

    def lane_offsets(self, vector: Value) -> LaneOffsets | None:
        """Of a vector, if they are known."""
        if not self._tracks:
            return None
        if vector.known is None:
            return self._offsets.get(vector.text)
        element, first = element_of(vector.type), vector.known[0]
        return LaneOffsets(integer(first, element), sequence([one - first for one in vector.known], element))

    def joined(self, parts: LaneOffsets) -> Value:
        """The vector that has the lane offsets."""
        found = self._splat(parts.first)
        if parts.offsets.each != 0:
            found = self.emit(found.type, f"add {found}, {parts.offsets.text}")
        if self._tracks:
            self._offsets[found.text] = parts
        return found

    def _linear(self, operation: str, a: Value, b: Value) -> Value | None:
        """The result of an operation on vectors whose lane offsets are known, if those of the result are."""
        if operation == "mul" and b.each is None:
            a, b = b, a
        one, other = self.lane_offsets(a), self.lane_offsets(b)
        if one is None or other is None:
            return None
        if one.offsets.each == other.offsets.each == 0:
            first = self.emit(one.first.type, f"{operation} {one.first}, {other.first.text}")
            return self.joined(LaneOffsets(first, one.offsets))
        if operation not in _LINEAR or (operation in ("mul", "shl") and b.each is None):
            return None
        first = self.emit(one.first.type, f"{operation} {one.first}, {other.first.text}")
        by = other.offsets if operation in ("add", "sub") else b
        offsets = self._linear_offsets(operation, one.offsets, by)
        return self.joined(LaneOffsets(first, offsets))

    def _linear_offsets(self, operation: str, a: Value, b: Value) -> Value:
        if b.each == 0 and operation != "mul":
            return a
        if a.each == 0 and operation != "sub":
            return b if operation == "add" else a
        if a.known is not None and b.known is not None:
            pairs = zip(a.known, b.known, strict=True)
            return sequence([_LINEAR[operation](*pair) for pair in pairs], element_of(a.type))
        with self.ahead():
            return self.binary(operation, a, b)

    # -- instructions ---------------------------------------------------------------------------

    def emit(self, type: str, text: str) -> Value:
        name = f"%{self.name('v')}"
        self.do(f"{name} = {text}")
        return Value(type, name)

    def binary(self, operation: str, a: Value, b: Value | int) -> Value:
        other = integer(b, a.type) if isinstance(b, int) else b
        if self._tracks and a.type.startswith("<"):
            found = self._linear(operation, a, other)
            if found is not None:
                return found
        return self.emit(a.type, f"{operation} {a}, {other.text}")

    def unary(self, operation: str, a: Value) -> Value:
        return self.emit(a.type, f"{operation} {a}")

    def compare(self, operation: str, a: Value, b: Value | int) -> Value:
        """`icmp ult` and the like."""
        other = integer(b, a.type) if isinstance(b, int) else b
        type = vector_of("i1", _count(a.type)) if a.type.startswith("<") else "i1"
        return self.emit(type, f"{operation} {a}, {other.text}")

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        return self.emit(yes.type, f"select {condition}, {yes}, {no}")

    def convert(self, operation: str, a: Value, type: str) -> Value:
        """`zext`, `bitcast` and the like."""
        if operation == "trunc" and a.text in self._widened and self._widened[a.text].type == type:
            return self._widened[a.text]
        if a.type == type:
            return a
        found = self._resized(operation, a, type)
        if found is None:
            found = self.emit(type, f"{operation} {a} to {type}")
        if operation in ("zext", "sext"):
            self._widened[found.text] = a
        return found

    def _resized(self, operation: str, a: Value, type: str) -> Value | None:
        """A vector whose lane offsets are known as one of wider or narrower elements, if that has some."""
        parts = self.lane_offsets(a) if operation in ("trunc", "zext", "sext") else None
        if parts is None or element_of(a.type) == "i1":
            return None
        offsets = signed(parts.offsets)
        if offsets is not None:
            if operation != "trunc" and any(offsets) and not self._stay_in_range(operation, parts, offsets):
                return None
            resized = sequence(offsets, element_of(type))
        elif operation == "trunc":
            with self.ahead():
                resized = self.convert("trunc", parts.offsets, type)
        else:
            return None
        return self.joined(LaneOffsets(self.convert(operation, parts.first, element_of(type)), resized))

    def _stay_in_range(self, operation: str, parts: LaneOffsets, offsets: Sequence[int]) -> bool:
        """Whether it can be found out that no sum of the first lane's value and one of the offsets overflows;
        where one does, goes elsewhere.
        """
        if not self.unless:
            return False
        first, bits = parts.first, int(parts.first.type[1:])
        low, high = (0, 1 << bits) if operation == "zext" else (-1 << (bits - 1), 1 << (bits - 1))
        low, high = low - min(0, *offsets), high - max(0, *offsets)
        above = self.binary("sub", first, low)
        self.require(self.compare("icmp ult", above, high - low))
        return True

    def require(self, condition: Value) -> None:
        """Goes on where a condition holds, else to `unless`."""
        go_on = self.name("as_thought")
        self.branch(condition, go_on, self.unless, likely=True)
        self.begin(go_on)

    def call(self, type: str, function: str, *arguments: Value) -> Value:
        self._declare(type, function, arguments)
        return self.emit(type, f"call {type} @{function}({', '.join(map(str, arguments))})")

    def run(self, function: str, *arguments: Value) -> None:
        """Calls a function without a result."""
        self._declare("void", function, arguments)
        self.do(f"call void @{function}({', '.join(map(str, arguments))})")

    def _declare(self, type: str, function: str, arguments: Sequence[Value]) -> None:
        if function.startswith("llvm."):
            types = ", ".join(one.type for one in arguments)
            self.declarations[function] = f"declare {type} @{function}({types})"

    def intrinsic(self, name: str, *arguments: Value) -> Value:
        """A function of LLVM on values of one type, with a result of that type."""
        type = arguments[0].type
        extra = [integer(0, "i1")] if name in ("cttz", "ctlz", "abs") else []
        return self.call(type, f"llvm.{name}.{suffix(type)}", *arguments, *extra)

    def extract(self, vector: Value, at: Value | int) -> Value:
        index = integer(at, "i32") if isinstance(at, int) else at
        parts = self.lane_offsets(vector)
        if parts is not None and isinstance(at, int):
            if at == 0 or parts.offsets.each == 0:
                return parts.first
            if parts.offsets.known is not None:
                return self.binary("add", parts.first, parts.offsets.known[at])
            with self.ahead():
                offset = self.extract(parts.offsets, at)
            return self.binary("add", parts.first, offset)
        return self.emit(element_of(vector.type), f"extractelement {vector}, {index}")

    def splat(self, value: Value, count: int = WARP_SIZE) -> Value:
        """A value in each lane."""
        if self._tracks and count == WARP_SIZE and value.type[1:].isdigit():
            return self.joined(LaneOffsets(value, integer(0, vector_of(value.type))))
        return self._splat(value, count)

    def _splat(self, value: Value, count: int = WARP_SIZE) -> Value:
        type = vector_of(value.type, count)
        one = self.emit(type, f"insertelement {type} poison, {value}, i32 0")
        return self.emit(
            type, f"shufflevector {one}, {type} poison, <{count} x i32> zeroinitializer"
        )

    def shuffle(self, a: Value, b: Value | None, lanes: Sequence[int]) -> Value:
        """Some of the elements of two vectors."""
        other = Value(a.type, "poison") if b is None else b
        type = vector_of(element_of(a.type), len(lanes))
        return self.emit(type, f"shufflevector {a}, {other}, {sequence(lanes, 'i32')}")

    # -- memory ---------------------------------------------------------------------------------

    def load(self, type: str, at: Value, alignment: int = 0) -> Value:
        return self.emit(type, f"load {type}, {at}{_aligned(alignment)}")

    def store(self, value: Value, at: Value, alignment: int = 0) -> None:
        self.do(f"store {value}, {at}{_aligned(alignment)}")

    def offset(self, base: Value, by: Value | int) -> Value:
        """A pointer so many bytes further; a vector of pointers where `by` is one."""
        index = integer(by, "i64") if isinstance(by, int) else by
        type = vector_of("ptr", _count(index.type)) if index.type.startswith("<") else "ptr"
        return self.emit(type, f"getelementptr i8, {base}, {index}")

    def bits(self, lanes: Value) -> Value:
        """Truths of lanes as a mask."""
        return self.convert("bitcast", lanes, f"i{_count(lanes.type)}")

    def truths(self, mask: Value) -> Value:
        return self.convert("bitcast", mask, vector_of("i1", int(mask.type[1:])))


def suffix(type: str) -> str:
    """A type as the names of overloaded functions have it."""
    element = element_of(type)
    short = _SUFFIXES.get(element, element)
    short = "p0" if short == "ptr" else short
    return f"v{_count(type)}{short}" if type.startswith("<") else short


def _aligned(alignment: int) -> str:
    return f", align {alignment}" if alignment else ""
