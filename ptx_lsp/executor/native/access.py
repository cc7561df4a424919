"""Accesses to memory as native code: as `address_resolution` has it, for the addresses that are right. All
others are left to it: native code stops before the instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptx_lsp.executor.arithmetic.program import DType
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.memory import CONST_WINDOW, Space
from ptx_lsp.executor.native.ir import (
    ALL_LANES,
    Code,
    NotLoweredError,
    Value,
    element_of,
    integer,
    scalar_type,
    sequence,
    signed,
    suffix,
    vector_of,
)
from ptx_lsp.executor.native.layout import BUFFER, SITE, WORD, Fields

_HALF = WARP_SIZE // 2
_ALL = (1 << WARP_SIZE) - 1


@dataclass(frozen=True)
class Place:
    """Where the lanes of a mask access memory: a pointer, and how many bytes after it."""

    base: Value
    offsets: Value
    limit: Value
    """The greatest offset that an access may have."""
    size: int
    active: Value
    is_private: bool = False
    """Whether each lane has memory of its own."""


class Accesses:
    """Loads and stores of a function."""

    def __init__(self, code: Code, fields: Fields) -> None:
        self._code = code
        self._fields = fields
        self.sites = 0
        """How many accesses remember a buffer."""
        self.may_be_shared = False
        """Whether any of those may be to shared memory, of which each block has its own."""
        self.shared: Value = fields["shared"]
        """The memory of the present block."""
        self.lane = integer(0, "i64")
        """The number of the first lane of the present warp."""

    def place(
        self, addresses: Value, space: Space, size: int, active: Value, leave: str, *, writes: bool
    ) -> Place:
        """Where `addresses` are, for accesses of `size` bytes; jumps to `leave` where that is not simple."""
        code, fields = self._code, self._fields
        match space:
            case ".shared":
                return self._window(self.shared, fields["shared_limit"], addresses, size, active, leave)
            case ".param":
                if writes:
                    raise NotLoweredError("a parameter is written")
                base, limit = fields["parameters"], fields["parameter_limit"]
                return self._window(base, limit, addresses, size, active, leave)
            case ".local":
                stride = fields["local_stride"]
                base = code.offset(fields["local"], code.binary("mul", self.lane, stride))
                limit = code.load("i64", fields.place("local_limit"), WORD)
                found = self._window(base, limit, addresses, size, active, leave)
                self._check(found, leave)
                row = code.splat(code.convert("trunc", stride, "i32"))
                own = code.binary("mul", row, sequence(range(WARP_SIZE), "i32"))
                offsets = code.binary("add", found.offsets, own)
                return Place(base, offsets, found.limit, size, active, is_private=True)
            case ".const":
                base = code.splat(integer(CONST_WINDOW, "i64"))
                addresses = code.binary("add", addresses, base)
                return self._global(addresses, size, active, leave, writes=writes)
            case ".global":
                return self._global(addresses, size, active, leave, writes=writes)
            case _:
                return self._global(addresses, size, active, leave, writes=writes, is_generic=True)

    def _window(
        self, base: Value, bytes: Value, addresses: Value, size: int, active: Value, leave: str
    ) -> Place:
        code = self._code
        go_on = code.name("window")
        code.branch(code.compare("icmp uge", bytes, size), go_on, leave, likely=True)
        code.begin(go_on)
        limit = code.convert("trunc", code.binary("sub", bytes, size), "i32")
        offsets = code.convert("trunc", addresses, vector_of("i32"))
        return Place(base, offsets, limit, size, active)

    def _global(
        self, addresses: Value, size: int, active: Value, leave: str, *, writes: bool,
        is_generic: bool = False,
    ) -> Place:
        """In the buffer that the first lane accesses. Only `is_generic` addresses may be in the first one,
        shared memory.
        """
        code = self._code
        skipped = 0 if is_generic else 1
        buffers = code.offset(self._fields["buffers"], skipped * BUFFER * WORD)
        count = code.binary("sub", self._fields["buffer_count"], skipped)
        site = code.offset(self._fields["sites"], SITE * WORD * self.sites)
        self.sites += 1
        self.may_be_shared |= is_generic
        first = self._first(addresses, active)
        look, search, found = (code.name(stem) for stem in ("look", "search", "found"))
        code.jump(look)
        code.begin(look)
        base = code.load("i64", site, WORD)
        end = code.load("i64", code.offset(site, WORD), WORD)
        offset = code.binary("sub", first, base)
        code.branch(code.compare("icmp ult", offset, end), found, search, likely=True)
        code.begin(search)
        writing = integer(int(writes), "i64")
        is_there = code.call(
            "i1", "find", buffers, count, site, first, integer(size, "i64"), writing,
        )
        code.branch(is_there, look, leave)
        code.begin(found)
        data = code.load("ptr", code.offset(site, 2 * WORD), WORD)
        offsets = code.binary("sub", addresses, code.splat(base))
        return Place(data, offsets, code.binary("sub", end, 1), size, active)

    def _first(self, values: Value, active: Value) -> Value:
        """The value of the first lane of a mask."""
        code = self._code
        if active == ALL_LANES:
            return code.extract(values, 0)
        some, all_lanes, done = (code.name(stem) for stem in ("some", "all", "first"))
        code.branch(code.compare("icmp eq", active, _ALL), all_lanes, some, likely=True)
        code.begin(all_lanes)
        one = code.extract(values, 0)
        code.jump(done)
        code.begin(some)
        other = code.extract(values, code.intrinsic("cttz", active))
        code.jump(done)
        code.begin(done)
        return code.emit(one.type, f"phi {one.type} [{one.text}, %{all_lanes}], [{other.text}, %{some}]")

    def _check(self, place: Place, leave: str) -> None:
        """Jumps to `leave` unless all offsets are in range and aligned."""
        code, offsets = self._code, place.offsets
        if place.active == ALL_LANES and self._check_first(place, leave):
            return
        right = code.compare("icmp ule", offsets, code.splat(place.limit))
        if place.size > 1:
            low = code.binary("and", offsets, place.size - 1)
            right = code.binary("and", right, code.compare("icmp eq", low, 0))
        wrong = code.binary("and", code.binary("xor", code.bits(right), -1), place.active)
        go_on = code.name("checked")
        code.branch(code.compare("icmp eq", wrong, 0), go_on, leave, likely=True)
        code.begin(go_on)

    def _check_first(self, place: Place, leave: str) -> bool:
        """As `_check`, by the first lane alone; whether all others have known offsets from it."""
        code, found = self._code, self._known(place)
        if found is None or any(one % place.size for one in found):
            return False
        first, low, high = code.extract(place.offsets, 0), -min(found), max(found)
        most = code.binary("sub", place.limit, low + high)
        right = code.compare("icmp ule", code.binary("sub", first, low), most)
        if low + high:
            right = code.binary("and", right, code.compare("icmp uge", place.limit, low + high))
        if place.size > 1:
            aligned = code.compare("icmp eq", code.binary("and", first, place.size - 1), 0)
            right = code.binary("and", right, aligned)
        go_on = code.name("checked")
        code.branch(right, go_on, leave, likely=True)
        code.begin(go_on)
        return True

    def _known(self, place: Place) -> list[int] | None:
        """How much more than the offset of the first lane each lane has, as far as that is the same in all
        warps.
        """
        parts = self._code.lane_offsets(place.offsets)
        return None if parts is None else signed(parts.offsets)

    def _known_step(self, place: Place) -> int | None:
        """How much more than the lane before it each lane has in its half of the warp, if that is the size of
        the access, or nothing, in all warps of which all lanes take part.
        """
        found = self._known(place) if place.active == ALL_LANES and not place.is_private else None
        if found is None:
            return None
        halves = found[:_HALF], found[_HALF:]
        return next((
            step for step in (0, place.size)
            if all(half == [half[0] + at * step for at in range(_HALF)] for half in halves)
            and found[_HALF] % place.size == 0
        ), None)

    # -- loads ----------------------------------------------------------------------------------

    def load(self, place: Place, element: DType, count: int, leave: str) -> list[Value]:
        """`count` elements for each lane of the mask; anything for others."""
        code, scalar = self._code, scalar_type(element)
        done = code.name("loaded")
        paths: list[tuple[str, list[Value]]] = []
        step = self._known_step(place)
        if step is not None:
            self._check(place, leave)
            halves = self._close_in_half if step else self._same_in_half
            return halves(place, scalar, count)
        if not place.is_private:
            same, close, general = self._shapes(place, leave)
            for label, halves in (
                (same, self._same_in_half), (close, self._close_in_half)
            ):
                code.begin(label)
                values = halves(place, scalar, count)
                paths.append((self._end(done), values))
            code.begin(general)
            self._check(place, leave)
        paths.append(self._gathered(place, scalar, count, done))
        code.begin(done)
        found: list[Value] = []
        for at in range(count):
            values = ", ".join(f"[{values[at].text}, %{label}]" for label, values in paths)
            found.append(code.emit(vector_of(scalar), f"phi {vector_of(scalar)} {values}"))
        return found

    def parameter(self, address: int, element: DType, count: int, leave: str) -> list[Value]:
        """`count` elements of the parameters at an address that is the same for all lanes."""
        code, fields, size = self._code, self._fields, element.itemsize
        if address % (size * count):
            raise NotLoweredError("a misaligned parameter")
        fits = code.compare("icmp uge", fields["parameter_limit"], address + size * count)
        go_on = code.name("parameter")
        code.branch(fits, go_on, leave, likely=True)
        code.begin(go_on)
        places = (code.offset(fields["parameters"], address + at * size) for at in range(count))
        return [code.splat(code.load(scalar_type(element), place, size)) for place in places]

    def _end(self, done: str) -> str:
        """Ends a path; the label of where it ends."""
        label = self._code.name("path")
        self._code.jump(label)
        self._code.begin(label)
        self._code.jump(done)
        return label

    def _shapes(self, place: Place, leave: str) -> tuple[str, str, str]:
        """Labels of code for lanes of which each half of the warp accesses the same place, for each half one
        place behind the other, and for all else.
        """
        code = self._code
        same, close, general, full, other = (
            code.name(stem) for stem in ("same", "close", "general", "full", "other")
        )
        if place.active == ALL_LANES:
            code.jump(full)
        else:
            code.branch(code.compare("icmp eq", place.active, _ALL), full, general, likely=True)
        code.begin(full)
        is_close = self._is_regular(place.offsets, place.size)
        first_close = code.name("is_close")
        code.branch(is_close, first_close, other)
        code.begin(first_close)
        self._check_ends(place, (_HALF - 1) * place.size, close, leave)
        code.begin(other)
        is_same = self._is_regular(place.offsets, 0)
        first_same = code.name("is_same")
        code.branch(is_same, first_same, general)
        code.begin(first_same)
        self._check_ends(place, 0, same, leave)
        return same, close, general

    def _is_regular(self, offsets: Value, step: int) -> Value:
        """Whether each lane has `step` more than the lane before it in its half of the warp."""
        code = self._code
        parts = code.lane_offsets(offsets)
        if parts is not None:
            with code.ahead():
                return self._is_regular(parts.offsets, step)
        found = code.shuffle(offsets, None, [0] * _HALF + [_HALF] * _HALF)
        if step:
            steps = sequence([at * step for at in range(_HALF)] * 2, element_of(offsets.type))
            found = code.binary("add", found, steps)
        return code.compare("icmp eq", code.bits(code.compare("icmp eq", offsets, found)), _ALL)

    def _check_ends(self, place: Place, span: int, go_on: str, leave: str) -> None:
        """Goes on where both halves are in range, with what comes `span` bytes behind their first, and
        aligned.
        """
        code, limit = self._code, place.limit
        first, second = (code.extract(place.offsets, at) for at in (0, _HALF))
        greatest = code.call(first.type, f"llvm.umax.{first.type}", first, second)
        right = code.compare("icmp ule", greatest, code.binary("sub", limit, span))
        if span:
            right = code.binary("and", right, code.compare("icmp uge", limit, span))
        if place.size > 1:
            low = code.binary("and", code.binary("or", first, second), place.size - 1)
            right = code.binary("and", right, code.compare("icmp eq", low, 0))
        code.branch(right, go_on, leave, likely=True)

    def _starts(self, place: Place) -> list[Value]:
        """Pointers to what the first lane of each half accesses."""
        code = self._code
        offsets = [code.extract(place.offsets, at) for at in (0, _HALF)]
        return [code.offset(place.base, code.convert("zext", one, "i64")) for one in offsets]

    def _same_in_half(self, place: Place, scalar: str, count: int) -> list[Value]:
        code, each = self._code, place.size // count
        starts = self._starts(place)
        found: list[Value] = []
        for at in range(count):
            first, second = (
                code.splat(code.load(scalar, code.offset(start, at * each), each), _HALF) for start in starts
            )
            found.append(code.shuffle(first, second, range(WARP_SIZE)))
        return found

    def _close_in_half(self, place: Place, scalar: str, count: int) -> list[Value]:
        code, each = self._code, place.size // count
        type = vector_of(scalar, _HALF * count)
        first, second = (code.load(type, start, each) for start in self._starts(place))
        return [
            code.shuffle(first, second, [lane * count + at for lane in range(WARP_SIZE)])
            for at in range(count)
        ]

    def _gathered(self, place: Place, scalar: str, count: int, done: str) -> tuple[str, list[Value]]:
        code, each = self._code, place.size // count
        type = vector_of(scalar)
        truths = code.truths(place.active)
        found = [
            code.call(
                type, f"llvm.masked.gather.{suffix(type)}.v{WARP_SIZE}p0", self._pointers(place, at * each),
                integer(each, "i32"), truths, Value(type, "zeroinitializer"),
            )
            for at in range(count)
        ]
        return self._end(done), found

    def _pointers(self, place: Place, further: int) -> Value:
        code = self._code
        index = code.convert("sext", place.offsets, vector_of("i64"))
        base = code.offset(place.base, further) if further else place.base
        return code.offset(base, index)

    # -- stores ---------------------------------------------------------------------------------

    def store(self, place: Place, values: list[Value], leave: str) -> None:
        """Stores elements for each lane of the mask, the last lane's where several access one place."""
        code, count = self._code, len(values)
        each = place.size // count
        done = code.name("stored")
        step = self._known_step(place)
        if step is not None:
            self._check(place, leave)
            store = self._store_close if step else self._store_same
            store(place, values)
            return
        if not place.is_private:
            same, close, general = self._shapes(place, leave)
            code.begin(close)
            self._store_close(place, values)
            code.jump(done)
            code.begin(same)
            self._store_same(place, values)
            code.jump(done)
            code.begin(general)
            self._check(place, leave)
        truths = code.truths(place.active)
        for at, value in enumerate(values):
            code.run(
                f"llvm.masked.scatter.{suffix(value.type)}.v{WARP_SIZE}p0", value,
                self._pointers(place, at * each), integer(each, "i32"), truths,
            )
        code.jump(done)
        code.begin(done)

    def _store_close(self, place: Place, values: list[Value]) -> None:
        each = place.size // len(values)
        for start, first in zip(self._starts(place), (0, _HALF), strict=True):
            self._code.store(self._interleaved(values, first), start, each)

    def _store_same(self, place: Place, values: list[Value]) -> None:
        code, each = self._code, place.size // len(values)
        for start, last in zip(self._starts(place), (_HALF - 1, WARP_SIZE - 1), strict=True):
            for at, value in enumerate(values):
                code.store(code.extract(value, last), code.offset(start, at * each), each)

    def update(
        self, place: Place, operands: list[Value], element: DType,
        updated: Callable[[list[Value]], Value], leave: str,
    ) -> Value:
        """Changes an element for each lane of the mask, one lane after the other; what each lane found."""
        code, size = self._code, place.size
        type = vector_of(scalar_type(element))
        if not place.is_private:
            self._check(place, leave)
        found, left = code.slot(type, "found"), code.slot("i32", "left")
        code.store(Value(type, "zeroinitializer"), found)
        code.store(place.active, left)
        head, one, done = (code.name(stem) for stem in ("lanes", "lane", "updated"))
        code.jump(head)
        code.begin(head)
        rest = code.load("i32", left)
        code.branch(code.compare("icmp eq", rest, 0), done, one)
        code.begin(one)
        lane = code.intrinsic("cttz", rest)
        code.store(code.binary("and", rest, code.binary("sub", rest, 1)), left)
        offset = code.extract(place.offsets, lane)
        at = code.offset(place.base, code.convert("sext", offset, "i64"))
        old = code.load(element_of(type), at, size)
        values = [code.splat(one) for one in (old, *(code.extract(one, lane) for one in operands))]
        new = updated(values)
        code.store(code.extract(new, 0), at, size)
        before = code.load(type, found)
        code.store(code.emit(type, f"insertelement {before}, {old}, {lane}"), found)
        code.jump(head)
        code.begin(done)
        return code.load(type, found)

    def _interleaved(self, values: list[Value], first: int) -> Value:
        """The elements of half a warp as they lie in memory."""
        code = self._code
        halves = [code.shuffle(value, None, range(first, first + _HALF)) for value in values]
        count = len(halves)
        if count == 1:
            return halves[0]
        while len(halves) > 1:
            wide = len(halves) // 2
            size = _HALF * count // len(halves)
            halves = [code.shuffle(halves[2 * at], halves[2 * at + 1], range(2 * size)) for at in range(wide)]
        order = [at * _HALF + lane for lane in range(_HALF) for at in range(count)]
        return code.shuffle(halves[0], None, order)


FIND = f"""
define internal i1 @find(ptr %buffers, i64 %count, ptr %site, i64 %address, i64 %size, i64 %writes)
  noinline {{
entry:
  br label %head
head:
  %at = phi i64 [0, %entry], [%next, %more]
  %last = icmp eq i64 %at, %count
  br i1 %last, label %none, label %look
look:
  %skip = mul i64 %at, {BUFFER * WORD}
  %buffer = getelementptr i8, ptr %buffers, i64 %skip
  %base = load i64, ptr %buffer
  %size.at = getelementptr i8, ptr %buffer, i64 {WORD}
  %bytes = load i64, ptr %size.at
  %data.at = getelementptr i8, ptr %buffer, i64 {2 * WORD}
  %data = load i64, ptr %data.at
  %writable.at = getelementptr i8, ptr %buffer, i64 {3 * WORD}
  %writable = load i64, ptr %writable.at
  %offset = sub i64 %address, %base
  %limit = sub i64 %bytes, %size
  %holds = icmp uge i64 %bytes, %size
  %inside = icmp ule i64 %offset, %limit
  %there = and i1 %holds, %inside
  br i1 %there, label %allowed, label %more
allowed:
  %may = icmp uge i64 %writable, %writes
  br i1 %may, label %found, label %none
more:
  %next = add i64 %at, 1
  br label %head
found:
  store i64 %base, ptr %site
  %end = add i64 %limit, 1
  %end.at = getelementptr i8, ptr %site, i64 {WORD}
  store i64 %end, ptr %end.at
  %pointer.at = getelementptr i8, ptr %site, i64 {2 * WORD}
  store i64 %data, ptr %pointer.at
  ret i1 true
none:
  ret i1 false
}}
"""
"""Looks for the buffer of an access, and remembers it at its site."""
