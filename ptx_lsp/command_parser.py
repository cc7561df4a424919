"""The parser of the options of a command, which suggests an option for an unknown one."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

_OPTION = re.compile(r"--[a-z][a-z-]*")


class CommandParser(argparse.ArgumentParser):
    """Reports a usage error in two lines and exits with 2."""

    def checked(self, words: Sequence[str]) -> list[str]:
        """The words of a command line. Exits if one is an unknown option: argparse may complain about another
        word, and suggests nothing.
        """
        for word in words:
            name = word.partition("=")[0]
            action = self._option_string_actions.get(name)
            if word == "--" or (action is not None and action.nargs == argparse.REMAINDER):
                break
            if action is None and _OPTION.fullmatch(name):
                from difflib import get_close_matches

                known = [one[2:] for one in self._option_string_actions if one.startswith("--")]
                near = get_close_matches(name[2:], known, 1, 0.7)
                hint = f"; did you mean `--{near[0]}`?" if near else ""
                self.error(f"unknown option `{name}`{hint}")
        return list(words)

    def error(self, message: str) -> NoReturn:
        program = self.prog.partition(" ")[0]
        self.exit(2, f"{program}: error: {message}\nTry `{self.prog} --help`.\n")
