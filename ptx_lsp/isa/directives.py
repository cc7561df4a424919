"""The table of directives: what each is for, where it may stand, with which arguments, and since when.

Linkage words, state spaces and attributes are rows as well. Sources: PTX ISA, "Directives" and "State
Spaces, Types, and Variables"; probed with ptxas 13.5 (docs/ptxas.md, part 4), which is followed where
the manual differs: `.language` from 9.2, `.surf` and `.sreg` never declared.
"""

from __future__ import annotations

from ptx_lsp.isa.target import Requirement, Version, parse_requirement, parse_version
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import Final, TypeAlias

Where: TypeAlias = Literal[
    "module", "kernel", "kernel prototype", "function", "function prototype", "call prototype",
    "body", "parameter", "variable", "section",
]
"""A place for a directive. `kernel` and `function` are the header before a body; `variable` is among
the words of a declaration.
"""

Kind: TypeAlias = Literal[
    "header", "definition", "linkage", "state space", "attribute", "performance", "function",
    "control flow", "debugging", "pragma", "legacy",
]


class Arguments(NamedTuple):
    """How many arguments a directive takes (`most` None: any number), and what each must be.

    `names` are the only strings taken, if there are any; `positive` forbids 0, and `largest` is the
    greatest number taken. A directive that its version ignores takes 0, too.
    """

    least: int
    most: int | None
    kind: Literal["number", "string", "name", "other"] = "number"
    positive: bool = False
    names: tuple[str, ...] = ()
    largest: int = 2**32 - 1
    largest_in_call: int | None = None
    """In a call prototype, where it is another."""


class Directive:
    """One row. `example` is a module without `.version` and `.target`; empty where these are all."""

    __slots__ = (
        "arguments", "deprecated", "ended", "example", "feature", "kind", "name", "places",
        "removed", "since", "since_in_body", "successor", "summary", "syntax",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: Kind,
        summary: str,
        syntax: str,
        example: str,
        places: frozenset[Where],
        since: Requirement,
        arguments: Arguments | None = None,
        deprecated: Version | None = None,
        successor: str = "",
        removed: Version | None = None,
        ended: tuple[tuple[Where, Version], ...] = (),
        feature: str = "",
        since_in_body: Requirement | None = None,
    ) -> None:
        self.name: Final = name
        self.kind: Final = kind
        self.summary: Final = summary
        self.syntax: Final = syntax
        self.example: Final = example
        self.places: Final = places
        self.since: Final = since
        self.arguments: Final = arguments
        """None where the grammar itself has them."""
        self.deprecated: Final = deprecated
        self.successor: Final = successor
        """The replacement of a deprecated one."""
        self.removed: Final = removed
        """The first version that refuses it."""
        self.ended: Final = ended
        """Places that it had once, each with the first version that refuses it there."""
        self.feature: Final = feature
        """Its name in ptxas messages about version or target, if different."""
        self.since_in_body: Final = since_in_body
        """Its requirements in a body, if different."""

    def __repr__(self) -> str:
        return self.name

    @property
    def is_accepted(self) -> bool:
        """Whether any version of ptxas that there is takes it."""
        return self.kind != "legacy"


NONE: Final = Arguments(0, 0)
ONE: Final = Arguments(1, 1)
POSITIVE: Final = Arguments(1, 1, positive=True)
SECTIONS: Final = (
    ".debug_info", ".debug_abbrev", ".debug_str", ".debug_loc", ".debug_ranges", ".debug_macinfo",
    ".debug_pubnames",
)
"""The sections that compilers write; ptxas takes any name."""
SECTION_SYNONYMS: Final = {".byte": ".b8", ".4byte": ".b32", ".quad": ".b64"}
"""Further names for the data of a section, which ptxas silently accepts."""
LANGUAGES: Final = ("CUDA C++", "PTX", "NVVM", "Fortran", "Tile IR")


def find(name: str) -> Directive | None:
    """The row of a directive, with its dot; None where PTX has none of that name."""
    return DIRECTIVES.get(name)


def _row(
    name: str,
    kind: Kind,
    places: str,
    since: str,
    syntax: str,
    example: str,
    summary: str,
    target: int = 10,
    arguments: Arguments | None = None,
    deprecated: str | None = None,
    successor: str = "",
    removed: str | None = None,
    feature: str = "",
    since_in_body: str = "",
) -> Directive:
    """`places` are separated by commas; `module<3.0` ends with that version."""
    named = {place.partition("<")[0]: place.partition("<")[2] for place in places.split(", ")}
    found: set[Where] = {place for place in _PLACES if place in named}
    assert len(found) == len(named), name
    ended: list[tuple[Where, Version]] = []
    ended.extend((place, parse_version(named[place])) for place in found if named[place])
    return Directive(
        name, kind, summary, syntax, example, frozenset(found), parse_requirement(since, target),
        arguments, parse_version(deprecated) if deprecated else None, successor,
        parse_version(removed) if removed else None, tuple(ended), feature or name,
        parse_requirement(since_in_body, target) if since_in_body else None,
    )


_PLACES: Final[tuple[Where, ...]] = (
    "module", "kernel", "kernel prototype", "function", "function prototype", "call prototype",
    "body", "parameter", "variable", "section",
)


def _kernel(header: str) -> str:
    return f".entry kernel() {header} {{ ret; }}"


def _body(text: str) -> str:
    return f".entry kernel() {{ {text} ret; }}"


_HEADER = (
    _row(".version", "header", "module", "1.0", ".version MAJOR.MINOR", "",
         "Says which version of PTX the file is written in; it comes before everything else."),
    _row(".target", "header", "module, body", "1.0", ".target ARCHITECTURE[, OPTION ...]",
         ".entry kernel() {\n.target sm_10\nret; }",
         "Names the architecture that the file requires, directly after `.version`; inside a body it "
         "changes the architecture from there on."),
    _row(".address_size", "header", "module", "2.3", ".address_size 64", ".address_size 64",
         "Specifies the size of addresses in bits, directly after `.target`.",
         feature=".address_size directive"),
)

_DEFINITIONS = (
    _row(".entry", "definition", "module", "1.0",
         ".entry NAME [(PARAMETER, ...)] [DIRECTIVE ...] { ... }", ".entry kernel() { ret; }",
         "Defines a kernel, or declares one that is defined elsewhere."),
    _row(".func", "definition", "module, body", "1.0",
         ".func [(RETURN)] NAME [(PARAMETER, ...)] [DIRECTIVE ...] { ... }", ".func f() { ret; }",
         "Defines a function that kernels and functions call, or declares one; inside a body it "
         "only declares."),
    _row(".alias", "definition", "module, body", "6.3", ".alias NAME, FUNCTION;",
         ".func f() { ret; } .func g(); .alias g, f;",
         "Makes a declared function another name of one that is defined.", target=30),
)

_LINKAGE = (
    _row(".extern", "linkage", "module", "1.0", ".extern DECLARATION", ".extern .global .b32 x;",
         "Declares a name that another file defines."),
    _row(".visible", "linkage", "module", "1.0", ".visible DEFINITION",
         ".visible .entry kernel() { ret; }", "Lets other files see the name."),
    _row(".weak", "linkage", "module", "3.1", ".weak DEFINITION", ".weak .func f() { ret; }",
         "Lets other files see the name, and lets another definition take its place.",
         feature=".weak directive"),
    _row(".common", "linkage", "module", "5.0", ".common .global TYPE NAME;",
         ".common .global .b32 x;",
         "Lets several files define one global variable; the largest of them is taken.",
         feature=".common directive"),
)

_SPACES = (
    _row(".reg", "state space", "module<3.0, body, parameter", "1.0", ".reg TYPE NAME[<COUNT>], ...;",
         _body(".reg .b32 %r<4>;"), "Declares registers, each private to a thread."),
    _row(".const", "state space", "module, body", "1.0", ".const TYPE NAME [= VALUE], ...;",
         ".const .b32 x = 5;", "Declares constant memory, which every thread reads and none writes."),
    _row(".global", "state space", "module, body", "1.0", ".global TYPE NAME [= VALUE], ...;",
         ".global .b32 x = 5;", "Declares memory that all threads of all kernels share."),
    _row(".local", "state space", "module<3.0, body", "1.0", ".local TYPE NAME, ...;",
         _body(".local .b32 x;"), "Declares memory private to a thread."),
    _row(".param", "state space", "body, parameter", "1.4", ".param TYPE NAME",
         ".entry kernel(.param .b32 x) { ret; }",
         "Declares a parameter of a kernel or function, or in a body an argument of a call.",
         feature="kernel parameter list", since_in_body="1.0"),
    _row(".shared", "state space", "module, body", "1.0", ".shared TYPE NAME, ...;",
         ".shared .b32 x[32];", "Declares memory that the threads of a block share."),
    _row(".tex", "state space", "module", "1.0", ".tex .u32 NAME;", ".tex .u32 t;",
         "Declared a texture before there was the type `.texref`.", removed="1.5"),
)

_ATTRIBUTES = (
    _row(".align", "attribute", "variable, parameter", "1.0", ".align BYTES",
         ".global .align 16 .b32 x;", "Specifies the alignment of the address, a power of two."),
    _row(".ptr", "attribute", "parameter", "2.2", ".ptr[SPACE] [.align BYTES]",
         ".entry kernel(.param .u32 .ptr .global .align 16 p) { ret; }",
         "Declares that a kernel parameter points to memory, with its state space and alignment.",
         feature="kernel parameter pointer attribute"),
    _row(".attribute", "attribute", "variable, function", "4.0", ".attribute(NAME[, ...])",
         ".global .attribute(.managed) .b32 x;",
         "Gives a variable or function the attribute `.managed` or `.unified`.", target=30),
)

_PERFORMANCE = (
    _row(".maxntid", "performance", "kernel", "1.3", ".maxntid X[, Y[, Z]]",
         _kernel(".maxntid 256"), "The most threads in a block of this kernel, along each dimension.",
         arguments=Arguments(1, 3, positive=True)),
    _row(".reqntid", "performance", "kernel", "2.1", ".reqntid X[, Y[, Z]]",
         _kernel(".reqntid 16, 16"), "The exact number of threads in a block, along each dimension.",
         arguments=Arguments(1, 3, positive=True), feature=".reqntid directive"),
    _row(".maxnreg", "performance", "kernel", "1.3", ".maxnreg COUNT", _kernel(".maxnreg 64"),
         "The most registers that a thread of this kernel may have.", arguments=POSITIVE),
    _row(".local_maxnreg", "performance", "kernel, function", "8.8", ".local_maxnreg COUNT",
         _kernel(".local_maxnreg 64"),
         "The most registers that this kernel or function may use, without what it calls.",
         arguments=POSITIVE),
    _row(".minnctapersm", "performance", "kernel", "2.0", ".minnctapersm COUNT",
         _kernel(".maxntid 256 .minnctapersm 2"),
         "How many blocks one multiprocessor must hold; it takes effect beside `.maxntid` or "
         "`.reqntid`.", arguments=POSITIVE, feature=".minnctapersm directive"),
    _row(".maxnctapersm", "performance", "kernel", "1.3", ".maxnctapersm COUNT",
         _kernel(".maxntid 256 .maxnctapersm 4"),
         "How many blocks one multiprocessor may hold; `.minnctapersm` has taken its place.",
         arguments=POSITIVE, deprecated="2.0", successor=".minnctapersm", removed="2.1"),
    _row(".reqnctapercluster", "performance", "kernel", "7.8", ".reqnctapercluster X[, Y[, Z]]",
         _kernel(".reqnctapercluster 2, 1, 1"),
         "The exact number of blocks in a cluster, along each dimension.", target=90,
         arguments=Arguments(1, 3)),
    _row(".maxclusterrank", "performance", "kernel", "7.8", ".maxclusterrank COUNT",
         _kernel(".maxclusterrank 8"), "The most blocks in a cluster.", target=90, arguments=ONE),
    _row(".explicitcluster", "performance", "kernel", "7.8", ".explicitcluster",
         _kernel(".explicitcluster"), "Specifies that every launch gives its cluster size.",
         target=90, arguments=NONE),
    _row(".blocksareclusters", "performance", "kernel", "9.0", ".blocksareclusters",
         _kernel(".blocksareclusters .reqntid 64 .reqnctapercluster 2"),
         "Specifies that the grid of a launch counts clusters instead of blocks; requires `.reqntid` and "
         "`.reqnctapercluster`.", target=90, arguments=NONE),
    _row(".minperctamemory", "performance", "kernel", "9.4", ".minperctamemory BYTES",
         _kernel(".minperctamemory 1024"), "The least shared memory that a block of this kernel gets.",
         target=80, arguments=ONE),
    _row(".language", "performance", "kernel, function", "9.2", ".language \"NAME\"",
         _kernel('.language "PTX"'), "Names the language that this kernel or function was written in.",
         arguments=Arguments(1, 1, "string", names=LANGUAGES)),
)

_FUNCTION = (
    _row(".noreturn", "function", "function, function prototype, call prototype", "6.4", ".noreturn",
         ".func f() .noreturn { ret; }",
         "Says that the function does not return; it comes before `.abi_preserve`.", target=30,
         arguments=NONE),
    _row(".abi_preserve", "function", "function, function prototype, call prototype", "9.0",
         ".abi_preserve COUNT", ".func f() .abi_preserve 8 { ret; }",
         "The number of registers that the function preserves.", target=80,
         arguments=Arguments(1, 1, largest=239, largest_in_call=255)),
    _row(".abi_preserve_control", "function", "function, function prototype, call prototype", "9.0",
         ".abi_preserve_control COUNT", ".func f() .abi_preserve_control 4 { ret; }",
         "The number of control registers that the function preserves.", target=80,
         arguments=Arguments(1, 1, largest=11)),
)

_CONTROL_FLOW = (
    _row(".branchtargets", "control flow", "body", "6.0", "NAME: .branchtargets LABEL, ...;",
         _body("A: B: T: .branchtargets A, B;"), "The labels that a `brx.idx` may jump to.", target=30,
         feature=".branchtargets directive"),
    _row(".calltargets", "control flow", "body", "2.1", "NAME: .calltargets FUNCTION, ...;",
         ".func f() { ret; } " + _body("T: .calltargets f;"),
         "The functions that an indirect call may go to.", target=20,
         feature=".calltargets directive"),
    _row(".callprototype", "control flow", "body", "2.1",
         "NAME: .callprototype [(RETURN)] _ [(PARAMETER, ...)] [DIRECTIVE ...];",
         _body("P: .callprototype _ (.param .b32 _);"),
         "The parameters that a function called indirectly takes.", target=20,
         feature=".callprototype directive"),
)

_DEBUGGING = (
    _row(".file", "debugging", "module", "1.0", ".file INDEX \"PATH\"[, TIME, SIZE]",
         '.file 1 "a.cu"', "Assigns a source file the number that `.loc` uses."),
    _row(".loc", "debugging", "body", "1.0",
         ".loc FILE LINE COLUMN[, function_name LABEL, inlined_at FILE LINE COLUMN]",
         '.file 1 "a.cu"\n' + _body("\n.loc 1 2 3\n"),
         "The place in the source that the next instructions come from."),
    _row(".loc_intermediate", "debugging", "body", "9.4", ".loc_intermediate FILE LINE COLUMN",
         '.file 1 "a.cu"\n' + _body("\n.loc_intermediate 1 2 3\n"),
         "The place in an intermediate language that the next instructions come from.",
         arguments=Arguments(3, 3, "other")),
    _row(".section", "debugging", "module", "2.0", ".section .NAME { DATA }",
         ".section .debug_str { .b8 65, 0 }", "A section of debugging data, in the form of DWARF.",
         feature=".section directive"),
    *(
        _row(name, "debugging", "section", "2.0", f"{name} VALUE, ...",
             f".section .debug_abc {{ {name} 1, 2 }}", f"Data of {int(name[2:]) // 8} bytes each.")
        for name in (".b8", ".b16", ".b32", ".b64")
    ),
    *(
        _row(name, "debugging", "section", "2.0", f"{name} VALUE, ...",
             f".section .debug_abc {{ {name} 1, 2 }}", f"Another name of `{today}`, from `@@DWARF` lines.")
        for name, today in SECTION_SYNONYMS.items()
    ),
    _row("@@DWARF", "debugging", "module", "1.0", "@@DWARF DATA", "",
         "Debugging data as text, before there was `.section`.", removed="2.0"),
)

_PRAGMA = (
    _row(".pragma", "pragma", "module, kernel, body", "2.0", ".pragma \"TEXT\"[, ...];",
         '.pragma "nounroll"; ' + _kernel('.pragma "nounroll";'),
         "Passes an instruction to ptxas that is not part of PTX.", arguments=Arguments(1, None, "string"),
         feature=".pragma directive"),
)

_LEGACY = (
    _row(".surf", "legacy", "module, body", "1.0", ".surf TYPE NAME;", "",
         "Declared a surface in the manual of PTX 1.x; today it is `.global .surfref`."),
    _row(".sreg", "legacy", "module, body", "1.0", ".sreg TYPE %NAME;", "",
         "Declares a special register in the PTX 1.x manual; special registers require no declaration."),
    _row(".struct", "legacy", "module, body", "1.0", ".struct NAME { FIELDS };", "",
         "A structure in the manual of PTX 1.x; today it is an array of `.b8`."),
    _row(".union", "legacy", "module, body", "1.0", ".union NAME { FIELDS };", "",
         "A union in the manual of PTX 1.x; today it is an array of `.b8`."),
)

DIRECTIVES: Final = {
    row.name: row
    for row in (
        *_HEADER, *_DEFINITIONS, *_LINKAGE, *_SPACES, *_ATTRIBUTES, *_PERFORMANCE, *_FUNCTION,
        *_CONTROL_FLOW, *_DEBUGGING, *_PRAGMA, *_LEGACY,
    )
}
