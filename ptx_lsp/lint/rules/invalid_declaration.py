"""The rule `invalid-declaration`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.facts import directive_fact
from ptx_lsp.isa.types import TYPES, Kind, Type
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import each_functions_directives, module_rule
from ptx_lsp.model.directives.declarations import Declared, declarations_of, declarations_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions
from ptx_lsp.model.instructions.constants import whole_number
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import VECTOR_LENGTHS, element_type, vector_length
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer, overflows

_MOST_BITS = 128
_LARGEST_ALIGNMENT = 1 << 31
_SIZE_BITS, _PARAMETER_BITS = 64, 32
"""What ptxas takes the size of an array in: that of a variable, and that of a parameter."""
_UNINITIALIZED = frozenset({".reg", ".shared", ".local", ".param"})
_SPACES = frozenset({".reg", ".shared", ".local", ".param", ".global", ".const"})


@module_rule("invalid-declaration", code="E111")
def invalid_declaration(module: Module) -> Iterator[Finding]:
    """A declaration whose parts do not fit together.

    ## What it does
    Reports variables in a state space that their type does not allow, vectors that are too large, arrays
    of registers, arrays without a size, alignments that are not a power of two, initial values where
    they are not allowed, missing types, and invalid parameters of kernels and functions.

    ## Why it matters
    ptxas rejects it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .shared .align 4 .b8 buffer[];
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .extern .shared .align 4 .b8 buffer[];
    .entry kernel()
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: any of the parts may be wrong.
    """
    for declared in declarations_outside(module):
        if declared.space in (".global", ".const", ".shared"):  # else the rule `misplaced-directive`
            yield from _of_type(declared)
            yield from _of(declared)
    yield from _in_functions(module)
    if not module.has_samplers:
        samplers = collect_over_functions(_samplers_of, module)
        for declared in (*_samplers(declarations_outside(module)), *samplers):
            word = next(word for word in declared.node.modifiers if word.text == ".samplerref")
            yield Finding(
                declared.place(word), "`.samplerref` requires `.target texmode_independent`"
            )


@each_functions_directives
def _in_functions(function: Function) -> Iterator[Finding]:
    for declared in declarations_of(function):
        if declared.where != "body" or not function.item.is_unclosed:  # it may have ended before
            yield from _of_type(declared)
        yield from _of(declared)
    yield from _of_head(function)
    for statement, _ in function.body.directives:
        if isinstance(statement, nodes.CallPrototype):
            yield from _of_lists(function, statement.returns or (), statement.parameters)


def _of(declared: Declared) -> Iterator[Finding]:
    yield from _of_alignment(declared)
    yield from _of_attributes(declared)
    yield from _of_linkage(declared)
    for declarator in declared.node.declarators:
        yield from _of_range(declared, declarator)
        yield from _of_dimensions(declared, declarator)
        yield from _of_initializer(declared, declarator)


# -- types ----------------------------------------------------------------------------------------


def _of_type(declared: Declared) -> Iterator[Finding]:
    node = declared.node
    type = TYPES.get(element_type(node))
    if type is None:
        yield from _without_type(declared)
        return
    message = _about_type(declared, type)
    if message is not None:
        word = next(word for word in node.modifiers if word.text == type.name)
        yield Finding(declared.place(word), message)


def _without_type(declared: Declared) -> Iterator[Finding]:
    """Nothing, or `.ptr` first, where the type has to stand."""
    node = declared.node
    if element_type(node) or node.type_name is not None or not node.declarators or node.space is None:
        return
    word = next((word for word in node.modifiers if word.text == ".ptr"), node.declarators[0].name)
    yield Finding(declared.place(word), f"expected a type, such as `.b32`, before `{word.text}`")


def _about_type(declared: Declared, type: Type) -> str | None:
    if not type.declarable or not declared.node.declarators:
        return None
    message = _vector(declared, type)
    return _space(declared, type) if message is None and not declared.of_prototype else message


@directive_fact
def _samplers_of(function: Function) -> tuple[Declared, ...]:
    return tuple(
        one
        for one in _samplers(declarations_of(function))
        if one.where != "body" or not function.item.is_unclosed
    )


def _samplers(found: Iterable[Declared]) -> Iterator[Declared]:
    """The declarations of samplers that nothing else is wrong with."""
    for declared in found:
        if element_type(declared.node) == ".samplerref" and not declared.of_prototype:
            is_right = _about_type(declared, TYPES[".samplerref"]) is None
            if is_right and declared.node.declarators:
                yield declared


def _vector(declared: Declared, type: Type) -> str | None:
    node = declared.node
    length = vector_length(node)
    if length == 1:
        if type.kind is Kind.PREDICATE and any(d.dimensions for d in node.declarators):
            return "`.pred` arrays are not supported; a predicate is a single register"
        return None
    words = next(word.text for word in node.modifiers if word.text in VECTOR_LENGTHS)
    if words not in (".v2", ".v4"):
        return None
    if type.kind is Kind.PREDICATE:
        return "`.pred` vectors are not supported; a predicate is a single register"
    if type.kind is Kind.HANDLE:
        return f"vectors of `{type.name}` are not supported"
    if length * type.width > _MOST_BITS:
        bits = length * type.width
        return f"a vector has at most {_MOST_BITS} bits, but `{words} {type.name}` has {bits}"
    return None


def _space(declared: Declared, type: Type) -> str | None:
    """What is wrong with the state space for a type."""
    node, space = declared.node, declared.space
    if type.kind is Kind.PREDICATE:
        if space in _SPACES - {".reg"}:
            return f"`.pred` cannot be in `{space}`; predicates must be registers"
        return None
    if type.kind is Kind.HANDLE:
        if declared.where not in ("module", "kernel parameter"):
            return f"`{type.name}` can only be declared outside functions, or as a kernel parameter"
        if declared.where == "module" and space != ".global":
            return f"`{type.name}` cannot be in `{space}`; write `.global {type.name}`"
        if any(word.text == ".common" for word in node.linkage):
            return f"`{type.name}` cannot be `.common`"
        return None
    if space == ".param" and any(not d.dimensions for d in node.declarators):
        if vector_length(node) > 1:
            return "vectors cannot be in `.param`; declare an aligned array of `.b8`"
        if type.name == ".f16x2":
            return "`.f16x2` cannot be in `.param`; declare `.b32`"
    return None


# -- alignment and attributes ---------------------------------------------------------------------


def _of_alignment(declared: Declared) -> Iterator[Finding]:
    number = declared.node.alignment
    if not isinstance(number, nodes.Number):
        return
    value = whole_number(number)
    if value is None or (value.bit_count() == 1 and value <= _LARGEST_ALIGNMENT):
        return
    message = f"the alignment must be a power of two up to 2147483648, not {number.text}"
    yield Finding(declared.place(number), message)


def _of_attributes(declared: Declared) -> Iterator[Finding]:
    node = declared.node
    if not node.declarators or not node.attributes or declared.of_prototype:
        return
    name = node.attributes[0].name
    if name.text == ".managed" and all(one.range is not None for one in node.declarators):
        return  # ptxas does not look at those of a range
    if name.text in (".managed", ".unified") and declared.space in _SPACES - {".global"}:
        message = (
            f"`{name.text}` requires a variable in `.global`; this one is in `{declared.space}`"
        )
        yield Finding(declared.place(name), message)


def _of_linkage(declared: Declared) -> Iterator[Finding]:
    node = declared.node
    if declared.where == "module" and declared.space in (".shared", ".const") and node.declarators:
        for word in node.linkage:
            if word.text == ".common":
                message = (
                    f"`.common` requires a variable in `.global`; this one is in `{declared.space}`"
                )
                yield Finding(declared.place(word), message)


# -- arrays and initial values --------------------------------------------------------------------


def _of_range(declared: Declared, declarator: nodes.Declarator) -> Iterator[Finding]:
    count = declarator.range
    if isinstance(count, nodes.Number) and count.kind == "integer" and overflows(count.text, 32):
        yield Finding(
            declared.place(count), f"a range has at most 4294967295 names, not {count.text}"
        )


def _of_dimensions(declared: Declared, declarator: nodes.Declarator) -> Iterator[Finding]:
    if not declarator.dimensions:
        return
    name = declarator.name
    first, *others = declarator.dimensions
    bits = _PARAMETER_BITS if declared.is_parameter else _SIZE_BITS
    for size in (first, *others):
        if _is_no_size(size):
            yield Finding(declared.place(size or name), "the size must be a non-negative number")
            return
        if isinstance(size, nodes.Number) and overflows(size.text, bits):
            message = f"the size {size.text} does not fit in {bits} bits"
            yield Finding(declared.place(size), message)
            return
    if declared.is_parameter and others:
        message = (
            f"the parameter `{name.text}` has {len(others) + 1} dimensions; at most one is allowed"
        )
        yield Finding(declared.place(name), message)
        return
    if declared.space == ".reg":
        is_predicate = element_type(declared.node) == ".pred"
        if not is_predicate and (_is_open(first) or not declared.of_prototype):
            yield Finding(declared.place(name), _register_array(declared, declarator))
        return
    for size in others:
        if _is_open(size):
            message = f"only the first dimension of `{name.text}` can be without a size"
            yield Finding(declared.place(size or name), message)
            return
    if (
        not declared.is_parameter  # `_of_lists` looks at those
        and _is_open(first)
        and declarator.initializer is None
        and all(word.text != ".extern" for word in declared.node.linkage)
    ):
        message = (
            f"the array `{name.text}` requires a size, unless it is `.extern` or has an "
            "initial value"
        )
        yield Finding(declared.place(name), message)


def _register_array(declared: Declared, declarator: nodes.Declarator) -> str:
    name = declarator.name.text
    message = f"`{name}` is in `.reg`, so it cannot be an array"
    size = declarator.dimensions[0]
    if declared.is_parameter or not isinstance(size, nodes.Number):
        return message
    return f"{message}; write `{name}<{size.text}>` for {size.text} registers"


def _is_open(size: nodes.Expression | None, bits: int = _SIZE_BITS) -> bool:
    """`[]`, or `[0]`, which is the same to ptxas; it takes the lowest bits of a number."""
    if not isinstance(size, nodes.Number):
        return size is None
    value = integer(size.text)
    return value is not None and value % 2**bits == 0


def _is_no_size(size: nodes.Expression | None) -> bool:
    """Expressions are the rule `syntax-error`."""
    match size:
        case nodes.Name(text=text):
            return text != "WARP_SZ"
        case nodes.Number(kind=kind):
            return kind != "integer"
        case _:
            return False


def _of_initializer(declared: Declared, declarator: nodes.Declarator) -> Iterator[Finding]:
    if declarator.initializer is None:
        return
    name = declarator.name
    place = declared.place(name)
    if declared.is_parameter:
        yield Finding(place, f"the parameter `{name.text}` cannot have an initial value")
    elif declared.space in _UNINITIALIZED:
        message = f"`{name.text}` is in `{declared.space}`, so it cannot have an initial value"
        yield Finding(place, f"{message}; only `.global` and `.const` variables can")
    elif any(word.text == ".extern" for word in declared.node.linkage):
        message = f"`{name.text}` is `.extern`, so it cannot have an initial value"
        yield Finding(place, f"{message}; the file that defines it provides one")


# -- heads of kernels and functions ---------------------------------------------------------------


def _of_head(function: Function) -> Iterator[Finding]:
    node = function.node
    for attribute in node.attributes:
        if attribute.name.text == ".managed":
            message = f"`.managed` is only allowed on variables, not on `{node.kind.text}`"
            yield Finding(function.place(attribute.name), message)
    if node.body is not None:
        for word in node.linkage[:1]:
            if word.text == ".extern":
                message = "`.extern` is only allowed on a declaration; this function has a body"
                yield Finding(function.place(word), message)
    parameters = node.parameters or ()
    if function.is_kernel and node.returns is not None:
        first = node.returns[0] if node.returns else node.kind
        yield Finding(
            function.place(first), "a kernel cannot have return parameters; only a `.func` can"
        )
    if function.is_kernel:
        for declaration in parameters:
            yield from _of_kernel_parameter(function, declaration)
        return
    returns = node.returns or ()
    for declaration in (*returns, *parameters):
        for word in declaration.modifiers:
            if word.text == ".ptr":
                yield Finding(function.place(word), "`.ptr` is only allowed on kernel parameters")
        alignment = declaration.alignment
        words = declaration.modifiers
        is_pointer = any(word.text == ".ptr" for word in words)
        if alignment is not None and not is_pointer and any(w.start < alignment.start for w in words):
            message = (
                "`.align` must precede the type; after it, it is only allowed on kernel parameters"
            )
            yield Finding(function.place(alignment), message)
        for declarator in declaration.declarators:
            if declarator.name.text == "_":
                message = "a function parameter requires a name; `_` is not one"
                yield Finding(function.place(declarator.name), message)
    yield from _of_lists(function, returns, parameters)


def _of_kernel_parameter(
    function: Function, declaration: nodes.Declaration
) -> Iterator[Finding]:
    space = declaration.space
    for declarator in declaration.declarators:
        name = declarator.name
        if space is None or space.text != ".param":
            message = f"the parameter `{name.text}` of a kernel must be in `.param`"
            yield Finding(function.place(space or name), message)
        elif declarator.dimensions and _is_open(declarator.dimensions[0], _PARAMETER_BITS):
            message = f"the array `{name.text}` requires a size: it is a kernel parameter"
            yield Finding(function.place(name), message)


def _of_lists(
    function: Function,
    returns: tuple[nodes.Declaration, ...],
    parameters: tuple[nodes.Declaration, ...],
) -> Iterator[Finding]:
    """The return parameters and parameters of a function or call prototype."""
    for declaration in (*returns, *parameters):
        space = declaration.space
        for declarator in declaration.declarators:
            if space is None or space.text not in (".param", ".reg"):
                message = f"the parameter `{declarator.name.text}` must be in `.param` or `.reg`"
                yield Finding(function.place(space or declarator.name), message)
    if len(returns) > 1:
        for declaration in returns:
            if declaration.space is not None and declaration.space.text == ".param":
                message = (
                    "if a function has several return parameters, all must be in `.reg`, "
                    "not in `.param`"
                )
                yield Finding(function.place(declaration.space), message)
                break
    for declaration in (*returns, *parameters[:-1]):
        for declarator in declaration.declarators:
            in_param = declaration.space is not None and declaration.space.text == ".param"
            if in_param and len(declarator.dimensions) == 1 and _is_open(
                declarator.dimensions[0], _PARAMETER_BITS
            ):
                name = declarator.name
                message = (
                    f"the array `{name.text}` requires a size; only the last parameter "
                    "can be without"
                )
                yield Finding(function.place(name), message)
