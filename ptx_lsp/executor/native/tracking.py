"""Users of each cell of memory, as native code: a certificate that a run had no race and read nothing before
it was written. Where that is not certain the run ends as *suspect*; it is repeated with all checks.

1. A cell is an integer of 32 bits: the number of its user, whether it was ever written, and whether the user
   has written it. Numbers grow: each period between two barriers has numbers of its own, the first of them
   for several readers, and a cell with a number of an earlier period counts as unused. Global memory has one
   period.
2. A thread may write a cell that is unused or its own. It may read one that is unused, its own, or not
   written in this period; in shared memory it must have been written before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.native.ir import Code, Value, integer, sequence, vector_of
from ptx_lsp.executor.native.layout import Fields

_HALF = WARP_SIZE // 2
_LANES = vector_of("i32")
_CELL = 4
_FLAGS, _WRITTEN, _OWN = 2, 2, 1
MOST_LANES = 1 << 28
"""More lanes a launch cannot have, as their numbers would not fit."""
Shape = Literal["", "close", "same"]
"""Where the lanes of each half of a warp access memory: one after the other, all in one place, or else."""
SUSPECT = "suspect"
"""Where native code ends a run."""


@dataclass(frozen=True, eq=False)
class Checks:
    """Checks in native code, by the ids of steps."""

    granule: int
    """The bytes of a cell: no access is smaller."""
    bounds: Mapping[int, tuple[int, int]]
    """The range of addresses that an access to shared memory must keep within."""
    constant: frozenset[int]
    """The loads that must read only what the launch does not write."""
    divisors: Mapping[int, tuple[int, int]]
    """The register that must not be 0, and how many of its bits count."""


@dataclass(frozen=True)
class Cells:
    """The cells that lanes use: pointers, and which lanes do. `halves` has where the cells of each half of a
    warp begin, if they have a shape.
    """

    pointers: Value
    active: Value
    halves: tuple[Value, Value] | None
    shape: Shape


class Tracking:
    """Writes the code for uses of memory."""

    def __init__(self, code: Code, fields: Fields, checks: Checks) -> None:
        self._code = code
        self._fields = fields
        self.checks = checks
        self._period = code.slot("i32", "period")
        """The number of several readers in shared memory."""
        self.meeting = code.slot("i32", "meeting")
        """The barrier that the threads of a block have reached; -1 for none so far."""
        self.thread = integer(0, "i64")
        """The number of the first lane of the present warp in its block, and in the wave."""
        self.lane = integer(0, "i64")

    @property
    def scale(self) -> int:
        """How many bytes of cells there are for each byte of memory."""
        return _CELL // self.checks.granule

    # -- blocks and barriers --------------------------------------------------------------------

    def begin_block(self) -> None:
        code, fields = self._code, self._fields
        size = code.binary("mul", fields["shared_stride"], self.scale)
        code.run("llvm.memset.p0.i64", fields["shadow"], integer(0, "i8"), size, integer(0, "i1"))
        code.store(integer(1, "i32"), self._period)
        code.store(integer(-1, "i32"), self.meeting)

    def meet(self, positions: Value) -> None:
        """Where a warp stops: at the barrier that others are at."""
        code = self._code
        point = code.extract(positions, 0)
        before = code.load("i32", self.meeting)
        is_first = code.compare("icmp eq", before, -1)
        self.require(code.binary("or", is_first, code.compare("icmp eq", before, point)))
        code.store(point, self.meeting)

    def arrive(self, mask: Value) -> None:
        """A group has reached a barrier: it must be all threads of its warp, so that none passes it by."""
        code = self._code
        first = code.convert("trunc", self.thread, "i32")
        lanes = code.binary("add", code.splat(first), sequence(range(WARP_SIZE), "i32"))
        threads = code.splat(code.convert("trunc", self._fields["threads"], "i32"))
        exists = code.bits(code.compare("icmp ult", lanes, threads))
        self.require(code.compare("icmp eq", mask, exists))

    def meet_nobody(self) -> None:
        """A warp has exited: no other one may be at a barrier, or reach one."""
        code = self._code
        before = code.load("i32", self.meeting)
        gone = integer(-2, "i32")
        is_first = code.compare("icmp eq", before, -1)
        self.require(code.binary("or", is_first, code.compare("icmp eq", before, gone)))
        code.store(gone, self.meeting)

    def begin_period(self) -> None:
        """All threads of a block go on after a barrier."""
        code = self._code
        threads = code.convert("trunc", self._fields["threads"], "i32")
        period = code.binary("add", code.load("i32", self._period), code.binary("add", threads, 1))
        self.require(code.compare("icmp ult", period, MOST_LANES))
        code.store(period, self._period)
        code.store(integer(-1, "i32"), self.meeting)

    def require(self, condition: Value) -> None:
        """Goes on where a condition holds; else the run is suspect."""
        go_on = self._code.name("certain")
        self._code.branch(condition, go_on, SUSPECT, likely=True)
        self._code.begin(go_on)

    # -- steps ----------------------------------------------------------------------------------

    def bounded(self, step: Step, addresses: Value, size: int, active: Value) -> None:
        """An access to shared memory must be within its variable."""
        code, bounds = self._code, self.checks.bounds.get(id(step))
        if bounds is None:
            return
        start, end = bounds
        place = code.binary("sub", code.convert("trunc", addresses, _LANES), start)
        wrong = code.bits(code.compare("icmp ugt", place, max(0, end - start - size)))
        self.require(code.compare("icmp eq", code.binary("and", wrong, active), 0))

    def divides(self, divisors: Value, bits: int, active: Value) -> None:
        """No divisor may be 0."""
        code = self._code
        low = code.convert("trunc", divisors, vector_of(f"i{bits}"))
        zero = code.bits(code.compare("icmp eq", low, 0))
        self.require(code.compare("icmp eq", code.binary("and", zero, active), 0))

    # -- accesses -------------------------------------------------------------------------------

    def use(
        self, step: Step, shadow: Value, offsets: Value, size: int, active: Value, *, writes: bool,
        is_shared: bool, shape: Shape,
    ) -> None:
        """Lanes access `size` bytes each, at offsets in a memory with cells, or without (null): that is not
        written as far as is known.
        """
        code, done = self._code, self._code.name("used")
        if not is_shared:
            is_there = code.compare("icmp ne", shadow, Value("ptr", "null"))
            if writes:
                self.require(is_there)
            else:
                track = code.name("track")
                code.branch(is_there, track, done)
                code.begin(track)
                if id(step) in self.checks.constant:
                    code.jump(SUSPECT)
                    code.begin(done)
                    return
        first = self.thread if is_shared else code.binary("add", self._fields["first_thread"], self.lane)
        period = code.load("i32", self._period) if is_shared else integer(1, "i32")
        first = code.binary("add", code.convert("trunc", first, "i32"), code.binary("add", period, 1))
        own = code.binary("add", code.splat(first), sequence(range(WARP_SIZE), "i32"))
        count = size // self.checks.granule
        for at in range(count):
            cells = self._cells(shadow, offsets, at, active, shape if count == 1 or shape == "same" else "")
            if writes:
                self._write(cells, own, period)
            elif shape == "same":
                self._read_together(cells, period, is_shared=is_shared)
            else:
                self._read(cells, own, period, is_shared=is_shared)
        code.jump(done)
        code.begin(done)

    def _cells(self, shadow: Value, offsets: Value, at: int, active: Value, shape: Shape) -> Cells:
        code = self._code
        base = code.offset(shadow, _CELL * at)
        halves = None
        if shape:
            ends = (code.convert("zext", code.extract(offsets, one), "i64") for one in (0, _HALF))
            one, other = (code.offset(base, code.binary("mul", end, self.scale)) for end in ends)
            halves = one, other
        index = code.binary("mul", code.convert("sext", offsets, vector_of("i64")), self.scale)
        return Cells(code.offset(base, index), active, halves, shape)

    def _load(self, cells: Cells) -> Value:
        code = self._code
        if cells.halves is not None and cells.shape == "close":
            one, other = (code.load(vector_of("i32", _HALF), half, _CELL) for half in cells.halves)
            return code.shuffle(one, other, range(WARP_SIZE))
        return code.call(
            _LANES, "llvm.masked.gather.v32i32.v32p0", cells.pointers, integer(_CELL, "i32"),
            code.truths(cells.active), Value(_LANES, "zeroinitializer"),
        )

    def _store(self, cells: Cells, value: Value, mask: Value) -> None:
        self._code.run(
            "llvm.masked.scatter.v32i32.v32p0", value, cells.pointers, integer(_CELL, "i32"),
            self._code.truths(mask),
        )

    def _store_all(self, cells: Cells, value: Value, mask: Value) -> None:
        """Stores the values of all lanes, or else of those in the mask: others are as before."""
        if cells.halves is None or cells.shape != "close":
            self._store(cells, value, mask)
            return
        for half, first in zip(cells.halves, (0, _HALF), strict=True):
            self._code.store(self._code.shuffle(value, None, range(first, first + _HALF)), half, _CELL)

    def _write(self, cells: Cells, own: Value, period: Value) -> None:
        code, active = self._code, cells.active
        before = self._load(cells)
        user = code.binary("lshr", before, _FLAGS)
        is_used = code.compare("icmp uge", user, code.splat(period))
        is_other = code.compare("icmp ne", user, own)
        wrong = code.bits(code.binary("and", is_used, is_other))
        self.require(code.compare("icmp eq", code.binary("and", wrong, active), 0))
        after = code.binary("or", code.binary("shl", own, _FLAGS), _WRITTEN | _OWN)
        self._store_all(cells, after, active)
        lost = code.bits(code.compare("icmp ne", self._load(cells), after))
        self.require(code.compare("icmp eq", code.binary("and", lost, active), 0))

    def _read(self, cells: Cells, own: Value, period: Value, *, is_shared: bool) -> None:
        code, active = self._code, cells.active
        before = self._load(cells)
        full, done = code.name("full"), code.name("noted")
        usual = code.binary("or", code.binary("shl", period, _FLAGS), _WRITTEN if is_shared else 0)
        unusual = code.bits(code.compare("icmp ne", before, code.splat(usual)))
        code.branch(code.compare("icmp eq", code.binary("and", unusual, active), 0), done, full)
        code.begin(full)
        user, several = code.binary("lshr", before, _FLAGS), code.splat(period)
        is_other = code.compare("icmp ne", user, own)
        is_used = code.compare("icmp uge", user, several)
        is_written = code.compare("icmp ne", code.binary("and", before, _OWN), 0)
        wrong = code.binary("and", code.binary("and", is_used, is_other), is_written)
        if is_shared:
            never = code.compare("icmp eq", code.binary("and", before, _WRITTEN), 0)
            wrong = code.binary("or", wrong, never)
        self.require(code.compare("icmp eq", code.binary("and", code.bits(wrong), active), 0))
        is_new = code.binary("and", is_other, code.compare("icmp ne", user, several))
        new = code.binary("and", code.bits(is_new), active)
        note = code.name("note")
        code.branch(code.compare("icmp eq", new, 0), done, note)
        code.begin(note)
        number = code.select(is_used, several, own)
        written = code.binary("and", before, _WRITTEN)
        after = code.binary("or", code.binary("shl", number, _FLAGS), written)
        whole = code.select(is_new, after, before)
        self._store_all(cells, whole, new)
        is_lost = code.compare("icmp ne", self._load(cells), whole)
        lost = code.binary("and", code.bits(is_lost), new)
        again = code.name("again")
        code.branch(code.compare("icmp eq", lost, 0), done, again)
        code.begin(again)
        self._store(cells, code.binary("or", code.binary("shl", several, _FLAGS), written), lost)
        code.jump(done)
        code.begin(done)

    def _read_together(self, cells: Cells, period: Value, *, is_shared: bool) -> None:
        """The lanes of each half of a warp read one cell."""
        code = self._code
        assert cells.halves is not None
        for cell in cells.halves:
            before = code.load("i32", cell, _CELL)
            is_used = code.compare("icmp uge", code.binary("lshr", before, _FLAGS), period)
            is_written = code.compare("icmp ne", code.binary("and", before, _OWN), 0)
            right = code.binary("xor", code.binary("and", is_used, is_written), -1)
            if is_shared:
                ever = code.compare("icmp ne", code.binary("and", before, _WRITTEN), 0)
                right = code.binary("and", right, ever)
            self.require(right)
            written = code.binary("and", before, _WRITTEN)
            code.store(code.binary("or", code.binary("shl", period, _FLAGS), written), cell, _CELL)


