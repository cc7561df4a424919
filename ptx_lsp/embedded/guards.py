"""For which architectures the preprocessor keeps a part of a CUDA source.

Conditions are evaluated for every target with what nvcc defines for it: `__CUDA_ARCH__` and its relatives.
Any other macro is unknown, except those of HIP, which nvcc does not define, and of include guards.
https://docs.nvidia.com/cuda/cuda-c-programming-guide, "Architecture-specific features"
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final, TypeAlias

from ptx_lsp.embedded.block import Guard
from ptx_lsp.lazy_pattern import lazy_pattern

_NUMBERS: Final = (
    50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 82, 86, 87, 88, 89, 90, 100, 101, 103, 107, 110, 120, 121,
)  # fmt: skip
_TARGETS: Final = tuple(
    (number, suffix) for number in _NUMBERS for suffix in ("", "a", "f") if not suffix or number >= 90
)
_DIRECTIVE = lazy_pattern(
    rb"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b"
    rb"(?P<rest>(?:\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|[^\n])*)",
    0x8 | 0x10,  # MULTILINE, DOTALL
)
_COMMENT = lazy_pattern(rb"//.*|/\*.*?(?:\*/|\Z)|\\\r?\n", 0x10)
_TOKEN = lazy_pattern(r"\s*(?:(0[xX][0-9a-fA-F]+|\d+)[uUlL]*|([A-Za-z_]\w*)|(\|\||&&|[=!<>]=|<<|>>|\S))")
_HIP: Final = frozenset(
    (
        "__HIP__", "__HIPCC__", "__HIP_DEVICE_COMPILE__", "__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__",
        "USE_ROCM", "__AMDGCN__", "__MUSACC__", "USE_MUSA",
    )
)  # fmt: skip
_DEFINED: Final = frozenset(("__CUDACC__", "__CUDA__"))

Value: TypeAlias = "int | None"
"""The value of an expression; None if it is unknown."""
_Names: TypeAlias = "Callable[[str], tuple[bool | None, Value]]"
"""Whether a macro is defined, and its value."""
_Verdicts: TypeAlias = "tuple[Value, ...]"
"""Whether a condition is true, for each of `_TARGETS`."""


class Guards:
    """The conditions of a text, and where they apply."""

    def __init__(self, data: bytes, is_text: Callable[[int], bool] = lambda offset: False) -> None:
        """`is_text` tells which offsets are in a comment or a string: directives there are none."""
        self._starts: list[int] = [0]
        self._guards: list[Guard | None] = [None]
        whole = _ALWAYS
        stack: list[tuple[_Verdicts, _Verdicts]] = []
        """For each open `#if`: the conditions around it, and whether no branch so far applied."""
        for match in _DIRECTIVE.finditer(data):
            word = match["word"]
            if is_text(match.start("word")):
                continue
            if word in (b"if", b"ifdef", b"ifndef"):
                condition = _condition(word, match["rest"])
                if word == b"ifndef" and _is_include_guard(data, match.end(), match["rest"]):
                    condition = _ALWAYS
                stack.append((whole, _not(condition)))
                whole = _and(whole, condition)
            elif not stack:
                continue  # unbalanced
            elif word == b"endif":
                whole, _ = stack.pop()
            else:
                around, left = stack.pop()
                is_else = word == b"else"
                condition = _ALWAYS if is_else else _condition(word.removeprefix(b"el"), match["rest"])
                stack.append((around, _and(left, _not(condition))))
                whole = _and(around, _and(left, condition))
            self._starts.append(match.end())
            self._guards.append(_guard(whole))

    def at(self, offset: int) -> Guard | None:
        """The targets for which the text at `offset` is kept; None for all."""
        return self._guards[bisect_right(self._starts, offset) - 1]


def _is_include_guard(data: bytes, end: int, name: bytes) -> bool:
    following = data[end : end + len(name) + 200].split(None, 3)[:2]
    return following[:1] == [b"#define"] and following[1:2] == name.split()[:1]


def _condition(word: bytes, rest: bytes) -> _Verdicts:
    text = _COMMENT.sub(b" ", rest).decode("utf-8", "replace").strip()
    match word:
        case b"ifdef":
            return _verdicts(f"defined({text})")
        case b"ifndef":
            return _verdicts(f"!defined({text})")
        case _:
            return _verdicts(text)


@lru_cache(maxsize=1024)
def _verdicts(condition: str) -> _Verdicts:
    return tuple(_evaluated(condition, _names(*target)) for target in _TARGETS)


@lru_cache(maxsize=1024)
def _guard(whole: _Verdicts) -> Guard | None:
    if whole == _ALWAYS:
        return None
    names = [f"sm_{number}{suffix}" for number, suffix in _TARGETS]
    verdicts = list(zip(names, whole, strict=True))
    return Guard(
        frozenset(name for name, verdict in verdicts if verdict == 1),
        frozenset(name for name, verdict in verdicts if verdict != 0),
    )


_ALWAYS: Final[_Verdicts] = (1,) * len(_TARGETS)


def _and(one: _Verdicts, other: _Verdicts) -> _Verdicts:
    return tuple(_both(*pair) for pair in zip(one, other, strict=True))


def _not(one: _Verdicts) -> _Verdicts:
    return tuple(None if verdict is None else int(not verdict) for verdict in one)


def _both(one: Value, other: Value) -> Value:
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None else 1


@cache
def _names(number: int, suffix: str) -> _Names:
    """What nvcc defines for a target."""
    known: dict[str, int] = {"__CUDA_ARCH__": number * 10}
    if suffix == "a":
        known[f"__CUDA_ARCH_FEAT_SM{number}_ALL"] = 1
        known["__CUDA_ARCH_SPECIFIC__"] = number * 10
    if suffix:
        known["__CUDA_ARCH_FAMILY_SPECIFIC__"] = number * 10
    undefined = ("__CUDA_ARCH_FEAT_SM", "__CUDA_ARCH_SPECIFIC__", "__CUDA_ARCH_FAMILY_SPECIFIC__")

    def look(name: str) -> tuple[bool | None, Value]:
        if name in known:
            return True, known[name]
        if name in _DEFINED:
            return True, 1
        if name in _HIP or name.startswith(undefined):
            return False, 0
        return None, {"true": 1, "false": 0}.get(name)

    return look


def _evaluated(condition: str, names: _Names) -> Value:
    """Whether a condition is true: 0 or 1."""
    value = _Expression(condition, names).value()
    return None if value is None else int(value != 0)


_BINARY: Final[dict[str, tuple[int, Callable[[int, int], int]]]] = {
    "|": (3, lambda a, b: a | b), "^": (4, lambda a, b: a ^ b), "&": (5, lambda a, b: a & b),
    "==": (6, lambda a, b: a == b), "!=": (6, lambda a, b: a != b), "<": (7, lambda a, b: a < b),
    ">": (7, lambda a, b: a > b), "<=": (7, lambda a, b: a <= b), ">=": (7, lambda a, b: a >= b),
    "<<": (8, lambda a, b: a << min(b, 64) if b >= 0 else 0),
    ">>": (8, lambda a, b: a >> min(b, 64) if b >= 0 else 0),
    "+": (9, lambda a, b: a + b), "-": (9, lambda a, b: a - b), "*": (10, lambda a, b: a * b),
    "/": (10, lambda a, b: a // b if b else 0), "%": (10, lambda a, b: a % b if b else 0),
}  # fmt: skip
_UNARY: Final[dict[str, Callable[[int], int]]] = {
    "!": lambda a: not a, "-": lambda a: -a, "+": lambda a: a, "~": lambda a: ~a,
}  # fmt: skip
_MOST_TOKENS: Final = 1_000
_DEEPEST: Final = 30
_LONGEST_NUMBER: Final = 40


class _Expression:
    """Evaluates a condition of the preprocessor. What it cannot read is unknown."""

    def __init__(self, text: str, names: _Names) -> None:
        self._tokens = [match.groups() for match in _TOKEN.finditer(text)][:_MOST_TOKENS]
        self._names = names
        self._index = 0
        self._depth = 0

    def _peek(self) -> str:
        return self._tokens[self._index][2] or "" if self._index < len(self._tokens) else ""

    def _take(self, text: str) -> bool:
        if self._peek() == text:
            self._index += 1
            return True
        return False

    def value(self) -> Value:
        value = self._binary(1)
        return value if self._index == len(self._tokens) else None

    def _binary(self, least: int) -> Value:
        left = self._unary()
        while True:
            operator = self._peek()
            if operator == "||" and least <= 1:
                self._index += 1
                right = self._binary(2)
                left = _either(left, right)
            elif operator == "&&" and least <= 2:
                self._index += 1
                right = self._binary(3)
                left = _both(_truth(left), _truth(right))
            elif operator in _BINARY and _BINARY[operator][0] >= least:
                self._index += 1
                strength, apply = _BINARY[operator]
                right = self._binary(strength + 1)
                left = None if left is None or right is None else int(apply(left, right))
            else:
                return left

    def _unary(self) -> Value:
        if self._depth > _DEEPEST:
            return None  # and tokens are left, so that the whole is unknown
        self._depth += 1
        value = self._operand()
        self._depth -= 1
        return value

    def _operand(self) -> Value:
        for sign, apply in _UNARY.items():
            if self._take(sign):
                value = self._unary()
                return None if value is None else apply(value)
        if self._take("("):
            value = self._binary(1)
            self._take(")")
            return value
        if self._index == len(self._tokens):
            return None
        number, name, _ = self._tokens[self._index]
        self._index += 1
        if number:
            return _number(number)
        if name == "defined":
            return self._defined()
        if name:
            return None if self._skipped_arguments() else self._names(name)[1]
        return None

    def _defined(self) -> Value:
        is_enclosed = self._take("(")
        name = self._tokens[self._index][1] if self._index < len(self._tokens) else None
        self._index += 1
        if is_enclosed:
            self._take(")")
        found = self._names(name)[0] if name else None
        return None if found is None else int(found)

    def _skipped_arguments(self) -> bool:
        """Skips the arguments of a macro, if there are some."""
        if not self._take("("):
            return False
        depth = 1
        while depth and self._index < len(self._tokens):
            depth += (self._peek() == "(") - (self._peek() == ")")
            self._index += 1
        return True


def _number(text: str) -> Value:
    base = 16 if text[:2] in ("0x", "0X") else 8 if text[0] == "0" else 10
    try:
        return int(text, base) if len(text) <= _LONGEST_NUMBER else None
    except ValueError:  # `08`
        return None


def _truth(value: Value) -> Value:
    return None if value is None else int(value != 0)


def _either(one: Value, other: Value) -> Value:
    if (one is not None and one) or (other is not None and other):
        return 1
    return None if one is None or other is None else 0
