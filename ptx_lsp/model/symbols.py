"""The symbols that a name can refer to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ptx_lsp.isa.types import OPAQUE
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes

VECTOR_LENGTHS = {".v2": 2, ".v3": 3, ".v4": 4, ".v8": 8}


@dataclass(slots=True, eq=False)
class Register:
    """One register. Registers of a range `%r<8>` share their `declarator`."""

    name: str
    type: str
    vector: int
    """The number of elements; 1 for a scalar."""
    declarator: nodes.Declarator
    place: Place
    is_parameter: bool = False

    @property
    def kind(self) -> str:
        return "register"


@dataclass(slots=True, eq=False)
class Variable:
    """A variable in memory, or a parameter."""

    name: str
    space: str
    """The state space with its dot: `.global`."""
    declaration: nodes.Declaration
    declarator: nodes.Declarator
    place: Place
    is_parameter: bool = False

    @property
    def kind(self) -> str:
        return "parameter" if self.is_parameter else "variable"

    @property
    def type(self) -> str:
        """The element type: `.b8`; empty if the declaration has none."""
        return element_type(self.declaration)

    @property
    def vector(self) -> int:
        return vector_length(self.declaration)

    @property
    def linkage(self) -> str:
        """`.extern`, `.visible`, `.weak`, `.common` or empty."""
        return self.declaration.linkage[0].text if self.declaration.linkage else ""

    @property
    def is_opaque(self) -> bool:
        """Whether it is a texture, a sampler or a surface."""
        return self.type in OPAQUE or self.space == ".tex"

    @property
    def is_unsized(self) -> bool:
        """Whether it is an array such as `a[]`, whose size an initialiser or another file gives."""
        dimensions = self.declarator.dimensions
        return bool(dimensions) and dimensions[0] is None


@dataclass(slots=True, eq=False)
class Label:
    """A label of an instruction."""

    name: str
    place: Place

    @property
    def kind(self) -> str:
        return "label"


@dataclass(slots=True, eq=False)
class Prototype:
    """The label of a `.callprototype`."""

    name: str
    node: nodes.CallPrototype
    place: Place

    @property
    def kind(self) -> str:
        return "call prototype"


@dataclass(slots=True, eq=False)
class TargetTable:
    """The label of a `.branchtargets` or `.calltargets`."""

    name: str
    node: nodes.TargetList
    place: Place

    @property
    def kind(self) -> str:
        return "list of targets"


@dataclass(slots=True, eq=False)
class FunctionName:
    """A declaration or definition of a kernel or function."""

    name: str
    node: nodes.Function
    place: Place

    @property
    def is_kernel(self) -> bool:
        return self.node.kind.text == ".entry"

    @property
    def kind(self) -> str:
        return "kernel" if self.is_kernel else "function"

    @property
    def is_definition(self) -> bool:
        return self.node.body is not None

    @property
    def linkage(self) -> str:
        return self.node.linkage[0].text if self.node.linkage else ""


@dataclass(slots=True, eq=False)
class AliasName:
    """The name that an `.alias` gives to a function."""

    name: str
    node: nodes.Alias
    place: Place

    @property
    def kind(self) -> str:
        return "alias"


@dataclass(slots=True, eq=False)
class AggregateName:
    """A structure or union of PTX 1.x."""

    name: str
    node: nodes.Aggregate
    place: Place

    @property
    def kind(self) -> str:
        return "structure"


@dataclass(slots=True, eq=False, frozen=True)
class Predefined:
    """A special register, or `WARP_SZ`."""

    name: str

    @property
    def kind(self) -> str:
        return "constant" if self.name == "WARP_SZ" else "special register"


Symbol: TypeAlias = (
    Register | Variable | Label | Prototype | TargetTable | FunctionName | AliasName
    | AggregateName | Predefined
)
Declared: TypeAlias = (
    Register | Variable | Label | Prototype | TargetTable | FunctionName | AliasName | AggregateName
)


def defined_name(symbol: FunctionName | AliasName) -> str:
    """The name of the function that a name refers to."""
    if isinstance(symbol, AliasName) and isinstance(symbol.node.aliasee, nodes.Name):
        return symbol.node.aliasee.text
    return symbol.name


def element_type(declaration: nodes.Declaration) -> str:
    """The type among the modifiers of a declaration, empty if absent."""
    for modifier in declaration.modifiers:
        if modifier.text not in VECTOR_LENGTHS:
            return modifier.text if modifier.text != ".ptr" else ""
    return ""


def vector_length(declaration: nodes.Declaration) -> int:
    """The number of elements of the vector; 1 for a scalar."""
    for modifier in declaration.modifiers:
        if modifier.text in VECTOR_LENGTHS:
            return VECTOR_LENGTHS[modifier.text]
    return 1
