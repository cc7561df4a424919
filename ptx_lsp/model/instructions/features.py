"""Features of instructions: bits that say what occurs anywhere in an instruction. Those that most
instructions have no part of show where to look.
"""

from __future__ import annotations

from ptx_lsp.facts import fact
from ptx_lsp.model._core import variable_features
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import (
    AliasName,
    FunctionName,
    Label,
    Predefined,
    Prototype,
    Register,
    TargetTable,
    Variable,
)
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import WORD, integer

if TYPE_CHECKING:
    from typing import Final

GUARDED: Final = 1 << 0
NEGATED: Final = 1 << 1
UNUSUAL_GUARD: Final = 1 << 2
"""A guard that is not a scalar register of type `.pred`."""
WITH_BANK: Final = 1 << 3
"""A constant bank in the opcode, as in `ld.const[2].u32`."""
SPACED: Final = 1 << 4
"""White space or a comment in the opcode, or a constant bank."""

NUMBER: Final = 1 << 5
FLOAT: Final = 1 << 6
"""`1.5`, or an invalid number."""
OVERFLOW: Final = 1 << 7
"""An integer of more than 64 bits, or an invalid one."""
ADDRESS: Final = 1 << 8
VECTOR: Final = 1 << 9
OFFSET: Final = 1 << 10
"""`x+4` or `x-4`: a name and an integer."""
BINARY: Final = 1 << 11
"""Any other binary operator, or a longer sum."""
UNARY: Final = 1 << 12
CAST: Final = 1 << 13
CONDITIONAL: Final = 1 << 14
GROUP: Final = 1 << 15
PAIR: Final = 1 << 16
MEMBER: Final = 1 << 17
ELEMENT: Final = 1 << 18
OTHER_SYNTAX: Final = 1 << 19
"""A node of any other class: a string, a relocation, something missing."""

VECTOR_REGISTER: Final = 1 << 20
VARIABLE: Final = 1 << 21
LABEL: Final = 1 << 22
TABLE: Final = 1 << 23
"""A list of targets, or a call prototype."""
FUNCTION: Final = 1 << 24
"""A function, or an alias of one."""
PREDEFINED: Final = 1 << 25
"""A special register, or `WARP_SZ`."""
SINK: Final = 1 << 26
UNRESOLVED: Final = 1 << 27
"""A name that is not declared, or that names something else."""
EXACT_FLOAT: Final = 1 << 28
"""`0f3F800000`"""
CALL_PARAMETER: Final = 1 << 29
"""A `.param` variable that is not a parameter of the function."""
RECEIVED: Final = 1 << 30
"""A `.param` variable with the name of a parameter of the function."""
RETURNED: Final = 1 << 31
"""A `.param` variable with the name of a return parameter of the function."""
LARGE_VARIABLE: Final = 1 << 32
"""A variable that is more than one element of its type, or that has an `.align`."""

_LONGEST: Final = 16
"""Integers with no more characters have no more than 64 bits."""


def features_of(function: Function, value: nodes.Expression) -> int:
    """The features of an operand, or of a part of one."""
    if isinstance(value, nodes.Name):
        return _name_features(function, value)
    if isinstance(value, nodes.Number):
        return NUMBER | number_features(value)
    if isinstance(value, nodes.Binary):
        return _binary_features(function, value)
    found = 0
    inner: tuple[nodes.Expression, ...] = ()
    if isinstance(value, nodes.Address):
        found, inner = ADDRESS, value.items
        if value.suffix is not None:
            found |= OTHER_SYNTAX
    elif isinstance(value, nodes.Vector):
        found, inner = VECTOR, value.items
    elif isinstance(value, nodes.Group):
        found, inner = GROUP, value.items
    elif isinstance(value, nodes.Unary):
        found, inner = UNARY, (value.value,)
    elif isinstance(value, nodes.Cast):
        found, inner = CAST, (value.value,)
    elif isinstance(value, nodes.Conditional):
        found, inner = CONDITIONAL, (value.condition, value.then, value.otherwise)
    elif isinstance(value, nodes.Pair):
        found, inner = PAIR, (value.left, value.right)
    elif isinstance(value, nodes.Member):
        found, inner = MEMBER, (value.object,)
    elif isinstance(value, nodes.Element):
        found, inner = ELEMENT, (value.array, *value.indices)
    elif isinstance(value, nodes.InitializerList):
        found, inner = OTHER_SYNTAX, value.items
    elif isinstance(value, nodes.Relocation):
        found, inner = OTHER_SYNTAX, (value.operator, *value.values)
    elif isinstance(value, nodes.FieldValue):
        found, inner = OTHER_SYNTAX, (value.value,)
    else:
        found = OTHER_SYNTAX
    for one in inner:
        found |= features_of(function, one)
    return found


def number_features(value: nodes.Number) -> int:
    """The features of a number besides that it is one: none for most integers."""
    if value.kind != "integer":
        return EXACT_FLOAT if value.kind == "exact_float" else FLOAT
    if len(value.text) <= _LONGEST:
        return 0
    number = integer(value.text)
    return OVERFLOW if number is None or number >= WORD else 0


def _name_features(function: Function, name: nodes.Name) -> int:
    symbol = function.resolve(name)
    if name.text == "WARP_SZ":
        return PREDEFINED
    if isinstance(symbol, Register):
        return 0 if symbol.vector == 1 else VECTOR_REGISTER
    if isinstance(symbol, Variable):
        return variable_features(symbol, *parameter_names(function))
    if isinstance(symbol, Label):
        return LABEL
    if isinstance(symbol, Predefined):
        return PREDEFINED
    if isinstance(symbol, FunctionName | AliasName):
        return FUNCTION
    if isinstance(symbol, Prototype | TargetTable):
        return TABLE
    return SINK if name.text == "_" else UNRESOLVED


class ParameterNames(NamedTuple):
    """The names of the parameters and of the return parameters of a function."""

    received: frozenset[str]
    returned: frozenset[str]


@fact
def parameter_names(function: Function) -> ParameterNames:
    """The names of the parameters of a function."""
    received, returned = function.body.parameters, function.body.returns
    return ParameterNames(
        frozenset([one.name for one in received]), frozenset([one.name for one in returned])
    )


def _binary_features(function: Function, value: nodes.Binary) -> int:
    """Without recursion along chains such as `1+1+1+...`."""
    left, right = value.left, value.right
    if isinstance(left, nodes.Name) and isinstance(right, nodes.Number) and right.kind == "integer":
        found = OFFSET if value.operator in ("+", "-") and left.text != "WARP_SZ" else BINARY
        return found | NUMBER | number_features(right) | _name_features(function, left)
    found = BINARY | features_of(function, right)
    while isinstance(left, nodes.Binary):
        found |= features_of(function, left.right)
        left = left.left
    return found | features_of(function, left)
