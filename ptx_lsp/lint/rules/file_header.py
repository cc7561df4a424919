"""The rule `file-header`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.target import LATEST, VERSIONS
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.directives.header import Header, header
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.literals import integer
from ptx_lsp.text import Source

_WORDS: dict[type[nodes.Statement], str] = {
    nodes.Version: ".version",
    nodes.Target: ".target",
    nodes.AddressSize: ".address_size",
}
_DEFAULT_TARGET = "sm_75"  # what ptxas 13 takes when it is not told
_DEFAULT_NEEDS = (6, 3)
_ADDRESS_SIZE = 64
_OLD_SIZE = 32


@module_rule("file-header", code="E130")
def file_header(module: Module) -> Iterator[Finding]:
    """A `.version`, `.target` or `.address_size` that is missing, misplaced or duplicated.

    ## What it does
    A file begins with `.version`, then `.target`, then optionally `.address_size`; only comments are
    allowed before and between them. Reports the first statement in the place of one of these, and each
    later `.version`, `.target` or `.address_size`. (`.target` may directly follow another `.target`, or
    be in a body.) Also reports `.address_size 32`, which ptxas no longer supports.

    ## Why it matters
    ptxas stops there and does not read the rest of the file.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        ret;
    }
    .address_size 64
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        ret;
    }
    ```

    ## Fix safety
    The fix deletes a duplicate and moves a misplaced directive. For a missing directive it inserts the
    newest `.version`, or the default `.target` of ptxas; these fixes are guesses, so they are not
    applied by default. Neither is `.address_size 64`, because the program may store addresses in 32
    bits.
    """
    found = header(module)
    late = list(found.late)
    yield from _address_size(found)
    if found.version is None:
        yield _absent(module, nodes.Version, _first(module), late)
        if not found.targets and late and isinstance(late[0].node, nodes.Target):
            late.pop(0)
    elif not found.targets:
        yield _absent(module, nodes.Target, found.after_version, late)
    seen: dict[type[nodes.Statement], Item | None] = {
        nodes.Version: found.version, nodes.AddressSize: found.address_size,
    }
    for item in late:
        kind = type(item.node)
        word = _WORDS[kind]
        if _broken_before(module, item):
            continue
        first = found.targets[0] if kind is nodes.Target and found.targets else seen.get(kind)
        place = Place(item.node, 0, len(word))
        if first is None:
            if kind is nodes.AddressSize and found.targets:
                message = f"`{word}` must directly follow `.target`"
                yield Finding(place, message, (), _move(module, item, found.targets[-1].end))
                seen[kind] = item
            elif kind is nodes.AddressSize:
                seen[kind] = item  # `.target` is what is missing
            continue
        message = f"duplicate `{word}`; only one is allowed, at the start of the file"
        related = ((Place(first.node, 0, len(word)), "the first one"),)
        remedy = FixProposal(f"Delete this `{word}`", (_deletion(module, item),))
        yield Finding(place, message, related, remedy)


def _address_size(found: Header) -> Iterator[Finding]:
    match found.address_size:
        case Item(node=nodes.AddressSize(bits=nodes.Number() as bits) as node):
            size, place = integer(bits.text), Place.of(node, bits)
            if size == _OLD_SIZE:
                message = (
                    "`.address_size 32` is no longer supported: ptxas 13 compiles for "
                    "64-bit addresses only"
                )
                remedy = FixProposal("Write `64`", (Replacement(place, "64"),), safe=False)
                yield Finding(place, message, fix=remedy)
            elif size != _ADDRESS_SIZE:
                yield Finding(place, "`.address_size` must be 64")
        case _:
            pass


def _absent(
    module: Module, kind: type[nodes.Version | nodes.Target], stands: Item | None, late: list[Item]
) -> Finding:
    """`stands` is what is there instead; the misplaced one is taken from `late`."""
    word = _WORDS[kind]
    where = (
        "the first statement of the file" if kind is nodes.Version else "directly after `.version`"
    )
    place = _end(module) if stands is None else Place.of(stands.node, _head(module, stands))
    misplaced = next((item for item in late if isinstance(item.node, kind)), None)
    offset = 0 if stands is None or kind is nodes.Version else stands.start
    if misplaced is not None:
        late.remove(misplaced)
        related = ((Place(misplaced.node, 0, len(word)), f"`{word}` is given here"),)
        message = f"`{word}` must be {where}"
        return Finding(place, message, related, _move(module, misplaced, offset))
    text = f"{word} {LATEST}"
    if kind is nodes.Target:
        if module.version is None or module.version < _DEFAULT_NEEDS:
            return Finding(place, f"`{word}` is missing; it must be {where}")
        text = f"{word} {_DEFAULT_TARGET}"
    target = module.target
    if kind is nodes.Version and target is not None and target.since not in VERSIONS:
        return Finding(place, f"`{word}` is missing; it must be {where}")
    source = module.document.source
    at = len(source.data) if stands is None else offset
    line_end = source.line_end(at)
    inserted = f"{'' if _begins_line(source, at) else line_end}{text}{line_end}"
    remedy = FixProposal(
        f"Insert `{text}`", (Replacement(Place(None, at, at), inserted),), safe=False
    )
    return Finding(place, f"`{word}` is missing; it must be {where}", (), remedy)


def _first(module: Module) -> Item | None:
    return next(iter(module.document.items), None)


def _head(module: Module, item: Item) -> nodes.Missing:
    """The first word of a statement."""
    text = module.document.source.text
    end = item.start + 1
    while end < item.end and (text[end].isalnum() or text[end] in "_$."):
        end += 1
    return nodes.Missing(0, end - item.start)


def _end(module: Module) -> Place:
    """The last line of the file, where ptxas misses things."""
    size = len(module.document.source.data)
    return Place(None, size, size)


def _move(module: Module, item: Item, offset: int) -> FixProposal:
    source = module.document.source
    text = source.part(item.start, item.end).rstrip()
    line_end = source.line_end(offset)
    inserted = f"{text}{line_end}" if _begins_line(source, offset) else f"{line_end}{text}"
    replacements = (Replacement(Place(None, offset, offset), inserted), _deletion(module, item))
    return FixProposal(f"Move `{text}` to where it belongs", replacements)


def _begins_line(source: Source, offset: int) -> bool:
    return offset == 0 or source.data[offset - 1 : offset] == b"\n"


def _deletion(module: Module, item: Item) -> Replacement:
    """Of a statement, and of its line where it has that for itself."""
    text = module.document.source.text
    start, end = item.start, item.end
    before = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    after = len(text) if after < 0 else after + 1
    if not text[before:start].strip() and not text[end:after].strip():
        start, end = before, after
    return Replacement(Place(None, start, end), "")


def _broken_before(module: Module, item: Item) -> bool:
    """Whether the statement before lacks its end, of which `syntax-error` speaks."""
    items = module.document.items
    index = items.last_before(item.start)
    if index <= 0:
        return False
    before = items[index - 1]
    return any(before.span(problem).start >= before.end for problem in before.problems)
