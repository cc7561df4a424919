"""Opcodes without side effects: such instructions only write their results, and can be removed if those are
unused, except that they may write the carry.
"""

from __future__ import annotations

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

PURE: Final = frozenset(
    """
    abs add addc and bfe bfi bfind bmsk brev clmad clz cnot copysign cos cvt cvta div dp2a dp4a ex2 fma
    fns getctarank isspacep lg2 lop3 mad mad24 madc mapa max min mov mul mul24 neg not or popc prmt
    rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub subc szext tanh testp xor
    vabsdiff vadd vmad vmax vmin vset vshl vshr vsub
    vabsdiff2 vadd2 vavrg2 vmax2 vmin2 vset2 vsub2 vabsdiff4 vadd4 vavrg4 vmax4 vmin4 vset4 vsub4
    """.split()
)
CARRYING: Final = frozenset({"addc", "subc", "madc"})
"""Opcodes that read the carry."""
