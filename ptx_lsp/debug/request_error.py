"""The error of what a user asks the debugger for and cannot have."""


class RequestError(Exception):
    """A request that cannot be carried out: the message that the user sees."""


class OutdatedError(RequestError):
    """A request about a stop that is over. Clients send those while the kernel goes on, so the answer is not
    shown to the user.
    """
