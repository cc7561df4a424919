"""`--cfg`: control flow graphs in DOT and as pictures, and where boxes and edges are put."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ptx_lsp.ide.panels import layered_layout as drawing
from ptx_lsp.ide.panels.layered_layout import Layout, TooLargeError, layered_layout
from tests.cli.conftest import HEADER, Lint
from tests.strength import seeds

SVG = "{http://www.w3.org/2000/svg}"
LOOP = f"""{HEADER}.visible .entry k()
{{
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, 0;
$again:
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p1, %r2, 9;
	@%p1 bra $again;
	setp.eq.u32 %p2, %r1, 0;
	@!%p2 bra $out;
	st.global.u32 [0], %r1;
$out:
	ret;
	trap;
}}
"""


@pytest.mark.parametrize("name", ["twice<int>", "twice<int>(int*)", "_Z5twiceIiEvPT_"])
def test_a_kernel_is_named_as_in_cuda(lint: Lint, tmp_path: Path, name: str) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(LOOP.replace("k()", "_Z5twiceIiEvPT_()") + ".visible .entry _Z5twiceIfEvPT_() { ret; }")
    done = lint("--cfg", name, path)
    assert (done.err, done.out.splitlines()[0]) == ("", 'digraph "_Z5twiceIiEvPT_" {')
    error = lint("--cfg", "twice", path).err
    assert "`twice` is ambiguous: `twice<int>(int*)` (`_Z5twiceIiEvPT_`), " in error


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "k.ptx"
    path.write_text(LOOP)
    return path


def test_dot(lint: Lint, file: Path) -> None:
    done = lint("--cfg", "k", file)
    assert (done.status, done.err) == (0, "")
    lines = [line.strip() for line in done.out.splitlines()]
    assert lines[0] == 'digraph "k" {'
    assert 'b0 [label="block 0, lines 8-9\\lmov.u32 %r1, %tid.x\\lmov.u32 %r2, 0\\l"];' in lines
    divergent = next(line for line in lines if "[divergent]" in line)
    text = "block 2, lines 14-15\\lsetp.eq.u32 %p2, %r1, 0\\l@!%p2 bra $out\\l"
    assert divergent.startswith(f'b2 [label="{text}')
    assert "filled" in divergent
    uniform = next(line for line in lines if line.startswith("b1 ["))
    assert "block 1 $again, lines 11-13" in uniform
    assert "style" not in uniform
    assert "unreachable" in next(line for line in lines if line.startswith("b5 ["))
    assert [line for line in lines if "->" in line] == [
        "b0 -> b1;",
        'b1 -> b2 [label="!%p1"];',
        'b1 -> b1 [label="%p1", color=blue];',
        'b2 -> b3 [label="%p2"];',
        'b2 -> b4 [label="!%p2", color=blue];',
        "b3 -> b4;",
        "b4 -> b6 [color=blue];",
        "b5 -> b6 [color=blue];",
    ]
    assert lines[-1] == "}"


def test_svg(lint: Lint, file: Path, tmp_path: Path) -> None:
    output = tmp_path / "k.svg"
    assert lint("--cfg", "k", "-o", output, file).out == ""
    assert lint("--cfg", "k", "--format", "svg", file).out == output.read_text()
    root = ElementTree.fromstring(output.read_text())
    assert root.tag == f"{SVG}svg"
    boxes = root.findall(f"{SVG}g")
    assert [box.get("class") for box in boxes] == [
        "none", "uniform", "divergent", "none", "none", "unreached", "none"
    ]
    texts = [text.text for text in boxes[2].findall(f"{SVG}text")]
    assert texts == ["block 2, lines 14-15", "setp.eq.u32 %p2, %r1, 0", "@!%p2 bra $out", "[divergent]"]
    ways = [path for path in root.findall(f"{SVG}path") if "head" not in path.get("class", "")]
    assert len(ways) == 8


def test_a_jump_to_anywhere(lint: Lint, file: Path) -> None:
    file.write_text(LOOP.replace("@!%p2 bra $out;", "brx.idx %r1, $list;"))
    out = lint("--cfg", "k", file).out
    assert out.count("style=dotted") == 2


def test_names_are_quoted(lint: Lint, file: Path) -> None:
    file.write_text(f'{HEADER}.entry k() {{ a"b: @%p\\q ret; }}\n')
    assert lint("--cfg", "k", file).status == 0
    ElementTree.fromstring(lint("--cfg", "k", "--format", "svg", file).out)


def test_functions_too(lint: Lint, file: Path) -> None:
    file.write_text(f"{HEADER}.func f() {{ ret; }}\n")
    assert lint("--cfg", "f", file).out.startswith('digraph "f"')


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cfg", "kk"], "no input defines `kk`; did you mean `k`?"),
        (["--cfg", "k", "--format", "json"], "--cfg supports the formats dot and svg, not json"),
        (["--format", "svg"], "--format svg requires --cfg"),
        (["--cfg", "k", "--target", "sm_1"], "unknown target `sm_1`"),
        (["--cfg", "k", "missing.ptx"], "missing.ptx: no such file"),
    ],
)
def test_wrong_usage(lint: Lint, file: Path, arguments: list[str], said: str) -> None:
    done = lint(*arguments, file)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_a_name_in_two_files(lint: Lint, file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.ptx"
    other.write_text(LOOP)
    done = lint("--cfg", "k", tmp_path)
    assert done.status == 2
    assert f"`k` is defined in {file} and {other}; pass only one" in done.err


def test_too_large_to_draw(lint: Lint, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MOST_PLACES", 3)
    with pytest.raises(TooLargeError):
        layered_layout([(10, 10)] * 4, [(0, 1), (1, 2), (2, 3), (0, 3)], range(4))
    done = lint("--cfg", "k", "--format", "svg", file)
    assert done.status == 2
    assert "too large to draw" in done.err
    assert lint("--cfg", "k", file).status == 0


@pytest.mark.parametrize("seed", seeds(8, 25))
def test_boxes_do_not_overlap_and_edges_meet_them(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(1, 30)
    sizes = [(chance.uniform(10, 200), chance.uniform(10, 90)) for _ in range(count)]
    edges = list({
        (chance.randrange(count), chance.randrange(count)) for _ in range(chance.randint(0, 50))
    })
    order = list(range(count))
    chance.shuffle(order)
    found = layered_layout(sizes, edges, order)
    _check(found, sizes, edges)


def _check(found: Layout, sizes: list[tuple[float, float]], edges: list[tuple[int, int]]) -> None:
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(found.boxes, sizes, strict=True)]
    for index, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and top >= 0 and right <= found.width and bottom <= found.height
        for other in boxes[:index]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    for (source, target), path in zip(edges, found.paths, strict=True):
        (x, y), (to_x, to_y) = path[0], path[-1]
        assert y == boxes[source][3] and boxes[source][0] < x < boxes[source][2]
        assert to_y == boxes[target][1] and boxes[target][0] < to_x < boxes[target][2]
        for (a, b), (c, d) in pairwise(path):
            assert a == c or b == d  # straight pieces
            for left, top, right, bottom in boxes:  # that cross no box
                apart = max(a, c) <= left or right <= min(a, c)
                assert apart or max(b, d) <= top or bottom <= min(b, d)
