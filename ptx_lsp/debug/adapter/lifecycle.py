"""Requests that begin and end a session."""

from __future__ import annotations

from ptx_lsp.debug.adapter.launch_arguments import program
from ptx_lsp.debug.adapter.messages import Arguments, Json, Object
from ptx_lsp.debug.adapter.session import Handler, Session
from ptx_lsp.debug.adapter.stops import set_again
from ptx_lsp.debug.goals import AtEvent
from ptx_lsp.debug.problems import FILTERS
from ptx_lsp.debug.request_error import RequestError

_MOST_ERRORS = 20


def initialize(session: Session, given: Arguments) -> Json:
    session.first_line = 0 if given.has("linesStartAt1") and not given.flag("linesStartAt1") else 1
    session.tells_invalidated = given.flag("supportsInvalidatedEvent")
    filters: list[Json] = [
        {"filter": name, "label": label, "default": True} for name, (label, _) in FILTERS.items()
    ]
    names = (
        "supportsConfigurationDoneRequest", "supportsFunctionBreakpoints", "supportsConditionalBreakpoints",
        "supportsHitConditionalBreakpoints", "supportsLogPoints", "supportsStepBack", "supportsSetVariable",
        "supportsRestartRequest", "supportsCompletionsRequest",
        "supportsValueFormattingOptions", "supportsExceptionInfoRequest", "supportsTerminateRequest",
        "supportsDataBreakpoints", "supportsDataBreakpointBytes",
        "supportsReadMemoryRequest", "supportsWriteMemoryRequest",
        "supportsDisassembleRequest", "supportsSteppingGranularity", "supportsInstructionBreakpoints",
        "supportsEvaluateForHovers", "supportsBreakpointLocationsRequest", "supportsSetExpression",
        "supportsLoadedSourcesRequest",
    )
    found: Object = dict.fromkeys(names, True)
    return {**found, "exceptionBreakpointFilters": filters, "completionTriggerCharacters": ["%", "["]}


def launch(session: Session, given: Arguments) -> Json:
    if session.recording is not None:
        raise RequestError("a kernel is launched already")
    _prepare(session, given)
    session.afterwards(lambda: session.channel.event("initialized"))
    return None


def _prepare(session: Session, given: Arguments) -> None:
    """Reads the program and prepares its launch, instead of the one that was. Raises RequestError, and then
    changes nothing.
    """
    made, ended = program(given), session.recording
    session.record(made)
    session.close(ended)
    session.launch_arguments = given
    session.stops_on_entry = given.flag("stopOnEntry")
    session.shows_source = given.text("show") == "source"
    session.breakpoints.is_off = given.flag("noDebug")
    session.references.clear()
    for line in made.syntax_errors()[:_MOST_ERRORS]:
        session.print(f"{made.path.name}:{line}: syntax error\n", "important")


def configuration_done(session: Session, given: Arguments) -> Json:
    _begin(session)
    return None


def _begin(session: Session) -> None:
    session.run(session.beginning(AtEvent(1, "entry") if session.stops_on_entry else session.breakpoints))


def restart(session: Session, given: Arguments) -> Json:
    """Reads the program again, which may have been edited."""
    before = session.loaded
    changed = given.inner("arguments")
    _prepare(session, changed if changed.has("program") else session.launch_arguments)
    if session.loaded.is_same(before):
        session.breakpoints.forget_after(0)
        session.loaded.opened.update(before.opened)
    else:
        set_again(session)
    _begin(session)
    return None


def disconnect(session: Session, given: Arguments) -> Json:
    session.is_over = True
    return None


def terminate(session: Session, given: Arguments) -> Json:
    session.end()
    session.view = None
    session.afterwards(lambda: session.channel.event("terminated"))
    return None


HANDLERS: dict[str, Handler] = {
    "initialize": initialize, "launch": launch, "configurationDone": configuration_done, "restart": restart,
    "disconnect": disconnect, "terminate": terminate,
}
