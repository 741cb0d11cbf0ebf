"""One file-change report that a prompt asked for (M14).

1. There is exactly one report for an accepted request, before the answer of its prompt (INV-R1).
2. The answer never depends on the report; whatever comes after it is dropped.
"""

from dataclasses import dataclass
from typing import ClassVar

from statemachine import State

from machines._core import Lifecycle
from machines.companions.session_reports import PreviewFiles, ReportFiles, UnavailableReason
from machines.events import Timer
from machines.outputs import StartTimer, StopTimer


@dataclass(frozen=True, slots=True)
class Collect:
    """The turn ended well: find out which files it changed."""


@dataclass(frozen=True, slots=True)
class FilesListed:
    """The preview named the files."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unavailable:
    """There will be no list."""

    reason: UnavailableReason


Input = Collect | FilesListed | Unavailable
Signal = PreviewFiles | ReportFiles | StartTimer | StopTimer


class FileReport(Lifecycle[Input, Signal]):
    """Lifecycle of one report."""

    requested = State(initial=True)
    collecting = State()
    finished = State(final=True)

    collect = requested.to(collecting, on="preview")
    list_files = collecting.to(finished, on="report_files")
    give_up = requested.to(finished, on="report_unavailable") | collecting.to(
        finished, on=["report_unavailable", "stop_timer"]
    )

    triggers: ClassVar[dict[type, str]] = {
        Collect: "collect",
        FilesListed: "list_files",
        Unavailable: "give_up",
    }

    def __init__(self, turn: str, request: str, *listeners: object, start: str | None = None) -> None:
        self.turn = turn
        self.request = request
        super().__init__(*listeners, start=start)

    def preview(self) -> None:
        """Ask Claude Code, for two seconds at most."""
        self.put(PreviewFiles(self.turn))
        self.put(StartTimer(Timer.FILE_PREVIEW))

    def report_files(self, cause: FilesListed) -> None:
        """Tell the files."""
        self.put(StopTimer(Timer.FILE_PREVIEW))
        self.put(ReportFiles(self.request, cause.paths))

    def report_unavailable(self, cause: Unavailable) -> None:
        """Tell why there is no list."""
        self.put(ReportFiles(self.request, None, cause.reason))

    def stop_timer(self) -> None:
        """Nobody waits for the preview."""
        self.put(StopTimer(Timer.FILE_PREVIEW))
