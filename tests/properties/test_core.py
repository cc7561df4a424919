"""The passes in C find what simple definitions say, in real files and after random changes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import cast

import pytest

from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.isa.matching.operand_access import BOTH, NONE, READ, WRITE, OperandAccess
from ptx_lsp.model import _core
from ptx_lsp.model.body import Body, names_in, predefined
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions import features
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.instructions.features import features_of
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.instructions.uses import unused
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.scope import Scope, range_count
from ptx_lsp.model.symbols import Declared, Label, Predefined, Register, Variable
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.nodes.node import Node, field_names
from tests.oracle import corpus
from tests.properties.test_scanner import changed, sample_texts
from tests.strength import seeds

_NOT_NAMES = {"components", "suffix", "type", "operator", "kind", "text"}
"""The fields of operands in which a name refers to nothing."""
_MOST = 40_000
_UNUSUAL = """.version 9.5
.target sm_90a
.address_size 64
.func (.reg .b32 out) f(.reg .b32 in, .param .b32 p) { mov.b32 out, in; ret; }
.visible .entry k(.param .b64 p, .param .align 8 .b8 q[16])
{
    .reg .b32 %r<8>, %r9, WARP_SZ, _;
    .reg .f32 %f<4>;
    .reg .b64 %d<4>;
    .reg .v4 .f32 %v;
    .reg .pred %p<2>;
    .param .b32 sent;
    @!%p1 wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d1, %p0, 1, 1, 0, 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d1, %p0, 1, 1, 0, 0;
    mov.f32 %v.x, %f03;
    setp.eq.and.s32 %p0|_, %r0, %r1, !%p1;
    { .reg .b64 %r2; mov.b64 %r2, %d4294967299; @%p0 bra %r7; }
    add.s32 %r2, %r9, %r8;
    ld.param.b64 %d0, [p+-8];
    ld.v2.b32 {%r0, %r1}, [%d0+16];
    ld.b32 %r0, [WARP_SZ];
    st.param.b32 [sent], %tid.x;
    mov.b32 %r0, (.s64) 1 ? %r1 : %r2;
    call (%r0), f, (%r1, sent);
%r7:
    vadd.u32.u32.u32.b0 %r0.b1, %r1.h0, %r2, %r0;
    unknown %r0, {%r1, %r2}|%p0, %r3;
    ret;
}
"""
"""Names and accesses that files of compilers do not have."""


def _names(value: object, field: str = "") -> Iterator[nodes.Name]:
    if isinstance(value, nodes.Name):
        if field not in _NOT_NAMES:
            yield value
    elif isinstance(value, tuple):
        for item in cast("tuple[object, ...]", value):
            yield from _names(item, field)
    elif isinstance(value, Node) and not isinstance(value, nodes.FieldValue):
        for name in field_names(type(value)):
            if name not in _NOT_NAMES:
                yield from _names(getattr(value, name), name)


def _names_of(node: nodes.Instruction) -> Iterator[nodes.Name]:
    for value in (*((node.guard.predicate,) if node.guard else ()), *node.operands):
        expected = sorted(_names(value), key=lambda name: name.start)
        assert names_in(value) == expected
        yield from expected


# -- symbols ----------------------------------------------------------------------------------


class _Block:
    """What a block has declared so far, and all of its labels."""

    def __init__(self) -> None:
        self.declared: dict[str, nodes.Declarator | nodes.Label] = {}
        self.ranges: list[nodes.Declarator] = []
        self.labels: dict[str, nodes.Label] = {}

    def declare(self, declaration: nodes.Declaration) -> None:
        for one in declaration.declarators:
            if one.range is not None:
                self.ranges.append(one)
            elif one.name.text != "_":
                self.declared.setdefault(one.name.text, one)

    def find(self, name: str) -> nodes.Declarator | nodes.Label | None:
        if name in self.declared:
            return self.declared[name]
        match = re.fullmatch(r"(.*?)([0-9]+)", name)
        for one in self.ranges:
            if match and one.name.text == match[1] and int(match[2]) % 2**32 < range_count(one):
                return one
        return None


def _declarations(function: Function) -> Iterator[tuple[nodes.Name, nodes.Declarator | nodes.Label | None]]:
    """What each name in an instruction refers to; None if nothing in the function, or a special register."""
    head = _Block()
    for declaration in (*(function.node.returns or ()), *(function.node.parameters or ())):
        head.declare(declaration)
    assert function.node.body is not None
    for name, blocks in _uses(function.node.body, [head]):
        text = name.text
        inner_first = blocks[::-1]
        found = next((one for block in inner_first if (one := block.find(text)) is not None), None)
        if found is None and predefined(text) is None and text != "_":
            found = next((block.labels[text] for block in inner_first if text in block.labels), None)
        yield name, found


def _uses(block: nodes.Block, blocks: list[_Block]) -> Iterator[tuple[nodes.Name, list[_Block]]]:
    """The names in the instructions of a block, each with the blocks around it as they are there."""
    own = blocks[-1]
    own.labels = {one.name.text: one for one in block.statements if isinstance(one, nodes.Label)}
    for statement in block.statements:
        match statement:
            case nodes.Block():
                yield from _uses(statement, [*blocks, _Block()])
            case nodes.Declaration():
                own.declare(statement)
            case nodes.Label():
                own.declared.setdefault(statement.name.text, statement)
            case nodes.Instruction():
                yield from ((name, blocks) for name in _names_of(statement))
            case _:
                pass


def _check_symbols(function: Function) -> int:
    body, count = function.body, 0
    used: set[object] = set()
    for name, declared in _declarations(function):
        symbol = body.symbols.get(name.start)
        count += 1
        used.add(declared)
        if isinstance(declared, nodes.Declarator):
            assert isinstance(symbol, Register | Variable), name
            assert symbol.declarator is declared
            assert symbol.name == name.text
        elif isinstance(declared, nodes.Label) and isinstance(symbol, Label):
            assert symbol.place.start == declared.name.start
        elif declared is None:
            assert symbol is None or isinstance(symbol, Predefined), name
    here = [*body.parameters, *body.registers, *body.variables]
    others = {name.start for statement in body.directives for name in _names(statement.node)}
    elsewhere = ((start, body.symbols[start]) for start in others & body.symbols.keys())
    if all(isinstance(one, Predefined) or one.place.start == start for start, one in elsewhere):
        assert [*unused(function, here)] == [one for one in here if one.declarator not in used]
    return count


def _check_labels(body: Body) -> None:
    statements, symbols, before = body.statements, body.symbols, 0
    expected: list[tuple[Label, int]] = []
    for statement in statements:
        before += isinstance(statement, nodes.Instruction)
        symbol = symbols.get(statement.name.start) if isinstance(statement, nodes.Label) else None
        if isinstance(symbol, Label):
            expected.append((symbol, before))
    assert _core.labels(statements, symbols) == expected


# -- shapes and accesses ----------------------------------------------------------------------


def _check_shapes(function: Function) -> None:
    for node, shape in zip(function.body.instructions, shapes(function), strict=True):
        expected = 0
        for operand in node.operands:
            expected |= features_of(function, operand)
        if node.guard is not None:
            symbol = None
            if isinstance(node.guard.predicate, nodes.Name):
                symbol = function.symbols.get(node.guard.predicate.start)
            is_usual = isinstance(symbol, Register) and symbol.type == ".pred" and symbol.vector == 1
            expected |= features.GUARDED | (0 if is_usual else features.UNUSUAL_GUARD)
            expected |= features.NEGATED if node.guard.negated else 0
        if node.opcode.end - node.opcode.start != len(node.opcode.text):
            expected |= features.SPACED
        if node.opcode.bank is not None:
            expected |= features.WITH_BANK
        assert shape.features == expected
        assert shape.arguments == arguments(function, node)
        assert shape.spelling == node.opcode.text


def _accesses(operand: nodes.Operand, access: OperandAccess) -> Iterator[tuple[nodes.Name, int, bool]]:
    """The names in an operand, each with its access, and whether it is only a component that is written."""
    match operand:
        case nodes.Name():
            yield operand, access.own, False
        case nodes.Vector(items=items) | nodes.Group(items=items):
            parts = access.parts
            if len(parts) != len(items):
                parts = (OperandAccess(access.own),) * len(items)
            for item, part in zip(items, parts, strict=True):
                yield from _accesses(item, part)
        case nodes.Pair(left=left, right=right):
            yield from _accesses(left, access)
            if isinstance(right, nodes.Name):
                yield right, access.pair, False
        case nodes.Member() if access.own in (WRITE, BOTH):
            if isinstance(operand.object, nodes.Name):
                yield operand.object, access.own, True
        case _:
            if access.own != NONE or isinstance(operand, nodes.Address):
                yield from ((name, READ, False) for name in names_in(operand))


def _check_accesses(function: Function) -> int:
    flow, count = instructions(function), 0
    for number, (node, shape) in enumerate(zip(function.body.instructions, shapes(function), strict=True)):
        uses: list[str] = []
        defs: list[str] = []
        partial: list[str] = []
        for operand, access in zip(node.operands, shape.accesses, strict=True):
            for name, own, is_component in _accesses(operand, access):
                if not isinstance(function.body.symbols.get(name.start), Register):
                    continue
                if own in (READ, BOTH):
                    uses.append(name.text)
                if own in (WRITE, BOTH):
                    defs.append(name.text)
                    if own == BOTH or is_component:
                        partial.append(name.text)
        found = [
            [flow.registers[index].name for index in indices[number]]
            for indices in (flow.uses, flow.defs, flow.partial_defs)
        ]
        assert [list(map(_plain, one)) for one in found] == [
            list(map(_plain, one)) for one in (uses, defs, partial if node.guard is None else defs)
        ]
        guards: list[nodes.Name] = [] if node.guard is None else names_in(node.guard.predicate)
        guard = function.body.symbols.get(guards[-1].start) if guards else None
        if isinstance(guard, Register):
            assert _plain(flow.registers[flow.guards[number]].name) == _plain(guard.name)
        else:
            assert flow.guards[number] == -1
        count += len(uses) + len(defs)
    return count


def _plain(name: str) -> str:
    """The same for names such as `%r3` and `%r03`, which are one register."""
    return re.sub(r"(?<=[^0-9])0+(?=[0-9])", "", name)


# -- files ------------------------------------------------------------------------------------


def _check(data: bytes) -> int:
    """The number of names and accesses that were compared."""
    count = 0
    for function in Module.parse(data.decode("latin-1")).functions:
        if function.node.body is None:
            continue
        _check_shapes(function)
        _check_labels(function.body)
        count += _check_accesses(function)
        if not function.body.duplicates and function.symbols is function.body.symbols:
            count += _check_symbols(function)
    return count


def test_unusual_names() -> None:
    assert _check(_UNUSUAL.encode()) > 100


def test_files() -> None:
    texts = [text for path in corpus.files() if len(text := path.read_bytes()) < _MOST]
    assert sum(map(_check, texts)) > sum(text.count(b";") for text in texts)


@pytest.mark.parametrize("seed", seeds(6, 20))
def test_changed_files(seed: int) -> None:
    chance = random.Random(seed)
    texts = sample_texts()
    for _ in range(20):
        _check(b".version 9.5\n.target sm_90\n.address_size 64\n.entry k() {\n" + changed(chance, texts))


# -- ranges beside other names ------------------------------------------------------------------


def _body(statements: str) -> Body:
    return Module.parse(f".version 9.5\n.target sm_90\n.entry k() {{ {statements} }}").functions[0].body


def _statements(chance: random.Random) -> Iterator[str]:
    for _ in range(12):
        base = chance.choice(("%a", "%b1_"))
        name = f"{base}{chance.choice(('', '0'))}{chance.randrange(6)}"
        yield chance.choice(
            (f".reg .b32 {name};", f".reg .b32 {base}<{chance.randrange(6)}>;", f"{name}: ret;")
        )


def _clashes(statements: list[str]) -> list[tuple[str, str]]:
    """The names that a block declares twice, each with the first, by the rules of `model/scope.py`."""
    exact: dict[str, bool] = {}
    ranges: dict[str, int] = {}
    found: list[tuple[str, str]] = []
    for statement in statements:
        is_label = statement.endswith("ret;")
        text = statement.removesuffix(": ret;").removeprefix(".reg .b32 ")
        name, _, count = text.rstrip(";>").partition("<")
        match = re.fullmatch(r"(.*?)([0-9]+)", name)
        if count:
            same = (
                one for one, kind in exact.items()
                if not kind and (parts := re.fullmatch(r"(.*?)([0-9]+)", one))
                and parts[1] == name and int(parts[2]) < int(count)
            )  # fmt: skip
            first = name if name in ranges else next(same, None)
            if first is None:
                ranges[name] = int(count)
        else:
            is_member = match is not None and int(match[2]) < ranges.get(match[1], 0)
            first = name if name in exact or (is_member and not is_label) else None
            if first is None:
                exact[name] = is_label
        if first is not None:
            found.append((name, first))
    return found


def test_ranges_and_other_names_clash() -> None:
    chance, count = random.Random(1), 0
    for _ in range(2000):
        statements = list(_statements(chance))
        found = [(one.name.text, one.first.name) for one in _body(" ".join(statements)).duplicates]
        assert found == _clashes(statements), statements
        count += len(found)
    assert count > 2000


def test_a_range_reads_no_other_names() -> None:
    """A block of many ranges and names would take time in proportion to the square."""
    body = _body(".reg .b32 %a1, %b<4>; ret;")
    label = Label("", body.registers[0].place)
    for number in range(10):
        body.scope.names[f"\ud800{number}"] = label  # to read it is an error
        body.scope.names[f"%x{number}\ud800"] = body.registers[0]
    clashes: list[str] = []

    def missing(name: nodes.Name, _: Scope) -> None:
        raise KeyError(name.text)

    def clash(name: nodes.Name, _: Declared, first: Declared) -> None:
        clashes.append(f"{name.text} {first.name}")

    more = _body(".reg .b32 %a<2>, %c<8>;").directives[0].node
    assert isinstance(more, nodes.Declaration)
    _core.declare_all((more,), body.scope, body.node.kind, False, {}, missing, clash)
    assert clashes == ["%a %a1"]
    assert {*body.scope.ranges} == {"%b", "%c"}


def test_places_are_the_tuples_that_python_creates() -> None:
    registers = _body(".reg .b32 %a, %b<4>;").registers
    assert [hash(one.place) for one in registers] == [hash(Place(*one.place)) for one in registers]
    assert {Place(*one.place) for one in registers} == {one.place for one in registers}


def test_names_may_be_looked_up_while_others_are_listed() -> None:
    scope = _body(".reg .b32 %a, %b, %c<4>;").scope
    seen = [(name, scope.find(f"%c{number % 4}")) for number, name in enumerate(scope.all_names())]
    assert [name for name, _ in seen] == ["%a", "%b", "%c0", "%c1", "%c2", "%c3"]


@pytest.mark.parametrize("seed", seeds(20, 200))
def test_words_in_a_text(seed: int) -> None:
    chance = random.Random(seed)
    text = "".join(chance.choices("ab.=é", k=chance.randrange(30)))
    words = ["", *["".join(chance.choices("ab.=é", k=chance.randrange(1, 5))) for _ in range(20)]]
    assert _core.words_in(text.encode(), words) == {word for word in words if word in text}
