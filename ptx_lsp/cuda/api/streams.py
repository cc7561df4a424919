"""Streams and events. All work is done when the function that starts it returns, so nobody waits."""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass

from ptx_lsp.cuda.driver import CONTEXT, Driver
from ptx_lsp.cuda.driver_function import Pointer, Size, UInt, driver_function
from ptx_lsp.cuda.host_memory import write_float, write_int, write_word
from ptx_lsp.cuda.results import DriverError, Result

_DEFAULT_STREAMS = (0, 1, 2)


@dataclass
class Stream:
    """A stream."""

    flags: int


@dataclass
class Event:
    """An event; `time` is when it was recorded last, in seconds."""

    time: float | None = None


@driver_function("cuStreamCreate", "cuStreamCreateWithPriority")
def create(driver: Driver, result: Pointer, flags: UInt) -> None:
    write_word(result, driver.add(Stream(flags)))


@driver_function("cuStreamDestroy_v2", is_deferred=True)
def destroy(driver: Driver, stream: Size) -> None:
    driver.remove(stream, Stream)


@driver_function("cuStreamSynchronize", "cuStreamQuery", "cuStreamWaitEvent", "cuStreamAttachMemAsync")
def wait(driver: Driver, stream: Size) -> None:
    _check(driver, stream)


@driver_function("cuStreamAddCallback")
def add_callback(driver: Driver, stream: Size, function: Pointer, data: Size) -> None:
    _check(driver, stream)
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    callback(function)(stream, Result.SUCCESS, data)


@driver_function("cuStreamGetFlags")
def flags(driver: Driver, stream: Size, result: Pointer) -> None:
    _check(driver, stream)
    write_int(result, 0 if stream in _DEFAULT_STREAMS else driver.get(stream, Stream).flags)


@driver_function(
    "cuStreamGetPriority", "cuStreamIsCapturing", "cuStreamGetCaptureInfo_v2", "cuStreamGetDevice"
)
def zero(driver: Driver, stream: Size, result: Pointer) -> None:
    """The priority, the state of capturing and the device are 0."""
    _check(driver, stream)
    write_int(result, 0)


@driver_function("cuStreamGetCaptureInfo_v3", since=12030)
def capture_info(driver: Driver, stream: Size, result: Pointer) -> None:
    zero(driver, stream, result)


@driver_function("cuStreamGetCtx")
def context(driver: Driver, stream: Size, result: Pointer) -> None:
    _check(driver, stream)
    write_word(result, CONTEXT)


@driver_function("cuStreamGetId")
def identifier(driver: Driver, stream: Size, result: Pointer) -> None:
    _check(driver, stream)
    write_word(result, stream)


@driver_function("cuEventCreate")
def create_event(driver: Driver, result: Pointer, flags: UInt) -> None:
    del flags
    write_word(result, driver.add(Event()))


@driver_function("cuEventRecord", "cuEventRecordWithFlags")
def record(driver: Driver, event: Size, stream: Size) -> None:
    _check(driver, stream)
    driver.get(event, Event).time = time.perf_counter()


@driver_function("cuEventSynchronize", "cuEventQuery")
def wait_for(driver: Driver, event: Size) -> None:
    assert driver.get(event, Event)


@driver_function("cuEventDestroy_v2", is_deferred=True)
def destroy_event(driver: Driver, event: Size) -> None:
    driver.remove(event, Event)


@driver_function("cuEventElapsedTime")
def elapsed(driver: Driver, result: Pointer, start: Size, end: Size) -> None:
    """In milliseconds of the executor, which say nothing of a device."""
    times = driver.get(start, Event).time, driver.get(end, Event).time
    if times[0] is None or times[1] is None:
        raise DriverError(Result.INVALID_HANDLE)
    write_float(result, (times[1] - times[0]) * 1000)


@driver_function("cuEventElapsedTime_v2", since=12080)
def elapsed_time(driver: Driver, result: Pointer, start: Size, end: Size) -> None:
    elapsed(driver, result, start, end)


def _check(driver: Driver, stream: int) -> None:
    if stream not in _DEFAULT_STREAMS:
        driver.get(stream, Stream)
