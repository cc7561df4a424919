"""Kernels for the phases of mbarriers, what copies report to them, and operations on several at once."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.asynchronous.kernel import MEET, File, Kernel, looked, told

_LOCAL = "mbarrier.arrive.shared::cta.b64 %l0, [bar];"
_EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 %l2, [bar], 32;"
_TRUE, _FALSE = "setp.eq.u32 %p2, %box, %box;", "setp.ne.u32 %p2, %box, %box;"
"""What an instruction that does nothing would leave."""
_COPY = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"


def files() -> Iterator[File]:
    yield File(
        "async_phases", "phases and layouts of mbarriers", "9.3", "sm_90",
        [_phases(), *_layouts(), _drop(), _early()],
    )
    yield File(
        "async_reports", "what copies report to mbarriers; operations on those of several blocks", "9.4",
        "sm_107a", [*_reports(), *_several()],
    )


def _phases() -> Kernel:
    """Two arrivals; nothing is ever reported to an mbarrier of `.layout::v0`."""
    test = "mbarrier.test_wait.{}.shared::cta.b64 %p2|%p3{}, [bar], {};"
    attempt = "mbarrier.try_wait.{}.shared::cta.b64 %p2|%p3{}, [bar], {};"
    state, parity = "phase_type::primary.acquire.cta", "parity.phase_type::primary.relaxed.cluster"
    parts = ["mov.b32 %r1, 5;", _TRUE, "mbarrier.arrive.shared::cta.b64 %l1, [bar];",
             test.format(state, "", "%l1"), told(0, "%p2"), _LOCAL]
    places = iter(range(1, 20))
    for instruction in (
        test.format(state, "", "%l1"), test.format(state, ", %b1", "%l1"), test.format(parity, ", %b1", 0),
        attempt.format(state, ", %b1", "%l1"), attempt.format(parity, ", %b1", "0, 100"),
    ):
        parts += ["cvt.u8.u32 %b1, %r1;"] if "%b1" in instruction else []
        parts += [_FALSE, instruction, told(next(places), "%p2"), told(next(places), "%p3")]
        if "%b1" in instruction:
            parts.append(f"cvt.u32.u8 %r0, %b1;\nst.shared.u32 [box+{4 * next(places)}], %r0;")
    parts += [
        test.format(parity, "", 1), told(15, "%p2"), _FALSE,
        "mbarrier.test_wait.parity.phase_type::conditional.shared::cta.b64 %p2, [bar], 0;",
        told(16, "%p2"), _FALSE,
        "mbarrier.try_wait.parity.phase_type::conditional.acquire.cta.shared::cta.b64 %p2, [bar], 0;",
        told(17, "%p2"), _FALSE, attempt.format(parity, "", 0), told(18, "%p2"),
    ]
    return Kernel(
        "phases", "\n".join(parts), "one of two arrivals, then both; no report with .layout::v0",
        [9] * 19, [[0, 1, 0, *[1, 0, 0] * 4, 0, 1, 1, 1]], arrivals=2,
    )


def _layouts() -> Iterator[Kernel]:
    for at in range(2):
        body = "\n".join(
            f"{_FALSE if layout == at else _TRUE}\n"
            f"mbarrier.check_layout.layout::v{layout}.shared::cta.b64 %p2, [bar];\n{told(layout, '%p2')}"
            for layout in range(2)
        )
        yield Kernel(
            f"layout_{at}", body, "the layout that it was made with", [9] * 2, [[1 - at, at]], arrivals=511,
            layout=f".layout::v{at}",
        )


def _drop() -> Kernel:
    """The state that arrive_drop.expect_tx gives is that of the phase; the next one expects one less."""
    test = "mbarrier.test_wait.shared::cta.b64 %p2, [bar], %l1;\n"
    body = "\n".join((
        "mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64 %l1, [bar], 8;", test + told(0, "%p2"),
        _LOCAL, test + told(1, "%p2"), "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 8;",
        test + told(2, "%p2"), _LOCAL, looked(3, 1),
    ))
    return Kernel(
        "drop", body, "two arrivals and 8 bytes; then one arrival", [9] * 4, [[0, 0, 1, 1]], arrivals=2,
    )


def _early() -> Kernel:
    """Bytes that come before anybody expects them."""
    complete, expect = (
        f"mbarrier.{name}_tx.relaxed.cta.shared::cta.b64 [bar], {{}};" for name in ("complete", "expect")
    )
    body = "\n".join((
        complete.format(8), looked(0, 0), _LOCAL, looked(1, 0), expect.format(24), looked(2, 0),
        complete.format(16), looked(3, 0),
    ))
    return Kernel(
        "early", body, "an arrival and 24 bytes, 8 of which come first", [9] * 4, [[0, 0, 0, 1]], arrivals=1,
    )


def _reports() -> Iterator[Kernel]:
    """All elements of a chunk are the same, so it does not matter which one is looked at."""
    patterns = {
        "per_16bytes::80000000": 0x80000000, "per_16bytes::8000": 0x80008000, "per_16bytes::80": 0x80808080,
        "per_16bytes::8": 0x88888888,
    }
    for name, word in patterns.items():
        for good in (False, True):
            data = [1, 1, 1, 1] + [word ^ good] * 4
            yield _report(f"report_{name.rpartition(':')[2]}_{int(good)}", f"validity::{name}", data, good)
    yield _report("report_ff_0", "validity::per_element::ff", [0, 0, 0x00FF0000, 0, 0, 0, 0, 0], False)
    yield _report("report_ff_1", "validity::per_element::ff", [0x0FF00FF0] * 8, True)
    yield _report("report_disabled", "disabled", [0x80000000] * 8, True)


def _report(name: str, report: str, data: list[int], is_good: bool) -> Kernel:
    """Bytes come in phase 0 of an mbarrier whose conditional phase goes on only if they are good."""
    body = "\n".join((
        _EXPECT, f"{_COPY}.mbarrier::report::{report} [%box], [%src], 32, [%bar];",
        "again:", "mbarrier.try_wait.phase_type::primary.shared::cta.b64 %p2|%p3, [bar], %l2;",
        "@!%p2 bra again;", told(8, "%p3"),
        "mbarrier.test_wait.parity.phase_type::primary.shared::cta.b64 %p2|%p3, %b1, [bar], 0;",
        told(9, "%p2"), told(10, "%p3"), "cvt.u32.u8 %r0, %b1;\nst.shared.u32 [box+44], %r0;",
        "mbarrier.test_wait.parity.phase_type::conditional.shared::cta.b64 %p2, [bar], 0;", told(12, "%p2"),
    ))
    bad = int(not is_good)
    return Kernel(
        name, body, "the data come in any case; the report is a predicate, its value 0", [9] * 13,
        [[*data, bad, 1, bad, 0, 1 - bad]], given={"src": f"u32:[{','.join(map(hex, data))}]"}, arrivals=1,
        layout=".layout::v1",
    )


def _several() -> Iterator[Kernel]:
    """Block 0 (`%p1`) acts on the mbarriers of the blocks in a mask; all wait for three arrivals."""
    first = "setp.eq.u32 %p1, %rank, 0;"
    many = "shared::cluster.multicast::cluster::32b.b64"
    release = "release.cluster"

    def kernel(name: str, parts: list[str], why: str, chosen: list[int], others: list[int]) -> Kernel:
        after = [chosen if rank in (1, 3) else others for rank in range(4)]
        body = "\n".join((first, *parts))
        return Kernel(f"several_{name}", body, why, [9] * len(chosen), after, arrivals=3, cluster=4)

    for name, later in (("arrive", 0), ("arrive_drop", 1)):
        yield kernel(
            name,
            [f"@%p1 mbarrier.{name}.{release}.{many} _, [%bar], 2, 10;", MEET, _LOCAL, looked(0, 0),
             "@!%p0 bra over;", _LOCAL, looked(1, 1), "over:"],
            f"two more arrivals for blocks 1 and 3; their next phase waits for {3 - 2 * later}",
            [1, later], [0, 9],
        )
        yield kernel(
            f"{name}_expect",
            [f"@%p1 mbarrier.{name}.expect_tx.{release}.{many} _, [%bar], 16, 10;", MEET, _LOCAL, _LOCAL,
             looked(0, 0), "and.b32 %r1, %rank, 1;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra over;",
             "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;", looked(1, 0), _LOCAL, _LOCAL,
             looked(2, 1), "over:"],
            f"blocks 1 and 3 wait for 16 bytes and one arrival less, then for {3 - later} arrivals",
            [0, 1, later], [0, 9, 9],
        )
    yield kernel(
        "bytes",
        [f"@%p1 mbarrier.expect_tx.relaxed.cluster.{many} [%bar], 16, 10;", MEET, *[_LOCAL] * 3, looked(0, 0),
         MEET, f"@%p1 mbarrier.complete_tx.relaxed.cluster.{many} [%bar], 16, 10;", MEET, looked(1, 0)],
        "blocks 1 and 3 wait for 16 bytes", [0, 1], [1, 1],
    )
