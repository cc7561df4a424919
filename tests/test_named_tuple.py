"""`NamedTuple` behaves as the one of the module `typing`."""

from __future__ import annotations

import pickle
import typing
from collections.abc import Callable
from typing import Generic, TypeVar

import pytest

from ptx_lsp.named_tuple import NamedTuple

_T = TypeVar("_T")


class Point(NamedTuple):
    """A place."""

    x: int
    y: int = 2
    """The height."""
    label: str = ""

    @property
    def total(self) -> int:
        return self.x + self.y

    def __repr__(self) -> str:
        return f"<{self.x}>"


class Box(NamedTuple, Generic[_T]):
    value: _T
    size: int = 1


class Usual(typing.NamedTuple):
    """A place."""

    x: int
    y: int = 2
    label: str = ""


def test_fields_defaults_and_methods() -> None:
    point = Point(1, label="a")
    assert point == (1, 2, "a") == Usual(1, label="a")
    assert (point.total, repr(point), Point.__doc__) == (3, "<1>", "A place.")
    assert point._replace(y=5) == (1, 5, "a")
    assert Point._fields == Usual._fields
    assert Point._field_defaults == Usual._field_defaults
    assert (Point.__module__, Point.__qualname__) == (__name__, "Point")


def test_a_missing_field_is_an_error() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        _called(Point)


def test_a_generic_one() -> None:
    assert Box[int](3) == Box[int](4)._replace(value=3)
    assert isinstance(Box(3), tuple)


def test_it_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Point(1))) == Point(1)
    assert type(pickle.loads(pickle.dumps(Box(1)))) is Box


def test_the_constructor_is_compiled_when_first_used() -> None:
    class Fresh(NamedTuple):
        value: int
        other: int = 2

    assert "__new__" not in vars(Fresh)
    assert Fresh(1) == Fresh(other=2, value=1) == (1, 2)
    assert "__new__" in vars(Fresh)
    with pytest.raises(TypeError, match="from 2 to 3 positional arguments"):
        Fresh(*list(range(3)))


def test_methods_that_all_share() -> None:
    box = Box("a")
    assert repr(box) == "Box(value='a', size=1)"
    assert box._asdict() == {"value": "a", "size": 1}
    assert Box._make(["b", 2]) == ("b", 2)
    with pytest.raises(TypeError, match="Expected 2 arguments, got 1"):
        Box._make(["b"])
    wrong = {"colour": "red"}
    with pytest.raises(ValueError, match="colour"):
        box._replace(**wrong)  # pyrefly: ignore[unexpected-keyword]
    match box:
        case Box(value, size):
            assert (value, size) == ("a", 1)
        case _:
            pytest.fail("it does not match its own class")


def _called(create: Callable[..., object]) -> object:
    return create(y=3)


class Long(NamedTuple):
    a: int
    b: int
    c: int
    d: int
    e: int
    f: int
    g: int
    h: int
    i: int = 9
    j: int = 10


def test_many_fields() -> None:
    first = range(1, 9)
    assert Long(*first) == Long(*range(1, 8), h=8) == tuple(range(1, 11))
    assert Long(*[*first, 0], j=3) == (*first, 0, 3)
    assert Long(*first)._replace(a=0) == (0, *range(2, 11))
    assert pickle.loads(pickle.dumps(Long(*first))) == Long(*first)


@pytest.mark.parametrize(
    ("values", "named"), [(7, {}), (11, {}), (8, {"a": 1}), (8, {"z": 1}), (7, {"z": 1}), (10, {"j": 1})]
)
def test_wrong_arguments_of_many_fields(values: int, named: dict[str, int]) -> None:
    create: Callable[..., object] = Long
    with pytest.raises(TypeError, match=r"Long\(\)"):
        create(*range(values), **named)
