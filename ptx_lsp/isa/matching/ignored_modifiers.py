"""Modifiers that ptxas ignores on instructions that do not have them.

ptxas keeps some modifiers apart from the others and looks at them only in the instructions that they belong
to: `add.finite.f32` is an addition. Learnt from ptxas 13.5; the manual has nothing of it.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.notation import Form
from ptx_lsp.isa.types import TYPES
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_ONE_OF: Final = (
    frozenset((".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal")),
    frozenset((
        ".global_address", ".rank", ".box_dim", ".global_dim", ".global_stride", ".element_stride",
        ".elemtype", ".interleave_layout", ".swizzle_mode", ".swizzle_atomicity", ".fill_mode",
    )),
    frozenset((".acc::f16", ".acc::f32")),
)
"""Anywhere, but two words of a set are refused: tests of `testp`, fields of a tensor-map, precisions."""
_FORMATS: Final = frozenset((".b8x16", ".b6x16_p32", ".b4x16_p64"))
"""As often as you like, where there is no conversion between formats."""
_CONVERTING: Final = ("ldmatrix", "tcgen05.cp")
_REFUSING_PRECISIONS: Final = ("fabric.try_pullred", "multimem.ld_reduce")
_ON_SOME: Final = (
    (
        frozenset((".row", ".col")),
        ("ldmatrix", "stmatrix", "movmatrix", "tcgen05.ld", "tcgen05.st", "tcgen05.cp", "wgmma.mma_async"),
    ),
    (frozenset((".uni",)), ("tex", "tld4")),
)
"""As often as you like, on the instructions whose names begin so."""
_SCOPES: Final = frozenset((".cta", ".cluster", ".gpu", ".sys"))
_SCOPED: Final = ("cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor", "mbarrier.check_layout")
"""They take one scope."""
_NOT_OF_VALUES: Final = frozenset((".pred", ".texref", ".samplerref", ".surfref"))
"""As often as you like, where ptxas looks only for the types that can be computed with."""
_COMPUTING: Final = frozenset(
    "abs add atom cos cvt ex2 fma ldmatrix lg2 max min mul multimem neg rcp red rsqrt set setp sin spcompress"
    " spdecompress sqrt sub tanh cp.reduce fabric.try_red fabric.try_pullred fabric.try_atom wgmma.mma_async"
    " wmma.mma".split()
)
_NOT_COMPUTING: Final = {
    "cp": frozenset((".tensor",)),
    "mul": frozenset((".hi", ".lo", ".wide")),
    "multimem": frozenset((".async",)),
    "red": frozenset((".async",)),
}
"""Modifiers with which ptxas looks at all types after all."""
_NEVER_COUNTED: Final = frozenset((".bf16", ".tf32", ".bf16x2", ".b1"))
_ALTERNATE: Final = _NEVER_COUNTED | {".s2", ".u2", ".s4", ".u4"}
"""Types that ptxas takes as a fifth one in an `mma` that has none of `_NEVER_COUNTED` in its place."""
IGNORABLE: Final = frozenset[str]().union(
    *_ONE_OF, _NOT_OF_VALUES, _FORMATS, _ALTERNATE, *(words for words, _ in _ON_SOME), _SCOPES, (".b2",)
)
"""All modifiers that are ignored anywhere."""


def is_ignored(form: Form, words: tuple[str, ...], number: int) -> bool:
    """Whether ptxas ignores `words[number]`, a modifier for which `form` has no place."""
    word = words[number]
    opcode = form.opcode.partition(".")[0]
    for kind in _ONE_OF:
        if word in kind:
            refused = ".acc::f16" in kind and _is_one_of(_REFUSING_PRECISIONS, opcode, words)
            return not refused and sum(one in kind for one in words) == 1
    if word in _SCOPES:
        return _is_one_of(_SCOPED, opcode, words) and sum(one in _SCOPES for one in words) == 1
    for kind, names in _ON_SOME:
        if word in kind:
            return _is_one_of(names, opcode, words)
    if word in _NOT_OF_VALUES:
        return _computes(opcode, words)
    if word == ".b2":
        return opcode not in ("mma", "wmma") and word not in form.words and not _computes(opcode, words)
    if word in _FORMATS:
        return not _is_one_of(_CONVERTING, opcode, words)
    return word in _ALTERNATE and opcode == "mma" and _is_fifth(words, number)


def _is_one_of(names: tuple[str, ...], opcode: str, words: tuple[str, ...]) -> bool:
    """Whether the spelling begins with one of these names."""
    return f"{opcode}{''.join(words)}.".startswith(tuple([f"{name}." for name in names]))


def _computes(opcode: str, words: tuple[str, ...]) -> bool:
    """Whether ptxas ignores types that hold no numbers here, but not `.b2`; elsewhere it is the reverse."""
    is_tensor_on_fabric = opcode == "fabric" and ".tensor" in words
    if words[:2] == (".cp", ".reduce") or ".spcompress" in words or is_tensor_on_fabric:
        return True
    names = (opcode, f"{opcode}{words[0]}")
    return not _COMPUTING.isdisjoint(names) and _NOT_COMPUTING.get(opcode, frozenset()).isdisjoint(words)


def _is_fifth(words: tuple[str, ...], number: int) -> bool:
    """ptxas looks at the first four types, and of an alternate one only at its size there."""
    types = [at for at, word in enumerate(words) if word in TYPES]
    kept = [at for at in types if at != number and words[at] not in _NEVER_COUNTED]
    sparse_integers = ".s32" in words and not {".sp", ".sp::ordered_metadata"}.isdisjoint(words)
    if len(kept) < 4 or ".block_scale" in words or sparse_integers:
        return False
    sizes, counted = ([TYPES[words[at]].width for at in part[:4]] for part in (types, kept))
    return sizes == counted or ".f64" in words
