"""Instructions that do nothing but write their results: without a reader, they could be left out.

1. An instruction is pure when it writes registers and nothing else, and cannot fail: arithmetic, logic,
   comparisons, conversions and moves.
2. With `.cc` it writes the condition code as well, so it is not pure; `addc`, `subc` and `madc` only read it.
3. Loads are not pure: they can fail, and what another thread does may depend on them (`.volatile`,
   `.acquire`). Shuffles and votes are not: other threads read what this one gives.
"""

from __future__ import annotations

from analyses.steps import Step

PURE = frozenset(
    """
    abs add addc and bfe bfi bfind bmsk brev clmad clz cnot copysign cos cvt cvta div dp2a dp4a ex2 fma
    fns getctarank isspacep lg2 lop3 mad mad24 madc mapa max min mov mul mul24 neg not or popc prmt
    rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub subc szext tanh testp xor
    vabsdiff vadd vmad vmax vmin vset vshl vshr vsub
    vabsdiff2 vadd2 vavrg2 vmax2 vmin2 vset2 vsub2 vabsdiff4 vadd4 vavrg4 vmax4 vmin4 vset4 vsub4
    """.split()
)


def is_pure(step: Step) -> bool:
    """Whether `step` does nothing but write its registers."""
    return step.opcode in PURE and bool(step.writes) and ".cc" not in step.spelling
