"""How a function of the driver is written, and the table of all of them.

    @driver_function("cuMemAlloc_v2")
    def allocate(driver: Driver, address: Pointer, size: Size) -> None:

The annotations say how C passes the arguments. A function returns nothing, or raises DriverError. It may
ignore the last arguments, such as the stream: here everything happens at once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import NamedTuple, NewType, TypeVar

Int = NewType("Int", int)
UInt = NewType("UInt", int)
Byte = NewType("Byte", int)
Short = NewType("Short", int)
Size = NewType("Size", int)
"""64 bits: a size, a device address, or a handle."""
Pointer = NewType("Pointer", int)
"""An address in the memory of this process."""

C_TYPES = {
    "Int": ctypes.c_int, "UInt": ctypes.c_uint, "Byte": ctypes.c_ubyte, "Short": ctypes.c_ushort,
    "Size": ctypes.c_uint64, "Pointer": ctypes.c_uint64,
}
Meaning = TypeVar("Meaning", bound=Callable[..., None])


class DriverFunction(NamedTuple):
    """A function of the driver. `since` is the version of CUDA, such as 12050, from which on programs that
    ask for its name without the ending (`_v4`) get this one.
    """

    name: str
    meaning: Callable[..., None]
    since: int
    is_deferred: bool = False
    """Whether it is executed before the next function, and succeeds at once (`deferred_call`)."""

    @property
    def base_name(self) -> str:
        head, sign, tail = self.name.rpartition("_v")
        return head if sign and tail.isdecimal() else self.name

    @property
    def argument_types(self) -> list[str]:
        """The types of its arguments, names in C_TYPES."""
        return [name for key, name in self.meaning.__annotations__.items() if key not in ("driver", "return")]


_defined: dict[str, DriverFunction] = {}


def driver_function(
    *names: str, since: int = 0, is_deferred: bool = False
) -> Callable[[Meaning], Meaning]:
    """Defines the functions with these names, which do the same."""

    def define(meaning: Meaning) -> Meaning:
        for name in names:
            assert name not in _defined, name
            _defined[name] = DriverFunction(name, meaning, since, is_deferred)
        return meaning

    return define


def defined() -> dict[str, DriverFunction]:
    """The functions that the modules imported so far define, by their names."""
    return _defined
