"""The turns of warps and of groups of lanes, around the blocks of a native function."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ptx_lsp.executor.arithmetic.program import BOOL, DType
from ptx_lsp.executor.decoding.call_stack import Enter, Return, routines_of
from ptx_lsp.executor.machine.control import Block
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.native.access import Accesses
from ptx_lsp.executor.native.calls import Calls, touched
from ptx_lsp.executor.native.ir import (
    Code,
    LaneOffsets,
    Value,
    integer,
    scalar_type,
    sequence,
    vector_of,
    vector_type,
)
from ptx_lsp.executor.native.layout import (
    FILE,
    GONE,
    NOWHERE,
    SITE,
    WORD,
    Fields,
    register_places,
)
from ptx_lsp.executor.native.liveness import live_at_starts, reads, writes
from ptx_lsp.executor.native.points import Points
from ptx_lsp.executor.native.starts import Starts
from ptx_lsp.executor.native.steps import Steps
from ptx_lsp.executor.native.tracking import Checks, Tracking

REGISTERS = Value("ptr", "%registers")
"""The memory for registers of the warps of a block that live from one of its blocks of steps to another."""
LANES = vector_of("i32")
"""A number for each lane."""
_WORD_BITS = 64
_SITES = "SITES"  # how many bytes of them to forget, which is known in the end
_WARP_FUEL = 1 << 20  # instructions that a warp executes before others do
MOST_POLLS = 256
"""So often a warp looks at memory before others go on."""


class Turns:
    """Variables of the function, and what happens between blocks."""

    def __init__(
        self, blocks: Sequence[Block], dtypes: Mapping[int, DType], global_: set[int], points: Points,
        starts: Starts, checks: Checks | None = None,
    ) -> None:
        self.blocks = blocks
        self.dtypes = dtypes
        self.points = points
        self.starts = starts
        self.code = code = Code()
        self.is_whole = True
        """Whether nothing so far had no native code."""
        self.fields = Fields(code, Value("ptr", "%given"))
        self.tracking = None if checks is None else Tracking(code, self.fields, checks)
        self.accesses = Accesses(code, self.fields, self.tracking)
        used: set[int] = set()
        for number in points.native:
            for step in blocks[number].steps:
                used |= (reads(step) or set()) | writes(step)
                if isinstance(step.action, Enter | Return):
                    used |= touched(step.action)
        self.file = tuple(sorted(used))
        self.temporary = used - global_
        self._left: set[int] = set()
        """The blocks in the middle of which lanes leave."""
        self.steps = Steps(code, self.accesses, dtypes, self.temporary)
        self.steps.places, self.register_bytes = register_places(set(self.file) - self.temporary, dtypes)
        self.calls = Calls(code, self.fields, self.steps, self.accesses, routines_of(blocks))
        bits = -(-len(points.native) // _WORD_BITS) * _WORD_BITS
        self.set_type = f"i{bits}"
        self.waiting = code.slot(self.set_type, "waiting")
        """The blocks at which groups of the warp wait, a bit each, and those at which they have polled."""
        self.polled = code.slot(self.set_type, "polled")
        self.groups = code.slot(f"[{len(points.native)} x i32]", "groups")
        """The lanes of each group."""
        self.lowest = code.slot("i32", "lowest")
        self.mask = code.slot("i32", "mask")
        self.positions = code.slot(LANES, "positions")
        self.block = code.slot("i64", "block")
        self.warp = code.slot("i64", "warp")
        self.passes = code.slot("i64", "passes")
        self.is_blocked = code.slot("i1", "is_blocked")
        self.has_come = code.slot("i1", "has_come")
        self.fuel = code.slot("i64", "fuel")
        self.total = code.slot("i64", "total")
        self.most = code.slot("i64", "most")
        self.alive = code.slot("i64", "alive")
        self.executed = code.slot("i64", "executed")
        self.started = code.slot("i64", "started")
        self.polls = code.slot("i32", "polls")

    def begin(self) -> None:
        code, fields = self.code, self.fields
        code.store(fields["first_block"], self.block)
        size = 4 * len(self.points.native)
        code.run(
            "llvm.memset.p0.i64", self.groups, integer(0, "i8"), integer(size, "i64"), integer(0, "i1")
        )
        code.store(fields["fuel"], self.total)
        code.jump("blocks")
        code.begin("blocks")
        block = code.load("i64", self.block)
        code.branch(code.compare("icmp ult", block, fields["last_block"]), "block", "finished")
        code.begin("finished")
        code.store(code.load("i64", self.block), fields.place("done"), WORD)
        code.do("ret i64 0")
        code.begin("block")
        self._forget_sites()
        shared = code.offset(fields["shared"], code.binary("mul", block, fields["shared_stride"]))
        data = code.convert("ptrtoint", shared, "i64")
        code.store(data, code.offset(fields["buffers"], 2 * WORD))
        self.accesses.shared = shared
        if self.tracking is not None:
            self.tracking.begin_block()
        code.store(integer(0, "i64"), self.passes)
        code.store(integer(0, "i64"), self.executed)
        code.jump("pass")
        code.begin("pass")
        code.store(integer(0, "i64"), self.alive)
        code.store(integer(0, "i64"), self.most)
        code.store(integer(0, "i1"), self.is_blocked)
        code.store(integer(0, "i1"), self.has_come)
        code.store(integer(0, "i64"), self.warp)
        code.jump("warps")
        code.begin("warps")
        warp = code.load("i64", self.warp)
        code.branch(code.compare("icmp ult", warp, fields["warps"]), "warp", "block_end")
        code.begin("warp")
        number = code.binary("mul", code.load("i64", self.block), fields["warps"])
        self.first_lane = code.binary("mul", code.binary("add", number, warp), WARP_SIZE)
        self.accesses.lane = self.first_lane
        if self.tracking is not None:
            self.tracking.lane = self.first_lane
            self.tracking.thread = code.binary("mul", warp, WARP_SIZE)
        self.enter(code.load("i64", self.warp))
        self.own_positions = code.offset(fields["positions"], code.binary("mul", self.first_lane, 4))
        for variable in (self.waiting, self.polled):
            code.store(integer(0, self.set_type), variable)
        code.store(integer(len(self.points.native), "i32"), self.lowest)
        code.store(integer(MOST_POLLS, "i32"), self.polls)
        share = integer(_WARP_FUEL, "i64")
        given = code.call("i64", "llvm.smin.i64", code.load("i64", self.total), share)
        code.store(given, self.started)
        code.store(given, self.fuel)
        is_first = code.compare("icmp eq", code.load("i64", self.passes), 0)
        at_start = code.compare("icmp eq", fields["start"], self.points.of_block(0))
        end = code.binary("mul", code.binary("add", warp, 1), WARP_SIZE)
        is_full = code.compare("icmp ule", end, fields["threads"])
        begins = code.binary("and", code.binary("and", is_first, at_start), is_full)
        code.branch(begins, "head", "usual", likely=True)
        code.begin("usual")
        self._positions()
        positions = code.load(LANES, self.positions)
        alive = code.bits(code.compare("icmp ne", positions, GONE))
        code.branch(code.compare("icmp eq", alive, 0), "next_warp", "load")
        code.begin("load")
        self._load_registers()
        is_first = code.compare("icmp eq", code.load("i64", self.passes), 0)
        begins = code.compare("icmp ne", fields["start"], NOWHERE)
        code.branch(code.binary("and", is_first, begins), "together", "apart")
        code.begin("together")
        exists = code.bits(code.compare("icmp ne", positions, GONE))
        self.await_at(code.convert("trunc", fields["start"], "i32"), exists)
        code.jump("dispatch")
        code.begin("apart")
        here = code.compare("icmp ult", positions, len(self.points.native))
        self._gather(positions, code.bits(here))
        code.jump("dispatch")

    def _positions(self) -> None:
        """Reads where the lanes of the warp are; at first all may be at one point."""
        code, fields = self.code, self.fields
        kept, fresh, done = (code.name(stem) for stem in ("kept", "fresh", "placed"))
        is_first = code.compare("icmp eq", code.load("i64", self.passes), 0)
        begins = code.compare("icmp ne", fields["start"], NOWHERE)
        code.branch(code.binary("and", is_first, begins), fresh, kept)
        code.begin(kept)
        code.store(code.binary("sub", code.load(LANES, self.own_positions, 4), 1), self.positions)
        code.jump(done)
        code.begin(fresh)
        first = code.convert("trunc", code.binary("mul", code.load("i64", self.warp), WARP_SIZE), "i32")
        lanes = code.binary("add", code.splat(first), sequence(range(WARP_SIZE), "i32"))
        exists = code.compare("icmp ult", lanes, code.splat(code.convert("trunc", fields["threads"], "i32")))
        start = code.splat(code.convert("trunc", fields["start"], "i32"))
        code.store(code.select(exists, start, integer(GONE, LANES)), self.positions)
        code.jump(done)
        code.begin(done)

    def _keep(self, positions: Value) -> None:
        self.code.store(self.code.binary("add", positions, 1), self.own_positions, 4)

    def _forget_sites(self) -> None:
        code = self.code
        size = code.emit("i64", f"add i64 0, {_SITES}")
        code.run(
            "llvm.memset.p0.i64", self.fields["sites"], integer(0, "i8"), size, integer(0, "i1")
        )

    def _gather(self, positions: Value, lanes: Value) -> None:
        """Makes groups of lanes by their positions."""
        code = self.code
        left = code.slot("i32", "left")
        code.store(lanes, left)
        head, one, done = (code.name(stem) for stem in ("gather", "group", "gathered"))
        code.jump(head)
        code.begin(head)
        rest = code.load("i32", left)
        code.branch(code.compare("icmp eq", rest, 0), done, one)
        code.begin(one)
        point = code.extract(positions, code.intrinsic("cttz", rest))
        same = code.binary("and", code.bits(code.compare("icmp eq", positions, code.splat(point))), rest)
        self.await_at(point, same)
        code.store(code.binary("xor", rest, same), left)
        code.jump(head)
        code.begin(done)

    def await_at(self, point: Value, lanes: Value) -> None:
        """Adds lanes to the group at a native block."""
        code = self.code
        group = code.offset(self.groups, code.binary("mul", code.convert("zext", point, "i64"), 4))
        code.store(code.binary("or", code.load("i32", group, 4), lanes), group, 4)
        one = integer(1, self.set_type)
        wide = point if self.set_type == "i32" else code.convert("zext", point, self.set_type)
        bit = code.binary("shl", one, wide)
        code.store(code.binary("or", code.load(self.set_type, self.waiting), bit), self.waiting)
        lowest = code.load("i32", self.lowest)
        code.store(code.call("i32", "llvm.umin.i32", lowest, point), self.lowest)

    def enter(self, warp: Value) -> None:
        """Registers are those of a warp from now on."""
        code = self.code
        self.steps.own = code.offset(REGISTERS, code.binary("mul", warp, self.register_bytes))

    def _load_registers(self) -> None:
        """At the first turn of a warp: of one that begins, only what may be read before it is written."""
        code, numbers = self.code, self.steps.places.keys()
        live = live_at_starts(self.blocks)
        begins = numbers if live is None else numbers & live[0]
        is_first = code.compare("icmp eq", code.load("i64", self.passes), 0)
        code.branch(is_first, "first_turn", "loaded")
        code.begin("first_turn")
        at_start = code.compare("icmp eq", self.fields["start"], self.points.of_block(0))
        code.branch(at_start, "few_inputs", "all_inputs")
        for label, loaded in ("few_inputs", begins), ("all_inputs", numbers):
            code.begin(label)
            for number in sorted(loaded):
                self._load(number)
            code.jump("loaded")
        code.begin("loaded")

    def _load(self, number: int) -> None:
        """Gives a register the value that it has among the inputs."""
        self.code.store(self.input(number), self.steps.slot(number))

    def input(self, number: int) -> Value:
        """The value of a register among the inputs."""
        code, dtype = self.code, self.dtypes[number]
        size = dtype.itemsize
        kept = "i8" if dtype == BOOL else scalar_type(dtype)
        one, many, done = (code.name(stem) for stem in ("one", "many", "loaded"))
        row, along = self._row(number)
        code.branch(code.compare("icmp eq", along, 0), one, many)
        code.begin(one)
        same = code.splat(code.load(kept, row, size))
        code.jump(done)
        code.begin(many)
        lanes = code.binary("mul", code.load("i64", self.warp), WARP_SIZE * size)
        each = code.load(vector_of(kept), code.offset(row, lanes), size)
        code.jump(done)
        code.begin(done)
        value = code.emit(same.type, f"phi {same.type} [{same.text}, %{one}], [{each.text}, %{many}]")
        return code.compare("icmp ne", value, 0) if dtype == BOOL else value

    def _row(self, number: int) -> tuple[Value, Value]:
        """Where the values of a register among the inputs begin for the present block, and how many bytes lie
        between lanes.
        """
        code = self.code
        entry = code.offset(self.fields["inputs"], FILE * WORD * self.file.index(number))
        data = code.load("ptr", entry, WORD)
        between = code.load("i64", code.offset(entry, WORD), WORD)
        along = code.load("i64", code.offset(entry, 2 * WORD), WORD)
        return code.offset(data, code.binary("mul", code.load("i64", self.block), between)), along

    def at_start(self, number: int) -> Value:
        """The value of a register in a full warp that begins."""
        start, code = self.starts.get(number), self.code
        if start is None:
            return self.input(number)
        type = scalar_type(self.dtypes[number])
        if start.value is not None:
            first = integer(start.value, type)
        else:
            row, along = self._row(number)
            before = code.binary("mul", code.load("i64", self.warp), WARP_SIZE)
            place = code.offset(row, code.binary("mul", before, along))
            first = code.load(type, place, self.dtypes[number].itemsize)
        return code.joined(LaneOffsets(first, sequence(start.offsets, type)))

    def save(self, numbers: Collection[int], first_lane: Value) -> None:
        """Puts registers of a warp where the results are."""
        code = self.code
        for number in sorted(self.steps.written.intersection(numbers)):
            dtype = self.dtypes[number]
            value = code.load(vector_type(dtype), self.steps.slot(number))
            if dtype == BOOL:
                value = code.convert("zext", value, vector_of("i8"))
            place = code.offset(self.fields["outputs"], WORD * self.file.index(number))
            data = code.load("ptr", place, WORD)
            result = code.offset(data, code.binary("mul", first_lane, dtype.itemsize))
            code.store(value, result, dtype.itemsize)

    def position(self, mask: Value, point: int) -> None:
        code = self.code
        before = code.load(LANES, self.positions)
        there = integer(point, LANES)
        code.store(code.select(code.truths(mask), there, before), self.positions)

    def dispatch(self) -> None:
        """The group goes on that stands first; those that have polled, after all others."""
        code, type = self.code, self.set_type
        code.begin("dispatch")
        waiting = code.load(type, self.waiting)
        code.branch(code.compare("icmp eq", waiting, 0), "stopped", "choose")
        code.begin("choose")
        fresh = code.binary("and", waiting, code.binary("xor", code.load(type, self.polled), -1))
        is_any = code.compare("icmp ne", fresh, 0)
        code.branch(is_any, "chosen", "again")
        code.begin("again")
        code.store(integer(0, type), self.polled)
        code.jump("chosen")
        code.begin("chosen")
        among = code.emit(type, f"phi {type} [{fresh.text}, %choose], [{waiting.text}, %again]")
        lowest = code.binary("and", among, code.binary("sub", integer(0, type), among))
        point = code.intrinsic("cttz", among)
        left = code.binary("xor", waiting, lowest)
        code.store(left, self.waiting)
        rest = code.intrinsic("cttz", left)
        narrow = rest if type == "i32" else code.convert("trunc", rest, "i32")
        none = code.compare("icmp eq", left, 0)
        code.store(code.select(none, integer(len(self.points.native), "i32"), narrow), self.lowest)
        index = code.convert("trunc", point, "i64")
        group = code.offset(self.groups, code.binary("mul", index, 4))
        code.store(code.load("i32", group, 4), self.mask)
        code.store(integer(0, "i32"), group, 4)
        targets = " ".join(
            f"i64 {one}, label %b{one}" for one in range(1, len(self.points.native))
        )
        code.do(f"switch {index}, label %b0 [{targets}]")

    def leave_warp(self) -> None:
        """Lanes have left in the middle of a block: all others stay where they are."""
        code, type = self.code, self.set_type
        for block in sorted(self._left):
            code.begin(self.leaving(block))
            self.save(self.temporaries(block), self.first_lane)
            code.jump("leave")
        code.begin("leave")
        waiting = code.load(type, self.waiting)
        code.branch(code.compare("icmp eq", waiting, 0), "stopped", "stay")
        code.begin("stay")
        point = code.convert("trunc", code.intrinsic("cttz", waiting), "i32")
        wide = code.convert("zext", point, "i64")
        group = code.offset(self.groups, code.binary("mul", wide, 4))
        lanes = code.load("i32", group, 4)
        code.store(integer(0, "i32"), group, 4)
        before = code.load(LANES, self.positions)
        code.store(code.select(code.truths(lanes), code.splat(point), before), self.positions)
        code.store(code.binary("and", waiting, code.binary("sub", waiting, 1)), self.waiting)
        code.jump("leave")

    def leaving(self, block: int) -> str:
        """The label of where lanes leave in the middle of a block."""
        self._left.add(block)
        return f"leave_b{block}"

    def temporaries(self, block: int) -> set[int]:
        """The temporary registers of a block."""
        return {one for step in self.blocks[block].steps for one in writes(step)} & self.temporary

    def forget(self, block: int) -> None:
        """Ends the lives of the temporary registers of a block: else all of them would live everywhere, since
        each block can follow any other.
        """
        for number in sorted(self.temporaries(block)):
            type = vector_type(self.dtypes[number])
            self.code.do(f"store {type} poison, {self.steps.slot(number)}")

    def end_of_warp(self) -> None:
        code = self.code
        code.begin("stopped")
        positions = code.load(LANES, self.positions)
        alive = code.bits(code.compare("icmp ne", positions, GONE))
        code.branch(code.compare("icmp eq", alive, 0), "all_gone", "save")
        code.begin("all_gone")
        if self.tracking is not None:
            self.tracking.meet_nobody()
        code.branch(code.compare("icmp eq", code.load("i64", self.passes), 0), "never_kept", "gone")
        code.begin("never_kept")
        begins = code.compare("icmp ne", self.fields["start"], NOWHERE)
        code.branch(begins, "warp_end", "gone")
        code.begin("gone")
        self._keep(positions)
        code.jump("warp_end")
        code.begin("save")
        if self.tracking is not None:
            self.tracking.meet(positions)
        self._keep(positions)
        code.store(integer(1, "i64"), self.alive)
        first, count = len(self.points.native), len(self.points.barriers)
        at_barrier = code.binary("sub", positions, integer(first, LANES))
        come = code.bits(code.compare("icmp ult", at_barrier, count))
        for flag, lanes in (
            (self.has_come, come), (self.is_blocked, code.binary("xor", alive, come)),
        ):
            some = code.compare("icmp ne", lanes, 0)
            code.store(code.binary("or", code.load("i1", flag), some), flag)
        code.jump("warp_end")
        code.begin("warp_end")
        used = code.binary("sub", code.load("i64", self.started), code.load("i64", self.fuel))
        code.store(code.binary("sub", code.load("i64", self.total), used), self.total)
        most = code.load("i64", self.most)
        code.store(code.call("i64", "llvm.umax.i64", used, most), self.most)
        code.jump("next_warp")
        code.begin("next_warp")
        code.store(code.binary("add", code.load("i64", self.warp), 1), self.warp)
        code.jump("warps")

    def finished(self, text: str) -> str:
        """The text with what is known in the end."""
        size = SITE * WORD * self.accesses.sites if self.accesses.may_be_shared else 0
        return text.replace(_SITES, str(size))
