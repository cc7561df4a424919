"""Requests that begin and end a session."""

from __future__ import annotations

from ptx_lsp.debug.adapter.launch_arguments import program
from ptx_lsp.debug.adapter.messages import Arguments, Json, Object
from ptx_lsp.debug.adapter.session import Handler, Session
from ptx_lsp.debug.goals import AtEvent
from ptx_lsp.debug.problems import FILTERS
from ptx_lsp.debug.request_error import RequestError


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
        "supportsEvaluateForHovers", "supportsBreakpointLocationsRequest",
        "supportsLoadedSourcesRequest",
    )
    found: Object = dict.fromkeys(names, True)
    return {**found, "exceptionBreakpointFilters": filters, "completionTriggerCharacters": ["%", "["]}


def launch(session: Session, given: Arguments) -> Json:
    if session.recording is not None:
        raise RequestError("a kernel is launched already")
    session.program = program(given)
    session.stops_on_entry = given.flag("stopOnEntry")
    session.shows_source = given.text("show") == "source"
    if given.flag("noDebug"):
        session.breakpoints.is_off = True
    session.record()
    session.afterwards(lambda: session.channel.event("initialized"))
    return None


def configuration_done(session: Session, given: Arguments) -> Json:
    _begin(session)
    return None


def _begin(session: Session) -> None:
    session.run(session.beginning(AtEvent(1, "entry") if session.stops_on_entry else session.breakpoints))


def restart(session: Session, given: Arguments) -> Json:
    if session.program is None:
        raise RequestError("no kernel was launched")
    session.end()
    session.breakpoints.forget_after(0)
    session.record()
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
