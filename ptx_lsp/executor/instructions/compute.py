"""Instructions that compute: their meaning is evaluated once and becomes a program."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from inspect import Parameter, signature
from typing import cast

from ptx_lsp.executor.arithmetic import integers as lanes
from ptx_lsp.executor.arithmetic.emitter import Emitter
from ptx_lsp.executor.arithmetic.integers import Integers
from ptx_lsp.executor.arithmetic.program import BOOL, UNSIGNED, Bools, Program
from ptx_lsp.executor.arithmetic.reals import FORMATS, Reals
from ptx_lsp.executor.instructions.operation import Symbolic
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.entry import Meaning, form_type
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.schema.operand import Operand
from ptx_lsp.isa.types import TYPES, Kind, Type
from ptx_lsp.model.function import Function
from ptx_lsp.syntax import nodes


class Compute:
    """An instruction that reads registers and writes registers, each lane for itself."""

    def __init__(self, program: Program, destinations: tuple[int, ...]) -> None:
        self.program = program
        self.destinations = destinations

    def run(self, wave: Wave, mask: Bools | None) -> None:
        results = self.program.run(wave.registers)
        for number, value in zip(self.destinations, results, strict=True):
            wave.write(number, value, mask)


def compute(node: nodes.Instruction, match: Match, operands: Operands) -> Compute:
    """The action of a table instruction with a meaning. Raises ExecutionError if it has none."""
    meaning = match.entry.meaning
    if meaning is None:
        raise ExecutionError(f"`{node.opcode.text}` is not supported yet", "unsupported")
    read, destinations, names = _sorted(node, match)
    sources, names = _spread(read, names, operands)
    types = [one for _, one in sources]
    type = TYPES.get(form_type(match.candidate.choices)) or _only_type(sources)
    program = Program()
    emitter = Emitter(program, operands.frame.dtypes)
    wanted = [type, *(one for _, one in destinations if one is not None)]
    formats = [_element(one) for one in wanted if _element(one) in FORMATS]
    result = formats[-1] if formats else ""
    op = Symbolic(
        match.candidate.choices, type, result, operands.frame, emitter, *_written(node, match),
        flushes=_flushes(match, operands.function),
    )
    call = _Call(op, type, meaning, names)
    values = [value for operand, one in read for value in operands.elements(operand, one)]
    if type.lanes > 1 and types[0] is not None and types[0].lanes > 1:
        results = _joined(op, _by_element(op, type, call, values, types), destinations)
    else:
        results = call(values, types)
    return _emitted(operands, emitter, op, destinations, results)


def _flushes(match: Match, function: Function) -> bool:
    """Whether subnormal `.f32` are zeros without `.ftz`: for targets below sm_20. Up to PTX ISA 1.4, `cvt`
    spares them where the other type has 64 bits.
    """
    module = function.module
    if module.target is None or module.target.number >= 20:
        return False
    is_old = module.version is not None and module.version <= (1, 4)
    spares = match.entry.opcode == "cvt" and is_old
    return not (spares and match.candidate.choices.modifiers & {".u64", ".s64", ".f64"})


def _spread(
    sources: list[_Typed], names: list[str], operands: Operands
) -> tuple[list[_Typed], list[str]]:
    """Operands and their names, those that are vectors as often as they have elements."""
    counts = [len(operands.elements(operand, type)) for operand, type in sources]
    return (
        [one for one, count in zip(sources, counts, strict=True) for _ in range(count)],
        [name for name, count in zip(names, counts, strict=True) for _ in range(count)],
    )


def _element(type: Type) -> str:
    """The type of an element of a packed type; any other itself."""
    return type.name.removesuffix(f"x{type.lanes}")


def move(number: int, value: Integers, operands: Operands) -> Compute:
    """Gives a register a value."""
    program = Program()
    dtype = operands.frame.dtypes[number]
    width = 1 if dtype == BOOL else 8 * dtype.itemsize
    program.outputs.append(_stored(Emitter(program, operands.frame.dtypes), value, width))
    return Compute(program, (number,))


_Typed = tuple[nodes.Expression, Type | None]


def _sorted(
    node: nodes.Instruction, match: Match
) -> tuple[list[_Typed], list[_Typed], list[str]]:
    """The operands that are read and those that are written, with their types; the names of the first."""
    sources: list[_Typed] = []
    destinations: list[_Typed] = []
    names: list[str] = []

    def add(operand: nodes.Expression, place: Place, wanted: Operand) -> None:
        if isinstance(operand, nodes.Pair):
            add(operand.left, place, wanted)
            add(operand.right, place, match.candidate.operand(Place(place.pair)))
        elif isinstance(operand, nodes.Vector):
            for index, item in enumerate(operand.items):
                part = place.parts[index] if index < len(place.parts) else place
                add(item, part, match.candidate.operand(part) if place.parts else wanted)
        elif wanted.access == "write":
            destinations.append((operand, _type(wanted)))
        else:
            sources.append((operand, _type(wanted)))
            names.append(place.name)

    for operand, (place, wanted) in zip(node.operands, match.places, strict=True):
        add(operand, place, wanted)
    if (packed := TYPES.get(match.candidate.choices["atype"])) is not None and packed.lanes > 1:
        sources[0] = (sources[0][0], packed)  # where ptxas wants no more than bits of that size
    return sources, destinations, names


def _written(node: nodes.Instruction, match: Match) -> tuple[dict[str, str], set[str]]:
    """By name of operand: the selectors behind operands, and which have a minus."""
    selectors: dict[str, str] = {}
    minus: set[str] = set()
    for operand, (place, _) in zip(node.operands, match.places, strict=True):
        if isinstance(operand, nodes.Unary) and operand.operator == "-":
            minus.add(place.name)
            operand = operand.value
        if isinstance(operand, nodes.Member):
            selectors[place.name] = "".join(one.text for one in operand.components)
    return selectors, minus


def _type(wanted: Operand) -> Type | None:
    names = wanted.type if isinstance(wanted.type, str) else ""
    return TYPES.get(names) if "|" not in names else None


def _only_type(sources: Sequence[_Typed]) -> Type:
    return next((type for _, type in sources if type is not None), TYPES[".b32"])


class _Call:
    """A meaning, and the names of the operands that it is given."""

    def __init__(self, op: Symbolic, type: Type, meaning: Meaning, names: list[str]) -> None:
        self._op, self._type, self._meaning, self._names = op, type, meaning, names
        declared = {name: str(kind) for name, kind in meaning.__annotations__.items()}
        self._declared = dict(list(declared.items())[1:])
        self._declared.pop("return", None)
        self._is_variadic = _is_variadic(meaning)

    def __call__(self, values: list[Integers], types: list[Type | None]) -> list[Integers]:
        """The bits of the results. Floats go to the parameters that are declared as `Real`, integers to the
        others.
        """
        op = self._op
        names = set(self._names)
        if not self._is_variadic and len(values) > len(self._declared):
            # ptxas takes vectors for some operands: their first element counts
            first = [at for at, name in enumerate(self._names) if name not in self._names[:at]]
            values, types = [values[at] for at in first], [types[at] for at in first]
        if self._declared.keys() >= names and len(names) == len(values):
            unique = list(dict.fromkeys(self._names))
            kinds = [self._declared[name] for name in unique]
            arguments = self._arguments(values, types, kinds)
            return _bits(op, self._meaning(op, **dict(zip(unique, arguments, strict=True))))
        kinds = [*self._declared.values(), *[""] * len(values)]
        return _bits(op, self._meaning(op, *self._arguments(values, types, kinds)))

    def _arguments(
        self, values: list[Integers], types: list[Type | None], kinds: list[str]
    ) -> list[Integers | Reals]:
        return [
            self._argument(value, type or self._type) if "Real" in kind else value
            for value, type, kind in zip(values, types, kinds, strict=False)
        ]

    def _argument(self, value: Integers, type: Type) -> Reals:
        name = _element(type)
        return self._op.value(value, name) if name in FORMATS else self._op.real(value)


@cache
def _is_variadic(meaning: Meaning) -> bool:
    kinds = {one.kind for one in signature(meaning).parameters.values()}
    return Parameter.VAR_POSITIONAL in kinds


def _bits(op: Symbolic, found: object) -> list[Integers]:
    """What a meaning returned, as the bits of each destination."""
    if isinstance(found, tuple):
        return [bits for one in cast("tuple[object, ...]", found) for bits in _bits(op, one)]
    if isinstance(found, Reals):
        return [op.bits(found)]
    if isinstance(found, int | Integers):
        return [lanes.integers(found)]
    raise TypeError(f"a meaning returned {found!r}")


def _by_element(
    op: Symbolic, type: Type, call: _Call, values: list[Integers], types: list[Type | None]
) -> list[Integers]:
    """The results of a meaning for each element of a packed type; what is not packed goes to all."""
    results: list[Integers] = []
    for at in range(type.lanes):
        parts = [
            value if one is None or one.lanes == 1 else _part(op, value, at, one.width // one.lanes)
            for value, one in zip(values, types, strict=True)
        ]
        results += call(parts, types)
    return results


def _part(op: Symbolic, value: Integers, at: int, width: int) -> Integers:
    return lanes.wrap(value >> at * width, width, op.signed)


def _joined(
    op: Symbolic, elements: list[Integers], destinations: list[_Typed]
) -> list[Integers]:
    """Elements side by side in one register; answers go to a predicate each."""
    _, first = destinations[0]
    if first is not None and first.kind is Kind.PREDICATE:
        return elements
    packed = lanes.constant(0)
    width = op.width if first is None or first.lanes == 1 else first.width // first.lanes
    for at, element in enumerate(elements):
        packed = packed | lanes.wrap(element, width, signed=False) << at * width
    return [packed]


def _emitted(
    operands: Operands, emitter: Emitter, op: Symbolic, destinations: list[_Typed],
    results: list[Integers],
) -> Compute:
    program = emitter.program
    numbers: list[int] = []
    places = [(numbers, type) for operand, type in destinations for numbers in operands.written(operand)]
    for (numbers_of, type), result in zip(places, results, strict=False):
        for at, number in enumerate(numbers_of):
            if number is None:
                continue
            dtype = operands.frame.dtypes[number]
            width = 1 if dtype == BOOL else 8 * dtype.itemsize
            if type is not None and type.width < width:  # extended to the register's size
                result = lanes.wrap(result, type.width, type.kind is Kind.SIGNED)
            numbers.append(number)
            program.outputs.append(_stored(emitter, result >> width * at, width))
    if op.carried is not None:
        numbers.append(operands.frame.carry())
        program.outputs.append(_stored(emitter, op.carried, 1))
    return Compute(program, tuple(numbers))


def _stored(emitter: Emitter, value: Integers, width: int) -> int:
    """The slot of a value as a register of that width keeps it."""
    program = emitter.program
    if width == 1:
        return emitter.exact(lanes.wrap(value, 1, signed=False))
    bits = 64 if width == 64 else 32
    slot = emitter.modular(value, bits)
    return slot if width >= 32 else program.cast(slot, UNSIGNED[width])
