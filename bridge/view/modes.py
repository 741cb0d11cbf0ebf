"""The permission mode of a live session, and how the client hears of its changes."""

from bridge.live.setup import Setup
from bridge.permissions.modes import SessionMode, mode_before_plan, mode_error, mode_option, mode_state
from bridge.view.client import SessionClient


class Modes:
    """The mode that Claude Code is in, and the one that the client was told."""

    def __init__(self, setup: Setup, client: SessionClient) -> None:
        self._air = setup.client.air
        self._modes: tuple[SessionMode, ...] = setup.modes
        self._client = client
        self.current = setup.mode
        """Passed to Claude Code at each start."""
        self.before_plan: str | None = None
        self.applying: str | None = None
        """A change that is on its way: Claude Code's own report of it is no news."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the modes that the session offers."""
        return tuple(mode.id for mode in self._modes)

    @property
    def shown(self) -> str:
        """The mode id that the client sees: `dontAsk` has no row (decision 31)."""
        return self.current if self.current in self.ids else "default"

    def error(self, mode: str) -> str | None:
        """Why the client can't select it."""
        return mode_error(mode, self._modes)

    def state(self) -> dict[str, object]:
        """`modes` of a session response."""
        return mode_state(self._modes, self.shown, air=self._air)

    def option(self) -> dict[str, object]:
        """The same as a config option."""
        return mode_option(self._modes, self.shown, air=self._air)

    def set(self, mode: str) -> None:
        """The client's own change went through (CF-029)."""
        self._note(mode)
        self.applying = None
        self._client.update({"sessionUpdate": "config_option_update", "configOptions": [self.option()]})

    def changed(self, mode: str) -> None:
        """An answer, or Claude Code itself, moved the session to another mode (CF-032)."""
        if mode != self.current:
            self._note(mode)
            self._client.update({"sessionUpdate": "current_mode_update", "currentModeId": self.shown})
            self._client.update({"sessionUpdate": "config_option_update", "configOptions": [self.option()]})

    def reported(self, mode: str) -> None:
        """Claude Code says which mode it is in."""
        if self.applying is None:
            self.changed(mode)

    def _note(self, mode: str) -> None:
        self.before_plan = mode_before_plan(self.before_plan, self.current, mode)
        self.current = mode
