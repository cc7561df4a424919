"""Tables of `info cuda`, as in cuda-gdb."""

from __future__ import annotations

from itertools import groupby

from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.coordinates import NAMES, coordinates, matches, thread_at
from ptx_lsp.debug.console.source import arguments, index_text, kernel_of, spot_of
from ptx_lsp.debug.console.tables import spans, table
from ptx_lsp.debug.groups import Group, row_of
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.problems import finding_of
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, index


@command("info cuda kernels")
def kernels(console: Console, text: str) -> None:
    """The kernel that is being debugged, with its launch."""
    shape = console.debuggee.stopped.launch.shape
    reason = console.debuggee.stopped.stop.reason
    status = {"start": "Pending", "end": "Terminated"}.get(reason, "Active")
    given = ", ".join(f"{name}={value}" for name, value in arguments(console))
    rows = [
        ("", "Kernel", "Parent", "Grid", "Status", "GridDim", "BlockDim", "Name", "Args"),
        (
            "*", "0", "-", "1", status, index_text(shape.grid), index_text(shape.block),
            kernel_of(console).name, given,
        ),
    ]
    console.say(*table(rows, "<>>>^^^<<"))


@command("info cuda blocks", candidates=lambda console: NAMES)
def blocks(console: Console, text: str) -> None:
    """The blocks that are running. Others have not begun, or have ended.
    Usage: info cuda blocks [block N]
    """
    view, given = console.view, coordinates(text)
    grid = view.launch.shape.grid
    given = _only(given, "block")
    running = sorted({one.block for one in view.groups.values() if matches(console, one.first, given)})
    rows: list[tuple[str, ...]] = [("", "BlockIdx", "To BlockIdx", "Count", "State")]
    for first, last in _runs(running):
        here = "*" if first <= console.debuggee.focus.block <= last else ""
        ends = index_text(index(first, grid)), index_text(index(last, grid))
        rows.append((here, *ends, str(last - first + 1), "running"))
    console.say("Kernel 0", *(table(rows, "<>>><") if running else ["No CUDA blocks."]))


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """The first and last of each run of numbers."""
    found: list[tuple[int, int]] = []
    for _, some in groupby(enumerate(numbers), key=lambda one: one[1] - one[0]):
        run = [number for _, number in some]
        found.append((run[0], run[-1]))
    return found


@command("info cuda warps", candidates=lambda console: NAMES)
def warps(console: Console, text: str) -> None:
    """The warps of the block in focus: the lanes that are where its first ones stand, and those elsewhere.
    Usage: info cuda warps [block N] [warp N]
    """
    view, given = console.view, coordinates(text)
    shape, focus = view.launch.shape, console.debuggee.focus
    if "block" not in given:
        given["block"] = index(focus.block, shape.grid)
    by_warp: dict[tuple[int, int], list[Group]] = {}
    for one in view.groups.values():
        if matches(console, one.first, _only(given, "block", "warp")):
            by_warp.setdefault((one.block, one.warp), []).append(one)
    rows: list[tuple[str, ...]] = [(
        "", "Wp", "Active Lanes Mask", "Divergent Lanes Mask", "Line", "Kernel", "BlockIdx",
        "First Active ThreadIdx",
    )]
    for (block, warp), groups in sorted(by_warp.items()):
        is_here = (block, warp) == (focus.block, focus.thread // WARP_SIZE)
        groups.sort(key=lambda one: (not (is_here and focus.thread % WARP_SIZE in one.lanes), one.lanes))
        first, *others = groups
        rest = sum(1 << lane for one in others for lane in one.lanes)
        rows.append((
            "*" if is_here else "", str(warp), _mask(first), f"{rest:#010x}", str(first.step.line), "0",
            index_text(index(block, shape.grid)), index_text(index(first.first.thread, shape.block)),
        ))
    console.say(*(table(rows, "<>>>>>>>") if by_warp else ["No CUDA warps."]))


def _mask(group: Group) -> str:
    return f"{sum(1 << lane for lane in group.lanes):#010x}"


@command("info cuda lanes", candidates=lambda console: NAMES)
def lanes(console: Console, text: str) -> None:
    """The lanes of the warp in focus: active with the thread in focus, divergent, or exited.
    Usage: info cuda lanes [lane N]
    """
    here, given = console.group, coordinates(text)
    shape, focus = console.view.launch.shape, console.debuggee.focus
    problem = console.view.stop.problem
    concerned = {} if problem is None else {
        (one.block, one.thread): finding_of(problem).kind for one in finding_of(problem).lanes
    }
    by_lane = {lane: one for one in console.masks for lane in one.lanes}
    rows: list[tuple[str, ...]] = [("", "Ln", "State", "Line", "ThreadIdx", "Exception")]
    for lane in range(min(WARP_SIZE, shape.threads - here.warp * WARP_SIZE)):
        thread = Lane(here.block, here.warp * WARP_SIZE + lane)
        if not matches(console, thread, _only(given, "lane", "thread")):
            continue
        group = by_lane.get(lane)
        state = "exited" if group is None else "active" if lane in here.lanes else "divergent"
        at = index(thread.thread, shape.block)
        rows.append((
            "*" if thread == focus else "", str(lane), state, "-" if group is None else str(group.step.line),
            index_text(at), concerned.get((index(thread.block, shape.grid), at), "None"),
        ))
    console.say(f"Block {index_text(index(here.block, shape.grid))} Warp {here.warp}", *table(rows, "<>^>>^"))


@command("info cuda threads", candidates=lambda console: NAMES)
def threads(console: Console, text: str) -> None:
    """The threads that are running, those at one line together.
    Usage: info cuda threads [block N] [thread N] [warp N] [lane N]
    """
    view, given = console.view, coordinates(text)
    shape, focus = view.launch.shape, console.debuggee.focus
    places: dict[int, int] = {}
    groups: dict[int, Group] = {}
    threads_of_block = shape.threads
    for group in view.groups.values():
        for lane in group.lanes:
            thread = Lane(group.block, group.warp * WARP_SIZE + lane)
            if matches(console, thread, given):
                flat = thread.block * threads_of_block + thread.thread
                places[flat], groups[flat] = group.step.line, group
    rows: list[tuple[str, ...]] = [
        ("", "BlockIdx", "ThreadIdx", "To BlockIdx", "ThreadIdx", "Count", "Filename", "Line")
    ]
    runs = [
        run for _, some in groupby(
            enumerate(sorted(places)), key=lambda one: (one[1] - one[0], places[one[1]])
        ) if (run := [flat for _, flat in some])
    ]
    for run in runs:
        first, last = (divmod(one, threads_of_block) for one in (run[0], run[-1]))
        spot = spot_of(console, view.frame(groups[run[0]]))
        here = focus.block * threads_of_block + focus.thread
        rows.append((
            "*" if run[0] <= here <= run[-1] else "",
            index_text(index(first[0], shape.grid)), index_text(index(first[1], shape.block)),
            index_text(index(last[0], shape.grid)), index_text(index(last[1], shape.block)),
            str(len(run)), spot.file, str(spot.line),
        ))
    console.say("Kernel 0", *(table(rows, "<>>>>><>") if runs else ["No CUDA threads."]))


@command("info cuda barriers", candidates=lambda console: NAMES)
def barriers(console: Console, text: str) -> None:
    """The lanes of the warp in focus: which are ready, which wait and for what, which have exited.
    Usage: info cuda barriers [warp N] [block N]
    """
    view = console.view
    lane = thread_of(console, text)
    shape = view.launch.shape
    warp = lane.thread // WARP_SIZE
    found = sorted(
        (one for one in view.groups.values() if (one.block, one.warp) == (lane.block, warp)),
        key=lambda one: one.lanes,
    )
    focused = view.group_of(console.debuggee.focus)
    if focused is not None and focused in found and focused.waits:
        console.say(f"Focus is blocked {focused.waits}.")
    rows: list[tuple[str, ...]] = [("Ln(s)", "Thread State", "Active", "Exited", "Line", "Waits")]
    for one in found:
        is_active = "yes" if focused is not None and one.number == focused.number else "no"
        rows.append((
            f"({spans(one.lanes)})", "Blocked" if one.waits else "Ready", is_active, "no", str(one.step.line),
            one.waits or "none",
        ))
    count = min(WARP_SIZE, shape.threads - warp * WARP_SIZE)
    gone = [at for at in range(count) if not any(at in one.lanes for one in found)]
    if gone:
        has_begun = any(row_of(one.wave, lane.block) is not None for one in view.groups.values())
        state = ("Exited", "no", "yes") if has_begun else ("Not begun", "no", "no")
        rows.append((f"({spans(gone)})", *state, "-", "none"))
    console.say(f"Block {index_text(index(lane.block, shape.grid))} Wp {warp}", *table(rows, "<<<<><"))


@command("info cuda divergence", candidates=lambda console: NAMES)
def divergence(console: Console, text: str) -> None:
    """The groups of lanes of the warp in focus, with the reconvergence points where each meets others.
    Usage: info cuda divergence [warp N] [block N]
    """
    lane, view = thread_of(console, text), console.view
    warp = lane.thread // WARP_SIZE
    found = [one for one in view.groups.values() if (one.block, one.warp) == (lane.block, warp)]
    rows: list[tuple[str, ...]] = [("", "Lanes", "Line", "Reconvergence", "With Lanes")]
    for one in sorted(found, key=lambda one: one.lanes):
        here = "*" if console.debuggee.focus in one else ""
        points = [(f"line {point.frame.line}", one.mask_of(point.lanes)) for point in view.reconvergence(one)]
        first, *more = points or [("none", "")]
        rows.append((here, one.mask, str(one.step.line), *first))
        rows += [("", "", "", *point) for point in more]
    block = index_text(index(lane.block, view.launch.shape.grid))
    console.say(f"Block {block} Wp {warp}", *table(rows, "<<><<"))


def _only(given: dict[str, tuple[int, ...]], *names: str) -> dict[str, tuple[int, ...]]:
    return {name: at for name, at in given.items() if name in names}


def thread_of(console: Console, text: str) -> Lane:
    """The thread that coordinates name, or that is in focus."""
    given = coordinates(text)
    if given and "lane" not in given and "thread" not in given:
        given["lane"] = (0,)
    return thread_at(console, given)
