"""How groups of lanes go from one block to another."""

from __future__ import annotations

from ptx_lsp.executor.native.block_ends import BlockEnds
from ptx_lsp.executor.native.ir import Value, integer
from ptx_lsp.executor.native.layout import GONE
from ptx_lsp.executor.native.warps import LANES


class Moves(BlockEnds):
    """The jumps and stops at the ends of blocks of a native function."""

    def _spend(self, count: int) -> tuple[str, str]:
        """Labels for where as many instructions are left, and for where they are not."""
        code = self.code
        fuel = code.binary("sub", code.load("i64", self.fuel), count)
        code.store(fuel, self.fuel)
        go_on, stop = code.name("fueled"), code.name("stop")
        code.branch(code.compare("icmp sge", fuel, 0), go_on, stop, likely=True)
        return go_on, stop

    def _exit_here(self, mask: Value, point: int) -> None:
        """Lanes leave before a step, and with them the whole warp."""
        self.position(mask, point)
        block, step = self.points.places[point]
        self.code.jump(self.leaving(block) if step else "leave")

    def _part(self, taken: Value, mask: Value, target: int | None, onward: int) -> None:
        """Some lanes of a group jump (None: they exit), the others go on at the next block."""
        code = self.code
        if taken is mask:
            self._arrive(taken, target)
            return
        none, some, all_lanes, both = (code.name(stem) for stem in ("none", "some", "all", "both"))
        code.branch(code.compare("icmp eq", taken, mask), all_lanes, some)
        code.begin(all_lanes)
        self._arrive(taken, target)
        code.begin(some)
        code.branch(code.compare("icmp eq", taken, 0), none, both)
        code.begin(none)
        self._goto(mask, onward)
        code.begin(both)
        self._add(code.binary("xor", taken, mask), onward)
        if target is None:
            self.position(taken, GONE)
        else:
            self._add(taken, target)
        code.jump("dispatch")

    def _arrive(self, mask: Value, target: int | None) -> None:
        if target is None:
            self.position(mask, GONE)
            self.code.jump("dispatch")
        else:
            self._goto(mask, target)

    def _goto(self, mask: Value, target: int) -> None:
        """A group goes on at a block, at once if it stands before all others."""
        code, point = self.code, self.points.of_block(target)
        if not self.points.is_native(point):
            self.is_whole = False
            self.position(mask, point)
            code.jump("dispatch")
            return
        ahead, wait = code.name("ahead"), code.name("wait")
        lowest = code.load("i32", self.lowest)
        last = len(self.points.native) - 1 if self.blocks[target].polls else point
        code.branch(code.compare("icmp ugt", lowest, last), ahead, wait)
        code.begin(ahead)
        code.store(mask, self.mask)
        code.jump(f"b{point}")
        code.begin(wait)
        self._add(mask, target)
        code.jump("dispatch")

    def _add(self, lanes: Value, target: int) -> None:
        """Adds lanes to the group at a block."""
        point = self.points.of_block(target)
        if self.points.is_native(point):
            self.await_at(integer(point, "i32"), lanes)
        else:
            self.position(lanes, point)

    def _part_by(self, index: Value, taken: Value, table: list[int]) -> None:
        """Lanes go on at the points of a table, each at that of its index."""
        code, count = self.code, len(table)
        points = code.slot(f"[{count} x i32]", "table")
        left = code.slot("i32", "left")
        code.store(Value(f"[{count} x i32]", f"[{', '.join(f'i32 {one}' for one in table)}]"), points, 4)
        code.store(taken, left)
        head, one, native, other, next_one, done = (
            code.name(stem) for stem in ("targets", "target", "native", "other", "next", "parted")
        )
        code.jump(head)
        code.begin(head)
        rest = code.load("i32", left)
        code.branch(code.compare("icmp eq", rest, 0), done, one)
        code.begin(one)
        value = code.extract(index, code.intrinsic("cttz", rest))
        same = code.binary("and", code.bits(code.compare("icmp eq", index, code.splat(value))), rest)
        place = code.offset(points, code.binary("mul", code.convert("zext", value, "i64"), 4))
        point = code.load("i32", place, 4)
        code.store(code.binary("xor", rest, same), left)
        code.branch(code.compare("icmp ult", point, len(self.points.native)), native, other)
        code.begin(native)
        self.await_at(point, same)
        code.jump(next_one)
        code.begin(other)
        before = code.load(LANES, self.positions)
        code.store(code.select(code.truths(same), code.splat(point), before), self.positions)
        code.jump(next_one)
        code.begin(next_one)
        code.jump(head)
        code.begin(done)
        code.jump("dispatch")
