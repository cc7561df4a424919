"""The requirements of an operand, in words: `.u32 register or constant`."""

from __future__ import annotations

from ptx_lsp.isa.schema.operand import GENERIC, Operand
from ptx_lsp.isa.types import TYPES, Kind


def summarize(operand: Operand) -> str:
    """An operand of one spelling (`Candidate.operand`), with what happens to it where it is not
    just read: `vector of 4 .f32 registers, written`.
    """
    done = {"write": "written", "both": "read and written"}.get(operand.access, "")
    return ", ".join(part for part in (_what(operand), done) if part)


def _what(operand: Operand) -> str:
    if operand.what:
        return operand.what
    if "address" in operand.kinds:
        return _address(operand)
    if "register" not in operand.kinds:
        return _constant(operand) or " or ".join(_KINDS.get(kind, kind) for kind in sorted(operand.kinds))
    type = _type(operand)
    constant = _constant(operand)
    if isinstance(operand.elements, int) and operand.elements:
        number = "" if operand.elements < 0 else f"{operand.elements} "
        text = f"vector of {number}{type} registers" if type else f"vector of {number}registers"
        return f"{text}, or one register" if 0 in operand.lengths else text
    register = "predicate register" if type == ".pred" else f"{type} register".strip()
    if operand.wider:
        register += ", or a wider one"
    others = [_KINDS[kind] for kind in ("sink", "special", "variable") if kind in operand.kinds]
    return " or ".join([register, *([constant] if constant else []), *others])


_KINDS = {
    "sink": "_", "special": "special register", "variable": "variable", "label": "label",
    "function": "function", "integer": "constant",
}


def _type(operand: Operand) -> str:
    """`.u32`; `.e4m3x2 in a .b16`, as no register has this type."""
    names = operand.type.split("|") if isinstance(operand.type, str) else []
    found = [TYPES[name] for name in dict.fromkeys(names) if name in TYPES]
    return " or ".join(
        type.name if type.declarable or type.kind is not Kind.ALTERNATE
        else f"{type.name} in a .b{type.width}"
        for type in found
    )


def _address(operand: Operand) -> str:
    space = operand.space if isinstance(operand.space, str) else ""
    if not space or space == GENERIC:
        return "address"
    return f"address in {' or '.join(space.split('|'))}"


def _constant(operand: Operand) -> str:
    if "integer" not in operand.kinds:
        return "float constant" if operand.kinds & {"float", "single"} else ""
    if operand.values:
        values = [str(value) for value in operand.values]
        few = values if len(values) <= _FEW else [*values[:3], "...", values[-1]]
        return f"constant ({', '.join(few)})"
    limits = [
        f"at least {operand.low}" if operand.high is None else f"{operand.low or 0} to {operand.high}"
    ] if operand.low is not None or operand.high is not None else []
    limits += [f"a multiple of {operand.multiple}"] if operand.multiple > 1 else []
    return f"constant ({', '.join(limits)})" if limits else "constant"


_FEW = 8
