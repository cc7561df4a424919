"""The types of C++ expressions that are evident from the expression itself: literals, casts, intrinsics."""

from __future__ import annotations

import re
from typing import Final

from ptx_lsp.embedded.block import HostType
from ptx_lsp.lazy_pattern import lazy_pattern

_INT, _FLOAT, _POINTER = HostType("int", ".b32"), HostType("float", ".f32"), HostType("pointer", ".b64")
_TYPES: Final[dict[str, str]] = {
    "bool": "", "char": "", "signed char": "", "unsigned char": "", "int8_t": "", "uint8_t": "",
    "short": ".b16", "unsigned short": ".b16", "int16_t": ".b16", "uint16_t": ".b16", "ushort": ".b16",
    "int": ".b32", "unsigned": ".b32", "unsigned int": ".b32", "int32_t": ".b32", "uint32_t": ".b32",
    "uint": ".b32",
    "long long": ".b64", "unsigned long long": ".b64", "long long int": ".b64", "size_t": ".b64",
    "unsigned long long int": ".b64", "int64_t": ".b64", "uint64_t": ".b64", "uintptr_t": ".b64",
    "intptr_t": ".b64",
    "float": ".f32", "double": ".f64",
}  # fmt: skip
"""The registers of builtin types, as nvcc has them; empty for types that cannot be operands. `long` is left
out: it has 32 bits on Windows.
"""
_FUNCTIONS: Final = {
    "__cvta_generic_to_shared": "size_t", "__cvta_generic_to_global": "size_t", "clock64": "long long",
    "__float_as_int": "int", "__float_as_uint": "unsigned", "__int_as_float": "float",
    "__uint_as_float": "float", "__double_as_longlong": "long long", "__longlong_as_double": "double",
    "__popc": "int", "__ffs": "int", "__clz": "int", "__activemask": "unsigned",
}  # fmt: skip
_CALL: Final = lazy_pattern(r"(?:::)?(?P<name>\w+)\s*(?:<(?P<type>[^<>()]*)>)?\s*\(")
_CAST: Final = lazy_pattern(r"\((?P<type>[^()]*)\)\s*(?=[\w(~!&*-])")
_NUMBER: Final = lazy_pattern(
    r"[+-]?\s*(?:(?P<digits>0[xX][\da-fA-F]+|\d+)(?P<suffix>[uU]?(?:ll|LL)?[uU]?)"
    r"|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?(?P<single>[fF]?))\Z"
)
_BUILTIN: Final = lazy_pattern(r"(?:threadIdx|blockIdx|blockDim|gridDim)\.[xyz]\Z")
_QUALIFIER: Final = lazy_pattern(r"\b(?:const|volatile|std|cuda)\b|::")
_CASTS: Final = frozenset({"static_cast", "reinterpret_cast"})


def evident_type(expression: str) -> HostType | None:
    """The type of an expression, as far as it does not depend on declarations."""
    number = _NUMBER.match(expression)
    if number is not None:
        return _of_number(number)
    if _BUILTIN.match(expression) is not None:
        return HostType("unsigned int", ".b32")
    if expression.startswith("&") and _is_postfix(expression[1:]):
        return _POINTER
    if expression.startswith("*"):
        pointed = _cast_to(expression[1:].lstrip())
        return _type(pointed[:-1]) if pointed is not None and pointed.endswith("*") else None
    target = _cast_to(expression)
    if target is not None:
        return _type(target)
    call = _CALL.match(expression)
    if call is not None and call["type"] is None and _closes_at_the_end(expression, call.end()):
        name = call["name"]
        return _type(_FUNCTIONS.get(name, "size_t" if name == "sizeof" else name if name in _TYPES else ""))
    return None


def _cast_to(expression: str) -> str | None:
    """The type to which an expression is cast as a whole."""
    call = _CALL.match(expression)
    if call is not None:
        is_cast = call["name"] in _CASTS and call["type"] is not None
        return call["type"].strip() if is_cast and _closes_at_the_end(expression, call.end()) else None
    cast = _CAST.match(expression)
    if cast is None or not _is_postfix(expression[cast.end() :].lstrip("~!&*- ")):
        return None
    return cast["type"].strip()


def _of_number(match: re.Match[str]) -> HostType | None:
    digits = match["digits"]
    if digits is None:
        return _FLOAT if match["single"] else HostType("double", ".f64")
    if "l" in match["suffix"].lower():
        return HostType("long long", ".b64")
    value = int(digits, 0) if not re.fullmatch(r"0\d+", digits) else int(digits, 8)
    is_plain = digits[:1] != "0" and not match["suffix"]
    return _INT if value < 1 << (31 if is_plain else 32) else None


def _type(written: str) -> HostType | None:
    """The type that is written so; a reference stands for what it refers to."""
    written = " ".join(_QUALIFIER.sub(" ", written).rstrip("& ").split())
    if written.endswith("*"):
        return _POINTER
    register = _TYPES.get(written)
    return HostType(written, register) if register is not None else None


def _is_postfix(expression: str) -> bool:
    """Whether an expression is a name, a literal or parentheses, with members, indices and calls."""
    depth = 0
    for character in expression:
        depth += (character in "([{") - (character in ")]}")
        if depth < 0 or (depth == 0 and not (character.isalnum() or character in "_.:)]}")):
            return False
    return depth == 0 and bool(expression)


def _closes_at_the_end(expression: str, start: int) -> bool:
    """Whether the parenthesis before `start` is closed by the last character."""
    depth = 1
    for offset in range(start, len(expression)):
        depth += (expression[offset] == "(") - (expression[offset] == ")")
        if depth == 0:
            return offset == len(expression) - 1
    return False
