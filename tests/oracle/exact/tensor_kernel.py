"""Kernels around Tensor Memory for matrix.py: its allocation, and sums of what it holds.

Each of 128 threads has a lane of Tensor Memory. A cell counts in the sum of its lane with its column, from 1
on.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.oracle.exact.kernel import Kernel, vector
from tests.oracle.exact.products import assert_exact, text, wrapped

_MASK = (1 << 32) - 1


class TensorKernel(Kernel):
    """A kernel of 128 threads that holds `columns` of Tensor Memory, from %t0 on; %t1 is the thread's own
    quarter of the lanes.
    """

    def __init__(self, name: str, words: int, salt: int, columns: int) -> None:
        super().__init__(name, words, salt, threads=128)
        self._columns = columns
        self._waits = 0
        self.declare("t", ".b32", 4)
        self.declare("q", ".pred", 4)
        self._regions += ["\t.shared .b32 slot;", "\t.shared .align 8 .b64 done;"]
        self.lines([
            "shr.u32 %t2, %id, 5;", "setp.eq.u32 %q0, %t2, 0;", "setp.eq.u32 %q1, %id, 0;",
            "setp.ne.u32 %q3, %id, %id;",
        ], 4)
        self.line(f"@%q0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], {columns};")
        self.line("@%q0 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;")
        self.line("@%q1 mbarrier.init.shared::cta.b64 [done], 1;")
        self.line("fence.proxy.async.shared::cta;  bar.sync 0;")
        self.line("ld.shared.b32 %t0, [slot];  shl.b32 %t1, %t2, 21;  add.u32 %t1, %t1, %t0;")

    def store(self, name: str, count: int, column: int) -> None:
        """Stores registers of each thread in its lane."""
        self.line(f"tcgen05.st.sync.aligned.32x32b.x{count}.b32 [%t1+{column}], {vector(name, count)};")
        self.line("tcgen05.wait::st.sync.aligned;")

    def settle(self) -> None:
        """All threads see what all have stored."""
        self.line("tcgen05.fence::before_thread_sync;  bar.sync 0;  tcgen05.fence::after_thread_sync;")

    def commit(self, form: str = ".shared::cluster.b64 [done]") -> None:
        """Waits for the operations of thread 0."""
        self.line(f"@%q1 tcgen05.commit.cta_group::1.mbarrier::arrive::one{form};")
        parity, number = self._waits % 2, self._waits
        self.line(f"wait_{number}: mbarrier.try_wait.parity.shared::cta.b64 %q2, [done], {parity};")
        self.line(f"@!%q2 bra wait_{number};")
        self.line("tcgen05.fence::after_thread_sync;")
        self._waits += 1

    def load(self, name: str, count: int, column: int) -> None:
        """Loads cells of each thread's lane."""
        self.declare(name, ".b32", count)
        self.line(f"tcgen05.ld.sync.aligned.32x32b.x{count}.b32 {vector(name, count)}, [%t1+{column}];")
        self.line("tcgen05.wait::ld.sync.aligned;")

    def end(self) -> None:
        """Gives the columns back."""
        self.line("tcgen05.fence::before_thread_sync;  bar.sync 0;")
        self.line(f"@%q0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t0, {self._columns};")

    def bits(self, label: str, name: str, count: int, cells: Sequence[Sequence[int]]) -> None:
        """Stores the sum of registers as whole numbers, which must be that of `cells` (by lane)."""
        self.declare("s", ".b32", 1)
        self.line("mov.b32 %s0, 0;")
        self.lines([f"mad.lo.u32 %s0, %{name}{at}, {at + 1}, %s0;" for at in range(count)], 4)
        sums = [sum(cell * (at + 1) for at, cell in enumerate(row)) & _MASK for row in cells]
        self.result(label, "u32", ["%s0"], [str(one) for one in sums])

    def numbers(
        self, label: str, name: str, count: int, type: str, found: Sequence[Sequence[Fraction]]
    ) -> None:
        """The same for numbers of a type, in the lower bits of a register."""
        if type == "s32":
            self.declare("s", ".b32", 1)
            self.line("mov.b32 %s0, 0;")
            self.lines([f"mad.lo.s32 %s0, %{name}{at}, {at + 1}, %s0;" for at in range(count)], 4)
            sums = [wrapped(sum(int(one) * (at + 1) for at, one in enumerate(row))) for row in found]
            self.result(label, "s32", ["%s0"], [str(one) for one in sums])
            return
        self.declare("u", ".f32", 2)
        self.declare("v", ".b16", 2)
        self.line("mov.f32 %u0, 0f00000000;")
        for at in range(count):
            taken = f"mov.b32 %u1, %{name}{at};"
            if type == "f16":
                taken = f"mov.b32 {{%v0, %v1}}, %{name}{at};  cvt.f32.f16 %u1, %v0;"
            self.line(f"{taken}  fma.rn.f32 %u0, %u1, {literal(at + 1)}, %u0;")
        values: list[str] = []
        for row in found:
            terms = [one * (at + 1) for at, one in enumerate(row)]
            assert_exact([int(term * (1 << 24)) for term in terms], "f32")
            values.append(text(sum(terms, Fraction(0)), "f32"))
        self.result(label, "f32", ["%u0"], values)


def literal(number: int) -> str:
    """A small whole number as `.f32`."""
    exponent = number.bit_length() - 1
    return f"0f{(126 + exponent << 23) + (number << 23 - exponent):08X}"
