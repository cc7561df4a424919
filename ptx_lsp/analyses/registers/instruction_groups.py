"""Groups of instructions that matter for registers, to count the instructions of a function by."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

GROUPS: Final = (
    "f16", "f32", "f64", "fma32", "fma64", "i32", "i64", "mad32", "mad64", "wide", "bits",
    "setp", "selp", "cvt", "cvt_f64", "mov", "div32", "div64", "divf", "sfu", "f64_sequence",
    "ld_global", "ld_global_words", "ld_wide", "ld_shared", "ld_shared_words", "ld_local",
    "ld_param", "ld_param_words", "ld_const", "ld_generic", "st_global", "st_global_words",
    "st_shared", "st_shared_words", "st_local", "atom", "red", "shfl", "vote", "barrier", "mma",
    "ldmatrix", "async", "call", "bra", "tex", "volatile", "nc",
)  # fmt: skip
PLACE: Final = {name: place for place, name in enumerate(GROUPS)}

_OWN: Final = frozenset({
    "atom", "red", "shfl", "mov", "setp", "selp", "call", "bra", "ldmatrix",
})  # fmt: skip
_OPCODES: Final = {
    "vote": ("vote", "match", "activemask", "redux", "elect"),
    "barrier": ("bar", "barrier", "membar", "fence"),
    "mma": ("mma", "wmma", "wgmma", "tcgen05"),
    "async": ("cp", "mbarrier", "griddepcontrol", "prefetch"),
    "tex": ("tex", "tld4", "suld", "sust", "txq"),
    "sfu": ("sin", "cos", "ex2", "lg2", "tanh"),
    "bits": (
        "and", "or", "xor", "not", "shl", "shr", "shf", "lop3", "prmt", "bfe", "bfi", "popc", "clz", "brev",
    ),
}  # fmt: skip
_GROUP: Final = {opcode: group for group, opcodes in _OPCODES.items() for opcode in opcodes}
_SPACES: Final = frozenset({"global", "shared", "local", "param", "const"})
_VECTORS: Final = {"v2": 2, "v4": 4, "v8": 8}


@lru_cache(maxsize=1 << 13)
def groups(spelling: str) -> tuple[tuple[int, int], ...]:
    """The groups of an instruction, as places in `GROUPS`, with its weight in each."""
    found = _groups(spelling)
    return tuple((PLACE[name], weight) for name, weight in found.items() if weight and name in PLACE)


def _groups(spelling: str) -> dict[str, int]:
    opcode, *modifiers = spelling.split(".")
    type = modifiers[-1] if modifiers else ""
    if opcode in _OWN:
        return {opcode: 1}
    if opcode in _GROUP:
        return {_GROUP[opcode]: 1, "i64": int(opcode in _OPCODES["bits"] and "64" in type)}
    if opcode in ("ld", "ldu", "st"):
        return _memory(opcode[:2], modifiers)
    if opcode == "cvt":
        return {"cvt": 1, "cvt_f64": int("f64" in modifiers)}
    if "wide" in modifiers:
        return {"wide": 1}
    integer = "64" if "64" in type else "32"
    if opcode in ("div", "rem", "sqrt", "rcp", "rsqrt"):
        match type:
            case "f64":
                return {"f64_sequence": 1}
            case "f32":
                return {"sfu" if "approx" in modifiers else "divf": 1}
            case _:
                return {"div" + integer: 1}
    if "f16" in type:
        return {"f16": 1}
    is_float = type in ("f32", "f64")
    if opcode in ("fma", "mad"):
        return {"fma" + type[1:]: 1, type: 1} if is_float else {"mad" + integer: 1}
    return {type if is_float else "i" + integer: 1}


def _memory(opcode: str, modifiers: list[str]) -> dict[str, int]:
    words = 2 if modifiers and "64" in modifiers[-1] else 1
    for modifier in modifiers:
        words *= _VECTORS.get(modifier, 1)
    names = (modifier.partition(":")[0] for modifier in modifiers)
    space = next((name for name in names if name in _SPACES), "generic")
    return {
        f"{opcode}_{space}": 1,
        f"{opcode}_{space}_words": words,
        "volatile": int("volatile" in modifiers),
        "nc": int("nc" in modifiers),
        "ld_wide": int(opcode == "ld" and words > 2),
    }
