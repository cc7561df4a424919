"""The symbols that a name can refer to."""

from __future__ import annotations

from ptx_lsp.isa.types import OPAQUE
from ptx_lsp.model._core import element_type as element_type
from ptx_lsp.model._core import vector_length as vector_length
from ptx_lsp.model.place import Place
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final, TypeAlias

VECTOR_LENGTHS = {".v2": 2, ".v3": 3, ".v4": 4, ".v8": 8}


class Register:
    """One register. Registers of a range `%r<8>` share their `declarator`."""

    __slots__ = ("declarator", "is_parameter", "name", "place", "type", "vector")

    def __init__(
        self,
        name: str,
        type: str,
        vector: int,
        declarator: nodes.Declarator,
        place: Place,
        is_parameter: bool = False,
    ) -> None:
        self.name: Final = name
        self.type: Final = type
        self.vector: Final = vector
        """The number of elements; 1 for a scalar."""
        self.declarator: Final = declarator
        self.place: Final = place
        self.is_parameter = is_parameter

    @property
    def kind(self) -> str:
        return "register"


class Variable:
    """A variable in memory, or a parameter."""

    __slots__ = ("declaration", "declarator", "is_parameter", "name", "place", "space")

    def __init__(
        self,
        name: str,
        space: str,
        declaration: nodes.Declaration,
        declarator: nodes.Declarator,
        place: Place,
        is_parameter: bool = False,
    ) -> None:
        self.name: Final = name
        self.space: Final = space
        """The state space with its dot: `.global`."""
        self.declaration: Final = declaration
        self.declarator: Final = declarator
        self.place: Final = place
        self.is_parameter = is_parameter

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


class Label:
    """A label of an instruction."""

    __slots__ = ("name", "place")

    def __init__(self, name: str, place: Place) -> None:
        self.name: Final = name
        self.place: Final = place

    @property
    def kind(self) -> str:
        return "label"


class Prototype:
    """The label of a `.callprototype`."""

    __slots__ = ("name", "node", "place")

    def __init__(self, name: str, node: nodes.CallPrototype, place: Place) -> None:
        self.name: Final = name
        self.node: Final = node
        self.place: Final = place

    @property
    def kind(self) -> str:
        return "call prototype"


class TargetTable:
    """The label of a `.branchtargets` or `.calltargets`."""

    __slots__ = ("name", "node", "place")

    def __init__(self, name: str, node: nodes.TargetList, place: Place) -> None:
        self.name: Final = name
        self.node: Final = node
        self.place: Final = place

    @property
    def kind(self) -> str:
        return "list of targets"


class FunctionName:
    """A declaration or definition of a kernel or function."""

    __slots__ = ("name", "node", "place")

    def __init__(self, name: str, node: nodes.Function, place: Place) -> None:
        self.name: Final = name
        self.node: Final = node
        self.place: Final = place

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


class AliasName:
    """The name that an `.alias` gives to a function."""

    __slots__ = ("name", "node", "place")

    def __init__(self, name: str, node: nodes.Alias, place: Place) -> None:
        self.name: Final = name
        self.node: Final = node
        self.place: Final = place

    @property
    def kind(self) -> str:
        return "alias"


class AggregateName:
    """A structure or union of PTX 1.x."""

    __slots__ = ("name", "node", "place")

    def __init__(self, name: str, node: nodes.Aggregate, place: Place) -> None:
        self.name: Final = name
        self.node: Final = node
        self.place: Final = place

    @property
    def kind(self) -> str:
        return "structure"


class Predefined:
    """A special register, or `WARP_SZ`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: Final = name

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
