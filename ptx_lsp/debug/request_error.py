"""The error of what a user asks the debugger for and cannot have."""


class RequestError(Exception):
    """A request that cannot be carried out: the message that the user sees."""
