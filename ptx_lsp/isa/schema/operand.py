"""Operands: what an instruction wants at a place, and what a program gives there.

A row of the table says what it wants with the functions `writes`, `reads`, `reads_and_writes`, `immediate`,
`address` and so on. A caller describes what stands in the program as an `Argument`: a plain value
without positions. `mismatch.py` says if the two agree.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptx_lsp.isa.schema.selector import Choices, parse
from ptx_lsp.isa.types import TYPES, twice
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.process_tables import process_table
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import Final

AccessMode = Literal["read", "write", "both", "none"]

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
    """The operand of a program at a place. Hashable: the same signature is checked once."""

    kind: Given
    type: str = ""
    space: str = ""
    value: int | None = None
    parts: tuple[Argument, ...] = ()
    pair: Argument | None = None
    negated: bool = False  # !p, or -a
    suffix: str = ""  # .unified, a selector of bytes or halves, an operator behind a label or function


class Operand(NamedTuple):
    """The requirements at a place.

    `wider` admits registers wider than the type (ld, st, cvt). `low` and `high` bound immediates, `values`
    lists them, and they are a multiple of `multiple`. `lengths` are the numbers of elements that are allowed
    beside `elements`. `space` is where an address must point ("": anywhere generic). `pointer`: it holds an
    address that must be as wide as `.address_size` says, always or in the spellings that a selector matches.
    `discarded`: `_` may stand for a whole vector, too. `wraps`: how many low bits of a constant ptxas looks
    at, as a number without a sign; else 64 with one. `after_index`: coordinates, after an array index if
    their type is `.b32`. `at_most`: the operand (or with `|`, the first there is) whose constant bounds this
    one.
    """

    access: AccessMode
    kinds: frozenset[Given]
    type: Follows = ""
    elements: Count = 0
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
    wraps: int | None = None
    after_index: bool = False
    is_sampler: bool = False
    at_most: str = ""


GENERIC: Final = ".global|.shared|.local"
"""The state spaces of variables whose names may stand for generic addresses."""

GENERIC_OR_GLOBAL: Final = (
    "!.const|.local|.param|.param::entry|.param::func|.shared|.shared::cta|.shared::cluster"
)
"""The spellings whose address is generic or in `.global`, so that it is a whole pointer."""

ANY_ADDRESS: Final = ".b64|.b32"
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


def reads_and_writes(type: Follows = "", *, count: Count = 0) -> Operand:
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
    access: AccessMode = "read",
    also: tuple[Given, ...] = (),
    type: Follows = ANY_ADDRESS,
    pointer: str | bool = False,
) -> Operand:
    """Memory at `[a]`; `access` says what happens to the memory, the register is only read.

    Where `type` is given, the register must have its size; with `.b32` it must be untyped, too. `pointer`:
    see `Operand`; elsewhere ptxas takes a register of any size.
    """
    kinds: frozenset[Given] = frozenset(("address",))
    return Operand(access, kinds | frozenset(also), type, space=space, pointer=pointer)


def predicate(access: AccessMode = "read", *, sink: bool = False) -> Operand:
    """A predicate register; where one is read, ptxas takes an integer as well."""
    kinds = set[Given](("register",))
    if sink:
        kinds.add("sink")
    if access == "read":
        kinds.add("integer")
    return Operand(access, frozenset(kinds), ".pred")


def name(*kinds: Given, what: str) -> Operand:
    """A name that is not a register: a label, a function, a variable. `what` is for messages."""
    return Operand("none", frozenset(kinds), what=what)


def only(
    *kinds: Given,
    access: AccessMode = "read",
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
    """The operand in one spelling: types, spaces and counts are plain texts.

    `default` is the type of the form. An operand whose type is not known stays unchecked ("").
    """
    text = follow(operand.type, choices) or default
    if "|" in text:
        names = [_type_name(part, choices, default) for part in text.split("|")]
        type = "|".join([name for name in names if name])
    else:
        type = _type_name(text, choices, default)
    space = _place(follow(operand.space, choices), choices)
    counts, pointer = _counts(operand.elements, choices), _is_pointer(operand.pointer, choices)
    key = (id(operand), type, space, counts, pointer)
    known = _RESOLVED.get(key)
    if known is None:
        found = operand._replace(
            type=type, space=space, elements=counts[0], lengths=counts[1:], pointer=pointer
        )
        known = _RESOLVED[key] = (operand, found)
    return known[1]


_RESOLVED: Final = process_table(
    dict[tuple[int, str, str, tuple[int, ...], bool], tuple["Operand", "Operand"]]()
)
"""What `resolved` gave so far, by the identity of the operand in the table and what is filled in."""


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
    if isinstance(rule, int):
        return (rule,)
    if isinstance(rule, tuple):
        return rule
    if isinstance(rule, str):
        digits = choices[rule.lstrip(".")].lstrip(".vx")
        return (int(digits) if digits.isdigit() else 0,)
    for selector, count in rule.items():
        if parse(selector).matches(choices):
            return _counts(count, choices)
    return (0,)
