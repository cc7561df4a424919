"""The rules on `wgmma` and `setmaxnreg` say what ptxas says of generated kernels; see `wgmma.py`."""

from __future__ import annotations

from tests.oracle.wgmma import FAMILIES, ONLY_HERE, compare, recorded

_PIPELINE = ("registers in flight", "serialised")


def test_what_ptxas_says_of_setmaxnreg_is_found_and_nothing_else() -> None:
    found = [one for one in compare(recorded()) if one.family not in _PIPELINE]
    assert {one.family for one in found if one.says_ptxas} == FAMILIES.keys() - set(_PIPELINE)
    different = [one for one in found if one.says_ptxas != one.says_linter]
    assert not different, different[0]


def test_what_ptxas_says_of_wgmma_is_found_and_else_only_what_ptx_forbids() -> None:
    noted: dict[str, str] = {}
    told: dict[str, str] = {}
    for one in compare(recorded()):
        if one.family in _PIPELINE:
            kernel = one.verdict.kernel
            if one.says_ptxas:
                noted[kernel.text] = kernel.planted
            if one.says_linter:
                told[kernel.text] = kernel.planted
    missed = noted.keys() - told.keys()
    assert len(missed) <= 0.04 * len(noted), next(iter(missed))
    assert {told[text] for text in told.keys() - noted.keys()} <= ONLY_HERE
    every = {"read early", "no wait", "wrong wait", "fence outside", "guarded", "indirect call"}
    assert every <= set(noted.values())
