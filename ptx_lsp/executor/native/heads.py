"""The first blocks of a kernel, for warps of which all lanes take part: without masks, and with registers
that are values instead of memory.

Where something is not simple before memory has been changed, the warp begins again as others do.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptx_lsp.executor.instructions.access import Store
from ptx_lsp.executor.instructions.atomic import Atomic
from ptx_lsp.executor.machine.control import Block, Control, Jump, Leave
from ptx_lsp.executor.native.ir import ALL_LANES, NotLoweredError, Value, integer
from ptx_lsp.executor.native.layout import GONE
from ptx_lsp.executor.native.liveness import live_at_starts, live_before, writes
from ptx_lsp.executor.native.loops import is_loop
from ptx_lsp.executor.native.moves import Moves
from ptx_lsp.executor.native.warps import LANES

_MOST = 64
"""Steps: there is other code for all of them."""


def _is_simple(block: Block) -> bool:
    """Whether it computes and accesses memory, and then may jump or exit."""
    *inside, last = block.steps
    if block.polls or any(isinstance(one.action, Control) for one in inside):
        return False
    match last.action:
        case Jump() | Leave(kind="ret" | "exit"):
            return True
        case action:
            return not isinstance(action, Control)


class Heads(Moves):
    """The beginning of full warps."""

    def head(self) -> None:
        code, steps, accesses = self.code, self.steps, self.accesses
        code.begin("head")
        self._live = live = live_at_starts(self.blocks) or []
        chain = self._chain() if live else []
        begun, sites = len(code.lines), accesses.sites
        while chain:
            try:
                with code.tracking():
                    self._full(chain, live[0])
                break
            except NotLoweredError:
                del code.lines[begun:]
                accesses.sites = sites
                chain.pop()
        else:
            code.jump("usual")
        steps.current = None

    def _chain(self) -> list[int]:
        """The first blocks, of which each leads to the next one."""
        found: list[int] = []
        number = count = 0
        while number in self.points.native and number not in found:
            block = self.blocks[number]
            count += len(block.steps)
            if count > _MOST or not _is_simple(block) or is_loop(self.blocks, number):
                break
            found.append(number)
            number = self._next(number)
        return found

    def _next(self, number: int) -> int:
        """The block that follows where lanes do not jump under a condition; -1 where they exit."""
        last = self.blocks[number].steps[-1]
        match last.action:
            case Jump(target=target) if last.guard < 0:
                return target
            case Leave() if last.guard < 0:
                return -1
            case _:
                return number + 1

    def _full(self, chain: list[int], live: set[int]) -> None:
        steps = self.steps
        inside = [step for number in chain for step in self.blocks[number].steps]
        steps.fixed = {number for step in inside if step.guard >= 0 for number in writes(step)}
        current: dict[int, Value] = {}
        steps.current = current
        for number in sorted(live.intersection(steps.places)):
            if number in steps.fixed:
                self.code.store(self.input(number), steps.slot(number))
            else:
                current[number] = self.at_start(number)
        has_effects = False
        for number in chain:
            has_effects = self._full_block(number, current, has_effects=has_effects)
        onward = self._next(chain[-1])
        if onward < 0:
            if self.tracking is not None:
                self.tracking.meet_nobody()
            self.code.jump("warp_end")
        else:
            self._give(current, chain[-1], len(self.blocks[chain[-1]].steps))
            self._goto(ALL_LANES, onward)

    def _full_block(self, number: int, current: dict[int, Value], *, has_effects: bool) -> bool:
        """Whether it or blocks before it change memory."""
        code, steps = self.code, self.steps
        self.forget(number)
        *inside, last = self.blocks[number].steps
        go_on, stop = self._spend(len(inside) + 1)
        self._stop(stop, current, self.points.of_block(number), has_effects=has_effects)
        code.begin(go_on)
        for at, step in enumerate([*inside, last]):
            if isinstance(step.action, Control):
                break
            before, stop, go_on = current.copy(), code.name("leave"), code.name("step")
            begun = len(code.lines)
            code.unless = "" if has_effects else stop
            steps.run(step, ALL_LANES, stop)
            if any(f"%{stop}" in line for line in code.lines[begun:]):
                code.jump(go_on)
                self._stop(stop, before, self.points.exit(number, at), has_effects=has_effects)
                code.begin(go_on)
            has_effects |= isinstance(step.action, Store | Atomic)
        if isinstance(last.action, Control) and last.guard >= 0:
            taken = steps.taken(last, ALL_LANES)
            go_on, some = code.name("step"), code.name("some")
            code.branch(code.compare("icmp eq", taken, 0), go_on, some, likely=True)
            code.begin(some)
            self._give(current, number, len(inside) + 1)
            target = last.action.target if isinstance(last.action, Jump) else None
            self._part(taken, ALL_LANES, target, number + 1)
            code.begin(go_on)
        return has_effects

    def _stop(self, label: str, current: Mapping[int, Value], onto: int, *, has_effects: bool) -> None:
        """Where all lanes leave native code before a step; they begin again if nothing has happened."""
        self.code.begin(label)
        if has_effects:
            self._give(current, *self.points.places[onto])
            self._exit_here(ALL_LANES, onto)
        else:
            self.code.jump("usual")

    def _give(self, current: Mapping[int, Value], number: int, at: int) -> None:
        """Gives registers the `current` values, for code that has them in memory, as far as they are read
        after a point in a block.
        """
        code = self.code
        for register in sorted(live_before(self.blocks, self._live, number, at) & current.keys()):
            parts = code.lane_offsets(current[register])
            value = current[register] if parts is None else code.joined(parts)
            code.store(value, self.steps.slot(register))
        code.store(integer(GONE, LANES), self.positions)
