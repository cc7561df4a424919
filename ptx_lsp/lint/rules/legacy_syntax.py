"""The rule `legacy-syntax`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import each_function, each_functions_directives, module_rule
from ptx_lsp.model.directives.declarations import Declared, declarations_of, declarations_outside
from ptx_lsp.model.directives.directives import Use, directives_of, directives_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having_directives, woken_by
from ptx_lsp.model.instructions.features import MEMBER
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import collect_over_instructions
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Owner, Place
from ptx_lsp.syntax import nodes

_COMPONENTS = {".0": ".x", ".1": ".y", ".2": ".z"}
_MODERN = {
    ".sreg": "special registers need no declaration; delete the line",
    ".struct": "declare an aligned array of `.b8` and use offsets",
    ".union": "declare an aligned array of `.b8` and use offsets",
}


@module_rule("legacy-syntax", code="E140")
def legacy_syntax(module: Module) -> Iterator[Finding]:
    """Syntax of the PTX 1.x manual that ptxas does not accept.

    ## What it does
    Reports `.entry name[16][16]`, `%tid.0`, `.surf`, `.sreg`, `.struct`, `.union`, `.v3`, and `.tex`
    with a bank, without a type or with a type other than `.u32` and `.u64`. The message shows the modern
    syntax.

    ## Why it matters
    ptxas reports a syntax error in every version of PTX.

    ## Example
    ```ptx
    .version 1.4
    .target sm_10
    .entry kernel()
    {
        .reg .u32 %r<2>;
        mov.u32 %r0, %tid.0;
        exit;
    }
    ```

    ## Use instead
    ```ptx
    .version 1.4
    .target sm_10
    .entry kernel()
    {
        .reg .u32 %r<2>;
        mov.u32 %r0, %tid.x;
        exit;
    }
    ```

    ## Fix safety
    `%tid.0` becomes `%tid.x`, `.surf` becomes `.global .surfref`, sizes after the name of a kernel
    become the equivalent `.maxntid`, and a `.sreg` is deleted. The others have no fix.
    """
    yield from _of_uses(directives_outside(module))
    yield from _of_declarations(declarations_outside(module))
    yield from _in_functions(module)
    yield from _in_directives(module)


_MEMBERS = woken_by(InstructionWake(features=MEMBER))
_DIMENSIONS = having_directives(lambda function: function.node.dimensions)


@each_function(_MEMBERS | _DIMENSIONS)
def _in_functions(function: Function) -> Iterator[Finding]:
    yield from _dimensions(function)
    yield from _components(function)


@each_functions_directives
def _in_directives(function: Function) -> Iterator[Finding]:
    yield from _of_uses(directives_of(function))
    yield from _of_declarations(declarations_of(function))


def _of_uses(uses: Iterable[Use]) -> Iterator[Finding]:
    for use in uses:
        word = use.name.text
        match use.node:
            case nodes.Declaration(modifiers=words) if word == ".surf":
                yield _surface(use.place, words, use.owner)
            case nodes.Declaration() as node if word == ".tex":
                yield from _texture(use.place, node, use.owner)
            case _ if word in _MODERN:
                message = f"`{word}` is PTX 1.x syntax that ptxas does not accept; {_MODERN[word]}"
                remedy = None
                if word == ".sreg":
                    whole = Place(use.owner, use.node.start, use.node.end)
                    remedy = FixProposal("Delete the declaration", (Replacement(whole, ""),))
                yield Finding(use.place, message, fix=remedy)
            case _:
                pass


def _of_declarations(found: Iterable[Declared]) -> Iterator[Finding]:
    for declared in found:
        for word in declared.node.modifiers[:1]:
            if word.text == ".v3":
                message = (
                    "`.v3` is PTX 1.x syntax that ptxas does not accept; use `.v4`, or "
                    "three variables"
                )
                yield Finding(declared.place(word), message)


def _dimensions(function: Function) -> Iterator[Finding]:
    node = function.node
    if not node.dimensions or node.name is None:
        return
    place = function.place(nodes.Missing(node.dimensions[0].start, node.dimensions[-1].end))
    sizes = [one.size.text for one in node.dimensions if isinstance(one.size, nodes.Number)]
    modern = f".maxntid {', '.join(reversed(sizes))}"
    are_known = len(sizes) == len(node.dimensions)
    are_closed = all(function.text(one).endswith("]") for one in node.dimensions)
    instead = f"write `{modern}`" if are_known else "use `.maxntid` with all sizes"
    message = (
        f"sizes after the kernel name are PTX 1.x syntax that ptxas does not accept; {instead}"
    )
    remedy = None
    if are_known and are_closed and node.body is not None:
        at = node.body.start
        head = function.place(nodes.Missing(at, at))
        remedy = FixProposal(f"Write `{modern}`", (Replacement(place, ""), Replacement(head, f"{modern} ")))
    yield Finding(place, message, fix=remedy)


def _has_unknown(shape: Shape) -> bool:
    return any(one.kind == "unknown" for one in shape.arguments)


@collect_over_instructions(InstructionWake(features=MEMBER, where=_has_unknown))
def _components(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    for operand in instruction.operands:
        if not isinstance(operand, nodes.Member):
            continue
        for word in operand.components:
            if word.text in _COMPONENTS:
                modern = _COMPONENTS[word.text]
                place = function.place(word)
                message = (
                    f"`{word.text}` is PTX 1.x syntax that ptxas does not accept; write `{modern}`"
                )
                remedy = FixProposal(f"Write `{modern}`", (Replacement(place, modern),))
                yield Finding(place, message, fix=remedy)


def _texture(place: Place, node: nodes.Declaration, owner: Owner) -> Iterator[Finding]:
    """A `.tex` that ptxas takes in no version; one of `.u32` or `.u64` it takes up to PTX ISA 1.4."""
    types = [word.text for word in node.modifiers]
    is_single = not any(one.dimensions or one.initializer for one in node.declarators)
    if node.bank is None and (not node.declarators or (types in ([".u32"], [".u64"]) and is_single)):
        return
    bank = node.bank
    where = place if bank is None else Place(owner, place.start, bank.end + 1)
    name = node.declarators[0].name.text if node.declarators else "name"  # `.tex[1] .u32;`
    modern = f"write `.tex .u32 {name};`, or since PTX ISA 1.5 `.global .texref {name};`"
    yield Finding(where, f"a texture must be a single `.u32` or `.u64` without a bank; {modern}")


def _surface(place: Place, words: tuple[nodes.Name, ...], owner: Owner) -> Finding:
    message = "`.surf` is PTX 1.x syntax that ptxas does not accept; write `.global .surfref`"
    types = [word for word in words if word.text not in (".v2", ".v4")]
    if len(words) != 1 or not types:
        return Finding(place, message)
    replacements = (
        Replacement(place, ".global"), Replacement(Place.of(owner, types[0]), ".surfref"),
    )
    return Finding(place, message, fix=FixProposal("Write `.global .surfref`", replacements))
