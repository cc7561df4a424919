"""The configuration of `ptx-lint` and the server."""

from __future__ import annotations

from pathlib import Path, PurePath

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings, strategies

from ptx_lsp.lint.configuration.config import (
    DEFAULT,
    KEYS,
    Config,
    ConfigError,
    effective,
    find,
    is_excluded,
    nearest,
    parse,
    read,
    schema,
)
from ptx_lsp.lint.configuration.patterns import matches
from ptx_lsp.lint.configuration.selection import OUTSIDE, Choice, UnknownRuleError
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.registry import all_rules, default_rules
from ptx_lsp.text import Span


def config(text: str, folder: Path = Path("/project")) -> Config:
    import tomllib

    return parse(tomllib.loads(text), "ptx-lint.toml", folder)


def names(found: Config, path: str | None = "/project/a.ptx", *above: Choice) -> set[str]:
    return set(effective(found, path, *above).names) - set(OUTSIDE)


class TestWhere:
    def test_nearest_counts_alone(self, tmp_path: Path) -> None:
        inner = tmp_path / "a" / "b"
        inner.mkdir(parents=True)
        (tmp_path / "pyproject.toml").write_text('[tool.ptx-lint]\nselect = ["E101"]\n')
        (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
        assert find(inner) == tmp_path / "pyproject.toml"
        assert nearest(inner).rules.select == ("E101",)
        (tmp_path / "a" / "ptx-lint.toml").write_text("threads = 64\n")
        assert nearest(inner) == Config(
            tmp_path / "a" / "ptx-lint.toml", str(tmp_path / "a"), threads=(64, 1, 1)
        )

    def test_own_file_before_the_shared_one(self, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").write_text("[tool.ptx-lint]\nthreads = 32\n")
        (tmp_path / "ptx-lint.toml").write_text("threads = 64\n")
        assert nearest(tmp_path).threads == (64, 1, 1)

    def test_named_one_must_speak_of_it(self, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").write_text("")
        with pytest.raises(ConfigError, match=r"has no `\[tool.ptx-lint\]`"):
            read(tmp_path / "pyproject.toml")
        with pytest.raises(ConfigError, match="cannot be read: No such file"):
            read(tmp_path / "absent.toml")

    def test_no_toml(self, tmp_path: Path) -> None:
        (tmp_path / "ptx-lint.toml").write_text("select = @\n")
        with pytest.raises(ConfigError, match=r"ptx-lint.toml` is not valid TOML: .*line"):
            nearest(tmp_path)


    def test_nested_too_deeply(self, tmp_path: Path) -> None:
        (tmp_path / "ptx-lint.toml").write_text(f"select = {'[' * 5000}{']' * 5000}\n")
        with pytest.raises(ConfigError, match="nested too deeply"):
            nearest(tmp_path)

    def test_byte_order_mark(self, tmp_path: Path) -> None:
        (tmp_path / "ptx-lint.toml").write_bytes(b"\xef\xbb\xbfthreads = 64\r\n")
        assert nearest(tmp_path).threads == (64, 1, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("selct = []", "unknown key `selct`; did you mean `select`?"),
        ("verbose = true", "unknown key `verbose`; expected `select`,"),
        ('select = "E"', '`select` must be a list, not the text "E"'),
        ("select = [1]", r"`select\[1\]` must be a string, not the number 1"),
        ('ignore = ["undeclared-nme"]', "did you mean `undeclared-name`?"),
        ('ignore = ["Z"]', "unknown rule or code `Z`; `ptx-lint --rules` lists them"),
        ('target = "sm_91"', "`target`: unknown target `sm_91`; did you mean `sm_90`?"),
        ('target = "sm_90"\ntargets = ["sm_80"]', "`target` and `targets` cannot be combined"),
        ("threads = 2048", "`threads` must be a number from 1 to 1024, or sizes such as .*, not the"),
        ("threads = true", "`threads` must be a number from 1 to 1024, or sizes such as .*, not `true`"),
        ('threads = "64x32"', "`threads` must be a number from 1 to 1024, or sizes such as .*, not the text"),
        ('threads = "8x8x8x1"', "`threads` must be a number from 1 to 1024, or sizes"),
        ('threads = "8x"', "`threads` must be a number from 1 to 1024, or sizes"),
        ('ptxas = "yes"', '`ptxas` must be true or false, not the text "yes"'),
        ('fail-on = "warn"', "must be one of `error`, `warning` and `info`, not `warn`"),
        ('severity = ["E"]', "`severity` must be a table, not a list"),
        ('[severity]\nE1 = "fatal"', "`severity.E1` must be one of `error`,"),
        ('[severity]\nbogus = "info"', "`severity`: unknown rule or code `bogus`"),
        ('[files."*"]\nthreads = 1', r"unknown key `threads` in `files\.\*`"),
        ('[files]\n"*" = 1', r"`files\.\*` must be a table, not the number 1"),
        ('exclude = [""]', "a pattern cannot be empty"),
        ('baseline = ""', "`baseline` must be a path, not empty"),
        ('cache-dir = "a\\u0000"', "`cache-dir` must be a path, without NUL characters"),
    ],
)
def test_what_is_wrong_is_told(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=f"^`ptx-lint.toml`: .*{said.replace('?', '[?]')}"):
        config(text)


class TestRules:
    def test_without_anything_hints_do_not_run(self) -> None:
        assert names(DEFAULT, None) == {rule.name for rule in default_rules()}

    def test_layers(self) -> None:
        found = config(
            'select = ["E101", "W2"]\nignore = ["unused-register"]\nextend-select = ["missing-uni"]\n'
            '[files."gen/**"]\nignore = ["W2"]\nextend-select = ["E102"]\n'
            '[files."gen/own.ptx"]\nselect = ["E103"]\n'
        )
        everywhere = names(found)
        assert {"undeclared-name", "dead-write", "missing-uni"} <= everywhere
        assert "unused-register" not in everywhere
        assert names(found, "/project/gen/deep/a.ptx") == {
            "undeclared-name", "duplicate-name", "missing-uni",
        }
        own = names(found, "/project/gen/own.ptx")
        assert {rule.code for rule in all_rules() if rule.name in own} == {"E103"}
        line = Choice(extend_select=("S460",), ignore=("E103",))
        above = names(found, "/project/gen/own.ptx", line)
        assert {rule.code for rule in all_rules() if rule.name in above} == {"S460"}

    def test_short_forms(self) -> None:
        found = config('select = ["ALL"]\n[per-file-ignores]\n"gen/**" = ["ALL"]\n"b.ptx" = ["W", "E"]\n')
        assert names(found) == {rule.name for rule in all_rules()}
        assert names(found, "/project/gen/a.ptx") == set()
        own = names(found, "/project/b.ptx")
        assert {rule.code[0] for rule in all_rules() if rule.name in own} == {"P", "S"}

    def test_what_the_command_line_names_must_exist(self) -> None:
        with pytest.raises(UnknownRuleError):
            effective(DEFAULT, None, Choice(select=("",)))

    def test_severity(self) -> None:
        found = config(
            '[severity]\nE = "warning"\nundeclared-name = "info"\n'
            '[files."b.ptx".severity]\nE101 = "hint"\n'
        )
        told = Diagnostic("undeclared-name", "E101", "error", "", Span(0, 0))
        other = Diagnostic("duplicate-name", "E102", "error", "", Span(0, 0))
        judged = list(effective(found, "/project/a.ptx").judged([told, other]))
        assert [one.severity for one in judged] == ["info", "warning"]
        assert next(effective(found, "/project/b.ptx").judged([told])).severity == "hint"
        assert not list(effective(DEFAULT, None, Choice(ignore=("E101",))).judged([told]))

    def test_excluded(self) -> None:
        found = config('exclude = ["build", "*.gen.ptx", "/old/*.ptx"]')
        paths = ["build/x/a.ptx", "src/build/a.ptx", "a.gen.ptx", "s/a.gen.ptx", "old/a.ptx"]
        assert all(is_excluded(found, f"/project/{path}") for path in paths)
        others = ["rebuild/a.ptx", "a.ptx", "x/old/a.ptx", "old/x/a.ptx"]
        assert not any(is_excluded(found, f"/project/{path}") for path in others)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.ptx", "a/b/c.ptx", True),
        ("a/*.ptx", "a/b/c.ptx", False),
        ("a/**/c.ptx", "a/c.ptx", True),
        ("a/**/c.ptx", "a/x/y/c.ptx", True),
        ("a/**", "a/x/y", True),
        ("a/", "b/a/x", True),
        ("k?.ptx", "k1.ptx", True),
        ("k[0-4].ptx", "k5.ptx", False),
        ("k[!0-4].ptx", "k5.ptx", True),
        ("a.b", "axb", False),
        ("[", "[", True),
        ("[z-a].ptx", "m.ptx", False),
        ("[!z-a].ptx", "m.ptx", True),
        ("[!]", "m", True),
        ("[]", "m", False),
        ("a[!b]c", "a/c", False),
        ("[^a]", "^", True),
        ("[a&&~~b]", "&", True),
    ],
)
def test_patterns(pattern: str, path: str, fits: bool) -> None:
    assert matches(pattern, PurePath(path)) == fits


def test_schema() -> None:
    told = schema()
    jsonschema.Draft7Validator.check_schema(told)
    good: dict[str, object] = {"select": ["E"], "files": {"*": {"severity": {"E": "info"}}}, "threads": 32}
    jsonschema.validate(good, told)
    refused: list[dict[str, object]] = [
        {"selct": []}, {"threads": 0}, {"files": {"*": {"threads": 1}}}, {"select": "E"},
    ]
    for wrong in refused:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, told)
        with pytest.raises(ConfigError):
            parse(wrong, "here", Path())
    assert told["properties"] != {}
    assert all(summary.endswith(".") for _, summary in KEYS.values())


_VALUES = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats()
    | strategies.sampled_from(["", "E1", "error", "sm_90", "*.ptx", "registers <= 1", "undeclared-name"])
    | strategies.text("ab*[", max_size=5),
    lambda inner: strategies.lists(inner, max_size=3)
    | strategies.dictionaries(strategies.sampled_from(["*", "select", "E1", "severity"]), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.dictionaries(strategies.sampled_from([*KEYS, "selct", ""]), _VALUES, max_size=4))
def test_any_table_is_read_or_refused(given: dict[str, object]) -> None:
    """What the schema refuses is refused, and nothing else goes wrong."""
    try:
        found = parse(given, "here", Path("/project"))
    except ConfigError:
        return
    jsonschema.validate(given, schema())
    effective(found, "/project/a.ptx")
