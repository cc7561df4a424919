"""Reads the *Syntax* notation of the PTX ISA manual, the form in which the table is written.

    atom{.sem}{.scope}{.space}.op{.level::cache_hint}.type  d, [a], b{, cache-policy};
    .op = { .add, .min };   .space = { .global, .shared{::cta, ::cluster} };

A line is a form: an opcode, modifiers, operands. A dotted word that a definition names is a slot
for one of its choices; any other stands for itself. Braces make what they hold optional, all of it
or nothing, and nest. `.dtype = .atype = {...}` defines two slots; in a definition, `.h[0-3][0-3]`
is all of `.h00` to `.h33`. A row of dashes starts a block whose definitions are its own; blocks
without a definition of a slot share the other blocks'.
"""

from __future__ import annotations

from itertools import product

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import Final, TypeAlias

Shape = Literal["plain", "address", "vector", "list"]


class Slot(NamedTuple):
    """One place for a modifier: `name` without its dot, and the modifiers that may stand there.

    `groups` are the braces around it, outermost first; a slot with none is required.
    """

    name: str
    choices: tuple[str, ...]
    groups: tuple[int, ...] = ()


class Place(NamedTuple):
    """One place for an operand. `groups` as for slots; `parts` stand inside `[]`, `{}` or `()`.

    `paired` says that a second destination may follow after a bar (`d|p`): "" never, "{" may, "|" must.
    `negatable` is `{!}c` and `{-}c`. `suffixes` are what may follow the operand itself: `[a]{.unified}`, or a
    slot that selects bytes or halves (`a{.asel}`).
    """

    name: str
    shape: Shape = "plain"
    parts: tuple[Place, ...] = ()
    groups: tuple[int, ...] = ()
    pair: str = ""
    paired: Literal["", "{", "|"] = ""
    negatable: Literal["", "!", "-"] = ""
    suffixes: tuple[str, ...] = ()


class Form(NamedTuple):
    """One line of the notation. `text` is the line itself, for people."""

    text: str
    opcode: str
    slots: tuple[Slot, ...]
    places: tuple[Place, ...]

    @property
    def words(self) -> frozenset[str]:
        """Every modifier that stands somewhere in this form."""
        return frozenset(choice for slot in self.slots for choice in slot.choices)


PlainPlace: TypeAlias = tuple[
    str, Shape, tuple["PlainPlace", ...], tuple[int, ...], str, Literal["", "{", "|"], Literal["", "!", "-"],
    tuple[str, ...],
]
PlainSlot: TypeAlias = tuple[str, tuple[str, ...], tuple[int, ...]]
PlainForm: TypeAlias = tuple[str, str, tuple[PlainSlot, ...], tuple[PlainPlace, ...]]
"""A form as tuples without names, which are quicker to load from a file."""


def forms(text: str) -> tuple[Form, ...]:
    """The forms of the *Syntax* text of a row, which need not be read if they are known."""
    known = _known.get(text)
    return read(text) if known is None else tuple(map(_form_of, known))


def set_known_forms(by_text: dict[str, tuple[PlainForm, ...]]) -> None:
    """Sets the texts that need not be read."""
    _known.update(by_text)


_known: Final[dict[str, tuple[PlainForm, ...]]] = {}


def plain(form: Form) -> PlainForm:
    """A form for a file."""
    slots = tuple((slot.name, slot.choices, slot.groups) for slot in form.slots)
    return form.text, form.opcode, slots, tuple(map(_plain_place, form.places))


def _plain_place(place: Place) -> PlainPlace:
    name, shape, parts, groups, pair, paired, negatable, suffixes = place
    return name, shape, tuple(map(_plain_place, parts)), groups, pair, paired, negatable, suffixes


def _form_of(form: PlainForm) -> Form:
    text, opcode, slots, places = form
    return Form(text, opcode, tuple(Slot(*slot) for slot in slots), tuple(map(_place_of, places)))


def _place_of(place: PlainPlace) -> Place:
    name, shape, parts, groups, pair, paired, negatable, suffixes = place
    return Place(name, shape, tuple(map(_place_of, parts)), groups, pair, paired, negatable, suffixes)


def read(text: str) -> tuple[Form, ...]:
    """The forms of a *Syntax* text; ValueError with the line that is not understood."""
    blocks = [_statements(block) for block in _SEPARATOR.split(text)]
    definitions = [_definitions(lines) for lines in blocks]
    shared: dict[str, tuple[str, ...]] = {}
    for own in definitions:
        shared = own | shared
    return tuple(
        _form(line, shared | own)
        for lines, own in zip(blocks, definitions, strict=True)
        for line in lines
        if not line.startswith((".", "::"))
    )


def _statements(block: str) -> list[str]:
    text = _COMMENT.sub("", block)
    return [" ".join(line.split()) for line in text.split(";") if line.strip()]


def _definitions(lines: list[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if line.startswith((".", "::")):
            *names, body = (part.strip() for part in line.split("="))
            if not names or not (body.startswith("{") and body.endswith("}")):
                raise ValueError(f"not a slot definition: {line}")
            choices = tuple(_CHOICE.findall(body[1:-1]))
            for name in names:
                found[name] = tuple(one for choice in choices for one in _spread(choice))
    return {
        name: tuple(one for choice in choices for one in _substitute(choice, found))
        for name, choices in found.items()
    }


def _spread(choice: str) -> list[str]:
    """`.shared{::cta, ::cluster}` is `.shared`, `.shared::cta` and `.shared::cluster`."""
    if "[" in choice:
        return _count(choice)
    stem, _, rest = choice.partition("{")
    return [stem, *(stem + tail.strip() for tail in rest.rstrip("} ").split(",") if tail.strip())]


def _count(choice: str) -> list[str]:
    """`.h[0-3][0-3]` is `.h00`, `.h01` and so on to `.h33`."""
    stem, *ranges = choice.replace("]", "").split("[")
    digits = (map(str, range(int(span[0]), int(span[-1]) + 1)) for span in ranges)
    return [stem + "".join(chosen) for chosen in product(*digits)]


def _substitute(choice: str, found: dict[str, tuple[str, ...]]) -> list[str]:
    """`.collector::buffer` with `::buffer = { ::a, ::b }` is `.collector::a`, `.collector::b`."""
    head, *tails = choice.split("::")
    spelled = [head]
    for tail in tails:
        spelled = [one + end for one in spelled for end in found.get(f"::{tail}", (f"::{tail}",))]
    return spelled


_SEPARATOR: Final = lazy_pattern(r"\n\s*-{3,}\s*\n")
_COMMENT: Final = lazy_pattern(r"//[^\n]*")
_CHOICE: Final = lazy_pattern(r"(?:\.|::)[\w:]+(?:\[\d-\d\])*(?:\{[^}]*\})?")
_MODIFIER: Final = lazy_pattern(r"\.[\w:]+(?:\{::[^}]*\})?")
_OPERAND: Final = lazy_pattern(r"\{[!-]\}|[\w-]+|[\[\]{}(),|]|\.[\w:]+")
_HEAD: Final = lazy_pattern(r"\w+")


def _form(line: str, defined: dict[str, tuple[str, ...]]) -> Form:
    head = _HEAD.match(line)
    if head is None:
        raise ValueError(f"not a form: {line}")
    slots: list[Slot] = []
    groups: list[int] = []
    position, count = head.end(), 0
    while position < len(line) and (line[position] != " " or groups):
        if line[position] == "{":
            count += 1
            groups.append(count)
            position += 1
        elif line[position] == "}":
            groups.pop()
            position += 1
        elif line[position] in ", ":  # {.hi, .lo} is a choice written in place
            if line[position] == ",":
                found = _MODIFIER.match(line, position + 1 + (line[position + 1] == " "))
                if found is None:
                    raise ValueError(f"not understood: {line[position:]} in {line}")
                slots[-1] = slots[-1]._replace(choices=(*slots[-1].choices, found[0]))
                position = found.end()
            else:
                position += 1
        else:
            found = _MODIFIER.match(line, position)
            if found is None:
                raise ValueError(f"not understood: {line[position:]} in {line}")
            choices = defined.get(found[0]) or tuple(_spread(found[0]))
            name = found[0].partition("{")[0][1:]
            slots.append(Slot(name, choices, tuple(groups)))
            position = found.end()
    places = _Operands(_OPERAND.findall(line[position:]), defined).read()
    return Form(line, head[0], tuple(_numbered(slots)), places)


def _numbered(slots: list[Slot]) -> list[Slot]:
    """Gives a second slot of the same name (`.f16.f16`) a name of its own (`f16`, `f16#2`)."""
    seen: dict[str, int] = {}
    named: list[Slot] = []
    for slot in slots:
        seen[slot.name] = seen.get(slot.name, 0) + 1
        number = seen[slot.name]
        named.append(slot._replace(name=f"{slot.name}#{number}") if number > 1 else slot)
    return named


class _Operands:
    """A reader of operand lists; braces after a comma's place are groups, else vectors."""

    def __init__(self, tokens: list[str], defined: dict[str, tuple[str, ...]]) -> None:
        self.tokens = tokens
        self.defined = defined
        self.at = 0
        self.groups: list[int] = []
        self.count = 0

    def read(self, end: str = "") -> tuple[Place, ...]:
        places: list[Place] = []
        outer = len(self.groups)
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token == end and len(self.groups) == outer:
                break
            if token == ",":
                self.at += 1
            elif token == "}" and len(self.groups) > outer:
                self.groups.pop()
                self.at += 1
            elif token == "{" and self._is_group():
                self.count += 1
                self.groups.append(self.count)
                self.at += 1
            else:
                places.append(self._place())
        return tuple(places)

    def _is_group(self) -> bool:
        """`{, e}` and `{b,}` are optional operands; `{a, b}` and `{a}` are vectors."""
        close = self.tokens.index("}", self.at)
        return self.tokens[self.at + 1] == "," or self.tokens[close - 1] == ","

    def _place(self) -> Place:
        groups = tuple(self.groups)
        token = self.tokens[self.at]
        self.at += 1
        negatable: Literal["", "!", "-"] = _SIGNS.get(token, "")
        if negatable:
            token = self.tokens[self.at]
            self.at += 1
        if token in _CLOSERS:
            shape, close = _CLOSERS[token]
            parts = self.read(close)
            self.at += 1
            name = parts[0].name if parts else ""
            return Place(name, shape, parts, groups, suffixes=self._suffixes())
        if not _HEAD.match(token):
            raise ValueError(f"not an operand: {' '.join(self.tokens[self.at - 1 :])}")
        paired, pair = self._pair()
        suffixes = self._suffixes()
        return Place(token, "plain", (), groups, pair, paired, negatable, suffixes)

    def _pair(self) -> tuple[Literal["", "{", "|"], str]:
        rest = self.tokens[self.at : self.at + 4]
        if rest[:1] == ["|"]:
            self.at += 2
            return "|", rest[1]
        if rest[:2] in (["{", "|"], ["[", "|"]):
            self.at += 4
            return "{", rest[2]
        return "", ""

    def _suffixes(self) -> tuple[str, ...]:
        """`{.asel}` behind an operand: what may follow it, directly."""
        rest = self.tokens[self.at : self.at + 2]
        if len(rest) == 2 and rest[0] == "{" and rest[1].startswith("."):
            self.at += 3
            return self.defined.get(rest[1], (rest[1],))
        return ()


_SIGNS: Final[dict[str, Literal["!", "-"]]] = {"{!}": "!", "{-}": "-"}
_CLOSERS: Final[dict[str, tuple[Shape, str]]] = {
    "[": ("address", "]"),
    "{": ("vector", "}"),
    "(": ("list", ")"),
}
