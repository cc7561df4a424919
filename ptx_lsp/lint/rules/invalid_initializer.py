"""The rule `invalid-initializer`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptx_lsp.isa.opaque import FIELDS, WORDS
from ptx_lsp.isa.types import INTEGERS, TYPES, Kind, Type
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.similar_names import similar_name
from ptx_lsp.lint.rule import each_functions_directives, module_rule
from ptx_lsp.model.body import names_in, predefined
from ptx_lsp.model.directives.declarations import Declared, declarations_of, declarations_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.constants import constant_kind, faults
from ptx_lsp.model.instructions.layout import stated_dimensions
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import (
    AliasName,
    FunctionName,
    Symbol,
    Variable,
    element_type,
    vector_length,
)
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import constant, integer
from ptx_lsp.syntax.nodes import Node
from ptx_lsp.syntax.walk import children

if TYPE_CHECKING:
    from typing import TypeAlias

_ADDRESSES = (".u32", ".u64")
_BYTES_OF_ADDRESSES = (".u8", ".u32", ".u64")
_MASKS = frozenset(0xFF << shift for shift in range(0, 64, 8))


@module_rule("invalid-initializer", code="E112", words=("=",))
def invalid_initializer(module: Module) -> Iterator[Finding]:
    """An initial value that does not match its variable.

    ## What it does
    Reports integers for floats and floats for integers, lists for single values and single values for
    lists, lists that are too long, addresses in types other than `.u32` and `.u64`, and addresses of
    anything other than functions and variables in `.global` or `.const`.

    ## Why it matters
    ptxas reports a fatal error and stops.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .global .align 4 .f32 scale = 1;
    .entry kernel()
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .global .align 4 .f32 scale = 1.0;
    .entry kernel()
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: either the value or its type may be wrong.
    """
    for declared in declarations_outside(module):
        yield from _of(declared, _in_module(module, declared))
    yield from _in_functions(module)


@each_functions_directives
def _in_functions(function: Function) -> Iterator[Finding]:
    for declared in declarations_of(function):
        yield from _of(declared, function.resolve)


Resolve: TypeAlias = Callable[[nodes.Name], Symbol | None]


def _of(declared: Declared, resolve: Resolve) -> Iterator[Finding]:
    type = TYPES.get(element_type(declared.node))
    if type is None or not type.declarable or not _can_have_values(declared):
        return
    for declarator in declared.node.declarators:
        if declarator.initializer is not None:
            levels = _levels(declarator, vector_length(declared.node))
            wanted = _Wanted(declarator.name.text, type, levels, resolve)
            wrong = next(_of_value(declarator.initializer, wanted), None)  # ptxas stops there
            if wrong is not None:
                related = ((wrong.declared, "the declaration"),) if wrong.declared else ()
                yield Finding(declared.place(wrong.part), wrong.message, related)


class _Level(NamedTuple):
    """One dimension, or the elements of a vector, which must all be given; size None: any."""

    size: int | None
    is_vector: bool = False


class _Wanted(NamedTuple):
    """What the value of a variable has to be; `levels` are those that are left."""

    name: str
    type: Type
    levels: tuple[_Level, ...]
    resolve: Resolve


class _Wrong(NamedTuple):
    part: nodes.Expression
    message: str
    declared: Place | None = None


def _can_have_values(declared: Declared) -> bool:
    """Otherwise it is the rule `invalid-declaration` that tells."""
    return (
        declared.space in (".global", ".const")
        and not declared.is_parameter
        and element_type(declared.node) != ".pred"
        and all(word.text != ".extern" for word in declared.node.linkage)
    )


def _in_module(module: Module, declared: Declared) -> Resolve:
    end = module.span(Place.of(declared.owner, declared.owner)).end  # a variable may name itself

    def resolve(name: nodes.Name) -> Symbol | None:
        return module.find(name.text, end) or predefined(name.text)

    return resolve


def _levels(declarator: nodes.Declarator, vector: int) -> tuple[_Level, ...]:
    sizes = [_Level(size) for size in stated_dimensions(declarator)]
    if vector > 1:
        sizes.append(_Level(vector, is_vector=True))
    return tuple(sizes)


def _of_value(value: nodes.Expression, wanted: _Wanted) -> Iterator[_Wrong]:
    if isinstance(value, nodes.Missing | nodes.Nested) or _is_broken(value):
        return
    if wanted.type.kind is Kind.HANDLE:
        yield from _of_opaque(value, wanted.type.name)
        return
    if not wanted.levels:
        yield from _of_single(value, wanted)
        return
    level = wanted.levels[0]
    if not isinstance(value, nodes.InitializerList):
        what = "a vector" if level.is_vector else "an array"
        yield _Wrong(value, f"`{wanted.name}` is {what}; expected a list, `{{...}}`")
        return
    items = value.items
    if level.size is not None and len(items) > level.size:
        message = f"`{wanted.name}` has {level.size} elements, but the list has {len(items)} values"
        yield _Wrong(items[level.size], message)
    elif level.size is None and not items:
        yield _Wrong(value, f"an empty list does not give `{wanted.name}` a size")
    elif level.is_vector and len(items) != level.size:
        yield _Wrong(value, f"a vector requires {level.size} values, but the list has {len(items)}")
    inner = wanted._replace(levels=wanted.levels[1:])
    takes_integers = not inner.levels and inner.type.kind in (Kind.BITS, *INTEGERS)
    for item in items:
        if not (takes_integers and _is_plain(item)):  # tables have hundreds of thousands
            yield from _of_value(item, inner)


def _is_plain(value: nodes.Expression) -> bool:
    """Whether a value is a decimal number that 64 bits hold in any case."""
    if not isinstance(value, nodes.Number) or value.kind != "integer":
        return False
    text = value.text
    return text.isdecimal() and (text[0] != "0" or text == "0") and len(text) < _DIGITS


_DIGITS = 19


def _of_opaque(value: nodes.Expression, type: str) -> Iterator[_Wrong]:
    """The fields of one texture, sampler or surface, or of each in a list."""
    fields = FIELDS[type]
    if isinstance(value, nodes.Missing | nodes.Nested):
        return
    if not isinstance(value, nodes.InitializerList):
        yield _Wrong(value, f"`{type}` requires named fields, such as `{{ {fields[0]} = 1 }}`")
        return
    if len(value.items) > len(fields):
        yield _Wrong(value.items[len(fields)], f"`{type}` has {len(fields)} fields, not {len(value.items)}")
    for item in value.items:
        if not isinstance(item, nodes.FieldValue):
            yield from _of_opaque(item, type)
        elif item.name.text not in fields:
            meant = similar_name(item.name.text, fields)
            hint = (
                f"did you mean `{meant}`?"
                if meant
                else f"the fields are {', '.join(f'`{f}`' for f in fields)}"
            )
            yield _Wrong(item.name, f"`{type}` has no field `{item.name.text}`; {hint}")
        elif not _is_field_value(item.value):
            yield _Wrong(item.value, f"`{item.name.text}` takes a number, or a word such as `{WORDS[0]}`")


def _is_field_value(value: nodes.Expression) -> bool:
    if isinstance(value, nodes.Name) and value.text in WORDS:
        return True
    return constant_kind(value) is not None or isinstance(value, nodes.Missing | nodes.Nested)


def _is_broken(value: nodes.Expression) -> bool:
    return isinstance(value, nodes.InitializerList) and any(
        isinstance(item, nodes.Missing) for item in value.items
    )


def _of_single(value: nodes.Expression, wanted: _Wanted) -> Iterator[_Wrong]:
    type = wanted.type
    if type.name in (".f16", ".f16x2"):
        yield _Wrong(
            value,
            f"`{type.name}` cannot have an initial value; declare its bits as `.b{type.width}`",
        )
    elif isinstance(value, nodes.InitializerList):
        yield _Wrong(
            value,
            f"expected a single value, found a list: `{wanted.name}` has no further dimension",
        )
    elif isinstance(value, nodes.String):
        yield _Wrong(
            value,
            "strings are not supported as values; list the characters as "
            "numbers in an array of `.b8`",
        )
    elif wrong := next(_of_constants(value), None):
        yield wrong
    else:
        kind = constant_kind(value)
        if kind == "integer" and type.kind is Kind.FLOAT:
            yield _Wrong(value, f"`{type.name}` requires a float, such as `1.0`, not an integer")
        elif kind == "float" and type.is_integer:
            yield _Wrong(value, f"`{type.name}` requires an integer, not a float")
        elif kind is None:
            yield from _of_address(value, wanted)


def _of_constants(value: nodes.Expression) -> Iterator[_Wrong]:
    for fault in faults(value):
        yield _Wrong(fault.part, fault.message)
    for part in _numbers(value):
        if part.kind == "integer" and integer(part.text) is not None and constant(part.text) is None:
            yield _Wrong(part, "the constant does not fit in 64 bits")


def _numbers(value: Node) -> Iterator[nodes.Number]:
    if isinstance(value, nodes.Number):
        yield value
    for part in children(value):
        yield from _numbers(part)


def _of_address(value: nodes.Expression, wanted: _Wanted) -> Iterator[_Wrong]:
    """A value with a name in it."""
    if isinstance(value, nodes.Relocation) and isinstance(value.operator, nodes.Number):
        yield from _of_masked(value, value.operator, wanted)
        return
    name, wrong = _addressed(value, wanted.resolve)
    if wrong is not None:
        yield wrong
    elif name is not None and wanted.type.name not in _ADDRESSES:
        yield _Wrong(value, f"`{wanted.type.name}` cannot hold an address; use `.u32` or `.u64`")


def _of_masked(
    value: nodes.Relocation, mask: nodes.Number, wanted: _Wanted
) -> Iterator[_Wrong]:
    """`0xFF00(name)`: one byte of an address."""
    number = integer(mask.text)
    if number is not None and number not in _MASKS:
        yield _Wrong(mask, f"`{mask.text}` must mask exactly one byte, as `0xFF` or `0xFF00` do")
    elif len(value.values) == 1 and constant_kind(value.values[0]) is not None:
        if wanted.type.kind is Kind.FLOAT:
            yield _Wrong(
                value, f"`{wanted.type.name}` requires a float, such as `1.0`, not an integer"
            )
    elif len(value.values) == 1:
        name, wrong = _addressed(value.values[0], wanted.resolve)
        if wrong is not None:
            yield wrong
        elif name is not None and wanted.type.name not in _BYTES_OF_ADDRESSES:
            yield _Wrong(value, f"`{wanted.type.name}` cannot hold a byte of an address; use `.u8`")


def _addressed(
    value: nodes.Expression, resolve: Resolve
) -> tuple[nodes.Name | None, _Wrong | None]:
    """The name whose address a value is, and what is wrong with it. Neither: it cannot be told."""
    base, links = value, list[nodes.Binary]()
    while isinstance(base, nodes.Binary):
        links.append(base)
        base = base.left
    has_offset = bool(links)
    if any(constant_kind(link.right) is None for link in links) or (links and links[-1].operator != "+"):
        return None, _misformed(value)
    is_generic = False
    match base:
        case nodes.Relocation(operator=nodes.Name(text="generic"), values=(nodes.Name() as name,)):
            is_generic = True
        case nodes.Name(text="_"):
            return None, _Wrong(base, "`_` is not a name")
        case nodes.Name() as name:
            pass
        case _:
            return None, _misformed(value)
    return name, _of_symbol(name, resolve(name), is_generic=is_generic, has_offset=has_offset)


def _misformed(value: nodes.Expression) -> _Wrong | None:
    if isinstance(value, nodes.Relocation) and isinstance(value.operator, nodes.Name):
        if value.operator.text == "generic":
            return _Wrong(value, "`generic(...)` requires the name of a variable")
        return _Wrong(
            value.operator, "`generic(name)` is the only function allowed in initial values"
        )
    if isinstance(value, nodes.Group) and len(value.items) != 1:
        return _Wrong(value, "expected one value in parentheses")
    is_part = isinstance(value, nodes.Element | nodes.Member)
    if not is_part and all(name.text == "WARP_SZ" for name in names_in(value)):
        return None
    return _Wrong(value, "expected an address: a name or `generic(name)`, optionally `+` a number")


def _of_symbol(
    name: nodes.Name, symbol: Symbol | None, *, is_generic: bool, has_offset: bool
) -> _Wrong | None:
    match symbol:
        case None:
            return None  # the rule `undeclared-name`
        case Variable(space=space, place=place):
            if space in (".shared", ".local", ".param"):
                message = (
                    f"`{name.text}` is in `{space}`, so it has no address before the kernel runs"
                )
                return _Wrong(name, message, place)
            return None
        case FunctionName(kind=kind) if is_generic:
            return _Wrong(name, f"`generic(...)` requires a variable; `{name.text}` is a {kind}")
        case FunctionName(kind=kind) if has_offset:
            return _Wrong(name, f"the address of a {kind} cannot have an offset")
        case FunctionName() | AliasName():
            return None
        case _:
            return _Wrong(name, f"`{name.text}` is a {symbol.kind}, which has no address")
