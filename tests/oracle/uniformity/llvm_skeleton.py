"""A PTX function as LLVM sees it: the same blocks and the same flow of values, with everything else left out.

1. A register is an `alloca`, which LLVM's `mem2reg` makes values of.
2. What computes is `xor` of what it reads. A `mov` of a number is that number, one of a register a copy.
3. A load is a load, in its address space. What is the same for all threads (parameters of a kernel, `%ctaid`,
   votes) is an argument of a kernel. What is not, or is not known, is a call.
4. What is written under a guard is a `select`; a branch goes by its guard or index.

LLVM calls each intrinsic divergent, most arithmetic ones too. Those are `xor` here, so it is given more to
work with than it has on its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from ptx_lsp.analyses.control_flow.cfg import BasicBlock, cfg
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Predefined, Variable
from ptx_lsp.syntax import nodes

DECLARATIONS = "declare i64 @differs()\n"
_SPACES = {"global": 1, "shared": 3, "const": 4, "local": 5}
_LANES = ("%tid", "%laneid", "%lanemask", "%clock", "%globaltimer", "%pm")
_COLLECTIVE = frozenset({"vote", "redux", "bar", "barrier"})
_DIFFERING = frozenset(
    """
    activemask alloca atom call elect ldmatrix mbarrier mma movmatrix shfl sured tcgen05 wgmma wmma
    """.split()
)


def skeleton(function: Function, name: str) -> str:
    """The definition of `function` under another name; its blocks are `b0`, `b1` ..., as in our graph."""
    return "\n".join(_Writer(function).lines(name)) + "\n"


class _Writer:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.cfg = cfg(function)
        self.steps = instructions(function)
        self.count = 0
        self.out: list[str] = []

    def lines(self, name: str) -> Iterator[str]:
        yield f"define ptx_kernel void @{name}(i64 %given) {{"
        yield "entry:"
        for register in range(len(self.steps.registers)):
            yield f"  %r{register} = alloca i64"
        yield "  %carry = alloca i64"
        yield "  br label %b0"
        for block in self.cfg.blocks:
            if block.number in self.cfg.reached:
                yield f"b{block.number}:"
                yield from self.block(block)
        yield "}"

    def block(self, block: BasicBlock) -> list[str]:
        self.out = []
        for number in block.instructions:
            self.step(self.steps.instructions[number])
        self.leave(block)
        return self.out

    def new(self, text: str) -> str:
        """Adds an instruction; its result."""
        self.count += 1
        self.out.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def load(self, register: str) -> str:
        return self.new(f"load i64, ptr {register}")

    def is_not_zero(self, value: str) -> str:
        return self.new(f"icmp ne i64 {value}, 0")

    # -- steps ----------------------------------------------------------------------------------

    def step(self, step: InstructionInfo) -> None:
        sets_carry = ".cc" in step.spelling
        if not step.defs and not sets_carry:
            return
        made = self.result(step)
        guard = self.is_not_zero(self.load(f"%r{step.guard}")) if step.guard >= 0 else ""
        targets = [f"%r{register}" for register in step.defs]
        for index, target in enumerate([*targets, "%carry"] if sets_carry else targets):
            value = made
            if index:
                value = self.new(f"add i64 {made}, {_unique(step, index)}")
            if guard:
                value = self.new(f"select i1 {guard}, i64 {value}, i64 {self.load(target)}")
            elif index < len(step.defs) and step.defs[index] in step.partial_defs:
                value = self.new(f"xor i64 {value}, {self.load(target)}")
            self.out.append(f"  store i64 {value}, ptr {target}")

    def result(self, step: InstructionInfo) -> str:
        opcode, *modifiers = step.spelling.split(".")
        if opcode in _DIFFERING or (opcode == "match" and "any" in modifiers):
            return self.new("call i64 @differs()")
        if opcode in _COLLECTIVE or opcode == "match":
            return "%given"
        if opcode in ("ld", "ldu"):
            return self.loaded(step, modifiers)
        read = self.read(step)
        if opcode == "mov" and len(read) == 1 and len(step.defs) == 1:
            return read[0]
        if opcode == "mov" and not read:
            return str(crc32(_last_operand(step).encode()))
        return self.mixed(step, read)

    def read(self, step: InstructionInfo) -> list[str]:
        """What the operands give that are registers or the same for some threads."""
        found = [self.load(f"%r{register}") for register in step.uses]
        for operand in step.node.operands:
            for name in names_in(operand):
                symbol = self.function.resolve(name)
                if isinstance(symbol, Predefined):
                    is_lane = symbol.name.startswith(_LANES)
                    found.append(self.new("call i64 @differs()") if is_lane else "%given")
        if step.opcode in ("addc", "subc", "madc"):
            found.append(self.load("%carry"))
        return found

    def mixed(self, step: InstructionInfo, values: list[str]) -> str:
        """A value that depends on all of `values`, and on no other step."""
        mixed = str(_unique(step, 0))
        for value in values:
            mixed = self.new(f"xor i64 {value}, {mixed}")
        return mixed

    def loaded(self, step: InstructionInfo, modifiers: list[str]) -> str:
        spaces = [modifier.partition("::")[0] for modifier in modifiers]
        if "param" in spaces:
            if not self.is_kernel_parameter(step):
                return self.new("call i64 @differs()")
            return self.mixed(step, [*self.read(step), "%given"])
        space = next((_SPACES[one] for one in spaces if one in _SPACES), 0)
        address = self.mixed(step, self.read(step))
        pointer = self.new(f"inttoptr i64 {address} to ptr addrspace({space})")
        if "relaxed" in modifiers or "acquire" in modifiers:
            order = "acquire" if "acquire" in modifiers else "monotonic"
            return self.new(f"load atomic i64, ptr addrspace({space}) {pointer} {order}, align 8")
        volatile = "volatile " if "volatile" in modifiers else ""
        return self.new(f"load {volatile}i64, ptr addrspace({space}) {pointer}")

    def is_kernel_parameter(self, step: InstructionInfo) -> bool:
        symbols = [self.function.resolve(name) for name in names_in(step.node.operands[-1])]
        variables = [symbol for symbol in symbols if isinstance(symbol, Variable)]
        return self.function.is_kernel and all(one.is_parameter for one in variables)

    # -- ways -----------------------------------------------------------------------------------

    def leave(self, block: BasicBlock) -> None:
        targets = [f"label %b{target}" for target in block.successors]
        if not targets:
            self.out.append("  ret void")
        elif len(targets) == 1:
            self.out.append(f"  br {targets[0]}")
        else:
            step = self.steps.instructions[block.end - 1]
            values = [self.load(f"%r{register}") for register in step.uses]
            if step.guard >= 0:
                values.append(self.load(f"%r{step.guard}"))
            if not values:  # nothing is known of where it goes
                values = [self.new("call i64 @differs()")]
            value = values[0] if len(values) == 1 else self.mixed(step, values)
            if len(targets) == 2:
                self.out.append(f"  br i1 {self.is_not_zero(value)}, {', '.join(targets)}")
            else:
                cases = " ".join(f"i64 {index}, {name}" for index, name in enumerate(targets[1:]))
                self.out.append(f"  switch i64 {value}, {targets[0]} [ {cases} ]")


def _unique(step: InstructionInfo, index: int) -> int:
    return (step.number << 8) + index + (1 << 40)


def _last_operand(step: InstructionInfo) -> str:
    operand = step.node.operands[-1]
    return operand.text if isinstance(operand, nodes.Number | nodes.Name) else str(step.number)
