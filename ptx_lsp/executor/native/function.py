"""A kernel as one native function, which runs the lanes of some blocks of a wave, warp after warp.

Within a warp, groups of lanes take turns as in `convergence_groups`: the one that stands first goes on, and
groups meet. A warp goes on until all of its lanes have left native code or wait at a barrier. Then the next
warp does, and once all threads of a block have reached the barrier they go on after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ptx_lsp.executor.arithmetic.program import DType
from ptx_lsp.executor.decoding.call_stack import Enter, Return, Routine
from ptx_lsp.executor.instructions.access import Load, Store
from ptx_lsp.executor.instructions.atomic import Atomic
from ptx_lsp.executor.instructions.compute import Compute
from ptx_lsp.executor.instructions.warp import Warp
from ptx_lsp.executor.machine.control import Block, Control, Jump, Leave, Nothing, Step, TableJump
from ptx_lsp.executor.native.access import Accesses
from ptx_lsp.executor.native.heads import Heads
from ptx_lsp.executor.native.ir import ALL_LANES, Code, NotLoweredError, Value, integer
from ptx_lsp.executor.native.layout import Fields
from ptx_lsp.executor.native.liveness import global_registers, live_at_starts
from ptx_lsp.executor.native.loops import Loop, is_loop
from ptx_lsp.executor.native.places import find_function
from ptx_lsp.executor.native.points import Place, Points, is_plain_barrier
from ptx_lsp.executor.native.starts import Starts
from ptx_lsp.executor.native.steps import Steps
from ptx_lsp.executor.native.tracking import Checks


@dataclass(frozen=True, eq=False)
class NativeSource:
    """The text of a function. `file` are the registers that it is given, `inputs` those that matter where all
    threads begin, and `results` those that it gives back, by their places in the file.
    """

    text: str
    points: Points
    file: tuple[int, ...]
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    sites: int
    register_bytes: int
    """The memory for registers of each warp of a block."""
    is_whole: bool
    """Whether all of the kernel is native code, and no thread waits for another but at barriers."""
    is_parallel: bool
    """Whether blocks may run at once: none sees what others do to memory, if there are no races."""
    site_places: Mapping[int, Place]
    """The step of each site."""


def is_parallel(blocks: Sequence[Block]) -> bool:
    """Whether the order in which different blocks run makes no difference to their threads."""
    steps = (step.action for block in blocks for step in block.steps)
    return not any(block.polls for block in blocks) and all(
        isinstance(one, Compute | Load | Store | Nothing | Control | Warp)
        or (isinstance(one, Atomic) and one.space == ".shared")
        for one in steps
    )


class FunctionBuilder:
    """Makes the function of a kernel, with the blocks that can be lowered."""

    def __init__(
        self, blocks: Sequence[Block], dtypes: Mapping[int, DType], starts: Starts,
        checks: Checks | None = None,
    ) -> None:
        """With `checks`, of a function whose runs are suspect unless it is certain that they are right."""
        self._checks = checks
        self._blocks = blocks
        self._starts = starts
        self._dtypes = dtypes
        self._code = code = Code()
        self._fields = Fields(code, Value("ptr", "%given"))
        self._accesses = Accesses(code, self._fields)
        self._global = global_registers(blocks, dtypes)
        self._native = [
            number for number in sorted(range(len(blocks)), key=lambda one: blocks[one].rank)
            if blocks[number].rank < len(blocks) and blocks[number].steps and not blocks[number].is_endless
        ]

    def build(self) -> NativeSource | None:
        """The function; None where no block can be lowered."""
        self._native = [block for block in self._native if self._can_begin(block)]
        if not self._native:
            return None
        self._points = Points(self._blocks, self._native)
        try:
            return _Writer(
                self._blocks, self._dtypes, self._global, self._points, self._starts, self._checks
            ).source()
        except NotLoweredError:
            return None

    def _can_begin(self, block: int) -> bool:
        """Whether the first step of a block can be lowered."""
        steps = Steps(self._code, self._accesses, self._dtypes, ())
        first = self._blocks[block].steps[0]
        return is_plain_barrier(first) or lowers(steps, first)


def lowers(steps: Steps, step: Step) -> bool:
    """Whether a step can be lowered; what it becomes is not used."""
    try:
        match step.action:
            case Jump() | Leave(kind="ret" | "exit") | Enter() | Return():
                pass
            case TableJump(index=index):
                steps.values(index)
            case _:
                steps.run(step, integer(-1, "i32"), "none")
    except NotLoweredError:
        return False
    return True


class _Writer(Heads):
    """Writes the function."""

    def source(self) -> NativeSource:
        self.begin()
        self.head()
        for point, number in enumerate(self.points.native):
            self._block(point, number)
        self.dispatch()
        self.leave_warp()
        self.end_of_warp()
        self.end_of_block()
        self.suspect()
        results = tuple(sorted(self.steps.written))
        places = {number: at for at, number in enumerate(self.file)}
        code = self.code
        function = "define i64 @run(ptr %given, ptr noalias %registers)"
        head = [f'{function} "prefer-vector-width"="512" {{', "entry:", *code.slots]
        find = find_function(is_checked=self.tracking is not None)
        text = "\n".join([
            *head, *code.lines, "}", find, *code.declarations.values(),
            '!0 = !{!"branch_weights", i32 1000, i32 1}', '!1 = !{!"branch_weights", i32 1, i32 1000}',
        ])
        steps = {
            id(step): (number, at) for number, block in enumerate(self.blocks)
            for at, step in enumerate(block.steps)
        }
        given_back = tuple(places[one] for one in results)
        begins = live_at_starts(self.blocks)
        inputs = tuple(at for number, at in places.items() if begins is None or number in begins[0])
        is_whole = self.is_whole and not any(block.polls for block in self.blocks)
        return NativeSource(
            self.finished(text), self.points, self.file, inputs, given_back, self.accesses.sites,
            self.register_bytes, is_whole, is_parallel(self.blocks) and self.tracking is None,
            {site: steps[id(step)] for site, step in self.accesses.site_steps.items()},
        )

    def _block(self, point: int, number: int) -> None:
        code, block = self.code, self.blocks[number]
        code.begin(f"b{point}")
        self.forget(number)
        mask = code.load("i32", self.mask)
        if is_loop(self.blocks, number):
            self._loop(point, number, mask)
        go_on, stop = self._spend(len(block.steps))
        code.begin(stop)
        self._exit_here(mask, point)
        code.begin(go_on)
        if block.polls:
            self._poll(point, mask)
        for at, step in enumerate(block.steps):
            action = step.action
            match action:
                case Jump(target=target):
                    self._part(self.steps.taken(step, mask), mask, target, number + 1)
                    return
                case Leave(kind="ret" | "exit"):
                    self._part(self.steps.taken(step, mask), mask, None, number + 1)
                    return
                case Enter():
                    self._call(action, mask, number, at)
                    return
                case Return(routine=routine):
                    back = self.calls.leave(action, mask)
                    self._part_by(back, mask, self._returns(routine))
                    return
                case TableJump():
                    if not self._jump_by_table(action, step, mask, number, at):
                        self._exit_here(mask, self.points.exit(number, at))
                    return
                case _:
                    pass
            barrier = self._barrier_at(number, at)
            if barrier is not None:
                if self.tracking is not None:
                    self.tracking.arrive(mask)
                self.position(mask, barrier)
                code.jump("dispatch")
                return
            leave = code.name("leave")
            begun = len(code.lines)
            try:
                self.steps.run(step, mask, leave)
            except NotLoweredError:
                del code.lines[begun:]
                self.is_whole = False
                self._exit_here(mask, self.points.exit(number, at))
                return
            if any(f"%{leave}" in line for line in code.lines[begun:]):
                go_on = code.name("step")
                code.jump(go_on)
                code.begin(leave)
                self._exit_here(mask, self.points.exit(number, at))
                code.begin(go_on)
        self._goto(mask, number + 1)

    def _loop(self, point: int, number: int, mask: Value) -> None:
        """A block that jumps to itself, for all lanes of a warp; others go on after it."""
        code, accesses, steps = self.code, self.accesses, self.steps
        ahead, general = code.name("ahead"), code.name("general")
        begun, sites = len(code.lines), accesses.sites
        code.branch(code.compare("icmp eq", mask, ALL_LANES), ahead, general, likely=True)
        code.begin(ahead)
        tried, loop = len(code.lines), Loop(self.blocks[number], steps, self.dtypes)
        try:
            while True:
                loop.enter()
                with code.loop():
                    current = self._iteration(loop, point, number)
                    if loop.is_right(current):
                        break
                steps.current = None
                del code.lines[tried:]
                accesses.sites = sites
        except NotLoweredError:
            del code.lines[begun:]
            code.jump(general)
        steps.current = None
        code.begin(general)

    def _iteration(self, loop: Loop, point: int, number: int) -> dict[int, Value]:
        """The values of registers at its end."""
        code, steps = self.code, self.steps
        head, again, out = (code.name(stem) for stem in ("head", "again", "out"))
        code.jump(head)
        code.begin(head)
        current = loop.begin()
        *inside, last = self.blocks[number].steps
        go_on, stop = self._spend(len(inside) + 1)

        def leave(label: str, before: Mapping[int, Value], onto: int) -> None:
            code.begin(label)
            loop.leave(before)
            self._exit_here(ALL_LANES, onto)
            code.begin(go_on)

        leave(stop, current, point)
        for at, step in enumerate(inside):
            before, stop, go_on = current.copy(), code.name("leave"), code.name("step")
            steps.run(step, ALL_LANES, stop)
            code.jump(go_on)
            leave(stop, before, self.points.exit(number, at))
        taken = steps.taken(last, ALL_LANES)
        code.branch(code.compare("icmp eq", taken, ALL_LANES), again, out, likely=True)
        code.begin(again)
        loop.again(current)
        code.jump(head)
        code.begin(out)
        loop.leave(current)
        self._part(taken, ALL_LANES, number, number + 1)
        return current

    def _barrier_at(self, number: int, at: int) -> int | None:
        return self.points.barriers.get((number, at))

    def _poll(self, point: int, mask: Value) -> None:
        """Lanes that have looked at memory in vain so often leave the warp's turn to others."""
        code = self.code
        left = code.binary("sub", code.load("i32", self.polls), 1)
        code.store(left, self.polls)
        go_on, stop = code.name("look"), code.name("stop")
        code.branch(code.compare("icmp sgt", left, 0), go_on, stop, likely=True)
        code.begin(stop)
        self.position(mask, point)
        code.jump("dispatch")
        code.begin(go_on)
        bit = integer(1 << point, self.set_type)
        code.store(code.binary("or", code.load(self.set_type, self.polled), bit), self.polled)

    def _jump_by_table(self, action: TableJump, step: Step, mask: Value, number: int, at: int) -> bool:
        """Groups of lanes by their targets; whether there are any that do not jump."""
        code = self.code
        try:
            (index,) = self.steps.values(action.index)
        except NotLoweredError:
            return False
        taken = self.steps.taken(step, mask)
        count = len(action.targets)
        wrong = code.bits(code.compare("icmp uge", index, count))
        fits, leave, some = (code.name(stem) for stem in ("fits", "leave", "some"))
        code.branch(
            code.compare("icmp eq", code.binary("and", wrong, taken), 0), fits, leave, likely=True
        )
        code.begin(leave)
        self._exit_here(mask, self.points.exit(number, at))
        code.begin(fits)
        if step.guard >= 0:
            rest = code.binary("xor", taken, mask)
            others = code.name("others")
            code.branch(code.compare("icmp eq", rest, 0), some, others)
            code.begin(others)
            self._add(rest, number + 1)
            code.jump(some)
        else:
            code.jump(some)
        code.begin(some)
        self._part_by(index, taken, [self.points.of_block(target) for target in action.targets])
        return True

    def _call(self, action: Enter, mask: Value, number: int, at: int) -> None:
        code = self.code
        leave, go_on = code.name("leave"), code.name("call")
        targets = self.calls.targets(action, mask, leave)
        self.calls.check(action, targets, leave)
        code.jump(go_on)
        code.begin(leave)
        self._exit_here(mask, self.points.exit(number, at))
        code.begin(go_on)
        for routine, lanes in targets:
            self.calls.enter(action, routine, lanes)
        if action.pointer is None:
            self._goto(mask, targets[0][0].entry)
            return
        for routine, lanes in targets:
            some, next_one = code.name("some"), code.name("next")
            code.branch(code.compare("icmp ne", lanes, 0), some, next_one)
            code.begin(some)
            self._add(lanes, routine.entry)
            code.jump(next_one)
            code.begin(next_one)
        code.jump("dispatch")

    def _returns(self, routine: Routine) -> list[int]:
        """The points of all blocks, as far as calls of a routine come back to them."""
        steps = (step.action for block in self.blocks for step in block.steps)
        callers = {
            action.onward for action in steps
            if isinstance(action, Enter) and any(one is routine for one in action.routines.values())
        }
        return [self.points.of_block(one) if one in callers else 0 for one in range(len(self.blocks))]
