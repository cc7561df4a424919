"""Demangled names: C++ (Itanium ABI) and Rust (v0 and legacy), by LLVM's demanglers (package `pycxxfilt`).

A name of a hundred letters can stand for terabytes, or overflow the demangler's stack. So it runs in a
process of its own, which has little memory and time; a name that ends it stays mangled. Only plain names,
which are short and have but types, namespaces and a few back references, need no process.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock  # `threading` is slow to import
from collections.abc import Iterable, Sequence

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.process_tables import process_table
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from typing import Final

LONGEST_NAME: Final = 8_192
"""Longer names stay mangled."""
_LONGEST_RESULT: Final = 4_096
"""The rest of longer results is omitted."""
_SECONDS: Final = 2.0
_MOST_FAILURES: Final = 3
"""The number of names per call that may end the process."""
_LONGEST_PLAIN: Final = 400
_MOST_REFERENCES: Final = 16
"""So many in a plain name: each may double what it stands for."""
_PLAIN_PART: Final = lazy_pattern(
    r"L[a-z]n?\d+E|S[tabsiod]|(?P<reference>S[0-9A-Z]*_|(?:Dp)?T\d*_|XT\d*_E)|B(?=\d)|\d+"
    r"|[NEIJPROKVvwbcahstijlmxyfdegz]"
)
"""A literal, a name in `std`, a back reference, a mark before an ABI tag, the length of an identifier, or a
letter for a type or a nesting.
"""
_MANGLED: Final = ("_Z", "_R")
_PARAMETER: Final = lazy_pattern(r"_param_(\d+)$")
"""What nvcc and LLVM add to the name of a function for its parameters."""
_NUMBERED: Final = lazy_pattern(r" parameter \d+$")
_HASH: Final = lazy_pattern(r"::h[0-9a-f]{16}$")
_NAMED: Final = lazy_pattern(r"`(_[ZR][\w$.]+)`")
_ESCAPE: Final = lazy_pattern(r"\$(?:u([0-9a-f]{1,6})|([A-Z]{1,2}))\$")
_ESCAPES: Final = {
    "SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ",",
}  # fmt: skip
_SYMBOL: Final = lazy_pattern(
    r"\(anonymous namespace\)|(?<=\boperator)(?:\(\)|<=>|<<=?|>>=?|<=?|>=?|->\*?)|\{[^{}]*\}"
)
"""Brackets and blanks that are parts of names."""
_INNERMOST: Final = lazy_pattern(r"<[^<>()]*>|\([^<>()]*\)")
_HIDDEN: Final = 0xF0000
_ANGLE, _ROUND = "\ue000", "\ue001"
_QUALIFIED: Final = lazy_pattern(r"^<.*?>(?=::)")
_ARGUMENTS: Final = lazy_pattern(f"{_ROUND}(?!::)")
_OPERATOR: Final = lazy_pattern(r"\boperator\b")
_WORKER: Final = f"""
import sys
sys.path.append(sys.argv[1])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
except (ImportError, OSError, ValueError):
    pass  # not on every system
from pycxxfilt import demangle
for line in sys.stdin.buffer:
    try:
        found = demangle(line.decode().rstrip("\\n"))
    except (ValueError, MemoryError):
        found = None
    print(ascii((found or "")[:{_LONGEST_RESULT}]), flush=True)
"""

_known: Final[dict[str, str]] = process_table({})
"""The demangled names; empty for a name that stays as it is."""
_lock: Final = allocate_lock()


def demangled(names: Iterable[str]) -> dict[str, str]:
    """The demangled form of each of `names` that has one; of a parameter, its function and number.
    """
    mangled = {name: _PARAMETER.sub("", name) for name in names if name.startswith(_MANGLED)}
    if not mangled:
        return {}
    wanted = dict.fromkeys(mangled.values())
    with _lock:
        _demangle([name for name in wanted if name not in _known and len(name) <= LONGEST_NAME])
        return {
            name: f"{found}{_number(name)}"
            for name, function in mangled.items()
            if (found := _known.get(function))
        }


def _number(name: str) -> str:
    found = _PARAMETER.search(name)
    return f" parameter {found[1]}" if found else ""


def readable(texts: Sequence[str]) -> list[str]:
    """Texts in which mangled names in back-ticks are demangled."""
    names = {name for text in texts if "`_" in text for name in _NAMED.findall(text)}
    plain = demangled(names) if names else {}
    return [_NAMED.sub(lambda name: f"`{plain.get(name[1], name[1])}`", text) for text in texts]


def short_name(text: str) -> str:
    """A demangled name without its return type and parameters, and without the contents of angle brackets,
    except of those that it begins with, as in Rust.
    """
    numbered = _NUMBERED.search(text)
    if numbered is not None:
        return short_name(text[: numbered.start()]) + numbered[0]
    symbols: list[str] = []

    def hidden(found: re.Match[str]) -> str:
        symbols.append(found[0])
        return chr(_HIDDEN + len(symbols) - 1)

    plain = _SYMBOL.sub(hidden, text)
    if plain.startswith("<"):
        plain = _QUALIFIED.sub(hidden, plain)
    while (flat := _INNERMOST.sub(_emptied, plain)) != plain:
        plain = flat
    plain = _ARGUMENTS.split(plain, maxsplit=1)[0]
    operator = _OPERATOR.search(plain)
    plain = plain[plain.rfind(" ", 0, operator.start() if operator else len(plain)) + 1 :]
    plain = plain.replace(_ROUND, "()").replace(_ANGLE, "<...>")
    for index in reversed(range(len(symbols))):  # the last may contain others
        plain = plain.replace(chr(_HIDDEN + index), symbols[index])
    return plain or text


def _emptied(found: re.Match[str]) -> str:
    return _ANGLE if found[0].startswith("<") else _ROUND


def _demangle(names: Sequence[str]) -> None:
    plain = [name for name in names if _is_plain(name)]
    if plain:
        _known.update(zip(plain, _answers_here(plain), strict=True))
        names = [name for name in names if name not in _known]
    if not names:
        return
    folder = _folder()
    failures = 0
    while names and folder is not None and failures < _MOST_FAILURES:
        results = _answers(folder, names)
        for name, found in zip(names, results, strict=False):
            _known[name] = _rust(name, found) if found else ""
        names = names[len(results) :]
        if names:  # the process has ended at the first of these
            _known[names[0]] = ""
            names = names[1:]
            failures += 1
    _known.update(dict.fromkeys(names, ""))


def _is_plain(name: str) -> bool:
    """Whether a name is sure to need little time, memory and stack."""
    if not name.startswith("_Z") or len(name) > _LONGEST_PLAIN:
        return False
    at, references = 2, 0
    while at < len(name):
        part = _PLAIN_PART.match(name, at)
        if part is None:
            return False
        at = part.end() + (int(part[0]) if part[0].isdecimal() else 0)
        references += part["reference"] is not None
    return at == len(name) and references <= _MOST_REFERENCES


def _answers_here(names: Sequence[str]) -> list[str]:
    """The results of the demangler in this process."""
    try:
        from pycxxfilt import demangle
    except ImportError:
        return [""] * len(names)

    def found(name: str) -> str:
        try:
            return _rust(name, (demangle(name) or "")[:_LONGEST_RESULT])
        except ValueError:
            return ""

    return list(map(found, names))


def _folder() -> str | None:
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("pycxxfilt")
    return str(Path(spec.origin).parents[1]) if spec is not None and spec.origin is not None else None


def _answers(folder: str, names: Sequence[str]) -> list[str]:
    """The results up to the first name that the process did not survive."""
    import subprocess

    text = "".join(f"{name}\n" for name in names).encode("utf-8", "replace")
    command = [sys.executable, "-I", "-S", "-c", _WORKER, folder]
    try:
        done = subprocess.run(
            command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_SECONDS,
            check=False,
        )  # fmt: skip
        output = done.stdout
    except subprocess.TimeoutExpired as expired:
        output = expired.output or b""
    except OSError:
        return [""] * len(names)  # there is no process at all
    lines = output.decode("ascii", "replace").split("\n")[:-1]  # the last one is incomplete
    return [_text(line) for line in lines]


def _text(line: str) -> str:
    return line[1:-1].encode("ascii", "replace").decode("unicode_escape") if len(line) > 1 else ""


def _rust(name: str, text: str) -> str:
    """A legacy name of Rust, which is one of C++ with a hash and with escapes for other characters."""
    if not name.startswith("_ZN") or not _HASH.search(text):
        return text
    plain = _HASH.sub("", text).replace("::_$", "::$").replace("..", "::")
    return _ESCAPE.sub(_unescaped, plain.removeprefix("_") if plain.startswith("_$") else plain)


def _unescaped(found: re.Match[str]) -> str:
    if found[1] is None:
        return _ESCAPES.get(found[2], found[0])
    code = int(found[1], 16)
    return chr(code) if 0x20 <= code < 0xD800 else found[0]
