"""The passes over all names of a function (`native/core.c`)."""

from collections.abc import Callable, Mapping

from ptx_lsp.isa.matching.operand_access import OperandAccess
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.scope import Range, Scope
from ptx_lsp.model.symbols import Declared, Label, Register, Symbol, Variable
from ptx_lsp.syntax import nodes

def names_in(value: nodes.Expression) -> list[nodes.Name]:
    """The names of an operand, in text order."""

def range_index(name: str, base: str) -> int:
    """The index of a name in the range `base`. To ptxas, `%r03` and `%r4294967299` are both `%r3`: it counts
    in 32 bits.
    """

def member(of: Range, name: str) -> Register | Variable:
    """The member of a range called `name`."""

def find(scope: Scope, name: str) -> Declared | None:
    """The symbol of `name` in a block or an enclosing one."""

def find_here(scope: Scope, name: str) -> Declared | None:
    """The symbol of `name` in a block."""

def declare(scope: Scope, name: str, symbol: Declared) -> Declared | None:
    """Adds a name to a block unless it is already declared: then its symbol. A label may have the name of a
    member of a range.
    """

def declare_all(
    declarations: tuple[nodes.Declaration, ...],
    scope: Scope,
    owner: nodes.Name,
    is_parameter: bool,
    symbols: dict[int, Symbol],
    missing: Callable[[nodes.Name, Scope], Symbol | None],
    clash: Callable[[nodes.Name, Declared, Declared], object],
) -> list[Register | Variable]:
    """Declares the names of declarations, and resolves those in its initialisers as `resolve_names` does.
    `owner` is the `.entry` or `.func` of the function. `clash` is called with each name that the block has
    already declared, its new symbol, and the first.
    """

def resolve_names(
    value: nodes.Expression,
    scope: Scope,
    visible: dict[str, Symbol],
    symbols: dict[int, Symbol],
    missing: Callable[[nodes.Name, Scope], Symbol | None],
) -> None:
    """Adds the symbols of the names of an operand to `symbols`, by start. `visible` has those that were
    looked up outside the scope since the last declaration, `missing` returns those that no scope has.
    """

def resolve_instructions(
    statements: tuple[nodes.Statement, ...],
    first: int,
    instructions: list[nodes.Instruction],
    scope: Scope,
    visible: dict[str, Symbol],
    symbols: dict[int, Symbol],
    missing: Callable[[nodes.Name, Scope], Symbol | None],
) -> int:
    """Adds the instructions from index `first` on to `instructions` and resolves their names, up to the first
    statement that is neither an instruction nor a `.loc` without attributes. Returns the index of that.
    """

def labels(statements: list[nodes.Statement], symbols: Mapping[int, Symbol], /) -> list[tuple[Label, int]]:
    """The labels that statements declare, and how many instructions are before each; without those of
    prototypes and target lists.
    """

def shapes(
    instructions: list[nodes.Instruction],
    tables: object,
    reader: object,
    symbols: Mapping[int, Symbol],
    linked: Mapping[str, Declared],
    parameters: list[Register | Variable],
    returns: list[Register | Variable],
) -> list[Shape]:
    """The shapes of instructions. `tables` has the known shapes and operands, `reader` makes new ones
    (`model/instructions/shapes.py`). `symbols` are those of names by start, `linked` those by text;
    `parameters` and `returns` are those of the function.
    """

def places(items: tuple[Shape, ...]) -> dict[Shape, list[int]]:
    """The places in a tuple of each of its items, in order."""

def element_type(declaration: nodes.Declaration) -> str:
    """The type among the modifiers of a declaration, empty if absent."""

def vector_length(declaration: nodes.Declaration) -> int:
    """The number of elements of the vector; 1 for a scalar."""

def variable_features(symbol: Variable, received: frozenset[str], returned: frozenset[str]) -> int:
    """The features of the name of a variable (`model/instructions/features.py`), in a function with these
    names of parameters and return parameters.
    """

def add_users(
    identities: set[object], starts: list[int], symbols: list[Symbol], named: Mapping[int, Symbol]
) -> None:
    """Adds each symbol of `named`, which is by the starts of names, once: what identifies it (the registers
    of a range are one), a start of a name that is not in its declaration, and the symbol.
    """

def register_number(firsts: Mapping[nodes.Declarator, int], register: Register) -> int | None:
    """The index of a register, given that of the first register of each declarator; None if its declarator
    has none.
    """

def register_accesses(
    instructions: list[nodes.Instruction],
    accesses: list[tuple[OperandAccess, ...]],
    symbols: Mapping[int, Symbol],
    indices: dict[Symbol | None, int],
    used: dict[int, Register],
    firsts: Mapping[nodes.Declarator, int],
    add: Callable[[Register], int],
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], list[tuple[int, ...]], list[int]]:
    """The uses, defs, partial defs and guards of instructions with these accesses to their operands, as in
    `ptx_lsp/analyses/instructions/uses_and_defs.py`. A register that is named for the first time is added to
    `indices` and `used`; its index is that of `register_number`, or what `add` returns.
    """

def words_in(text: bytes, words: list[str]) -> set[str]:
    """The words that occur in a text, also as parts of others. It is read once."""
