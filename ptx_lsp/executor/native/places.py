"""Where accesses go, as native code: the memory of an address, and whether it is right."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.memory import CONST_WINDOW, Space
from ptx_lsp.executor.native.ir import (
    ALL_LANES,
    Code,
    NotLoweredError,
    Value,
    element_of,
    integer,
    sequence,
    signed,
    vector_of,
)
from ptx_lsp.executor.native.layout import BUFFER, SITE, WORD, Fields
from ptx_lsp.executor.native.tracking import Shape, Tracking

HALF = WARP_SIZE // 2
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
    shadow: Value | None = None
    """The cells of memory whose uses are checked (`tracking`)."""
    is_shared: bool = False


class Places:
    """The places of a function's accesses."""

    def __init__(self, code: Code, fields: Fields, tracking: Tracking | None = None) -> None:
        self.code = code
        self.tracking = tracking
        self.step: Step | None = None
        """The present one."""
        self.site_steps: dict[int, Step] = {}
        self.fields = fields
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
        code, fields = self.code, self.fields
        match space:
            case ".shared":
                found = self._window(self.shared, fields["shared_limit"], addresses, size, active, leave)
                if self.tracking is None or self.step is None:
                    return found
                self.tracking.bounded(self.step, addresses, size, active)
                return replace(found, shadow=fields["shadow"], is_shared=True)
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
                self.check(found, leave)
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
        code = self.code
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
        code = self.code
        skipped = 0 if is_generic else 1
        buffers = code.offset(self.fields["buffers"], skipped * BUFFER * WORD)
        count = code.binary("sub", self.fields["buffer_count"], skipped)
        site = code.offset(self.fields["sites"], SITE * WORD * self.sites)
        if self.step is not None:
            self.site_steps[self.sites] = self.step
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
        shadow = code.load("ptr", code.offset(site, 3 * WORD), WORD) if self.tracking is not None else None
        return Place(data, offsets, code.binary("sub", end, 1), size, active, shadow=shadow)

    def track(self, place: Place, *, writes: bool, shape: Shape = "") -> None:
        """Checks who has used the memory before."""
        if self.tracking is not None and place.shadow is not None and self.step is not None:
            self.tracking.use(
                self.step, place.shadow, place.offsets, place.size, place.active, writes=writes,
                is_shared=place.is_shared, shape=shape,
            )

    def _first(self, values: Value, active: Value) -> Value:
        """The value of the first lane of a mask."""
        code = self.code
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

    def check(self, place: Place, leave: str) -> None:
        """Jumps to `leave` unless all offsets are in range and aligned."""
        code, offsets = self.code, place.offsets
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
        code, found = self.code, self._known(place)
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
        parts = self.code.lane_offsets(place.offsets)
        return None if parts is None else signed(parts.offsets)

    def known_step(self, place: Place) -> int | None:
        """How much more than the lane before it each lane has in its half of the warp, if that is the size of
        the access, or nothing, in all warps of which all lanes take part.
        """
        found = self._known(place) if place.active == ALL_LANES and not place.is_private else None
        if found is None:
            return None
        halves = found[:HALF], found[HALF:]
        return next((
            step for step in (0, place.size)
            if all(half == [half[0] + at * step for at in range(HALF)] for half in halves)
            and found[HALF] % place.size == 0
        ), None)

    def shapes(self, place: Place, leave: str) -> tuple[str, str, str]:
        """Labels of code for lanes of which each half of the warp accesses the same place, for each half one
        place after the other, and for all else.
        """
        code = self.code
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
        self._check_ends(place, (HALF - 1) * place.size, close, leave)
        code.begin(other)
        is_same = self._is_regular(place.offsets, 0)
        first_same = code.name("is_same")
        code.branch(is_same, first_same, general)
        code.begin(first_same)
        self._check_ends(place, 0, same, leave)
        return same, close, general

    def _is_regular(self, offsets: Value, step: int) -> Value:
        """Whether each lane has `step` more than the lane before it in its half of the warp."""
        code = self.code
        parts = code.lane_offsets(offsets)
        if parts is not None:
            with code.ahead():
                return self._is_regular(parts.offsets, step)
        found = code.shuffle(offsets, None, [0] * HALF + [HALF] * HALF)
        if step:
            steps = sequence([at * step for at in range(HALF)] * 2, element_of(offsets.type))
            found = code.binary("add", found, steps)
        return code.compare("icmp eq", code.bits(code.compare("icmp eq", offsets, found)), _ALL)

    def _check_ends(self, place: Place, span: int, go_on: str, leave: str) -> None:
        """Goes on where both halves are in range, with what comes `span` bytes after their first, and
        aligned.
        """
        code, limit = self.code, place.limit
        first, second = (code.extract(place.offsets, at) for at in (0, HALF))
        greatest = code.call(first.type, f"llvm.umax.{first.type}", first, second)
        right = code.compare("icmp ule", greatest, code.binary("sub", limit, span))
        if span:
            right = code.binary("and", right, code.compare("icmp uge", limit, span))
        if place.size > 1:
            low = code.binary("and", code.binary("or", first, second), place.size - 1)
            right = code.binary("and", right, code.compare("icmp eq", low, 0))
        code.branch(right, go_on, leave, likely=True)

    def starts(self, place: Place) -> list[Value]:
        """Pointers to what the first lane of each half accesses."""
        code = self.code
        offsets = [code.extract(place.offsets, at) for at in (0, HALF)]
        return [code.offset(place.base, code.convert("zext", one, "i64")) for one in offsets]


_FIND = f"""
define internal i1 @find(ptr %buffers, i64 %count, ptr %site, i64 %address, i64 %size, i64 %writes)
  noinline {{
entry:
  %known.at = getelementptr i8, ptr %site, i64 {WORD}
  %known = load i64, ptr %known.at
  %first = icmp eq i64 %known, 0
  %allows = or i1 %first, OTHERS
  br i1 %allows, label %begin, label %none
begin:
  br label %head
head:
  %at = phi i64 [0, %begin], [%next, %more]
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
  %cells.at = getelementptr i8, ptr %buffer, i64 {4 * WORD}
  %cells = load i64, ptr %cells.at
  %shadow.at = getelementptr i8, ptr %site, i64 {3 * WORD}
  store i64 %cells, ptr %shadow.at
  ret i1 true
none:
  ret i1 false
}}
"""
"""Looks for the buffer of an access, and remembers it at its site."""


def find_function(*, is_checked: bool) -> str:
    """The function that finds buffers; with `is_checked` each site has only one of them."""
    return _FIND.replace("OTHERS", "false" if is_checked else "true")
