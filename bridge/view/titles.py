"""The title of a session: the user's own, else one that Claude Code makes after a turn (S§9).

One title is made a session; a stored one is never made over, and an unchanged one never sent again.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from anyio import to_thread

from bridge.live.process import Reply, SessionProcess
from bridge.sessions.folders import find_transcript
from bridge.sessions.listing import iso_time, read_summary
from bridge.sessions.titles import shown_title
from bridge.view.client import SessionClient

_COMMAND = re.compile(r"\A\s*/[\w:-]+(?=\s|\Z)")

CONTEXT = 1000
"""Trailing characters of the conversation that a title is made from."""
ENOUGH = 10
"""Characters below which there is nothing to make a title from."""


class Titles:
    """What the client was told, and whether there is still something to ask."""

    def __init__(
        self, client: SessionClient, process: SessionProcess, projects: Path, now: Callable[[], datetime]
    ) -> None:
        self._client = client
        self._process = process
        self._projects = projects
        self._now = now
        self._context = ""
        self._told: str | None = None
        self._settled = False  # a title was made, is being made, or is the user's own

    def note_prompt(self, blocks: Sequence[Mapping[str, object]]) -> None:
        """The user said something; of a slash command the arguments count (SE-085).

        Claude Code makes no title from a text that starts with a command of its own.
        """
        text = " ".join(str(block.get("text")) for block in blocks if block.get("type") == "text")
        self.note_text(f"\n{_COMMAND.sub('', text)}\n")

    def note_text(self, text: str) -> None:
        """Claude said something."""
        self._context = (self._context + text)[-CONTEXT:]

    def clear(self) -> None:
        """The conversation starts anew (SE-093)."""
        self._context, self._settled = "", False

    async def name_fork(self, source: str, post: Callable[[Callable[[], None]], None]) -> None:
        """A copy of the conversation `source` was stored: its title says that it is one (S§5.2)."""
        self._settled = True
        stored = await to_thread.run_sync(_stored_titles, self._projects, source)
        title = f"{stored.given or stored.summary or 'Forked session'} (fork)"

        def renamed(reply: Reply) -> None:
            if isinstance(reply, Mapping):
                self._tell(title)
            else:
                self._settled = False

        post(lambda: self._process.request("rename_session", renamed, title=title, source="host"))

    async def turn_ended(self, conversation: str, post: Callable[[Callable[[], None]], None]) -> None:
        """Find or make a title, also the one of a `/rename`; the turn's end never waits for it."""
        is_open, self._settled = not self._settled, True
        stored = await to_thread.run_sync(_stored_titles, self._projects, conversation)
        standing = stored.given or (stored.made if is_open else None)
        if standing is not None:
            post(lambda: self._tell(standing, stored.time))
        elif is_open:
            post(lambda: self._make(stored))

    def restate(self, stored: tuple[str, str] | None) -> None:
        """A client takes up the session: its title as it stands, with the time of a `stored` one."""
        if self._told is not None:
            title, self._told = self._told, None
            self._tell(title)
        elif stored is not None:
            self._tell(*stored)

    def _make(self, stored: "_Stored") -> None:
        context = self._context.strip()
        if len(context) < ENOUGH:
            self._settled = False
        else:
            self._process.request(
                "generate_session_title",
                lambda reply: self._made(reply, stored),
                description=context,
                persist=True,
            )

    def _made(self, reply: Reply, stored: "_Stored") -> None:
        title = reply.get("title") if isinstance(reply, Mapping) else None
        if isinstance(title, str) and title.strip():
            self._tell(title)
            return
        self._settled = False  # a later turn asks again (SE-091)
        if stored.summary is not None:
            self._tell(stored.summary, stored.time)

    def _tell(self, title: str, time: str | None = None) -> None:
        """`time`: when a stored title was stored; without it the title is new."""
        shown = shown_title(title)
        if not shown or shown == self._told:
            return
        self._told = shown
        if time is None:
            time = self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._client.update({"sessionUpdate": "session_info_update", "title": shown, "updatedAt": time})


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the transcript has for a title: the user's, the one made before, the best there is."""

    given: str | None = None
    made: str | None = None
    summary: str | None = None
    time: str | None = None


def _stored_titles(projects: Path, conversation: str) -> _Stored:
    transcript = find_transcript(projects, conversation)
    summary = read_summary(transcript) if transcript is not None else None
    if transcript is None or summary is None:
        return _Stored()
    with suppress(OSError):
        time = iso_time(transcript.stat().st_mtime_ns)
        return _Stored(summary.given_title, summary.made_title, summary.title, time)
    return _Stored()
