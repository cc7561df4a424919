"""`make test-fast` chooses the tests that concern a change."""

from __future__ import annotations

from tests.fast import LAYERS, relevant

TESTS = {
    LAYERS: "",
    "tests/analyses/test_cfg.py": "from ptx_lsp.analyses.control_flow.cfg import cfg",
    "tests/analyses/test_liveness.py":
        "import ptx_lsp.analyses.control_flow.cfg\nfrom ptx_lsp.analyses.dataflow.liveness import liveness",
    "tests/executor/conformance/test_conformance.py": "",
    "tests/ide/test_hover.py": "from ptx_lsp.ide.hover.hover import hover",
    "tests/ide/test_hover_word.py": "from ptx_lsp.ide.hover.word import word",
    "tests/lint/test_markdown.py": "",
    "tests/server/test_capabilities.py": 'ROOT / "docs" / "features.md"',
}


def test_a_module_runs_the_tests_that_name_it_before_those_of_its_package() -> None:
    assert relevant(["ptx_lsp/analyses/dataflow/liveness.py"], TESTS) == [
        LAYERS, "tests/analyses/test_liveness.py", "tests/analyses/test_cfg.py"
    ]
    assert relevant(["ptx_lsp/analyses/control_flow/cfg.py"], TESTS) == [
        LAYERS, "tests/analyses/test_cfg.py", "tests/analyses/test_liveness.py"
    ]
    assert relevant(["ptx_lsp/ide/hover/hover.py"], TESTS)[1] == "tests/ide/test_hover.py"


def test_a_file_that_no_test_names_runs_the_tests_of_its_package() -> None:
    for file in ("ptx_lsp/lint/rules/dead_write.py", "tests/lint/values.md"):
        assert relevant([file], TESTS) == [LAYERS, "tests/lint/test_markdown.py"]


def test_another_file_runs_the_tests_that_contain_its_name() -> None:
    assert relevant(["docs/features.md"], TESTS) == [LAYERS, "tests/server/test_capabilities.py"]
    assert relevant(["docs/other-features.md"], TESTS) == [LAYERS]


def test_data_runs_the_tests_named_after_its_folder() -> None:
    found = relevant(["tests/conformance/integer.txt"], TESTS)
    assert found == [LAYERS, "tests/executor/conformance/test_conformance.py"]


def test_a_changed_test_runs_itself_first() -> None:
    assert relevant(["tests/ide/test_hover_word.py"], TESTS)[:2] == [LAYERS, "tests/ide/test_hover_word.py"]
