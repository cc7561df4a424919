"""The text of string expressions in Python equals what Python itself makes of them."""

from __future__ import annotations

import ast
import random
from itertools import pairwise

import pytest

from ptx_lsp.embedded.languages import parser
from ptx_lsp.embedded.mapped_text import MappedText
from ptx_lsp.embedded.python_literals import LiteralKind, encoder
from ptx_lsp.embedded.python_strings import PythonStrings
from tests.embedded.reading import read
from tests.strength import seeds

CHARACTERS = "ab0 %${}\\'\"\n\t\r\x00\x7fé€😀;|"
QUOTES = ("'", '"', "'''", '"""')


def text_of(expression: str | bytes, before: str = "") -> MappedText | None:
    """The text of the expression in the last statement of a module."""
    written = expression.encode() if isinstance(expression, str) else expression
    data = before.encode() + b"_ = " + written + b"\n"
    tree = parser("tree_sitter_python").parse(data)
    assignment = tree.root_node.children[-1].children[0]
    node = assignment.child_by_field_name("right")
    assert node is not None
    strings = PythonStrings(data)
    found = strings.alternatives(node)
    text = strings.text(found[0].parts) if found else None
    if text is not None:
        check_map(text, data)
    return text


def check_map(text: MappedText, data: bytes) -> None:
    """Identity pieces have the bytes of the host, and the pieces cover the text in the order of the host."""
    ends = [piece.start for piece in text.pieces] + [len(text.data)]
    for piece, end in zip(text.pieces, ends[1:], strict=True):
        if piece.kind == "same":
            assert data[slice(*piece.host)] == text.data[piece.start : end]
    assert all(one.host.start <= other.host.start for one, other in pairwise(text.pieces))


def value(expression: str, before: str = "") -> str | None:
    text = text_of(expression, before)
    return None if text is None else text.data.decode()


def _literal(text: str, quotes: str, rng: random.Random) -> str:
    """A literal for a text, with escapes chosen at random."""
    written: list[str] = []
    for character in text:
        code = ord(character)
        escapes = [f"\\U{code:08x}", f"\\x{code:02x}" if code < 256 else f"\\u{code & 0xFFFF:04x}"]
        if code > 0xFFFF:
            escapes.pop()
        plain = character
        if character in "\\" + quotes or (
            character in "\n\r" and (len(quotes) == 1 or character == "\r")
        ):
            plain = repr(character)[1:-1] if character in "\n\r\\" else "\\" + character
        written.append(plain if rng.random() < 0.8 and code else rng.choice(escapes))
    return quotes + "".join(written) + quotes


@pytest.mark.parametrize("seed", seeds(40, 200))
def test_a_random_literal_has_the_value_that_python_gives_it(seed: int) -> None:
    rng = random.Random(seed)
    parts = [
        "".join(rng.choices(CHARACTERS, k=rng.randrange(12))) for _ in range(rng.randrange(1, 4))
    ]
    written = " ".join(_literal(part, rng.choice(QUOTES), rng) for part in parts)
    assert ast.literal_eval(written) == "".join(parts)
    assert value(written) == "".join(parts)
    assert value(repr("".join(parts))) == "".join(parts)


@pytest.mark.filterwarnings("ignore:.*invalid escape")
@pytest.mark.parametrize("seed", seeds(25, 100))
def test_arbitrary_bytes_between_quotes_are_read_as_python_reads_them(seed: int) -> None:
    rng = random.Random(seed)
    inside = "".join(rng.choices("\\xnuN{}07af'\"\n\r q", k=rng.randrange(1, 14)))
    for prefix in ("", "r", "b", "rb"):
        for quotes in QUOTES:
            written = prefix + quotes + inside + quotes
            try:
                expected: object = ast.literal_eval(written)
            except (SyntaxError, ValueError):
                continue
            plain = expected.encode() if isinstance(expected, str) else expected
            text = text_of(written.encode())
            assert text is not None
            assert text.data == plain


@pytest.mark.parametrize("prefix", ["", "r", "b", "rb", "f", "rf"])
@pytest.mark.parametrize("quotes", QUOTES)
def test_what_is_written_into_a_literal_is_what_is_read(prefix: str, quotes: str) -> None:
    kind = LiteralKind("r" in prefix, "b" in prefix, "f" in prefix, quotes)
    written_somewhere = False
    for inserted in (*CHARACTERS, "a{b}", "\\n", "it's", 'say "x"', '"""', "'''", "\\"):
        new = encoder(kind)(inserted)
        if new is None:
            continue
        written_somewhere = True
        text = text_of(f"{prefix}{quotes}a{new}b{quotes}")
        assert text is not None
        assert text.data == f"a{inserted}b".encode()
    assert written_somewhere


def test_an_unknown_escape_keeps_its_backslash() -> None:
    assert value(r'"\d \% \$"') == r"\d \% \$"


def test_a_continued_line_is_no_text() -> None:
    assert value('"ab\\\ncd" \\\n "ef"') == "abcdef"


def test_interpolated_expressions_are_holes() -> None:
    assert value('f"add.{t} {{$0}}, {x + 1}, {t};"') == "add._hole0 {$0}, _hole1, _hole0;"


def test_a_format_is_part_of_the_hole() -> None:
    assert value('f"mov {x:#x}, {x!r:>{w}}, {y=};"') == "mov _hole0, _hole1, _hole2;"


def test_nothing_stands_for_statements() -> None:
    assert value('f"{a}\\nadd.u32;{b}"') == "\nadd.u32;"


def test_names_bound_once_are_known() -> None:
    assert value('f"{OP}.u32 {N};"', 'OP = "add"\nN = 4\n') == "add.u32 4;"


def test_names_bound_twice_are_not() -> None:
    assert value('f"x{OP}.u32;"', 'OP = "add"\nif a:\n    OP = "sub"\n') == "x_hole0.u32;"


def test_sums() -> None:
    assert value('("a;" "b;" + c + "d" + "e")') == "a;b;de"


def test_a_sum_of_many_terms() -> None:
    assert value(" + ".join(['"x"'] * 2_000)) == "x" * 2_000


def test_percent_formats() -> None:
    before = 'OP = "add"\n'
    assert value('"%s.u32 %%r, %d; %(n)s" % (OP, 4)', before) == "add.u32 %r, 4; "


def test_the_method_format() -> None:
    before = 'OP = "add"\n'
    assert value('"{}.u32 {{{1}}}, {x}, {y:02d};".format(OP, b, x=3)', before) == (
        "add.u32 {}, 3, _hole1;"
    )


def test_a_named_template_is_read_where_it_is_written() -> None:
    before = 'T = "{{ {op}.u32; }}"\n'
    text = text_of('T.format(op="add")', before)
    assert text is not None
    assert text.data == b"{ add.u32; }"
    assert text.host_offset(0) == before.index("{{")


def test_functions_that_leave_the_text() -> None:
    assert value('textwrap.dedent("""a\n  b""").strip().encode()') == "a\n  b"


def test_joined_lists() -> None:
    assert value('"\\n".join(["a;", "b;", x])') == "a;\nb;\n"


def test_statements_of_a_loop_are_read_once() -> None:
    text = text_of('"a;\\n" + "".join(f"b{k};" for k in range(3)) + "c;"')
    assert text is not None
    assert text.data == b"a;\nb_hole0;c;"
    assert [hole.end - hole.start for hole in text.holes] == [0, 6]


def test_operands_of_a_loop_are_a_hole() -> None:
    assert value('"f " + ", ".join(f"${i}" for i in x) + ";"') == "f _hole0;"


def test_added_text() -> None:
    assert value("a", 'a = "x;"\na += "y;"\n') == "x;y;"


def test_added_text_of_a_branch_is_uncertain() -> None:
    before = 'a = "x;"\nif c:\n    a += "y;"\nelse:\n    a += "z;"\na += "w;"\n'
    text = text_of("a", before)
    assert text is not None
    assert text.data == b"x;y;w;"
    assert text.holes


def test_an_assignment_replaces_the_value_before() -> None:
    assert value("a", 'a = "x"\na = "y"\n') == "y"


def test_other_expressions_have_no_text() -> None:
    assert value("f(x)") is None


def test_names_that_refer_to_each_other_end() -> None:
    before = 'def f():\n    global a, b\n    a = f"{b}{b};"\n    b = f"{a}{a};"\n'
    assert value('f"{a}{b}"', before) is not None


@pytest.mark.parametrize("seed", seeds(12, 50))
def test_broken_source_is_read_without_an_exception(seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray(
        b'x = f"a{b!r:>{w}}" \'c\' """d\n""" % (e, f) + "".join([g]) + "{}".format(h)\n' * 3
    )
    for _ in range(6):
        place = rng.randrange(len(data))
        data[place : place + rng.randrange(3)] = bytes(
            rng.choices(b"'\"{}\\()\n%", k=rng.randrange(3))
        )
    tree = parser("tree_sitter_python").parse(bytes(data))
    strings = PythonStrings(bytes(data))
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        stack += node.children
        for one in strings.alternatives(node):
            text = strings.text(one.parts)
            if text is not None:
                check_map(text, bytes(data))


def test_backquotes_are_no_string() -> None:
    """The grammar takes them for one."""
    assert not read('"""asm"""``.', ".py").blocks
