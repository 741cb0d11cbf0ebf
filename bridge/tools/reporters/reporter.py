"""What every reporter is given and answers; the rules of a tool that has none of its own."""

import os.path
from dataclasses import dataclass
from typing import ClassVar

from bridge.capabilities import ClientCapabilities
from bridge.tools.facts import Json, ResultFacts, UseFacts
from bridge.tools.results import converted


@dataclass(frozen=True, slots=True)
class UseView:
    """A tool use and the surroundings that its facts depend on."""

    name: str
    input: Json
    client: ClientCapabilities
    cwd: str
    home: str
    live: bool = True
    """False in a replay of history, where no hook will follow."""

    def shown_path(self, path: str) -> str:
        """The path relative to the working directory when it lies inside, else as it was given."""
        if not self.cwd:
            return path
        here = os.path.normpath(self.cwd)
        there = os.path.normpath(os.path.join(here, path))
        if there == here:
            return "."
        inside = here if here.endswith(os.sep) else here + os.sep
        return there[len(inside) :] if there.startswith(inside) else path


@dataclass(frozen=True, slots=True)
class ResultView:
    """A tool result next to the use that it answers."""

    use: UseView
    content: object
    structured: Json
    """`tool_use_result`; empty when the message holds several results or none is known."""


class Reporter:
    """Tells the facts of a call; without state, so one instance serves every session."""

    tools: ClassVar[tuple[str, ...]] = ()
    """The SDK names it is for."""
    edits_file: ClassVar[bool] = False
    """Its hook reports the final change of a file."""

    def use(self, use: UseView) -> UseFacts:
        """The facts of a use, also of one whose input still streams."""
        return UseFacts(title=use.name or "Unknown Tool")

    def result(self, result: ResultView) -> ResultFacts:
        """The facts of a successful result."""
        return ResultFacts(content=converted(result.content))

    def error(self, result: ResultView) -> ResultFacts:
        """The facts of an error that says something."""
        return ResultFacts(content=converted(result.content, fenced=True))
