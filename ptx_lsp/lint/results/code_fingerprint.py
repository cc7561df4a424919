"""Fingerprints of kernels: equal in copies of a kernel, in any file."""

from __future__ import annotations

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.model.function import Function

_LOCATION = (
    rb"\.loc\s+\d+\s+\d+(?:\s+\d+)?"
    rb"(?:\s*,\s*function_name\s+[\w$]+(?:\s*\+\s*\d+)?\s*,\s*inlined_at\s+\d+\s+\d+\s+\d+)?"
)
_IRRELEVANT = lazy_pattern(
    rb"//[^\n]*|/\*.*?(?:\*/|$)|" + _LOCATION + rb"|\$L__(?:tmp|func_begin|func_end)\d+:"
    rb"|(?<=\$L__BB)\d+(?=_)",
    16,  # re.DOTALL
)
"""Comments, `.loc`, labels of debug information, and the number of the function in labels."""


def code_fingerprint(function: Function) -> str:
    """16 hexadecimal digits that depend on the parameters, directives and body of a function.

    Its name, comments, blanks, `.loc` and the number that compilers give the function in labels do not
    matter. The functions that it calls count by name only.
    """
    import hashlib  # it loads OpenSSL

    module, item = function.module, function.item
    after_name = module.span(function.symbol.place).end
    text = module.document.source.data[after_name : item.end]
    text = text.replace(f"{function.name}_param_".encode(errors="surrogateescape"), b"_param_")
    text = b"".join(_IRRELEVANT.sub(b"", text).split())
    return hashlib.sha256(text).hexdigest()[:16]
