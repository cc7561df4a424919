"""The prompt of a terminal, by prompt_toolkit: editing, completion, history, and the focus below."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.styles import Style

from ptx_lsp.debug.console.interpreter import WORD


class PromptReader:
    """Reads lines that the user edits."""

    def __init__(self, prompt: str, complete: Callable[[str], list[str]], status: Callable[[], str]) -> None:
        """`complete` has the words that can end a text, `status` what stands below the prompt."""
        self._prompt = prompt
        self._session: PromptSession[str] = PromptSession(
            history=InMemoryHistory(), completer=_Completer(complete), complete_while_typing=False,
            bottom_toolbar=lambda: status() or None, reserve_space_for_menu=4,
            style=Style.from_dict({"bottom-toolbar": "noreverse"}),
        )

    def read(self) -> str:
        return self._session.prompt(self._prompt)


class _Completer(Completer):
    def __init__(self, complete: Callable[[str], list[str]]) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        for word in self._complete(text):
            yield Completion(word, len(text.rstrip(WORD)) - len(text))
