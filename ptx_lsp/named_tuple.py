"""`NamedTuple` as in the module `typing`, which checks and compiles the type of every field. A run of the
command creates some two hundred such classes, and that takes most of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple
    from typing import Generic

    class _Creator(type):
        """Creates a named tuple from the names and defaults of its fields."""

        def __new__(cls, name, bases, namespace):
            fields = namespace.pop("__annotations__", {})
            module = namespace.pop("__module__")
            defaults = [namespace.pop(field) for field in fields if field in namespace]
            created = namedtuple(name, fields, defaults=defaults, module=module)
            created.__annotations__ = fields
            created.__bases__ = tuple(tuple if base is NamedTuple else base for base in bases)
            if Generic in bases:
                created.__class_getitem__ = classmethod(Generic.__class_getitem__.__func__)
            for key, value in namespace.items():
                setattr(created, key, value)
            if Generic in bases:
                created.__init_subclass__()
            return created

    NamedTuple = type.__new__(_Creator, "NamedTuple", (), {})

__all__ = ["NamedTuple"]
