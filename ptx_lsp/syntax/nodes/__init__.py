"""The typed, read-only nodes of a PTX file.

A node is the result of parsing only: names are not resolved and opcodes are not looked up. `start` and `end`
are byte offsets from the start of the top-level statement (the `Item`) that contains the node. A function
therefore keeps its nodes when the text before it changes.
"""

from ptx_lsp.syntax.nodes.expressions import (
    Address as Address,
)
from ptx_lsp.syntax.nodes.expressions import (
    Binary as Binary,
)
from ptx_lsp.syntax.nodes.expressions import (
    Cast as Cast,
)
from ptx_lsp.syntax.nodes.expressions import (
    Conditional as Conditional,
)
from ptx_lsp.syntax.nodes.expressions import (
    Element as Element,
)
from ptx_lsp.syntax.nodes.expressions import (
    Expression as Expression,
)
from ptx_lsp.syntax.nodes.expressions import (
    FieldValue as FieldValue,
)
from ptx_lsp.syntax.nodes.expressions import (
    Group as Group,
)
from ptx_lsp.syntax.nodes.expressions import (
    InitializerList as InitializerList,
)
from ptx_lsp.syntax.nodes.expressions import (
    Member as Member,
)
from ptx_lsp.syntax.nodes.expressions import (
    Missing as Missing,
)
from ptx_lsp.syntax.nodes.expressions import (
    Name as Name,
)
from ptx_lsp.syntax.nodes.expressions import (
    Nested as Nested,
)
from ptx_lsp.syntax.nodes.expressions import (
    Number as Number,
)
from ptx_lsp.syntax.nodes.expressions import (
    Operand as Operand,
)
from ptx_lsp.syntax.nodes.expressions import (
    Pair as Pair,
)
from ptx_lsp.syntax.nodes.expressions import (
    Relocation as Relocation,
)
from ptx_lsp.syntax.nodes.expressions import (
    String as String,
)
from ptx_lsp.syntax.nodes.expressions import (
    Unary as Unary,
)
from ptx_lsp.syntax.nodes.expressions import (
    Vector as Vector,
)
from ptx_lsp.syntax.nodes.node import Node as Node
from ptx_lsp.syntax.nodes.node import field_names as field_names
from ptx_lsp.syntax.nodes.node import is_same as is_same
from ptx_lsp.syntax.nodes.statements import (
    AddressSize as AddressSize,
)
from ptx_lsp.syntax.nodes.statements import (
    Aggregate as Aggregate,
)
from ptx_lsp.syntax.nodes.statements import (
    Alias as Alias,
)
from ptx_lsp.syntax.nodes.statements import (
    Attribute as Attribute,
)
from ptx_lsp.syntax.nodes.statements import (
    Block as Block,
)
from ptx_lsp.syntax.nodes.statements import (
    CallPrototype as CallPrototype,
)
from ptx_lsp.syntax.nodes.statements import (
    Declaration as Declaration,
)
from ptx_lsp.syntax.nodes.statements import (
    Declarator as Declarator,
)
from ptx_lsp.syntax.nodes.statements import (
    Dimension as Dimension,
)
from ptx_lsp.syntax.nodes.statements import (
    Directive as Directive,
)
from ptx_lsp.syntax.nodes.statements import (
    DwarfLine as DwarfLine,
)
from ptx_lsp.syntax.nodes.statements import (
    File as File,
)
from ptx_lsp.syntax.nodes.statements import (
    Function as Function,
)
from ptx_lsp.syntax.nodes.statements import (
    Guard as Guard,
)
from ptx_lsp.syntax.nodes.statements import (
    Instruction as Instruction,
)
from ptx_lsp.syntax.nodes.statements import (
    Junk as Junk,
)
from ptx_lsp.syntax.nodes.statements import (
    Label as Label,
)
from ptx_lsp.syntax.nodes.statements import (
    Location as Location,
)
from ptx_lsp.syntax.nodes.statements import (
    LocationAttribute as LocationAttribute,
)
from ptx_lsp.syntax.nodes.statements import (
    Opcode as Opcode,
)
from ptx_lsp.syntax.nodes.statements import (
    Section as Section,
)
from ptx_lsp.syntax.nodes.statements import (
    Statement as Statement,
)
from ptx_lsp.syntax.nodes.statements import (
    Target as Target,
)
from ptx_lsp.syntax.nodes.statements import (
    TargetList as TargetList,
)
from ptx_lsp.syntax.nodes.statements import (
    Version as Version,
)
