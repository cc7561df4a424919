"""Instructions without side effects: they only write their results, and can be removed if those are unused.
"""

from __future__ import annotations

from analyses.instructions.uses_and_defs import InstructionInfo

PURE = frozenset(
    """
    abs add addc and bfe bfi bfind bmsk brev clmad clz cnot copysign cos cvt cvta div dp2a dp4a ex2 fma
    fns getctarank isspacep lg2 lop3 mad mad24 madc mapa max min mov mul mul24 neg not or popc prmt
    rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub subc szext tanh testp xor
    vabsdiff vadd vmad vmax vmin vset vshl vshr vsub
    vabsdiff2 vadd2 vavrg2 vmax2 vmin2 vset2 vsub2 vabsdiff4 vadd4 vavrg4 vmax4 vmin4 vset4 vsub4
    """.split()
)


def is_pure(step: InstructionInfo) -> bool:
    """Whether an instruction only writes its registers."""
    return step.opcode in PURE and bool(step.defs) and ".cc" not in step.spelling
