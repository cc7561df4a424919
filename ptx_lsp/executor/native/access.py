"""Accesses to memory as native code: as `address_resolution` has it, for the addresses that are right. All
others are left to it: native code stops before the instruction.
"""

from __future__ import annotations

from collections.abc import Callable

from ptx_lsp.executor.arithmetic.program import DType
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.native.ir import (
    NotLoweredError,
    Value,
    element_of,
    integer,
    scalar_type,
    suffix,
    vector_of,
)
from ptx_lsp.executor.native.places import HALF, Place, Places


class Accesses(Places):
    """Loads and stores of a function."""

    # -- loads ----------------------------------------------------------------------------------

    def load(self, place: Place, element: DType, count: int, leave: str) -> list[Value]:
        """`count` elements for each lane of the mask; anything for others."""
        code, scalar = self.code, scalar_type(element)
        done = code.name("loaded")
        paths: list[tuple[str, list[Value]]] = []
        step = self.known_step(place)
        if step is not None:
            self.check(place, leave)
            self.track(place, writes=False, shape="close" if step else "same")
            halves = self._close_in_half if step else self._same_in_half
            return halves(place, scalar, count)
        if not place.is_private:
            same, close, general = self.shapes(place, leave)
            for label, halves in (
                (same, self._same_in_half), (close, self._close_in_half)
            ):
                code.begin(label)
                self.track(place, writes=False, shape="close" if label == close else "same")
                values = halves(place, scalar, count)
                paths.append((self._end(done), values))
            code.begin(general)
            self.check(place, leave)
        self.track(place, writes=False)
        paths.append(self._gathered(place, scalar, count, done))
        code.begin(done)
        found: list[Value] = []
        for at in range(count):
            values = ", ".join(f"[{values[at].text}, %{label}]" for label, values in paths)
            found.append(code.emit(vector_of(scalar), f"phi {vector_of(scalar)} {values}"))
        return found

    def parameter(self, address: int, element: DType, count: int, leave: str) -> list[Value]:
        """`count` elements of the parameters at an address that is the same for all lanes."""
        code, fields, size = self.code, self.fields, element.itemsize
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
        label = self.code.name("path")
        self.code.jump(label)
        self.code.begin(label)
        self.code.jump(done)
        return label

    def _same_in_half(self, place: Place, scalar: str, count: int) -> list[Value]:
        code, each = self.code, place.size // count
        starts = self.starts(place)
        found: list[Value] = []
        for at in range(count):
            first, second = (
                code.splat(code.load(scalar, code.offset(start, at * each), each), HALF) for start in starts
            )
            found.append(code.shuffle(first, second, range(WARP_SIZE)))
        return found

    def _close_in_half(self, place: Place, scalar: str, count: int) -> list[Value]:
        code, each = self.code, place.size // count
        type = vector_of(scalar, HALF * count)
        first, second = (code.load(type, start, each) for start in self.starts(place))
        return [
            code.shuffle(first, second, [lane * count + at for lane in range(WARP_SIZE)])
            for at in range(count)
        ]

    def _gathered(self, place: Place, scalar: str, count: int, done: str) -> tuple[str, list[Value]]:
        code, each = self.code, place.size // count
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
        code = self.code
        index = code.convert("sext", place.offsets, vector_of("i64"))
        base = code.offset(place.base, further) if further else place.base
        return code.offset(base, index)

    # -- stores ---------------------------------------------------------------------------------

    def store(self, place: Place, values: list[Value], leave: str) -> None:
        """Stores elements for each lane of the mask, the last lane's where several access one place."""
        code, count = self.code, len(values)
        each = place.size // count
        done = code.name("stored")
        step = self.known_step(place)
        if step is not None:
            self.check(place, leave)
            self.track(place, writes=True, shape="close" if step else "same")
            store = self._store_close if step else self._store_same
            store(place, values)
            return
        if not place.is_private:
            same, close, general = self.shapes(place, leave)
            code.begin(close)
            self.track(place, writes=True, shape="close")
            self._store_close(place, values)
            code.jump(done)
            code.begin(same)
            self.track(place, writes=True, shape="same")
            self._store_same(place, values)
            code.jump(done)
            code.begin(general)
            self.check(place, leave)
        self.track(place, writes=True)
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
        for start, first in zip(self.starts(place), (0, HALF), strict=True):
            self.code.store(self._interleaved(values, first), start, each)

    def _store_same(self, place: Place, values: list[Value]) -> None:
        code, each = self.code, place.size // len(values)
        for start, last in zip(self.starts(place), (HALF - 1, WARP_SIZE - 1), strict=True):
            for at, value in enumerate(values):
                code.store(code.extract(value, last), code.offset(start, at * each), each)

    def update(
        self, place: Place, operands: list[Value], element: DType,
        updated: Callable[[list[Value]], Value], leave: str,
    ) -> Value:
        """Changes an element for each lane of the mask, one lane after the other; what each lane found."""
        code, size = self.code, place.size
        type = vector_of(scalar_type(element))
        if not place.is_private:
            self.check(place, leave)
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
        code = self.code
        halves = [code.shuffle(value, None, range(first, first + HALF)) for value in values]
        count = len(halves)
        if count == 1:
            return halves[0]
        while len(halves) > 1:
            wide = len(halves) // 2
            size = HALF * count // len(halves)
            halves = [code.shuffle(halves[2 * at], halves[2 * at + 1], range(2 * size)) for at in range(wide)]
        order = [at * HALF + lane for lane in range(HALF) for at in range(count)]
        return code.shuffle(halves[0], None, order)
