"""The registers that calls need. ptxas inlines no function of PTX, however small, so each call is a `CALL`.

What holds in the machine code of ptxas 13.5 for sm_75 to sm_120:

1. A call follows the ABI if its callee is not known: it goes through a register, to a recursive function, or
   out of the module. The callee may overwrite R0, R3 to R15, and the lower four of each eight registers from
   R32 on; R20 and R21 have the return address. Values that are live across the call are in R2, R16 to R19,
   R22 to R31, and the upper four of each eight registers from R36 on. So 24 registers are used at least.
2. The system calls (`vprintf`, `malloc`, `free`, `__assertfail`) overwrite nothing above R15 from sm_80 on.
3. Other functions have a calling convention of their own. The registers of the callee come on top of those
   that are live across the call, with a pair for the return address.
4. Values are kept across a call of a `.noreturn` function too, as if it returned. From sm_90 on, a few are
   not.
5. In a debug build, all calls follow the ABI (1). The registers of PTX that are live across a call keep
   registers of their own, with gaps, and so does the descriptor of global memory from sm_80 on.
6. `nvdisasm -plr` counts all registers that a callee may overwrite as live at the call. So the slow path of a
   division or root needs a number of registers that depends on the instruction, not on what is live across
   it, as long as that is little (`slow_path_registers`).
7. A kernel that may call through addresses uses as many registers as the largest function that it may reach
   so (`address_taken`). Such a function overwrites registers as of 1, with gaps from R32 on, as long as all
   warps stay resident. With more, it keeps some of the others in local memory and has the next number of
   registers with which fewer warps are resident. Its copy is in the kernel's machine code.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.control_flow.address_taken import address_taken, may_call_through_addresses
from ptx_lsp.analyses.control_flow.call_graph import call_graph_node
from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.registers.machine_instructions import machine_instructions
from ptx_lsp.analyses.registers.machine_kind import slow_path_registers, used_by_slow_path
from ptx_lsp.analyses.registers.register_files import registers_elsewhere
from ptx_lsp.analyses.registers.register_pressure import register_pressure
from ptx_lsp.analyses.registers.scheduling.list_scheduling import most_registers
from ptx_lsp.analyses.registers.scheduling.scheduling_limit import register_targets
from ptx_lsp.analyses.registers.scheduling.straight_line_regions import straight_line_regions
from ptx_lsp.analyses.registers.virtual_register_liveness import virtual_register_liveness
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.facts import module_fact
from ptx_lsp.isa.device_limits import LIMITS, MAX_REGISTERS_PER_THREAD
from ptx_lsp.isa.target import Target
from ptx_lsp.model.calls.calls import Call, calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_counts
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_STACK_POINTER: Final = 1
_RETURN_ADDRESS: Final = 2
_ALWAYS_USED: Final = 2
"""ptxas reports as many registers more than the highest one makes."""
_OVERWRITTEN: Final = 14
_PRESERVED: Final = (2, *range(16, 20), *range(22, 32))
"""The preserved registers below R32."""
_BANK: Final = 8
_HALF: Final = 4
_LAST_OF_ABI: Final = 21
_LOCAL_LIVE: Final = 16
_LOCAL_USED: Final = 20
"""The least at the calls of a function with local variables: as a rule, it is not optimised."""
_SYSTEM_CALLS: Final = frozenset({"vprintf", "malloc", "free", "__assertfail"})
_PRESERVING: Final = 80
_DESCRIPTOR: Final = 2
_DENSE: Final = 12
"""How many values a debug build keeps below R32."""
_FORGETTING: Final = 90
_FORGOTTEN: Final = 3
_PEAK_OF_CALLEE: Final = 22
"""What a function that follows the ABI needs, with those that it keeps."""
_LEAST_BY_ADDRESS: Final = 24
_WITHOUT_GAPS: Final = 10
"""The registers that a function called through an address may need before it uses any from R32 on."""
_FOR_CALLER: Final = 6
_LIVE_FOR_CALLER: Final = 9
"""How many more are used, and live, than such a function needs."""
_SAVED: Final = 3
"""What a recursive function keeps of its own."""

_call_steps = instructions_matching(lambda spelling: spelling.partition(".")[0] == "call")


class CallRegisters(NamedTuple):
    """The registers that are live at the calls of a function, at most, and that are used because of them."""

    live: int = 0
    used: int = 0


def call_registers(function: Function, target: Target) -> CallRegisters:
    """The registers that the calls of `function` need; none without calls."""
    live, used = _Calls(target).of_function(function)
    if function.is_kernel and may_call_through_addresses(function):
        found = _through_addresses(module_of(function), target)
        live, used = max(live, found.live), max(used, found.used)
    return CallRegisters(live, used)


def debug_call_registers(function: Function, target: Target) -> CallRegisters:
    """The registers that the calls of `function` need in a debug build (5)."""
    numbers = {step.number for step in _call_steps(function)}
    if not numbers:
        return CallRegisters()
    across = register_pressure(function).across(numbers)
    across += _DESCRIPTOR if target.number >= _PRESERVING else 0
    banks = max(0, -(-(across - _DENSE) // (_HALF - 1)))
    live, used = _by_abi(across - (_HALF - 1) * banks, True)
    return CallRegisters(live + (2 * _HALF - 1) * banks, used + _BANK * banks)


class _Calls:
    """Finds the registers of each function that is called once."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.known: dict[str, int] = {}
        """What each callee needs, without the stack pointer."""

    def of_function(self, function: Function) -> CallRegisters:
        shapes = shape_counts(function).counts
        live = max((slow_path_registers(shape.spelling) for shape in shapes), default=0)
        used = max((used_by_slow_path(shape.spelling) for shape in shapes), default=0)
        made = calls(function)
        if not made:
            return CallRegisters(live, used)
        graph = call_graph_node(function)
        across = dict(_across_calls(function, self.target))
        for call in made:
            found = self.of_call(call, graph.callees[call.node.start], across.get(call.node.start, 0))
            live, used = max(live, found.live), max(used, found.used)
        if any(graph.callees.values()) and any(
            variable.space == ".local" for variable in function.body.variables
        ):
            live, used = max(live, _LOCAL_LIVE), max(used, _LOCAL_USED)
        return CallRegisters(max(live, _PEAK_OF_CALLEE) if graph.is_recursive else live, used)

    def of_call(self, call: Call, callees: tuple[Function, ...], across: int) -> CallRegisters:
        if call.table is not None:
            live, used = _by_abi(across, True)
            return CallRegisters(max(live, _PEAK_OF_CALLEE), used)
        if not callees:
            name = call.target.text
            keeps = self.target.number >= _PRESERVING or name == "__assertfail"
            return _by_abi(across, name not in _SYSTEM_CALLS or not keeps)
        (callee,) = callees
        if not call_graph_node(callee).is_recursive:
            return _by_own_convention(across, self.of_callee(callee))
        live, used = _by_abi(across, True)
        live = max(live + _SAVED, _PEAK_OF_CALLEE)
        return CallRegisters(live, max(used, live + _ALWAYS_USED))

    def of_callee(self, function: Function) -> int:
        known = self.known.get(function.name)
        if known is None:
            at_calls = max(0, self.of_function(function).live - _STACK_POINTER)
            elsewhere = registers_elsewhere(function, self.target)
            known = max(most_registers(straight_line_regions(function), elsewhere), at_calls)
            self.known[function.name] = known
        return known


def _by_abi(across: int, is_spread: bool) -> CallRegisters:
    """The registers at a call that follows the ABI; with `is_spread`, the callee overwrites some of each
    eight.
    """
    live = _OVERWRITTEN + _STACK_POINTER + across
    above = across - len(_PRESERVED)
    if above > 0 and is_spread:
        banks = -(-above // _HALF)
        live += _HALF * banks
        highest = _PRESERVED[-1] + _BANK * (banks - 1) + _HALF + (above - 1) % _HALF + 1
    else:
        highest = _PRESERVED[-1] + above if above > 0 else _PRESERVED[max(across, 1) - 1]
    return CallRegisters(live, max(highest, _LAST_OF_ABI) + 1 + _ALWAYS_USED)


@module_fact
def _through_addresses(module: Module, target: Target) -> CallRegisters:
    """The registers of kernels because of the functions that they may call through addresses (7)."""
    device, made = LIMITS[target.number], _Calls(target)
    names = address_taken(module)
    if not names:
        return CallRegisters()
    callee = max(made.of_callee(module.definitions[name]) for name in names)
    spread = _LEAST_BY_ADDRESS + _BANK * max(0, -(-(callee - _WITHOUT_GAPS) // _HALF))
    targets = [*register_targets(device, device.warps_per_sm), MAX_REGISTERS_PER_THREAD]
    needed = next((one for one in targets if one >= callee + _FOR_CALLER), MAX_REGISTERS_PER_THREAD)
    used = min(spread, max(targets[0], needed))
    return CallRegisters(min(callee + _LIVE_FOR_CALLER, used), used)


def _by_own_convention(across: int, callee: int) -> CallRegisters:
    """The registers at a call of a function that needs `callee` registers (3)."""
    needed = across + _STACK_POINTER + _RETURN_ADDRESS + callee
    return CallRegisters(needed, needed + _ALWAYS_USED)


def _across_calls(function: Function, target: Target) -> Iterator[tuple[int, int]]:
    """The number of virtual registers that are live across each call, by its start."""
    left, graph = virtual_registers(function), cfg(function)
    for number in sorted({graph.block_of[step.number] for step in _call_steps(function)}):
        block = graph.blocks[number]
        after, forgotten = block.successors, 0
        if left.code.flow.kinds[block.end - 1].opcode == "call" and number + 1 not in after:
            after = (number + 1,)  # it does not return (4)
            forgotten = _FORGOTTEN if target.number >= _FORGETTING else 0
        live = set(virtual_register_liveness(function).live_in_any(after))
        for operation in reversed(machine_instructions(left, block.instructions)):
            live -= operation.defs - operation.partial_defs
            if operation.instruction.opcode == "call":
                yield operation.instruction.node.start, max(0, len(live) - forgotten)
            live |= operation.uses - left.code.loads.keys()
