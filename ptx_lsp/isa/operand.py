"""Operands: what an instruction wants at a place, what a program gives there, and if they agree.

A row of the table says what it wants with the functions `writes`, `reads`, `updates`, `immediate`,
`address` and so on. A caller describes what stands in the program as an `Argument`: a plain value
without positions. Messages follow the manual's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from ptx_lsp.isa.selector import Choices, parse
from ptx_lsp.isa.types import TYPES, Kind, Type, fits, fits_wider, twice

Access = Literal["read", "write", "both", "none"]

Given = Literal[
    "register",  # type
    "integer",  # value; WARP_SZ and constant expressions too
    "float",  # a decimal or 0d... literal: a double
    "single",  # a 0f... literal
    "variable",  # type, space: a name of memory, a texture, a sampler or a surface
    "element",  # type, space: of an array, `a[4]`: an address without brackets
    "offset",  # type, space: a register or variable, and a number that is added to it
    "label",  # a label, or a list of branch or call targets, or a prototype
    "function",
    "special",  # type: a special register; with `|`, all that it can be read in; parts: its elements
    "address",  # parts: the base, then what follows a comma inside the brackets
    "vector",  # parts
    "list",  # parts: a parenthesised list
    "sink",  # _
    "unknown",  # an undeclared name, a broken operand: reported elsewhere, fits everything
]

Follows = str | Mapping[str, str]
"""A type or a state space that may depend on the spelling: a text, or selector -> text.

A type text is a type (`.u32`), a slot (`.dtype`), `wide .type` for twice the width, or
alternatives with `|`. "" is the type of the form.
"""

Count = int | str | tuple[int, ...] | Mapping[str, int | str | tuple[int, ...]]
"""How many elements a vector operand has: a number, a slot (`.vec` holding `.v4`; `.num` holding
`.x4`), or selector -> one of these. 0 is a scalar, -1 any number. A tuple allows several; its
first is the usual one."""


class Argument(NamedTuple):
    """What a program gives at a place. Hashable: the same signature is checked once."""

    kind: Given
    type: str = ""
    space: str = ""
    value: int | None = None
    parts: tuple[Argument, ...] = ()
    pair: Argument | None = None
    negated: bool = False  # !p, or -a
    suffix: str = ""  # .unified, or a selector of bytes or halves


@dataclass(frozen=True)
class Operand:
    """What is wanted at a place.

    `wider` admits registers wider than the type (ld, st, cvt). `low` and `high` bound immediates,
    `values` lists them, and they are a multiple of `multiple`. `lengths` are the numbers of
    elements that are allowed beside `count`. `space` is where an address must point ("": anywhere
    generic). `pointer`: it holds an address that must be as wide as `.address_size` says, always or in
    the spellings that a selector matches. `discarded`: `_` may stand for a whole vector, too. `wraps`:
    ptxas looks at the low 32 bits of a constant.
    """

    access: Access
    kinds: frozenset[Given]
    type: Follows = ""
    count: Count = 0
    wider: bool = False
    low: int | None = None
    high: int | None = None
    values: tuple[int, ...] = ()
    multiple: int = 1
    lengths: tuple[int, ...] = ()
    space: Follows = ""
    what: str = ""
    pointer: str | bool = False
    discarded: bool = False
    wraps: bool = False


GENERIC: Final = ".global|.shared|.local"
"""The state spaces of variables whose names may stand for generic addresses."""

GENERIC_OR_GLOBAL: Final = (
    "!.const|.local|.param|.param::entry|.param::func|.shared|.shared::cta|.shared::cluster"
)
"""The spellings whose address is generic or in `.global`, so that it is a whole pointer."""

_ANY_ADDRESS: Final = ".b64|.b32"
_REGISTER: Final[frozenset[Given]] = frozenset(("register",))
_SOURCE: Final[frozenset[Given]] = frozenset(("register", "integer", "float", "single"))


def writes(
    type: Follows = "",
    *,
    count: Count = 0,
    wider: bool = False,
    sink: bool = False,
    pointer: bool = False,
    discarded: bool = False,
) -> Operand:
    """A destination register; `sink` when `_` may stand there, in a vector for its elements, `discarded` when
    it may stand for a whole vector; `pointer` when it gets a whole pointer.
    """
    kinds: frozenset[Given] = frozenset(("register", "sink")) if sink else _REGISTER
    return Operand("write", kinds, type, count, wider, pointer=pointer, discarded=discarded)


def updates(type: Follows = "", *, count: Count = 0) -> Operand:
    """A register that is read and written."""
    return Operand("both", _REGISTER, type, count)


def reads(
    type: Follows = "",
    *,
    count: Count = 0,
    wider: bool = False,
    immediate: bool = True,
    also: tuple[Given, ...] = (),
) -> Operand:
    """A source: a register or (unless `immediate` is false) a constant; `also` admits more."""
    kinds = (_SOURCE if immediate else _REGISTER) | frozenset(also)
    return Operand("read", kinds, type, count, wider)


def immediate(
    low: int | None = None,
    high: int | None = None,
    *,
    values: tuple[int, ...] = (),
    type: Follows = ".b64",
) -> Operand:
    """An integer constant, between `low` and `high` where given, or one of `values`."""
    return Operand("none", frozenset(("integer",)), type, low=low, high=high, values=values)


def address(
    space: Follows = "",
    *,
    access: Access = "read",
    also: tuple[Given, ...] = (),
    type: Follows = _ANY_ADDRESS,
    pointer: str | bool = False,
) -> Operand:
    """Memory at `[a]`; `access` says what happens to the memory, the register is only read.

    Where `type` is given, the register must have its size; with `.b32` it must be untyped, too. `pointer`:
    see `Operand`; elsewhere ptxas takes a register of any size.
    """
    kinds: frozenset[Given] = frozenset(("address",))
    return Operand(access, kinds | frozenset(also), type, space=space, pointer=pointer)


def predicate(access: Access = "read", *, sink: bool = False) -> Operand:
    """A predicate register; where one is read, ptxas takes an integer as well."""
    kinds = set[Given](("register",))
    if sink:
        kinds.add("sink")
    if access == "read":
        kinds.add("integer")
    return Operand(access, frozenset(kinds), ".pred")


def name(*kinds: Given, what: str) -> Operand:
    """A name that is no register: a label, a function, a variable. `what` is for messages."""
    return Operand("none", frozenset(kinds), what=what)


def only(
    *kinds: Given,
    access: Access = "read",
    type: Follows = "",
    space: Follows = "",
    what: str = "",
    pointer: bool = False,
) -> Operand:
    """Exactly these kinds of argument: for what the functions above do not cover.

    A variable must be in `space`, where one is given.
    """
    return Operand(access, frozenset(kinds), type, space=space, what=what, pointer=pointer)


def resolved(operand: Operand, choices: Choices, default: str) -> Operand:
    """The operand as it is in one spelling: types, spaces and counts are plain texts.

    `default` is the type of the form. An operand whose type is not known stays unchecked ("").
    """
    text = follow(operand.type, choices)
    names = [_type_name(part, choices, default) for part in (text or default).split("|")]
    count, *lengths = _counts(operand.count, choices)
    return replace(
        operand,
        type="|".join(name for name in names if name),
        space=_place(follow(operand.space, choices), choices),
        count=count,
        lengths=tuple(lengths),
        pointer=_is_pointer(operand.pointer, choices),
    )


def _is_pointer(rule: str | bool, choices: Choices) -> bool:
    return parse(rule).matches(choices) if isinstance(rule, str) else rule


def follow(rule: Follows, choices: Choices) -> str:
    """The text that a rule gives for a spelling; "" when no selector matches."""
    if isinstance(rule, str):
        return rule
    for selector, text in rule.items():
        if parse(selector).matches(choices):
            return text
    return ""


def _type_name(text: str, choices: Choices, default: str) -> str:
    words = text.split()
    name = _slot_or_self(words[-1], choices) if words else default
    if words and not name and words[-1] == ".type":
        name = default
    if len(words) == 2 and words[0] == "wide":
        type = twice(TYPES[name]) if name in TYPES else None
        return type.name if type else ""
    return name


def _slot_or_self(text: str, choices: Choices) -> str:
    return choices[text[1:]] if text[1:] in choices else text if text in TYPES else _bare(text)


def _place(text: str, choices: Choices) -> str:
    return text if "|" in text else _slot_or_self(text, choices)


def _bare(text: str) -> str:
    """A slot that this form lacks says nothing; a state space names itself."""
    return "" if text.startswith(".") and text not in SPACES else text


SPACES: Final = (".global", ".shared", ".local", ".const", ".param", ".reg", ".sreg", ".tex")


def _counts(rule: Count, choices: Choices) -> tuple[int, ...]:
    if isinstance(rule, Mapping):
        for selector, count in rule.items():
            if parse(selector).matches(choices):
                return _counts(count, choices)
        return (0,)
    if isinstance(rule, tuple):
        return rule
    if isinstance(rule, int):
        return (rule,)
    digits = choices[rule.lstrip(".")].lstrip(".vx")
    return (int(digits) if digits.isdigit() else 0,)


def mismatch(wanted: Operand, given: Argument) -> str:
    """Why `given` may not stand where a resolved operand is `wanted`; "" when it may."""
    count = wanted.count if isinstance(wanted.count, int) else 0
    if given.kind == "unknown":
        return ""
    if given.kind == "offset":
        return _offset(wanted, given)
    if given.kind == "element" and "element" in wanted.kinds:
        return _space(wanted, given)
    if given.kind == "element" and "variable" in wanted.kinds:
        given = given._replace(kind="variable")
    if given.kind == "vector" and "vector" not in wanted.kinds:
        return _vector(wanted, given, count)
    scalar = given.kind in ("register", "integer", "float", "single", "variable")
    scalar |= given.kind == "sink" and not wanted.discarded
    if count > 0 and scalar and 0 not in wanted.lengths:
        return f"a vector of {count} elements is expected here, such as `{{a, b}}`"
    if given.kind not in wanted.kinds:
        why = f"{_article(given)} cannot stand here: {_expected(wanted)} is expected"
        return f"{why}; {_NO_ADDRESS}" if given.kind == "label" else why
    if given.kind == "special" and len(given.parts) != count:
        if not given.parts:
            return f"a special register of {count} elements is expected here, such as `%tid`"
        return f"a vector cannot stand here: {_expected(wanted)} is expected"
    types = _types(wanted)
    match given.kind:
        case "register" | "special":
            return _register(wanted, given, types)
        case "integer":
            return _integer(wanted, given, types)
        case "float" | "single":
            return _literal(given, types)
        case "address":
            return _address(wanted, given)
        case "variable" if "address" not in wanted.kinds:
            return _space(wanted, given)
        case _:
            return ""


_NO_ADDRESS: Final = "labels have no addresses, and an indirect branch is `brx.idx`"
ALL_SINKS: Final = "a vector of `_` alone cannot stand here: its elements have no type"


def is_all_sinks(given: Argument) -> bool:
    """Whether a vector has no element but `_`."""
    return all(part.kind == "sink" for part in given.parts)


def _types(wanted: Operand) -> list[Type]:
    names = wanted.type.split("|") if isinstance(wanted.type, str) else ()
    return [TYPES[name] for name in names if name in TYPES]


def _vector(wanted: Operand, given: Argument, count: int) -> str:
    if count == 0 and not wanted.lengths:
        return f"a vector cannot stand here: {_expected(wanted)} is expected"
    if count >= 0 and len(given.parts) not in (count, *wanted.lengths):
        return f"a vector of {count} elements is expected here, not of {len(given.parts)}"
    if is_all_sinks(given):
        return ALL_SINKS
    if all(part.kind == "special" and part.type == ".pred" for part in given.parts):
        return f"a vector of predicates cannot stand here: {_expected(wanted)} is expected"
    single = replace(wanted, count=0)
    return next((why for part in given.parts if (why := mismatch(single, part))), "")


def _register(wanted: Operand, given: Argument, types: list[Type]) -> str:
    registers = [TYPES[name] for name in given.type.split("|") if name in TYPES]
    if not registers or not types:
        return ""
    rule = fits_wider if wanted.wider else fits
    if any(rule(register, type) for register in registers for type in types):
        return ""
    register = registers[0]
    names = " or ".join(dict.fromkeys(f"`{type.name}`" for type in types))
    holder = f"{names} (held in `.b{types[0].width}`)" if _is_format(types[0]) else names
    expected = wanted.what or holder
    kind = "special register" if given.kind == "special" else "register"
    return f"a {kind} of type `{register.name}` cannot stand here: {expected} is expected"


def _offset(wanted: Operand, given: Argument) -> str:
    """`r+4` stands for a register of any number of bits, `variable+4` for an integer, too."""
    if wanted.access in ("write", "both"):
        return f"a sum cannot stand here: {_expected(wanted)} is expected"
    plain = given._replace(kind="variable" if given.space else "register")
    if {"register", "integer"} <= wanted.kinds:
        integers = [type for type in _types(wanted) if type.is_integer or type.kind is Kind.BITS]
        register = TYPES.get(given.type)
        is_number = given.space or (register and (register.is_integer or register.kind is Kind.BITS))
        if integers and is_number:
            return ""
    return mismatch(wanted, plain)


def _is_format(type: Type) -> bool:
    return type.kind is Kind.ALTERNATE


def _integer(wanted: Operand, given: Argument, types: list[Type]) -> str:
    if types and all(type.kind in (Kind.FLOAT, Kind.ALTERNATE) for type in types):
        return f"an integer cannot stand here: `{wanted.type}` takes {_constants(types[0])}"
    if given.value is None:
        return ""
    value = given.value & 0xFFFFFFFF if wanted.wraps else given.value
    if wanted.values and value not in wanted.values:
        return f"{given.value} is not one of {', '.join(map(str, wanted.values))}"
    if value % wanted.multiple:
        return f"{given.value} is not a multiple of {wanted.multiple}"
    low, high = wanted.low, wanted.high
    if (low is not None and value < low) or (high is not None and value > high):
        return f"{given.value} is out of range: {_range(low, high)}"
    return ""


def _constants(type: Type) -> str:
    return "a float such as 1.0" if type.name in (".f32", ".f64") else "no constant"


def _range(low: int | None, high: int | None) -> str:
    if high is None:
        return f"at least {low}"
    return f"at most {high}" if low is None else f"{low} to {high}"


def _literal(given: Argument, types: list[Type]) -> str:
    """A float stands for `.f32` and `.f64`, and for the `.bN` of its own size."""
    size = ".b32" if given.kind == "single" else ".b64"
    if not types or any(type.name in (".f32", ".f64", size) for type in types):
        return ""
    names = " or ".join(f"`{type.name}`" for type in types)
    return f"a float cannot stand here: {names} is expected"


def _address(wanted: Operand, given: Argument) -> str:
    base = given.parts[0] if given.parts else Argument("unknown")
    if base.kind == "register" and base.type in TYPES:
        type = TYPES[base.type]
        if wanted.type and not (type.is_integer or type.kind is Kind.BITS):
            return f"a register of type `{base.type}` cannot hold an address"
        if wanted.type not in ("", _ANY_ADDRESS) and not any(
            type.width == one.width and one.kind in (Kind.UNSIGNED, type.kind)
            for one in _types(wanted)
        ):
            return f"a register of type `{base.type}` cannot hold this address: `{wanted.type}` does"
    if base.kind in ("label", "function"):
        return f"a {base.kind} is no address in memory; a register or variable is expected"
    if base.kind == "special" and (base.parts or base.type == ".pred"):
        return f"a special register of {'several elements' if base.parts else 'type `.pred`'} is no address"
    return _handle(wanted, base) or _space(wanted, base) if base.kind == "variable" else ""


def _handle(wanted: Operand, variable: Argument) -> str:
    """Why a variable is not the texture, sampler or surface that is wanted. Those of `.tex` have any type."""
    handles = [type.name for type in _types(wanted) if type.kind is Kind.HANDLE]
    if not handles or variable.type in handles or variable.space == ".tex":
        return ""
    found = f", not `{variable.type}`" if variable.type else ""
    return f"a variable of type {' or '.join(f'`{name}`' for name in handles)} is expected here{found}"


def _space(wanted: Operand, variable: Argument) -> str:
    """Why a variable is not where an address must point; "" where it is, or nothing is asked."""
    if isinstance(wanted.space, str) and wanted.space and variable.space:
        spaces = ["." + one.lstrip(".").partition("::")[0] for one in wanted.space.split("|")]
        if set(spaces) <= set(SPACES) and variable.space not in spaces:
            listed = " or ".join(f"`{space}`" for space in spaces)
            return f"this address is in `{variable.space}`; {listed} is expected"
    return ""


def _article(given: Argument) -> str:
    words = {
        "integer": "an integer",
        "single": "a float",
        "address": "an address",
        "element": "an element of an array",
        "sink": "_",
        "special": "a special register",
    }
    return words.get(given.kind, f"a {given.kind}")


def _expected(wanted: Operand) -> str:
    if wanted.what:
        return wanted.what
    kinds = [kind for kind in ("register", "address", "label", "function", "variable", "list")
             if kind in wanted.kinds]
    if "integer" in wanted.kinds:
        kinds.append("constant")
    text = " or ".join(kinds) or " or ".join(sorted(wanted.kinds))
    return f"a `{wanted.type}` {text}" if wanted.type and "register" in wanted.kinds else f"a {text}"
