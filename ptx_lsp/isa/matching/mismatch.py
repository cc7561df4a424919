"""Why what a program gives at a place is not what the instruction wants, in the words of the manual."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.isa.schema.operand import ANY_ADDRESS, SPACES, Argument, Operand
from ptx_lsp.isa.types import TYPES, Kind, Type, fits, fits_wider
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


def mismatch(wanted: Operand, given: Argument) -> str:
    """Why `given` may not stand where a resolved operand is `wanted`; "" when it may."""
    kind, kinds = given.kind, wanted.kinds
    count = wanted.elements if isinstance(wanted.elements, int) else 0
    if kind == "unknown":
        return ""
    if kind == "offset":
        return _offset(wanted, given)
    if kind == "element" and "element" in kinds:
        return _space(wanted, given)
    if kind == "element" and "variable" in kinds:
        kind = "variable"
        given = given._replace(kind=kind)
    if kind == "vector" and "vector" not in kinds:
        return _vector(wanted, given, count)
    is_scalar = kind in _SCALARS or (kind == "sink" and not wanted.discarded)
    if count > 0 and is_scalar and 0 not in wanted.lengths:
        return f"expected a vector of {count} elements, such as `{{a, b}}`"
    if kind not in kinds:
        why = f"expected {_expected(wanted)}, found {_article(given)}"
        return f"{why}; {_NO_ADDRESS}" if kind == "label" else why
    if kind == "special" and len(given.parts) != count:
        if not given.parts:
            return f"expected a special register with {count} elements, such as `%tid`"
        return f"expected {_expected(wanted)}, found a vector"
    match kind:
        case "register" | "special":
            return _register(wanted, given, _types(wanted))
        case "integer":
            return _integer(wanted, given, _types(wanted))
        case "float" | "single":
            return _literal(given, _types(wanted))
        case "address":
            return _address(wanted, given)
        case "variable" if "address" not in kinds:
            return _handle(wanted, given) or _space(wanted, given)
        case _:
            return ""


_SCALARS: Final = frozenset(("register", "integer", "float", "single", "variable"))
_NO_ADDRESS: Final = "labels have no addresses; use `brx.idx` for an indirect branch"
ALL_SINKS: Final = "a vector of only `_` is not allowed: its elements have no type"


def is_all_sinks(given: Argument) -> bool:
    """Whether a vector has no element but `_`."""
    return all(part.kind == "sink" for part in given.parts)


def _types(wanted: Operand) -> tuple[Type, ...]:
    return _types_named(wanted.type) if isinstance(wanted.type, str) else ()


@lru_cache(maxsize=1 << 12)
def _types_named(names: str) -> tuple[Type, ...]:
    return tuple([TYPES[name] for name in names.split("|") if name in TYPES])


def _vector(wanted: Operand, given: Argument, count: int) -> str:
    if count == 0 and not wanted.lengths:
        return f"expected {_expected(wanted)}, found a vector"
    if count >= 0 and len(given.parts) not in (count, *wanted.lengths):
        return f"expected a vector of {count} elements, found {len(given.parts)}"
    if is_all_sinks(given):
        return ALL_SINKS
    if all(part.kind == "special" and part.type == ".pred" for part in given.parts):
        return f"expected {_expected(wanted)}, found a vector of predicates"
    single = wanted._replace(elements=0)
    last: Argument | None = None
    for part in given.parts:
        why = "" if part == last else mismatch(single, part)
        if why:
            return why
        last = part
    return ""


def _register(wanted: Operand, given: Argument, types: tuple[Type, ...]) -> str:
    registers = _types_named(given.type)
    if not registers or not types:
        return ""
    if isinstance(wanted.type, str) and _fits_some(given.type, wanted.type, wanted.wider):
        return ""
    register = registers[0]
    names = " or ".join(dict.fromkeys(f"`{type.name}`" for type in types))
    holder = f"{names} (held in `.b{types[0].width}`)" if _is_format(types[0]) else names
    expected = wanted.what or holder
    kind = "special register" if given.kind == "special" else "register"
    return f"expected {expected}, found a {kind} of type `{register.name}`"


@lru_cache(maxsize=1 << 12)
def _fits_some(given: str, wanted: str, is_wider: bool) -> bool:
    """Whether a register of one of some types may stand where one of others is wanted."""
    rule = fits_wider if is_wider else fits
    return any(rule(register, type) for register in _types_named(given) for type in _types_named(wanted))


def _offset(wanted: Operand, given: Argument) -> str:
    """`r+4` stands for a register of any number of bits, `variable+4` for an integer, too."""
    if wanted.access in ("write", "both"):
        return f"expected {_expected(wanted)}, found a sum"
    plain = given._replace(kind="variable" if given.space else "register")
    takes_constants = not _SYMBOLIC.isdisjoint(wanted.kinds)
    if "register" in wanted.kinds and takes_constants and (not wanted.elements or 0 in wanted.lengths):
        integers = [type for type in _types(wanted) if type.is_integer or type.kind is Kind.BITS]
        register = TYPES.get(given.type)
        is_number = given.space or (register and (register.is_integer or register.kind is Kind.BITS))
        if integers and is_number:
            return ""
    return mismatch(wanted, plain)


_SYMBOLIC: Final = frozenset(("integer", "single"))
"""Constants beside which ptxas takes sums."""


def _is_format(type: Type) -> bool:
    return type.kind is Kind.ALTERNATE


def _integer(wanted: Operand, given: Argument, types: tuple[Type, ...]) -> str:
    if types and all(type.kind in (Kind.FLOAT, Kind.ALTERNATE) for type in types):
        return f"an integer is not allowed: `{wanted.type}` takes {_constants(types[0])}"
    if given.value is None:
        return ""
    value = counted(given.value, wanted.wraps)
    if wanted.values and value not in wanted.values:
        listed = ", ".join(map(str, wanted.values))
        return f"expected {'one of ' * (len(wanted.values) > 1)}{listed}, found {given.value}"
    if value % wanted.multiple:
        return f"{given.value} is not a multiple of {wanted.multiple}"
    low, high = wanted.low, wanted.high
    if (low is not None and value < low) or (high is not None and value > high):
        return f"{given.value} is out of range: expected {_range(low, high)}"
    return ""


def counted(value: int, bits: int | None) -> int:
    """A constant as ptxas counts it: 64 bits with a sign, or the low `bits` without."""
    if bits is not None:
        return value % 2**bits
    return (value + 2**63) % 2**64 - 2**63


def _constants(type: Type) -> str:
    return "a float such as 1.0" if type.name in (".f32", ".f64") else "no constant"


def _range(low: int | None, high: int | None) -> str:
    if high is None:
        return f"at least {low}"
    return f"at most {high}" if low is None else f"{low} to {high}"


def _literal(given: Argument, types: tuple[Type, ...]) -> str:
    """A float stands for `.f32` and `.f64`, and for the `.bN` of its own size."""
    size = ".b32" if given.kind == "single" else ".b64"
    if not types or any(type.name in (".f32", ".f64", size) for type in types):
        return ""
    names = " or ".join(f"`{type.name}`" for type in types)
    return f"expected {names}, found a float"


def _address(wanted: Operand, given: Argument) -> str:
    base = given.parts[0] if given.parts else Argument("unknown")
    if base.kind == "register" and base.type in TYPES:
        type = TYPES[base.type]
        is_number = type.is_integer or type.kind is Kind.BITS or type in _types(wanted)
        if type.width > 64 or (wanted.type and not is_number):
            return f"a register of type `{base.type}` cannot hold an address"
        if wanted.type not in ("", ANY_ADDRESS) and not any(
            type.width == one.width and one.kind in (Kind.UNSIGNED, type.kind)
            for one in _types(wanted)
        ):
            return (
                f"a register of type `{base.type}` cannot hold this address; expected "
                f"`{wanted.type}`"
            )
    if base.kind in ("label", "function"):
        return f"a {base.kind} is not an address in memory; expected a register or variable"
    if base.kind == "vector":
        return "a vector is not an address; expected a register or variable"
    if base.kind == "special" and (base.parts or base.type == ".pred"):
        what = "several elements" if base.parts else "type `.pred`"
        return f"a special register of {what} is not an address"
    return _handle(wanted, base) or _space(wanted, base) if base.kind == "variable" else ""


def bare_address(wanted: Operand, given: Argument) -> str:
    """Why something without brackets may not stand for an address that needs none; "" when it may.

    Where the address has a size, ptxas moves what is given to a register of that size, else it checks little.
    """
    kind = given.kind
    is_sum = kind == "offset" and not given.space
    if not is_sum and kind not in wanted.kinds:
        return "expected an address"
    if kind == "variable":
        is_handle = given.type in TYPES and TYPES[given.type].kind is Kind.HANDLE
        return "" if is_handle else _space(wanted, given)
    type = TYPES.get(given.type)
    if wanted.type == ANY_ADDRESS or type is None:
        return ""
    if type.width in (32, 64) and (type.is_integer or type.kind is Kind.BITS or type.name == ".f64"):
        return ""
    return f"a register of type `{given.type}` cannot hold this address; expected `{wanted.type}`"


def _handle(wanted: Operand, variable: Argument) -> str:
    """Why a variable is not the texture, sampler or surface that is wanted. Those of `.tex` have any type."""
    handles = [type.name for type in _types(wanted) if type.kind is Kind.HANDLE]
    if not handles or variable.type in handles or variable.space == ".tex":
        return ""
    found = f", found `{variable.type}`" if variable.type else ""
    return f"expected a variable of type {' or '.join(f'`{name}`' for name in handles)}{found}"


def _space(wanted: Operand, variable: Argument) -> str:
    """Why a variable is not where an address must point; "" where it is, or nothing is asked."""
    if isinstance(wanted.space, str) and wanted.space and variable.space:
        spaces = ["." + one.lstrip(".").partition("::")[0] for one in wanted.space.split("|")]
        if set(spaces) <= set(SPACES) and variable.space not in spaces:
            listed = " or ".join(f"`{space}`" for space in spaces)
            return f"this address is in `{variable.space}`; expected {listed}"
    return ""


def _article(given: Argument) -> str:
    words = {
        "integer": "an integer",
        "single": "a float",
        "address": "an address",
        "element": "an element of an array",
        "sink": "`_`",
        "special": "a special register",
    }
    return words.get(given.kind, f"a {given.kind}")


def _expected(wanted: Operand) -> str:
    if wanted.what:
        return wanted.what
    kinds: list[str] = [
        kind for kind in ("register", "address", "label", "function", "variable", "list")
        if kind in wanted.kinds
    ]
    if "integer" in wanted.kinds:
        kinds.append("constant")
    text = " or ".join(kinds) or " or ".join(sorted(wanted.kinds))
    return f"a `{wanted.type}` {text}" if wanted.type and "register" in wanted.kinds else f"a {text}"
