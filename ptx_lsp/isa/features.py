"""Features added to PTX later than the directive, declaration or initial value that contains them.

Sources: PTX ISA, "Directives" and "Release Notes"; probed with ptxas 13.5 (docs/ptxas.md, 4.2).
"""

from __future__ import annotations

from ptx_lsp.isa.target import Requirement, parse_requirement
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, Literal, TypeAlias

Feature: TypeAlias = """Literal[
    "kernel prototype", "kernel parameter", "parameter in memory", "unsized parameter",
    "`.param` variable in a body", "address in an initial value", "function in an initial value",
    "kernel in an initial value", "generic()", "mask of an address",
    "pointer to an opaque type", "time of a file", "inlined_at",
    "label in a section", "label and offset in a section",
    "distance of labels in a section", "negative number in a section",
]"""

FEATURES: Final[dict[Feature, Requirement]] = {
    "kernel prototype": parse_requirement("3.0", 10),
    "kernel parameter": parse_requirement("1.4", 10),
    "parameter in memory": parse_requirement("2.0", 20),  # a `.param` of a function
    "unsized parameter": parse_requirement("6.0", 30),  # `.param .b8 x[]` of a function
    "`.param` variable in a body": parse_requirement("2.0", 10),  # what calls pass
    "address in an initial value": parse_requirement("2.1", 10),
    "function in an initial value": parse_requirement("2.1", 20),
    "kernel in an initial value": parse_requirement("3.1", 35),
    "generic()": parse_requirement("3.1", 10),
    "mask of an address": parse_requirement("7.1", 10),  # `0xFF(name)`
    "pointer to an opaque type": parse_requirement("4.3", 10),  # `.ptr .texref` of a parameter
    "time of a file": parse_requirement("3.2", 10),  # and its size, in `.file`
    "inlined_at": parse_requirement("7.0", 10),  # in `.loc`
    "label in a section": parse_requirement("7.0", 10),  # `name:`
    "label and offset in a section": parse_requirement("3.2", 10),  # `.debug_str+4`
    "distance of labels in a section": parse_requirement("7.5", 10),  # `end-begin`
    "negative number in a section": parse_requirement("7.5", 10),
}

TYPES: Final[dict[str, Requirement]] = {
    ".f16x2": parse_requirement("4.2", 53),
    ".b128": parse_requirement("8.3", 70),
    ".texref": parse_requirement("1.5", 10),
    ".samplerref": parse_requirement("1.5", 10),
    ".surfref": parse_requirement("1.5", 10),
}
"""Types of declarations that were not there from the beginning."""

ATTRIBUTES: Final[dict[str, Requirement]] = {
    ".managed": parse_requirement("4.0", 30),
    ".unified": parse_requirement("8.0", 90),
}
"""The contents of `.attribute(...)`."""


