"""Who pays, as far as is known, and what the client was told of it (M18)."""

from collections.abc import Callable, Mapping

from bridge.config.auth import AuthStatus, newer_status


class Identity:
    """Keeps the newest status and pushes it whenever it differs from the last push (INV-A1)."""

    def __init__(self, push: Callable[[Mapping[str, object]], None]) -> None:
        self._push = push
        self._known: AuthStatus | None = None
        self._told: Mapping[str, object] | None = None
        self.epoch = 0
        """Rises when what was known stops to count; a reading that began before is discarded."""

    @property
    def kind(self) -> str | None:
        """What kind of credential it is; None before the first reading."""
        return self._known.kind if self._known is not None else None

    def renew(self) -> int:
        """A sign-in or a sign-out: readings that are under way are of the past."""
        self.epoch += 1
        self._known = None
        return self.epoch

    def read(self, status: AuthStatus | None, epoch: int) -> None:
        """Take in a reading; None says nothing, and the known status stays (AU-019, AU-027)."""
        if status is None or epoch != self.epoch:
            return
        self._known = newer_status(self._known, status)
        payload = self._known.payload()
        if payload != self._told:
            self._told = payload
            self._push(payload)
