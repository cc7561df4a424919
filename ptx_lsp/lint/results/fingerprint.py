"""Fingerprints: stable across moved lines and renumbered registers."""

from __future__ import annotations

import sys

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.results.report import Reported

_NUMBERED = lazy_pattern(r"(%[A-Za-z_]+|\$L_+[A-Za-z_]*?)[\d_]+")
_COMMENT = lazy_pattern(r"//.*|/\*.*?(?:\*/|$)")


def add_fingerprints(found: list[Reported]) -> None:
    """Gives each finding of one file a fingerprint of 16 hexadecimal digits.

    It hashes the rule, the function, and the text of the line without blanks, comments and the numbers of
    registers and labels. It also includes the number of earlier findings with the same values.
    """
    if not found:
        return
    counts: dict[str, int] = {}
    for index, one in enumerate(found):
        line = _NUMBERED.sub(r"\1", _COMMENT.sub("", one.mark.excerpt.text))
        key = "\0".join((one.rule, one.function, "".join(line.split())))
        counts[key] = counts.get(key, 0) + 1
        digest = _sha256(f"{key}\0{counts[key]}".encode())
        found[index] = one._replace(fingerprint=digest[:16])


def _sha256(data: bytes) -> str:
    """The digest, by the module that Python itself has for this: `hashlib` loads OpenSSL, which takes longer
    than checking a small file.
    """
    from importlib import import_module

    try:
        module = import_module("_sha2" if sys.version_info >= (3, 12) else "_sha256")
    except ImportError:  # some builds leave it out
        module = import_module("hashlib")
    digest: str = module.sha256(data).hexdigest()
    return digest
