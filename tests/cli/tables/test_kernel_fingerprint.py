"""The fingerprints of kernels in tables: copies of a kernel have the same."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.cli.conftest import Lint
from tests.cli.tables.test_parquet import of_kind, rows

TEXT: Final = (
    ".entry copy(.param .u64 copy_param_0)\n{\n\t.reg .b64 %rd<3>;\n\t.reg .pred %p;\n"
    "\tld.param.u64 %rd1, [copy_param_0];\n\tsetp.eq.u64 %p, %rd1, 0;\n\t@%p bra $L__BB0_2;\n"
    "\tst.u64 [%rd1], %rd1;\n$L__BB0_2:\n\tret;\n}\n"
)


def fingerprint(lint: Lint, folder: Path, text: str) -> object:
    path = folder / "k.ptx"
    path.write_text('.version 8.0\n.target sm_80\n.address_size 64\n.file 1 "k.cu"\n' + text)
    lint("--format", f"parquet={folder / 't'}", path)
    return of_kind("kernel", rows(folder / "t"))[0]["fingerprint"]


def test_copies(lint: Lint, tmp_path: Path) -> None:
    first = fingerprint(lint, tmp_path, TEXT)
    for old, new in (
        ("copy", "other"),
        ("BB0_", "BB17_"),
        ("\tst.u64", "\t.loc 1 3 4\n\t// a comment\n  /* one */ st.u64"),
        ("\tst.u64", "\t.loc 1 3 4, function_name copy, inlined_at 1 2 3\n$L__tmp7:\n st.u64"),
    ):
        assert fingerprint(lint, tmp_path, TEXT.replace(old, new)) == first


def test_others(lint: Lint, tmp_path: Path) -> None:
    found = {fingerprint(lint, tmp_path, TEXT)}
    for old, new in (
        ("st.u64", "st.u64.volatile"),
        ("\n{", "\n.maxntid 32\n{"),
        ("$L__BB0_2:\n\tret", "\tret; $L__BB0_2: ret"),
        ("[%rd1], %rd1", "[%rd1], %rd2"),
    ):
        found.add(fingerprint(lint, tmp_path, TEXT.replace(old, new)))
    assert len(found) == 5
