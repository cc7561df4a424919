"""Compares two declarations of a function, as ptxas does (docs/ptxas.md, section 2.4).

The names of parameters are ignored. Types must be identical, not only equal in size.
"""

from __future__ import annotations

from ptx_lsp.model.directives.performance_directives import performance_directives
from ptx_lsp.model.instructions.layout import declared_alignment, dimensions, has_pointer_alignment
from ptx_lsp.model.symbols import element_type, vector_length
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes


class Difference(NamedTuple):
    """A difference with its `message`; `part` is its place in the second declaration, None if it has no
    single place.
    """

    message: str
    part: nodes.Name | None = None


class _Parameter(NamedTuple):
    declaration: nodes.Declaration
    declarator: nodes.Declarator


def difference(first: nodes.Function, second: nodes.Function) -> Difference | None:
    """The first difference between two functions or two kernels; None if they agree or cannot be compared."""
    for what, former, latter in (
        ("return parameter", _listed(first.returns), _listed(second.returns)),
        ("parameter", _listed(first.parameters), _listed(second.parameters)),
    ):
        if len(former) != len(latter):
            return Difference(f"{_counted(len(latter), what)}, not {len(former)}")
        for one, other in zip(former, latter, strict=True):
            differing = _differing(one, other)
            if differing is not None:
                name = other.declarator.name
                return Difference(f"the {what} `{name.text}` differs in {differing}", name)
    return promise_difference(first, second)


def is_noreturn(function: nodes.Function | nodes.CallPrototype) -> bool:
    return any(directive.name.text == ".noreturn" for directive in function.directives)


def promise_difference(
    first: nodes.Function | nodes.CallPrototype, second: nodes.Function | nodes.CallPrototype
) -> Difference | None:
    """Whether two declarations differ in `.noreturn` or in the preserved registers. ptxas reports the latter
    at code generation.
    """
    if is_noreturn(first) != is_noreturn(second):
        return Difference("only one of the two is `.noreturn`")
    former, latter = performance_directives(first.directives), performance_directives(second.directives)
    for name in (".abi_preserve", ".abi_preserve_control"):
        one, other = former.first(name), latter.first(name)
        if one is None and other is None:
            continue
        if one is None or other is None:
            part = other.node.name if other is not None else None
            return Difference(f"only one of the two has `{name}`", part)
        if None not in (*one.values, *other.values) and one.values != other.values:
            values = f"{other.values[0]}, not {one.values[0]}" if one.values and other.values else ""
            return Difference(f"it has `{name}` {values}".rstrip(), other.node.name)
    return None


def _listed(declarations: tuple[nodes.Declaration, ...] | None) -> list[_Parameter]:
    return [_Parameter(d, declarator) for d in declarations or () for declarator in d.declarators]


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _differing(one: _Parameter, other: _Parameter) -> str | None:
    former, latter = one.declaration, other.declaration
    if former.space is None or latter.space is None:
        return None
    if former.space.text != latter.space.text:
        return f"state space: `{latter.space.text}`, not `{former.space.text}`"
    types = element_type(former), element_type(latter)
    if not all(types) or former.type_name or latter.type_name:
        return None
    if types[0] != types[1] or vector_length(former) != vector_length(latter):
        return f"type: `{_type(latter)}`, not `{_type(former)}`"
    if dimensions(one.declarator) != dimensions(other.declarator):
        return "size"
    if has_pointer_alignment(former) or has_pointer_alignment(latter):
        return None
    alignments = declared_alignment(former), declared_alignment(latter)
    if None not in alignments and alignments[0] != alignments[1]:
        return f"alignment: {alignments[1]}, not {alignments[0]}"
    return None


def _type(declaration: nodes.Declaration) -> str:
    return " ".join(word.text for word in declaration.modifiers if word.text.startswith("."))
