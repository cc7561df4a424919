"""`NamedTuple` as in the module `typing`, which checks and compiles the type of every field, and compiles a
constructor per class. A run of the command creates some two hundred such classes, few of which it uses.
"""

from __future__ import annotations

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple

    def make_constructors() -> None:
        """Makes the constructors of all classes, each of which is else made when it is first called."""

else:
    from _collections import _tuplegetter
    from types import FunctionType

    class _Creator(type):
        """Creates a named tuple from the names and defaults of its fields."""

        def __new__(cls, name, bases, namespace):
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace[field] for field in fields if field in namespace}
            for number, field in enumerate(fields):
                namespace[field] = _tuplegetter(number, None)
            namespace["__slots__"] = ()
            namespace["_fields"] = namespace["__match_args__"] = fields
            namespace["_field_defaults"] = defaults
            return type(name, tuple([_Tuple if base is NamedTuple else base for base in bases]), namespace)

    class _Tuple(tuple):
        """The methods of all named tuples."""

        __slots__ = ()

        def __new__(cls, /, *values, **named):
            owner = next(one for one in cls.__mro__ if "_fields" in vars(one))
            constructor = _constructor(owner)
            owner.__new__ = staticmethod(constructor)
            return constructor(cls, *values, **named)

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **named):
            made = self._make(map(named.pop, self._fields, self))
            if named:
                raise ValueError(f"Got unexpected field names: {list(named)!r}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            parts = [f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True)]
            return f"{type(self).__name__}({', '.join(parts)})"

        def __getnewargs__(self):
            return tuple(self)

    def _constructor(owner):
        if len(owner._fields) >= len(_FEW):
            return _long_constructor(owner)
        code = _FEW[len(owner._fields)].__code__.replace(co_varnames=("_cls", *owner._fields))
        names = {"_new": _new, "__name__": owner.__module__}
        made = FunctionType(code, names, "__new__", tuple(owner._field_defaults.values()))
        made.__qualname__ = f"{owner.__name__}.__new__"
        return made

    def make_constructors():
        pending = _Tuple.__subclasses__()
        while pending:
            owner = pending.pop()
            pending += owner.__subclasses__()
            if "_fields" in vars(owner) and "__new__" not in vars(owner):
                owner.__new__ = staticmethod(_constructor(owner))

    def _long_constructor(owner):
        """That of a class with many fields, of which there are few instances."""
        fields, defaults = owner._fields, owner._field_defaults
        places = {field: place for place, field in enumerate(fields)}
        needed = len(fields) - len(defaults)
        usual = [defaults.get(field) for field in fields]

        def construct(_cls, /, *values, **named):
            given = len(values)
            wrong = [field for field in fields[given:needed] if field not in named]
            wrong += [field for field in named if places.get(field, -1) < given]
            if given > len(fields):
                raise TypeError(f"{owner.__qualname__}() takes {len(fields)} arguments, got {given}")
            if wrong:
                names = ", ".join(wrong)
                raise TypeError(f"{owner.__qualname__}() lacks arguments or has wrong ones: {names}")
            found = [*values, *usual[given:]]
            for field, value in named.items():
                found[places[field]] = value
            return _new(_cls, found)

        return construct

    # To compile a constructor takes longer than to create the class.
    _new = tuple.__new__
    _FEW = (
        lambda _cls: _new(_cls, ()),
        lambda _cls, _0: _new(_cls, (_0,)),
        lambda _cls, _0, _1: _new(_cls, (_0, _1)),
        lambda _cls, _0, _1, _2: _new(_cls, (_0, _1, _2)),
        lambda _cls, _0, _1, _2, _3: _new(_cls, (_0, _1, _2, _3)),
        lambda _cls, _0, _1, _2, _3, _4: _new(_cls, (_0, _1, _2, _3, _4)),
        lambda _cls, _0, _1, _2, _3, _4, _5: _new(_cls, (_0, _1, _2, _3, _4, _5)),
        lambda _cls, _0, _1, _2, _3, _4, _5, _6: _new(_cls, (_0, _1, _2, _3, _4, _5, _6)),
        lambda _cls, _0, _1, _2, _3, _4, _5, _6, _7: _new(_cls, (_0, _1, _2, _3, _4, _5, _6, _7)),
    )

    NamedTuple = type.__new__(_Creator, "NamedTuple", (), {})

__all__ = ["NamedTuple", "make_constructors"]
