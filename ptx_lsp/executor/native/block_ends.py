"""The ends of blocks of a native function: barriers that all threads have reached, and results."""

from __future__ import annotations

from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.native.ir import integer
from ptx_lsp.executor.native.layout import WORD
from ptx_lsp.executor.native.tracking import SUSPECT
from ptx_lsp.executor.native.warps import LANES, Turns


class BlockEnds(Turns):
    """Where all warps of a block have had their turn."""

    def end_of_block(self) -> None:
        """All threads of a block may have reached a barrier."""
        code, fields = self.code, self.fields
        code.begin("block_end")
        executed = code.binary("add", code.load("i64", self.executed), code.load("i64", self.most))
        code.store(executed, self.executed)
        is_free = code.binary("xor", code.load("i1", self.is_blocked), -1)
        ready = code.binary("and", code.load("i1", self.has_come), is_free)
        code.branch(ready, "release", "block_over")
        code.begin("release")
        if self.tracking is not None:
            self.tracking.begin_period()
        code.store(code.binary("add", code.load("i64", self.passes), 1), self.passes)
        code.store(integer(0, "i64"), self.warp)
        code.jump("releases")
        code.begin("releases")
        warp = code.load("i64", self.warp)
        code.branch(code.compare("icmp ult", warp, fields["warps"]), "released", "pass")
        code.begin("released")
        number = code.binary("mul", code.load("i64", self.block), fields["warps"])
        lane = code.binary("mul", code.binary("add", number, warp), WARP_SIZE)
        own = code.offset(fields["positions"], code.binary("mul", lane, 4))
        positions = code.binary("sub", code.load(LANES, own, 4), 1)
        for (block, _), point in self.points.barriers.items():
            there = code.compare("icmp eq", positions, integer(point, LANES))
            onward = integer(self.points.of_block(block + 1), LANES)
            positions = code.select(there, onward, positions)
        code.store(code.binary("add", positions, 1), own, 4)
        code.store(code.binary("add", warp, 1), self.warp)
        code.jump("releases")
        self._save_block()
        code.begin("next_block")
        count = fields.place("alive")
        alive = code.binary("add", code.load("i64", count, WORD), code.load("i64", self.alive))
        code.store(alive, count, WORD)
        most = fields.place("executed")
        code.store(code.call("i64", "llvm.umax.i64", code.load("i64", most, WORD), executed), most, WORD)
        code.store(code.binary("add", code.load("i64", self.block), 1), self.block)
        fuel = code.compare("icmp sgt", code.load("i64", self.total), 0)
        code.branch(fuel, "blocks", "finished")

    def suspect(self) -> None:
        """Ends a run of which it is not certain that it is right."""
        code = self.code
        if self.tracking is not None:
            code.begin(SUSPECT)
            code.store(integer(1, "i64"), self.fields.place("suspect"), WORD)
            code.do("ret i64 0")

    def _save_block(self) -> None:
        """The threads of a block do not go on: their registers are results, if there are any left."""
        code, warps = self.code, self.fields["warps"]
        code.begin("block_over")
        code.store(integer(0, "i64"), self.warp)
        code.branch(code.compare("icmp ne", code.load("i64", self.alive), 0), "results", "next_block")
        code.begin("results")
        warp = code.load("i64", self.warp)
        code.branch(code.compare("icmp ult", warp, warps), "result", "next_block")
        code.begin("result")
        self.enter(warp)
        number = code.binary("add", code.binary("mul", code.load("i64", self.block), warps), warp)
        self.save(self.steps.places, code.binary("mul", number, WARP_SIZE))
        code.store(code.binary("add", warp, 1), self.warp)
        code.jump("results")
