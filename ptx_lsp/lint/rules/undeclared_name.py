"""The rule `undeclared-name`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from ptx_lsp.embedded import BLOCK
from ptx_lsp.isa import special_registers
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.fixes.similar_names import similar_name
from ptx_lsp.lint.rule import each_function, module_rule
from ptx_lsp.model.body import Free
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having
from ptx_lsp.model.instructions.missing_semicolons import missing_semicolons
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.place import Place
from ptx_lsp.model.scope import Range, range_index
from ptx_lsp.model.symbols import Declared, Label, Prototype, TargetTable
from ptx_lsp.syntax import nodes

_FAR = 1_000
"""A name so far beyond a range is hardly meant to be one of it."""
_MOST_GUESSES = 30
"""Of a function. Where more names are unknown, most of them are no slips."""
_MOST_FUNCTIONS = 500
"""Other functions in which a name is looked for."""


@module_rule("undeclared-name", code="E101")
def undeclared_name(module: Module) -> Iterator[Finding]:
    """A name that is not declared, or is out of scope.

    ## What it does
    Reports registers, variables, labels and functions that are used but not declared, used before their
    declaration, declared in another function, or declared in a block that has ended. Only labels may be
    used before their definition.

    ## Why it matters
    ptxas stops at such a name. It says `Unknown symbol`, but suggests neither a similar name nor the
    block that has ended.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<2>;
        mov.b32 %r0, 1;
        add.s32 %r1, %r0, %R0;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<2>;
        mov.b32 %r0, 1;
        add.s32 %r1, %r0, %r0;
        ret;
    }
    ```

    ## Fix safety
    The fix uses the most similar declared name, or extends a range that ends just before the name. It is
    a guess, so it is not applied by default.
    """
    for node, name in module.undeclared:
        later = module.find(name.text, len(module.document.source.data))
        label = _label(module, name.text) if later is None else None
        if label is not None:
            yield _of_label(Place.of(node, name), label)
        else:
            yield _finding(Place.of(node, name), name.text, later, list(module.names))
    yield from _in_functions(module)


_UNDECLARED = having(lambda one: one.undeclared or one.undeclared_late or one.early_uses)


@each_function(_UNDECLARED)
def _in_functions(function: Function) -> Iterator[Finding]:
    for use, declared in function.early_uses:
        yield _early(function, use.name, declared)
    for use, later in function.undeclared_late:
        if not (isinstance(later, Label) and function.item.is_unclosed):
            yield _finding(function.place(use.name), use.name.text, later, [])
    guesses = _MOST_GUESSES
    elsewhere = _Elsewhere(function) if function.undeclared else None
    next_opcodes = {
        one.place.start for one in missing_semicolons(function)
    }  # the rule `syntax-error` tells of them
    for use in function.undeclared:
        if use.name.start in next_opcodes:
            continue
        hidden = elsewhere.find(use.name.text) if elsewhere is not None else None
        if hidden is None:
            guesses -= 1
            yield _unknown(function, use, guess=guesses >= 0)
        elif not function.item.is_unclosed:  # else the blocks are not those that were meant
            yield _out_of_block(function.place(use.name), use.name.text, hidden)


def _label(module: Module, name: str) -> Label | None:
    """The label of a function with this name, which the module does not know."""
    for function in module.functions.anywhere():
        found = function.body.scope.find_here(name)
        if isinstance(found, Label):
            return found
    return None


def _of_label(place: Place, label: Label) -> Finding:
    return Finding(
        place,
        f"`{label.name}` is out of scope: labels are local to their function; use a "
        "`.branchtargets` list with `brx.idx` there",
        ((label.place, f"`{label.name}` is declared here"),),
    )


def _early(function: Function, used: nodes.Name, declared: Declared) -> Finding:
    name = used.text
    if isinstance(declared, Prototype | TargetTable):
        message = f"`{name}` is used before its declaration; only labels of statements can be"
    else:
        message = f"`{name}` is used before its declaration; only labels can be"
    return Finding(
        function.place(used), message, ((declared.place, f"`{name}` is declared here"),)
    )


def _finding(place: Place, name: str, later: Declared | None, near: list[str]) -> Finding:
    if later is not None:
        return Finding(
            place,
            f"`{name}` is used before its declaration",
            ((later.place, f"`{name}` is declared here"),),
        )
    return Finding(place, f"`{name}` is not declared", fix=_remedy(place, similar_name(name, near)))


def _out_of_block(place: Place, name: str, hidden: Declared) -> Finding:
    return Finding(
        place,
        f"`{name}` is out of scope: the block that declares it does not contain this statement",
        ((hidden.place, f"`{name}` is declared here"),),
    )


def _unknown(function: Function, use: Free, *, guess: bool) -> Finding:
    name, place = use.name.text, function.place(use.name)
    scope = function.body.scopes[use.scope]
    beyond = scope.range_of(name)
    if beyond is not None:
        base = beyond.declared.name
        message = f"`{name}` is not declared: `{base}<{beyond.count}>` ends with `{base}{beyond.count - 1}`"
        remedy = _longer(beyond, name)
        return Finding(place, message, ((beyond.declared.place, "the declared range"),), remedy)
    for other in islice(module_of(function).functions.anywhere(), _MOST_FUNCTIONS):
        found = other.body.scope.find_here(name) if other.symbol is not function.symbol else None
        if found is not None:
            return Finding(
                place,
                f"`{name}` is out of scope: it is declared in `{other.name}`",
                ((found.place, f"`{name}` is declared here"),),
            )
    close = None
    is_operand = function.name == BLOCK and name[1:].isdecimal()  # of inline assembly, and unknown
    if guess and not is_operand:
        close = similar_name(name, chain(scope.all_names(), function.module.names))
        close = close or _special_register(name)
    message = f"`{name}` is not declared"
    if close is not None:
        message += f"; did you mean `{close}`?"
    return Finding(place, message, fix=_remedy(place, close))


_SHORTEST = 4
"""The shortest special registers have as many characters as `%tid`."""


def _special_register(name: str) -> str | None:
    """The special register that a misspelt name means; none with a number, which registers have too."""
    if len(name) < _SHORTEST or name[0] != "%" or not name[1:].replace("_", "").isalpha():
        return None
    patterns = (pattern for pattern, _ in special_registers.rows())
    return similar_name(name, (one for one in patterns if one[1:].replace("_", "").isalpha()))


def _longer(beyond: Range, name: str) -> FixProposal | None:
    """Declares so many that `name` is one of them, where it is not far beyond."""
    declared = beyond.declared
    count, index = declared.declarator.range, range_index(name, declared.name)
    if not isinstance(count, nodes.Number) or index >= beyond.count + _FAR:
        return None
    place = Place(declared.place.owner, count.start, count.end)
    message = f"Declare `{declared.name}<{index + 1}>`"
    return FixProposal(message, (Replacement(place, str(index + 1)),), safe=False)


class _Elsewhere:
    """What names stand for in any of the blocks of a function, the first first."""

    def __init__(self, function: Function) -> None:
        self.names: dict[str, Declared] = {}
        self.ranges: dict[str, list[Range]] = {}
        for scope in function.body.scopes:
            for name, declared in tuple(scope.names.items()):  # other threads may add
                self.names.setdefault(name, declared)
            for base, found in scope.ranges.items():
                self.ranges.setdefault(base, []).append(found)

    def find(self, name: str) -> Declared | None:
        found = self.names.get(name)
        if found is not None or not self.ranges:
            return found
        base = name.rstrip("0123456789")
        index = range_index(name, base)
        ranges = self.ranges.get(base, ()) if base != name else ()
        return next((one.member(name) for one in ranges if index < one.count), None)


def _remedy(place: Place, close: str | None) -> FixProposal | None:
    if close is None:
        return None
    return FixProposal(f"Replace with `{close}`", (Replacement(place, close),), safe=False)
