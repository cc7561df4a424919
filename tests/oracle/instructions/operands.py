"""Operands that a form admits, and their text in the names that the prelude of `judge` declares."""

from __future__ import annotations

from typing import Final

from ptx_lsp.isa.matching.fit import Candidate
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.schema.operand import Argument, Operand
from ptx_lsp.isa.types import TYPES


def argument(candidate: Candidate, place: Place) -> Argument:
    """Something right to stand at a place."""
    wanted = candidate.operand(place)
    made = _shaped(candidate, place, wanted)
    if place.paired == "|":
        pair = candidate.operand(Place(place.pair))
        return made._replace(pair=plain_argument(pair))
    return made


def _shaped(candidate: Candidate, place: Place, wanted: Operand) -> Argument:
    match place.shape:
        case "address":
            base = Argument("register", what_type(wanted) if _is_plain(wanted) else ".u64")
            if what_type(wanted).startswith((".texref", ".surfref")):
                base = Argument("variable", what_type(wanted).partition("|")[0])
            if wanted.space == ".param::func":  # a kernel has no such address in a register
                base = Argument("variable", ".b32", ".param", value=1)
            rest = (argument(candidate, part) for part in place.parts[1:] if not part.groups)
            return Argument("address", parts=(base, *rest))
        case "vector" | "list":
            parts = tuple(argument(candidate, part) for part in place.parts)
            return Argument(place.shape, parts=parts)
        case "plain":
            if place.name.isdigit():
                return Argument("integer", value=int(place.name))
            return plain_argument(wanted)


def plain_argument(wanted: Operand) -> Argument:
    count = wanted.elements if isinstance(wanted.elements, int) else 0
    if count:
        single = plain_argument(wanted._replace(elements=0))
        if single.kind == "special":
            return single._replace(parts=(single,) * count)
        return Argument("vector", parts=(single,) * max(count, 1))
    if "register" in wanted.kinds:
        return Argument("register", _register_type(wanted))
    if "integer" in wanted.kinds:
        return Argument("integer", value=wanted.values[0] if wanted.values else wanted.low or 1)
    for kind in ("address", "label", "function", "variable", "special", "list", "sink"):
        if kind in wanted.kinds:
            base = Argument("register", ".u64")
            parts = (base,) if kind == "address" else ()
            space = _space(wanted) if kind == "variable" else ""
            return Argument(kind, what_type(wanted).partition("|")[0], space, parts=parts)
    return Argument("unknown")


def _is_plain(wanted: Operand) -> bool:
    """Whether one type is wanted, that a register can have."""
    type = TYPES.get(what_type(wanted))
    return type is not None and type.declarable


def what_type(wanted: Operand) -> str:
    return wanted.type if isinstance(wanted.type, str) else ""


def _space(wanted: Operand) -> str:
    """The state space where a variable must be: `.shared` for `.shared::cluster`."""
    space = wanted.space.partition("|")[0] if isinstance(wanted.space, str) else ""
    return space.partition("::")[0]


def _register_type(wanted: Operand) -> str:
    name = what_type(wanted).partition("|")[0]
    type = TYPES.get(name, TYPES[".b32"])
    return type.name if type.declarable else f".b{max(type.width, 8)}"


_SPECIAL: Final = {
    ".u64": "%gridid", ".s64": "%gridid", ".b64": "%gridid", ".pred": "%is_explicit_cluster",
}


def written(given: Argument) -> str:
    """An argument as PTX text, in the names that the prelude declares."""
    text = _written(given)
    if given.pair is not None:
        text = f"{text}|{_written(given.pair)}"
    sign = "-" if given.type != ".pred" else "!"
    return f"{sign if given.negated else ''}{text}{given.suffix}"


def _written(given: Argument) -> str:
    inner = ", ".join(
        f"%{part.type[1:]}_{number % 8}" if part.kind == "register" else written(part)
        for number, part in enumerate(given.parts)
    )
    match given.kind:
        case "register":
            return f"%{given.type[1:]}_1"
        case "integer":
            return str(given.value if given.value is not None else 1)
        case "float":
            return "1.5"
        case "single":
            return "0f3F800000"
        case "variable":
            return {".texref": "tex0", ".surfref": "surf0", ".samplerref": "samp0"}.get(
                given.type, f"{given.space.lstrip('.') or 'global'}{given.value or 0}"
            )
        case "element":
            return f"{_written(given._replace(kind='variable'))}[1]"
        case "offset":
            return f"{_written(given._replace(kind='variable' if given.space else 'register'))} + 1"
        case "label":
            return f"L{given.value or 1}"
        case "function":
            return f"f{given.value or 0}"
        case "special":
            return "%tid" if given.parts else _SPECIAL.get(given.type, "%tid.x")
        case "address":
            return f"[{inner}]"
        case "vector":
            return f"{{{inner}}}"
        case "list":
            return f"({inner})"
        case "sink":
            return "_"
        case "unknown":
            return "unknown"
