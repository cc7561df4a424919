"""Calls of routines as native code, on the arrays of `decoding.call_stack`."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.executor.arithmetic.program import BOOL, UNSIGNED, DType
from ptx_lsp.executor.decoding.call_stack import Enter, Return, Routine
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.special_registers import STACK_ALIGNMENT
from ptx_lsp.executor.native.access import Accesses
from ptx_lsp.executor.native.ir import (
    Code,
    Value,
    integer,
    sequence,
    suffix,
    vector_of,
    vector_type,
)
from ptx_lsp.executor.native.layout import WORD, Fields
from ptx_lsp.executor.native.steps import Steps

_WIDE = vector_of("i64")


def touched(action: Enter | Return) -> set[int]:
    """The registers that a call reads or writes."""
    routines = action.routines.values() if isinstance(action, Enter) else (action.routine,)
    found = {number for one in routines for number in (*one.registers, one.base)} | {action.stack}
    if isinstance(action, Enter) and action.pointer is not None:
        found |= action.pointer.reads
    return found


class Calls:
    """Lowers calls and returns."""

    def __init__(
        self, code: Code, fields: Fields, steps: Steps, accesses: Accesses, routines: Sequence[Routine]
    ) -> None:
        self._code = code
        self._fields = fields
        self._steps = steps
        self._accesses = accesses
        self._tables: dict[Routine, int] = {}
        """Where the table of a routine begins, in words: how often lanes are in it, and what they keep."""
        words = 0
        for one in routines:
            self._tables[one] = words
            words += 2 + len(one.registers)

    def targets(self, action: Enter, mask: Value, leave: str) -> list[tuple[Routine, Value]]:
        """The called routines with the lanes that call them."""
        if action.pointer is None:
            (routine,) = action.routines.values()
            return [(routine, mask)]
        code = self._code
        (addresses,) = self._steps.values(action.pointer)
        found: list[tuple[Routine, Value]] = []
        left = mask
        for address, routine in action.routines.items():
            same = code.binary("and", code.bits(code.compare("icmp eq", addresses, address)), mask)
            left = code.binary("xor", left, same)
            found.append((routine, same))
        go_on = code.name("called")
        code.branch(code.compare("icmp eq", left, 0), go_on, leave, likely=True)
        code.begin(go_on)
        return found

    def check(self, action: Enter, targets: Sequence[tuple[Routine, Value]], leave: str) -> None:
        """Goes to `leave` unless the stack has room for the calls."""
        code = self._code
        for routine, mask in targets:
            fits = code.compare("icmp ult", self._depth(), self._splat("levels"))
            inside = code.compare("icmp ule", self._inside(routine), self._splat_of(self._word(routine, 1)))
            room = code.compare("icmp ule", self._end(routine, action.stack), self._splat("local_stride"))
            fits = code.binary("and", code.binary("and", fits, inside), room)
            wrong = code.binary("and", code.binary("xor", code.bits(fits), -1), mask)
            go_on = code.name("room")
            code.branch(code.compare("icmp eq", wrong, 0), go_on, leave, likely=True)
            code.begin(go_on)

    def enter(self, action: Enter, routine: Routine, mask: Value) -> None:
        """Calls a routine, for lanes for which there is room."""
        code, steps = self._code, self._steps
        depth, inside = self._depth(), self._inside(routine)
        self._put("onward", depth, integer(action.onward, _WIDE), UNSIGNED[64], mask)
        self._put("stacks", depth, steps.read(action.stack).value, UNSIGNED[64], mask)
        self._give(self._fields["depth"], code.binary("add", depth, 1), mask)
        again = code.binary("and", code.bits(code.compare("icmp ne", inside, 0)), mask)
        keep, kept = code.name("keep"), code.name("kept")
        code.branch(code.compare("icmp ne", again, 0), keep, kept)
        code.begin(keep)
        level = code.binary("sub", inside, 1)
        for at, number in enumerate(routine.registers):
            value = steps.read(number)
            self._put_at(self._word(routine, 2 + at), level, value.value, value.dtype, again)
        code.jump(kept)
        code.begin(kept)
        self._give(self._inside_at(routine), code.binary("add", inside, 1), mask)
        end = self._end(routine, action.stack)
        steps.write(routine.base, self._base(action.stack), mask)
        steps.write(action.stack, end, mask)
        self._grow(code.select(code.truths(mask), end, integer(0, _WIDE)))

    def leave(self, action: Return, mask: Value) -> Value:
        """Returns from a routine; the blocks at which lanes go on."""
        code, steps, routine = self._code, self._steps, action.routine
        depth = code.binary("sub", self._depth(), 1)
        self._give(self._fields["depth"], depth, mask)
        stack = self._get("stacks", depth, UNSIGNED[64], mask)
        steps.write(action.stack, stack, mask)
        inside = code.binary("sub", self._inside(routine), 1)
        self._give(self._inside_at(routine), inside, mask)
        again = code.binary("and", code.bits(code.compare("icmp ne", inside, 0)), mask)
        restore, restored = code.name("restore"), code.name("restored")
        code.branch(code.compare("icmp ne", again, 0), restore, restored)
        code.begin(restore)
        level = code.binary("sub", inside, 1)
        for at, number in enumerate(routine.registers):
            dtype = steps.read(number).dtype
            value = self._get_at(self._word(routine, 2 + at), level, dtype, again)
            steps.write(number, value, again)
        code.jump(restored)
        code.begin(restored)
        return code.convert("trunc", self._get("onward", depth, UNSIGNED[64], mask), vector_of("i32"))

    # -- parts of these -------------------------------------------------------------------------

    def _splat(self, field: str) -> Value:
        return self._code.splat(self._fields[field])

    def _splat_of(self, pointer: Value) -> Value:
        return self._code.splat(self._code.convert("ptrtoint", pointer, "i64"))

    def _word(self, routine: Routine, at: int) -> Value:
        """A word of the table of a routine."""
        code = self._code
        return code.load("ptr", code.offset(self._fields["calls"], WORD * (self._tables[routine] + at)), WORD)

    def _own(self, pointer: Value) -> Value:
        """Where the words of the present warp's lanes are."""
        code = self._code
        return code.offset(pointer, code.binary("mul", self._accesses.lane, WORD))

    def _depth(self) -> Value:
        return self._code.load(_WIDE, self._own(self._fields["depth"]), WORD)

    def _inside_at(self, routine: Routine) -> Value:
        return self._word(routine, 0)

    def _inside(self, routine: Routine) -> Value:
        """How often lanes are in a routine."""
        return self._code.load(_WIDE, self._own(self._inside_at(routine)), WORD)

    def _give(self, pointer: Value, value: Value, mask: Value) -> None:
        code, own = self._code, self._own(pointer)
        before = code.load(_WIDE, own, WORD)
        code.store(code.select(code.truths(mask), value, before), own, WORD)

    def _base(self, stack: int) -> Value:
        """The address of a new frame."""
        code = self._code
        top = code.binary("add", self._steps.read(stack).value, STACK_ALIGNMENT - 1)
        return code.binary("and", top, -STACK_ALIGNMENT)

    def _end(self, routine: Routine, stack: int) -> Value:
        return self._code.binary("add", self._base(stack), max(routine.locals.size, 1))

    def _grow(self, ends: Value) -> None:
        """Local memory in use reaches to the last of some addresses."""
        code, limit = self._code, self._fields.place("local_limit")
        last = code.call("i64", f"llvm.vector.reduce.umax.{suffix(_WIDE)}", ends)
        code.store(code.call("i64", "llvm.umax.i64", last, code.load("i64", limit, WORD)), limit, WORD)

    def _places(self, levels: Value, size: int) -> Value:
        """The offsets of lanes' elements at levels."""
        code = self._code
        row = code.binary("mul", levels, self._splat("lane_count"))
        lanes = code.binary("add", code.splat(self._accesses.lane), sequence(range(WARP_SIZE), "i64"))
        return code.binary("mul", code.binary("add", row, lanes), size)

    def _put(self, field: str, levels: Value, value: Value, dtype: DType, mask: Value) -> None:
        self._put_at(self._fields[field], levels, value, dtype, mask)

    def _put_at(self, base: Value, levels: Value, value: Value, dtype: DType, mask: Value) -> None:
        code = self._code
        if dtype == BOOL:
            value = code.convert("zext", value, vector_of("i8"))
        pointers = code.offset(base, self._places(levels, dtype.itemsize))
        code.run(
            f"llvm.masked.scatter.{suffix(value.type)}.v{WARP_SIZE}p0", value, pointers,
            integer(dtype.itemsize, "i32"), code.truths(mask),
        )

    def _get(self, field: str, levels: Value, dtype: DType, mask: Value) -> Value:
        return self._get_at(self._fields[field], levels, dtype, mask)

    def _get_at(self, base: Value, levels: Value, dtype: DType, mask: Value) -> Value:
        code = self._code
        type = vector_of("i8") if dtype == BOOL else vector_type(dtype)
        pointers = code.offset(base, self._places(levels, dtype.itemsize))
        value = code.call(
            type, f"llvm.masked.gather.{suffix(type)}.v{WARP_SIZE}p0", pointers,
            integer(dtype.itemsize, "i32"), code.truths(mask), Value(type, "zeroinitializer"),
        )
        return code.compare("icmp ne", value, 0) if dtype == BOOL else value
